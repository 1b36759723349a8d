"""A ticket: one volume's change as Markdown for its owner; what, why, on what evidence, at what risk, how, and back."""

from collections.abc import Iterator

from plimsoll.domain.policy import Policy
from plimsoll.domain.recommendation import CHANGES
from plimsoll.reports.cloud_terms import words_of
from plimsoll.reports.markdown.markup import fence, name, prose
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.steps import CENT, observed, step_of, step_words
from plimsoll.reports.wording import ACTION_WORDS, GRADE_WORDS, change_words, outcome_text, owner_text, spec_text, usd


def ticket(record: RecommendationRecord, policy: Policy, link: str) -> str:
    """The ticket of a volume's recommendation; `link` shows its demand in its cloud's console, and is left
    out where it is empty."""
    parts = [f"## {_title(record)}\n", *_where(record)]
    parts += _section("Why", _bullets(record.reasons))
    parts += _section("Evidence", _evidence(record, link))
    parts += _section("Risk", _risk(record, policy))
    parts += _section("How", [fence(record.change)] if record.change else [])
    if record.action in CHANGES:
        parts += _section("How to undo it", [_back(record)])
    return "\n".join(parts)


def _title(record: RecommendationRecord) -> str:
    if record.action in CHANGES and record.target is not None:
        return f"Change {name(record.volume_id)}: {prose(change_words(record))}, {outcome_text(record)}"
    return f"{name(record.volume_id)}: {prose(ACTION_WORDS[record.action])}, {outcome_text(record)}"


def _where(record: RecommendationRecord) -> Iterator[str]:
    hosts = ", ".join(name(host) for host in record.hosts) or "no host"
    account = f"{words_of(record.provider).account} {name(record.account)}"
    called = f"- Name: {name(record.name)}\n" if record.name and name(record.name) else ""
    yield (
        f"{called}- Where: {account}, {name(record.zone)}, on {hosts}\n"
        f"- Owner: {prose(owner_text(record.owner))}\n"
        f"- Now: {prose(spec_text(record.current))}\n"
    )
    if record.stripe_set is not None:
        members = ", ".join(name(member) for member in record.stripe_set.members)
        yield f"It is changed together with all of stripe set {name(record.stripe_set.name)}: {members}.\n"
    if record.pool:
        yield f"It shares its ceiling and is changed together with: {', '.join(map(name, record.pool))}.\n"


def _section(title: str, body: list[str]) -> list[str]:
    return [f"### {title}\n", *body] if body else []


def _bullets(texts: list[str]) -> list[str]:
    return ["".join(f"- {prose(text)}\n" for text in texts)] if texts else []


def _evidence(record: RecommendationRecord, link: str) -> list[str]:
    lines = []
    if record.evidence is not None:
        found = record.evidence
        lines.append(f"- Grade {found.grade}: {prose(GRADE_WORDS[found.grade])}\n- {prose(found.text)}\n")
        lines += [f"- Source: {prose(source)}\n" for source in found.sources]
    if record.demand is not None and link:
        lines.append(f"- [The volume's demand in {words_of(record.provider).monitoring}]({link})\n")
    return ["".join(lines)] if lines else []


def _risk(record: RecommendationRecord, policy: Policy) -> list[str]:
    seen = observed(record.demand.hours_observed) if record.demand is not None else None
    lines = [f"- {prose(step_words(step_of(record), policy, seen).why)}\n"]
    lines += [f"- Blocked today: {prose(blocker.text)}\n" for blocker in record.blockers]
    if record.action in CHANGES and record.drop_in is not None and _saves_drop_in(record):
        lines.append(
            f"- Drop-in replacement: {prose(spec_text(record.drop_in.spec))} can do everything this volume can do "
            f"today, and saves {usd(record.monthly_usd_saved_drop_in)} a month.\n"
        )
    return ["".join(lines)]


def _saves_drop_in(record: RecommendationRecord) -> bool:
    """Whether a drop-in replacement saves something, and less than the offer."""
    return CENT <= record.monthly_usd_saved_drop_in < record.monthly_usd_saved - CENT


def _back(record: RecommendationRecord) -> str:
    return (
        f"Set it back to {prose(spec_text(record.current))} in the same place. "
        f"{prose(words_of(record.provider).way_back)}\n"
    )
