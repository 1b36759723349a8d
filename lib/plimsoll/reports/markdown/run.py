"""A run in Markdown: the whole of it on a page, or the tickets of some volumes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from plimsoll.domain.policy import Policy
from plimsoll.policy_file import parse_policy
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
from plimsoll.reports.markdown.ticket import ticket
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_reader import Only, read_run, stream_records
from plimsoll.reports.steps import STEP_NAMES, Step, judged_by, step_of
from plimsoll.reports.summary.gaps import left_out, unread
from plimsoll.reports.summary.headline import figures, headline, incomplete, resume_command, since_before
from plimsoll.reports.summary.todos import Overview, todos
from plimsoll.reports.totals import Totals
from plimsoll.reports.wording import count_of, spec_text

_BEST: Final = 50
_THROTTLED: Final = 20
_UNREAD: Final = 20


def run_markdown(folder: Path, only: Only | None, told: str) -> str:
    """A run on a page: what can be saved, what to do first, the best changes, and what could not be read.

    `only` restricts it to some volumes, and `told` says to which.
    """
    run, policy, overview = read_run(folder), _policy(folder), Overview()
    throttled: Largest[RecommendationRecord] = Largest(most=_THROTTLED)
    saving: Largest[RecommendationRecord] = Largest(most=_BEST)
    for record in _records(folder, only):
        overview.add(record)
        if step_of(record) is Step.THROTTLED:
            throttled.add(record.demand.throttled_minutes if record.demand else 0.0, record.volume_id, record)
        elif record.monthly_usd_saved > 0:
            saving.add(record.monthly_usd_saved, record.volume_id, record)
    part = f"Of {prose(told)} alone.\n" if only is not None else ""
    page = [f"# Plimsoll run {name(str(run['id']))}\n", part, *_money(overview.totals, run, policy, whole=only is None)]
    since = since_before(run) if only is None else ""
    page += [f"{prose(since)}\n"] if since else []
    page += _incomplete(run, folder, whole=only is None)
    page += _steps(overview, policy, folder)
    page += _changes("Throttled today", throttled)
    page += _changes("The best changes", saving)
    if only is None:
        page += _not_read(run)
    return fitting(page)


def tickets(folder: Path, only: Only, link: Callable[[RecommendationRecord], str]) -> str:
    """The tickets of some volumes, one after the other."""
    policy = _policy(folder)
    records = list(_records(folder, only))
    written: list[str] = []
    for at, record in enumerate(records):
        one = ticket(record, policy, link(record))
        if length([*written, one]) > MOST_ON_GITHUB - ROOM_FOR_THE_REST:
            written.append(f"\nNot shown: {count_of(len(records) - at, 'more volume')}.\n")
            break
        written.append(one)
    return "\n".join(written)


def _records(folder: Path, only: Only | None) -> Iterator[RecommendationRecord]:
    return (record for record in stream_records(folder) if only is None or only(record))


def _policy(folder: Path) -> Policy:
    return parse_policy(dict(read_run(folder)["policy"]))


def _money(totals: Totals, run: dict[str, Any], policy: Policy, *, whole: bool) -> Iterator[str]:
    yield f"**{prose(headline(totals, run, whole=whole))}**\n"
    found = list(figures(totals, judged_by(policy)))
    if found:
        yield "".join(f"- {one.amount} {one.label}. {prose(one.meaning)}\n" for one in found)


def _incomplete(run: dict[str, Any], folder: Path, *, whole: bool) -> Iterator[str]:
    """That volumes are missing, and how to come by them."""
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
    yield "".join(table(("step", "volumes:", "money", "why"), rows))


def _changes(title: str, found: Largest[RecommendationRecord]) -> Iterator[str]:
    if not found.total:
        return
    head = ("volume", "where", "from", "to", "saves USD a month:", "drop-in saves:", "evidence", "step")
    yield f"## {title}\n"
    yield "".join(table(head, map(_row, found.items)))
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
        record.evidence.grade if record.evidence else "",
        STEP_NAMES[step_of(record)],
    )


def _not_read(run: dict[str, Any]) -> Iterator[str]:
    found, skipped = list(unread(run)), list(left_out(run))
    if not found and not skipped:
        return
    yield "## What is not in it\n"
    if found:
        rows = [(name(one.place), prose(one.what), prose(one.why)) for one in found[:_UNREAD]]
        yield "".join(table(("where", "what", "why"), rows))
    if len(found) > _UNREAD:
        yield f"{len(found) - _UNREAD:,} more: run.json names all of them.\n"
    if skipped:
        yield "".join(f"- {prose(text)}\n" for text in skipped[:_UNREAD])
