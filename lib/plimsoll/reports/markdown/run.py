"""A run in Markdown: the whole of it on a page, or a ticket for the owner of each of some volumes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from plimsoll.domain.kinds import CHANGES
from plimsoll.domain.policy import Policy
from plimsoll.policy_file import parse_policy
from plimsoll.reports.costs import COSTS_WHY, cost_tables
from plimsoll.reports.fleet_risk import outlook
from plimsoll.reports.largest import Largest
from plimsoll.reports.markdown.markup import (
    MOST_ON_GITHUB,
    ROOM_FOR_THE_REST,
    fence,
    fitting,
    length,
    name,
    prose,
    table,
)
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_reader import Only, read_run, stream_records
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.sorting import Weight
from plimsoll.reports.steps import CENT, STEP_NAMES, STEP_TITLES, Step, judged_by, observed, step_of, step_words
from plimsoll.reports.summary import (
    Overview,
    figures,
    headline,
    incomplete,
    left_out,
    resume_command,
    since_before,
    todos,
    unread,
    weight,
)
from plimsoll.reports.template_text import TITLE, WHY, template_texts
from plimsoll.reports.totals import Totals
from plimsoll.reports.wording import (
    FRONTIER_HEADS,
    FRONTIER_TITLE,
    GRADE_WORDS,
    change_words,
    count_of,
    epoch_text,
    frontier_rows,
    kind_words,
    losses_in_words,
    outcome_text,
    owner_text,
    risk_text,
    spec_text,
    too_risky_text,
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
_UNREAD: Final = 20


def run_markdown(folder: Path, only: Only | None, about: str, weigh: Weight | None = None) -> str:
    """A run on a page: what can be saved, what to do first, the best changes, and what could not be read.

    `only` restricts it to some volumes, and `about` says to which. `weigh` is what its lists are sorted by.
    """
    weigh = weigh or weight
    run, overview = read_run(folder), Overview()
    policy = parse_policy(run.policy)
    throttled: Largest[RecommendationRecord] = Largest(most=_THROTTLED)
    saving: Largest[RecommendationRecord] = Largest(most=_BEST)
    safe: Largest[RecommendationRecord] = Largest(most=_SAFE if only is None else _SAFE_ALONE)
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
    part = f"Of {prose(about)} alone.\n" if only is not None else ""
    page = [f"# Plimsoll run {name(run.id)}\n", part, *_money(overview.totals, run, policy, whole=only is None)]
    since = since_before(run) if only is None else ""
    page += [f"{prose(one)}\n" for one in (since, outlook(overview.totals.risk.reported)) if one]
    page += _incomplete(run, folder, whole=only is None)
    page += _steps(overview, policy, folder)
    page += _commands(safe)
    page += _changes("The best changes", saving)
    page += _changes("Throttled today", throttled)
    page += _waiting(waiting)
    if only is None:
        page += _templates(run)
        page += _costs(run)
        page += _not_read(run)
    return fitting(page)


def tickets(folder: Path, only: Only, link: Callable[[RecommendationRecord], str]) -> str:
    """The tickets of some volumes, one after the other."""
    policy = parse_policy(read_run(folder).policy)
    records = list(stream_records(folder, only))
    written: list[str] = []
    for at, record in enumerate(records):
        one = ticket(record, policy, link(record))
        if length([*written, one]) > MOST_ON_GITHUB - ROOM_FOR_THE_REST:
            written.append(f"\nNot shown: {count_of(len(records) - at, 'more volume')}.\n")
            break
        written.append(one)
    return "\n".join(written)


def _money(totals: Totals, run: RunRecord, policy: Policy, *, whole: bool) -> Iterator[str]:
    yield f"**{prose(headline(totals, run, whole=whole))}**\n"
    yield "".join(f"- {one.amount} {one.label}. {prose(one.meaning)}\n" for one in figures(totals, judged_by(policy)))


def _incomplete(run: RunRecord, folder: Path, *, whole: bool) -> Iterator[str]:
    told = incomplete(run, whole=whole)
    again = resume_command(run, folder)
    if again is not None:
        yield f"{prose(told)}\n"
        yield fence(again)
    elif told:
        yield f"{prose(told.removesuffix('.'))}; see the end.\n"


def _steps(overview: Overview, policy: Policy, folder: Path) -> Iterator[str]:
    found = list(todos(overview, policy, folder))
    if not found:
        return
    rows = [
        (f"{number}. {prose(one.words.title)}", prose(one.volumes), prose(one.money), prose(one.words.why))
        for number, one in enumerate(found, start=1)
    ]
    yield "## What to do first\n"
    yield table(("step", "volumes:", "money", "why"), rows)


def _commands(found: Largest[RecommendationRecord]) -> Iterator[str]:
    """The changes that give nothing up, to be copied."""
    if not found.total:
        return
    saved = sum(record.monthly_usd_saved for record in found.items)
    yield f"## {prose(STEP_TITLES[Step.SAFE])}\n"
    left = f"; {count_of(found.total - found.most, 'more volume')} not shown" if found.total > found.most else ""
    yield f"{count_of(len(found.items), 'change')}, which save {usd(saved)} a month{left}.\n"
    changes = [record.change for record in found.items]
    for first in range(0, len(changes), _IN_A_FENCE):
        yield fence("\n".join(changes[first : first + _IN_A_FENCE]))


def _templates(run: RunRecord) -> Iterator[str]:
    """The changes of templates."""
    rows = [
        (name(one.made_by), name(one.where), prose(one.volumes), prose(one.change), prose(one.saves))
        for one in template_texts(run)
    ]
    if rows:
        yield f"## {TITLE}\n"
        yield f"{prose(WHY)}\n"
        yield table(("made by", "where", "volumes", "change", "money"), rows)
        yield fence("\n".join(one.how for one in template_texts(run)))


def _costs(run: RunRecord) -> Iterator[str]:
    """The volumes that are paid for nothing by owner and year."""
    for costs in cost_tables(run):
        rows = [(name(owner), *map(prose, others)) for owner, *others in costs.rows]
        yield f"## {prose(costs.title)}\n"
        yield f"{prose(COSTS_WHY)}\n"
        yield table(("owner", "made", "volumes:", "money:"), rows)


def _waiting(found: Largest[RecommendationRecord]) -> Iterator[str]:
    if not found.total:
        return
    rows = [
        (
            f"{name(record.volume_id)} {name(record.name or '')}".rstrip(),
            prose(spec_text(record.current)),
            prose(outcome_text(record)),
        )
        for record in found.items
    ]
    yield f"## {prose(STEP_TITLES[Step.WAIT])}\n"
    yield table(("volume", "now", "when"), rows)
    if found.total > found.most:
        yield f"{count_of(found.total - found.most, 'more volume')}: recommendations.csv has all of them.\n"


def _changes(title: str, found: Largest[RecommendationRecord]) -> Iterator[str]:
    if not found.total:
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
    yield table(head, map(_row, found.items))
    if found.total > found.most:
        yield f"{count_of(found.total - found.most, 'more volume')}: recommendations.csv has all of them.\n"


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


def _not_read(run: RunRecord) -> Iterator[str]:
    found, skipped = list(unread(run)), list(left_out(run))
    if not found and not skipped:
        return
    yield "## What is not in it\n"
    if found:
        rows = [(name(one.place), prose(one.what), prose(one.why)) for one in found[:_UNREAD]]
        yield table(("where", "what", "why"), rows)
    if len(found) > _UNREAD:
        yield f"{len(found) - _UNREAD:,} more: run.json names all of them.\n"
    if skipped:
        yield _bullets(skipped[:_UNREAD])


def ticket(record: RecommendationRecord, policy: Policy, link: str) -> str:
    """The ticket of a volume's recommendation; `link` shows its demand in its cloud's console, and is left
    out where it is empty."""
    parts = [f"## {_title(record)}\n", *_where(record)]
    parts += _section("Why", _bullets(record.reasons))
    parts += _section(FRONTIER_TITLE, _frontier(record))
    parts += _section("What it was", _epochs(record))
    parts += _section("Evidence", _evidence(record, link))
    parts += _section("Risk", _risk(record, policy))
    parts += _section("How", fence(record.change) if record.change else "")
    if record.action in CHANGES:
        way_back = prose(words_of(record.provider).way_back)
        undo = f"Set it back to {prose(spec_text(record.current))} in the same place. {way_back}\n"
        parts += _section("How to undo it", undo + (f"\n{fence(record.way_back)}" if record.way_back else ""))
    return "\n".join(parts)


def _title(record: RecommendationRecord) -> str:
    if record.action in CHANGES and record.target is not None:
        return f"Change {name(record.volume_id)}: {prose(change_words(record))}, {outcome_text(record)}"
    return f"{name(record.volume_id)}: {prose(kind_words(record.kind))}, {outcome_text(record)}"


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


def _frontier(record: RecommendationRecord) -> str:
    rows = [tuple(map(prose, row)) for row in frontier_rows(record)]
    minutes, what, price, wait = FRONTIER_HEADS
    return table((f"{minutes}:", what, f"{price}:", f"{wait}:"), rows) if rows else ""


def _epochs(record: RecommendationRecord) -> str:
    """What the volume was before, where it was changed."""
    if len(record.epochs) < 2:
        return ""
    rows = [
        (prose(one.start[:16]), prose(one.end[:16]), prose(epoch_text(one)), f"{one.throttled_minutes:,.0f}")
        for one in record.epochs
    ]
    return table(("from, UTC", "to, UTC", "volume", "minutes throttled:"), rows)


def _section(title: str, body: str) -> list[str]:
    return [f"### {title}\n", body] if body else []


def _bullets(texts: list[str]) -> str:
    return "".join(f"- {prose(text)}\n" for text in texts)


def _evidence(record: RecommendationRecord, link: str) -> str:
    lines = []
    if record.evidence is not None:
        found = record.evidence
        lines.append(f"- Grade {found.grade}: {prose(GRADE_WORDS[found.grade])}\n- {prose(found.text)}\n")
        lines += [f"- Source: {prose(source)}\n" for source in found.sources]
    if record.demand is not None and link:
        lines.append(f"- [The volume's demand in {words_of(record.provider).monitoring}]({link})\n")
    return "".join(lines)


def _risk(record: RecommendationRecord, policy: Policy) -> str:
    seen = observed(record.demand.hours_observed) if record.demand is not None else None
    lines = [f"- {prose(step_words(step_of(record), policy, seen).why)}\n"]
    lines += [f"- Gives up {prose(loss)}.\n" for loss in losses_in_words(record)]
    if record.too_risky is not None:
        lines.append(f"- {prose(too_risky_text(record.too_risky))}\n")
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
