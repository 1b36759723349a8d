"""A difference of two runs in words: on the terminal, as JSON and as Markdown."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from plimsoll.model.kinds import CHANGES, KINDS
from plimsoll.reports.data.exports import json_list
from plimsoll.reports.diff.comparison import Diff, Difference, Money, Total
from plimsoll.reports.diff.sql import GROUP_WORDS, DiffGroup
from plimsoll.reports.markdown.markup import fitting, name, prose, table
from plimsoll.reports.printable import printable
from plimsoll.reports.record import SpecRecord
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.steps import CENT
from plimsoll.reports.terminal.plot import plain_table
from plimsoll.reports.wording import count_of, spec_text, usd

QUIET: Final = frozenset({DiffGroup.SAME, DiffGroup.OPEN, DiffGroup.UNANSWERED})
"""Groups of volumes for which nothing is new, which are counted and not listed."""

_WIDE: Final = 120
_IN_MARKDOWN: Final = 25
"""Volumes of each group that Markdown lists."""


def show_diff(console: Console, diff: Diff, most: int) -> None:
    """Prints a difference, and at most `most` volumes of each group (0: all)."""
    console.print(Text(diff_headline(diff), style="bold"))
    console.print(Text(printable(_runs(diff)), style="dim"))
    console.print(_totals(diff))
    for note in notes(diff):
        console.print(Text.assemble(("note ", "yellow"), printable(note)))
    for group, total in diff.totals.items():
        if group in QUIET:
            continue
        console.print(_group_table(group, diff.list_volumes(group, most or None), wide=console.width >= _WIDE))
        if most and total.volumes > most:
            console.print(Text(f"{total.volumes - most:,} more; --rows 0 shows all.", style="dim"))


def json_diff(diff: Diff) -> Iterator[str]:
    """The difference as JSON, a volume a line; those for which there is nothing to do are counted and not listed."""
    head: dict[str, Any] = {
        "before": _run(diff.before),
        "after": _run(diff.after),
        "monthly_usd_saved": round(diff.saved.usd, 2),
        "monthly_usd_more_for_upgrades": round(diff.upgraded.usd, 2),
        "monthly_usd_saved_by_altered": round(diff.altered.usd, 2),
        "unpriced": diff.unpriced,
        "monthly_usd_open": round(diff.open_saving.usd, 2),
        "monthly_usd_open_for_upgrades": round(diff.open_upgrades.usd, 2),
        **{f"monthly_usd_open_{kind}": round(money.usd, 2) for kind, money in diff.open_costs.items()},
        "repriced": {"volumes": diff.repriced.volumes, "monthly_usd_more": round(diff.repriced.usd, 2)},
        "rules": {"before": diff.rules[0], "after": diff.rules[1]},
        "policy": {key: {"before": before, "after": after} for key, (before, after) in diff.policy.items()},
        "failed_places": dict(diff.failed_places),
        "known_in_both": _total(diff.known),
        "groups": {group: _total(total) for group, total in diff.totals.items()},
    }
    volumes = (
        difference for group in diff.totals if group is not DiffGroup.SAME for difference in diff.list_volumes(group)
    )
    begin = json.dumps(head, ensure_ascii=False, indent=1).removesuffix("\n}") + ',\n "volumes": ['
    return json_list((json.dumps(asdict(difference), ensure_ascii=False) for difference in volumes), begin, "]}")


def markdown_diff(diff: Diff) -> str:
    """The difference as Markdown for a ticket, as long as GitHub takes it."""
    parts = [f"# {prose(diff_headline(diff))}\n", f"{prose(_runs(diff))}\n"]
    rows = [[name(group), prose(words), *figures] for group, words, *figures in _rows(diff)]
    rows.append(["", "all whose cost is known in both", *_figures(diff.known)])
    parts.append(table(("", "", "volumes:", "USD a month before:", "now:"), rows))
    bullets = "".join(f"- {prose(note)}\n" for note in notes(diff))
    parts += [bullets] if bullets else []
    for group, total in diff.totals.items():
        if group not in QUIET:
            parts += _markdown_group(group, total.volumes, diff)
    return fitting(parts)


def _markdown_group(group: DiffGroup, volumes: int, diff: Diff) -> Iterator[str]:
    """Yields the Markdown of one group: its heading, and a table of its first volumes."""
    yield f"## {prose(GROUP_WORDS[group])}\n"
    listed = (
        (
            f"{name(difference.volume_id)} {name(difference.name or '')}".rstrip(),
            f"{name(difference.account)} {name(difference.region)}",
            prose(difference_text(difference)),
            prose(money_text(difference)),
            prose(difference.why),
        )
        for difference in diff.list_volumes(group, _IN_MARKDOWN)
    )
    yield table(("volume", "where", "what", "USD a month:", "why"), listed)
    if volumes > _IN_MARKDOWN:
        yield f"{count_of(volumes - _IN_MARKDOWN, 'more volume')}: `plimsoll diff --rows 0` lists all.\n"


def _run(run: RunRecord) -> dict[str, str]:
    return {"id": run.id, "now": run.as_of.isoformat(), "status": run.status}


def _total(total: Total) -> dict[str, float | int | None]:
    before, after = (None if usd is None else round(usd, 2) for usd in (total.usd_before, total.usd_after))
    return {"volumes": total.volumes, "monthly_usd_before": before, "monthly_usd_after": after}


def _runs(diff: Diff) -> str:
    return " → ".join(f"{run.id} ({run.as_of:%Y-%m-%d %H:%M} UTC, {run.status})" for run in (diff.before, diff.after))


def _rows(diff: Diff) -> Iterator[tuple[str, ...]]:
    for group, total in diff.totals.items():
        yield group, GROUP_WORDS[group], *_figures(total)


def _figures(total: Total) -> Iterator[str]:
    """Yields the cells of a total: volumes, and USD before and after; "not known" without a price."""
    yield f"{total.volumes:,}"
    for usd_month in (total.usd_before, total.usd_after):
        yield "not known" if usd_month is None else f"{usd_month:,.2f}"


def _totals(diff: Diff) -> Table:
    """The table of all groups: volumes, and USD a month before and now; last, all whose cost is known in both runs."""
    shown = plain_table(["", ""], ["volumes", "USD before", "USD now"], header_style="dim")
    shown.columns[1].style = "dim"
    for cells in _rows(diff):
        shown.add_row(*cells)
    shown.add_row("", "all known in both; USD a month", *_figures(diff.known), style="bold")
    return shown


def _group_table(group: DiffGroup, differences: Iterator[Difference], *, wide: bool) -> Table:
    """The table of one group of volumes; `wide` has the place of each."""
    shown = Table(
        title=f"{group}: {GROUP_WORDS[group]}", title_justify="left", box=None, pad_edge=False, header_style="dim"
    )
    shown.add_column("volume", overflow="fold", min_width=len("vol-0123456789abcdef0"))
    if wide:
        shown.add_column("where", overflow="fold")
    shown.add_column("what", overflow="fold")
    shown.add_column("USD a month" if wide else "USD", justify="right", no_wrap=True)
    shown.add_column("why", overflow="fold")
    for difference in differences:
        called = f"{difference.volume_id} {difference.name or ''}".rstrip()
        where = [f"{difference.account} {difference.region}"] if wide else []
        shown.add_row(
            *(
                Text(printable(cell))
                for cell in (called, *where, difference_text(difference), money_text(difference), difference.why)
            )
        )
    return shown


def diff_headline(diff: Diff) -> str:
    """The saving since the first run, and what is still open."""
    saved, left = diff.saved, diff.open_saving
    since = "Nothing saved"
    if saved.volumes:
        since = f"{usd(saved.usd)} a month saved by {count_of(saved.volumes, 'volume')} done"
    still = f"{count_of(left.volumes, 'volume')} still open, which can save {usd(left.usd)} a month"
    return f"{since} since; {still if left.volumes else 'nothing still open that can save'}."


def notes(diff: Diff) -> Iterator[str]:
    """Further differences between the runs, and the limits of the figures."""
    if diff.after.as_of < diff.before.as_of:
        yield "The second run is older than the first one."
    for run, which in ((diff.before, "first"), (diff.after, "second")):
        if run.status in {"interrupted", "running"}:
            yield f"The {which} run has not ended: a volume that it does not list may still exist."
    yield from _besides(diff)
    if diff.mixed:
        yield (
            f"{count_of(diff.mixed, 'volume')} changed to a configuration without a price in the first "
            "run: its saving may include a change of prices."
        )
    if diff.unpriced:
        yield f"{count_of(diff.unpriced, 'done volume')} without a known price: its saving is not in the sum."
    volumes, usd_more = diff.repriced
    if volumes:
        count = count_of(volumes, "volume")
        yield f"Prices differ: {count} of the same configuration, {_signed_usd(usd_more)} a month."
    if diff.rules[0] != diff.rules[1]:
        yield f"The rule has changed from version {diff.rules[0]} to {diff.rules[1]}. Answers may differ for that."
    for key, (before, after) in diff.policy.items():
        yield f"The policy differs: {key} was {before}, now {after}."
    for place, reason in diff.failed_places.items():
        yield f"Not read any more: {place}: {reason}"


def _besides(diff: Diff) -> Iterator[str]:
    if diff.upgraded.volumes:
        yield f"{_upgrades(diff.upgraded)} done, which cost {usd(diff.upgraded.usd)} a month more; not in the saving."
    if diff.altered.volumes:
        less = f"{usd(diff.altered.usd)} a month less" if diff.altered.usd >= 0 else f"{usd(-diff.altered.usd)} more"
        yield f"{count_of(diff.altered.volumes, 'volume')} changed to something else: {less}, not in the saving."
    if diff.open_upgrades.volumes:
        yield f"Still open: {_upgrades(diff.open_upgrades)}, for {usd(diff.open_upgrades.usd)} a month more."
    for kind, (volumes, usd_month) in diff.open_costs.items():
        if volumes:
            yield f"Still open: {count_of(volumes, 'volume')} {KINDS[kind].words}, {usd(usd_month)} a month."


def difference_text(difference: Difference) -> str:
    """A volume's configuration before and now, in words."""
    match difference.group:
        case DiffGroup.CHANGED:
            return f"{_answer(difference.before)} → {_answer(difference.after)}"
        case DiffGroup.NEW | DiffGroup.FIRST_READ | DiffGroup.OPEN | DiffGroup.WAITING | DiffGroup.SAME:
            return _answer(difference.after)
        case DiffGroup.GONE | DiffGroup.NOT_READ | DiffGroup.FAILED | DiffGroup.LEFT_OUT:
            return _spec(difference.before, "current")
        case DiffGroup.DONE | DiffGroup.ALTERED:
            return f"{_spec(difference.before, 'current')} → {_spec(difference.after, 'current') or 'gone'}"
        case DiffGroup.UNANSWERED:
            return ""


def money_text(difference: Difference) -> str:
    """The money of a volume: its saving since, or its cost now or before; USD a month."""
    if difference.usd_saved is not None:
        return (
            f"{usd(difference.usd_saved)} saved"
            if difference.usd_saved > -CENT
            else f"{usd(-difference.usd_saved)} more"
        )
    record = difference.after or difference.before
    cost = None if record is None else record["monthly_usd_now"]
    return "" if cost is None else usd(cost)


def _answer(record: Mapping[str, Any] | None) -> str:
    if record is None:
        return ""
    if record["action"] not in CHANGES:
        return f"{record['action']} {_spec(record, 'current')}"
    return f"{record['action']} to {_spec(record, 'target')}"


def _spec(record: Mapping[str, Any] | None, which: str) -> str:
    return spec_text(SpecRecord.model_validate(record[which])) if record and record[which] else ""


def _upgrades(upgrades: Money) -> str:
    return count_of(upgrades.volumes, "upgrade")


def _signed_usd(amount: float) -> str:
    return f"{'+' if amount > 0 else ''}{usd(amount)}"
