"""A run in Markdown: the whole of it on a page, or a ticket for the owner of each of some volumes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from plimsoll.model.kinds import CHANGES
from plimsoll.model.policy import Policy
from plimsoll.policy_file import parse_policy
from plimsoll.reports.markdown.markup import (
    MOST_ON_GITHUB,
    ROOM_FOR_THE_REST,
    fence,
    fitting,
    length,
    name,
    prose,
    story_markdown,
    table,
)
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_reader import Only, read_run, stream_records
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.sorting import Largest, Weight
from plimsoll.reports.steps import (
    CENT,
    STEP_NAMES,
    STEP_TITLES,
    Step,
    observed_words,
    step_of,
    step_words,
)
from plimsoll.reports.story import Figures, Topic
from plimsoll.reports.story.run import Overview, blocks_about, counted_run, part_of_run, tell_run, weight
from plimsoll.reports.story.volume import tell_epochs, tell_frontier
from plimsoll.reports.wording import (
    GRADE_WORDS,
    change_words,
    count_of,
    kind_words,
    left_change_text,
    losses_in_words,
    outcome_text,
    owner_text,
    risk_text,
    spec_text,
    usd,
    words_of,
)

_BEST: Final = 50
_THROTTLED: Final = 20
_SAFE: Final = 20
_SAFE_ALONE: Final = 500
"""How many changes that give nothing up a page has, of a whole run and of a part."""

_IN_A_FENCE: Final = 10
_WAITING: Final = 20

_BEFORE: Final = (Topic.HEADLINE, Topic.MONEY, Topic.SINCE, Topic.OUTLOOK, Topic.INCOMPLETE, Topic.STEPS)
_AFTER: Final = (Topic.TEMPLATES, Topic.PAID, Topic.STATES, Topic.COSTS, Topic.NOTICES, Topic.MISSING)
"""The blocks above the lists of volumes, and those below."""


def run_markdown(folder: Path, only: Only | None, about: str, weigh: Weight | None = None) -> str:
    """A run on a page: its story, with the changes to copy and the best ones in it.

    `only` restricts it to some volumes, and `about` says to which. `weigh` is what its lists are sorted by.
    """
    weigh = weigh or weight
    run, overview, whole = read_run(folder), Overview(), only is None
    throttled: Largest[RecommendationRecord] = Largest(most=_THROTTLED)
    saving: Largest[RecommendationRecord] = Largest(most=_BEST)
    safe: Largest[RecommendationRecord] = Largest(most=_SAFE if whole else _SAFE_ALONE)
    waiting: Largest[RecommendationRecord] = Largest(most=_WAITING)
    for record in stream_records(folder, only):
        overview.add(record)
        step = step_of(record)
        if step is Step.SAFE:
            safe.add(weigh(record), record.volume_id, record)
        if step is Step.THROTTLED or record.monthly_usd_saved > 0:
            (throttled if step is Step.THROTTLED else saving).add(weigh(record), record.volume_id, record)
        if record.wait is not None:
            waiting.add(weight(record), record.volume_id, record)
    counted = counted_run(run if whole else part_of_run(run), overview.totals)
    story = tell_run(counted, parse_policy(run.policy), folder=folder, overview=overview, whole=whole)
    part = "" if whole else f"Of {prose(about)} alone.\n"
    page = [f"# Plimsoll run {name(run.id)}\n", part, *story_markdown(blocks_about(story, *_BEFORE))]
    page += _commands(safe)
    page += _changes("The best changes", saving)
    page += _changes("Throttled today", throttled)
    page += _waiting(waiting)
    page += story_markdown(blocks_about(story, *_AFTER))
    return fitting(page)


def tickets(folder: Path, only: Only, link: Callable[[RecommendationRecord], str]) -> str:
    """The tickets of some volumes, one after the other."""
    run = read_run(folder)
    policy, origin = parse_policy(run.policy), _run_line(run)
    records = list(stream_records(folder, only))
    written: list[str] = []
    for at, record in enumerate(records):
        text = ticket(record, policy, link(record), origin)
        if length([*written, text]) > MOST_ON_GITHUB - ROOM_FOR_THE_REST:
            written.append(f"\nNot shown: {count_of(len(records) - at, 'more volume')}.\n")
            break
        written.append(text)
    return "\n".join(written)


def _commands(safe: Largest[RecommendationRecord]) -> Iterator[str]:
    """The changes that give nothing up, to be copied."""
    if not safe.total:
        return
    saved = sum(record.monthly_usd_saved for record in safe.items)
    yield f"## {prose(STEP_TITLES[Step.SAFE])}\n"
    left = f"; {count_of(safe.total - safe.most, 'more volume')} not shown" if safe.total > safe.most else ""
    yield f"{count_of(len(safe.items), 'change')}, which save {usd(saved)} a month{left}.\n"
    changes = [record.change for record in safe.items]
    for first in range(0, len(changes), _IN_A_FENCE):
        yield fence("\n".join(changes[first : first + _IN_A_FENCE]))


def _waiting(waiting: Largest[RecommendationRecord]) -> Iterator[str]:
    if not waiting.total:
        return
    rows = [
        (
            f"{name(record.volume_id)} {name(record.name or '')}".rstrip(),
            prose(spec_text(record.current)),
            prose(outcome_text(record)),
        )
        for record in waiting.items
    ]
    yield f"## {prose(STEP_TITLES[Step.WAIT])}\n"
    yield table(("volume", "now", "when"), rows)
    if waiting.total > waiting.most:
        yield f"{count_of(waiting.total - waiting.most, 'more volume')}: recommendations.csv has all of them.\n"


def _changes(title: str, largest: Largest[RecommendationRecord]) -> Iterator[str]:
    if not largest.total:
        return
    head = (
        "volume",
        "where",
        "from",
        "to",
        "saves USD a month:",
        "same limits save:",
        "risk",
        "gives up",
        "evidence",
        "step",
    )
    yield f"## {title}\n"
    yield table(head, map(_row, largest.items))
    if largest.total > largest.most:
        yield f"{count_of(largest.total - largest.most, 'more volume')}: recommendations.csv has all of them.\n"


def _row(record: RecommendationRecord) -> tuple[str, ...]:
    return (
        f"{name(record.volume_id)} {name(record.name or '')}".rstrip(),
        f"{name(record.account)} {name(record.zone)}",
        prose(spec_text(record.current)),
        prose(spec_text(record.target)),
        f"{record.monthly_usd_saved:,.2f}",
        f"{record.monthly_usd_saved_drop_in:,.2f}",
        risk_text(record),
        prose(", ".join(loss.code for loss in record.losses)),
        record.evidence.grade if record.evidence else "",
        STEP_NAMES[step_of(record)],
    )


def _run_line(run: RunRecord) -> str:
    """The run that a ticket is from: its id, its time and the version that made it."""
    version = run.versions.get("plimsoll", "of an unknown version")
    return f"- Run: {name(run.id)}, {run.as_of:%Y-%m-%d %H:%M} UTC, Plimsoll {prose(version)}\n"


def ticket(record: RecommendationRecord, policy: Policy, link: str, origin: str = "") -> str:
    """The ticket of a volume's recommendation. `link` shows its demand in its cloud's console, and `origin` names its
    run; each is left out if it is empty."""
    parts = [f"## {_title(record)}\n", *_place_lines(record), *([origin] if origin else [])]
    parts += _section("Why", _bullets(record.reasons))
    for figures in (tell_frontier(record), tell_epochs(record)):
        parts += _section(figures.title, _table_of(figures) if figures.rows else "")
    parts += _section("Evidence", _evidence(record, link))
    parts += _section("Risk", _risk(record, policy))
    parts += _section("How", fence(record.change) if record.change else "")
    if record.action in CHANGES:
        way_back = prose(words_of(record.provider).way_back)
        how = "the change below" if record.way_back else "the same tool"
        undo = f"Set it back to {prose(spec_text(record.current))} with {how}. {way_back}\n"
        parts += _section("How to undo it", undo + (f"\n{fence(record.way_back)}" if record.way_back else ""))
    return "\n".join(parts)


def _title(record: RecommendationRecord) -> str:
    if record.action in CHANGES and record.target is not None:
        return f"Change {name(record.volume_id)}: {prose(change_words(record))}, {outcome_text(record)}"
    return f"{name(record.volume_id)}: {prose(kind_words(record.kind))}, {outcome_text(record)}"


def _place_lines(record: RecommendationRecord) -> Iterator[str]:
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


def _table_of(figures: Figures) -> str:
    return table(figures.heads, [tuple(map(prose, row)) for row in figures.rows])


def _section(title: str, body: str) -> list[str]:
    return [f"### {title}\n", body] if body else []


def _bullets(texts: list[str]) -> str:
    return "".join(f"- {prose(text)}\n" for text in texts)


def _evidence(record: RecommendationRecord, link: str) -> str:
    lines = []
    if record.evidence is not None:
        evidence = record.evidence
        lines.append(f"- Grade {evidence.grade}: {prose(GRADE_WORDS[evidence.grade])}\n- {prose(evidence.text)}\n")
        lines += [f"- Source: {prose(source)}\n" for source in evidence.sources]
    if record.demand is not None and link:
        lines.append(f"- [The volume's demand in {words_of(record.provider).monitoring}]({link})\n")
    return "".join(lines)


def _risk(record: RecommendationRecord, policy: Policy) -> str:
    seen = observed_words(record.demand.hours_observed) if record.demand is not None else None
    lines = [f"- {prose(step_words(step_of(record), policy, seen).why)}\n"]
    lines += [f"- Gives up {prose(loss)}.\n" for loss in losses_in_words(record)]
    if record.action in CHANGES and not record.losses:
        lines.append("- Gives up nothing beside IOPS and MiB/s.\n" if record.cuts else "- Gives up nothing.\n")
    if record.too_risky is not None:
        lines.append(f"- {prose(left_change_text(record.too_risky))}\n")
    if record.risk is not None:
        lines.append(f"- {prose(record.risk.text)}\n")
    lines += [f"- Blocked today: {prose(blocker.text)}\n" for blocker in record.blockers]
    saves_less = CENT <= record.monthly_usd_saved_drop_in < record.monthly_usd_saved - CENT
    if record.action in CHANGES and record.drop_in is not None and saves_less:
        lines.append(
            f"- Same-limits replacement: {prose(spec_text(record.drop_in.spec))} keeps the IOPS and MiB/s of today, "
            f"and saves {usd(record.monthly_usd_saved_drop_in)} a month.\n"
        )
    return "".join(lines)
