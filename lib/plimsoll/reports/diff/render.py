"""A difference of two runs in words: on the terminal, as JSON and as Markdown."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from plimsoll.domain.kinds import CHANGES, KINDS
from plimsoll.reports.data.exports import json_list
from plimsoll.reports.diff.comparison import Diff, Difference, Money, Total
from plimsoll.reports.diff.sql import GROUP_WORDS, Group
from plimsoll.reports.markdown.markup import fitting, name, prose, table
from plimsoll.reports.printable import printable
from plimsoll.reports.record import SpecRecord
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.steps import CENT
from plimsoll.reports.terminal.plot import plain_table
from plimsoll.reports.wording import count_of, spec_text, usd

QUIET: Final = frozenset({Group.SAME, Group.OPEN, Group.UNANSWERED})
"""Groups of volumes for which nothing is new, which are counted and not listed."""

_WIDE: Final = 120
_IN_MARKDOWN: Final = 25
"""Volumes of each group that Markdown lists."""


def show_diff(console: Console, diff: Diff, most: int) -> None:
    """Prints a difference, and at most so many volumes of each group (0: all)."""
    console.print(Text(headline(diff), style="bold"))
    console.print(Text(printable(_runs(diff)), style="dim"))
    console.print(_totals(diff))
    for note in notes(diff):
        console.print(Text.assemble(("note ", "yellow"), printable(note)))
    for group, total in diff.totals.items():
        if group in QUIET:
            continue
        console.print(_listed(group, diff.listed(group, most or None), wide=console.width >= _WIDE))
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
    volumes = (one for group in diff.totals if group is not Group.SAME for one in diff.listed(group))
    begin = json.dumps(head, ensure_ascii=False, indent=1).removesuffix("\n}") + ',\n "volumes": ['
    return json_list((json.dumps(asdict(one), ensure_ascii=False) for one in volumes), begin, "]}")


def markdown_diff(diff: Diff) -> str:
    """The difference as Markdown for a ticket, as long as GitHub takes it."""
    parts = [f"# {prose(headline(diff))}\n", f"{prose(_runs(diff))}\n"]
    rows = [[name(group), prose(words), *figures] for group, words, *figures in _rows(diff)]
    rows.append(["", "all whose cost is known in both", *_figures(diff.known)])
    parts.append(table(("", "", "volumes:", "USD a month before:", "now:"), rows))
    found = "".join(f"- {prose(note)}\n" for note in notes(diff))
    parts += [found] if found else []
    for group, total in diff.totals.items():
        if group not in QUIET:
            parts += _markdown_listed(group, total.volumes, diff)
    return fitting(parts)


def _markdown_listed(group: Group, volumes: int, diff: Diff) -> Iterator[str]:
    yield f"## {prose(GROUP_WORDS[group])}\n"
    listed = (
        (
            f"{name(one.volume_id)} {name(one.name or '')}".rstrip(),
            f"{name(one.account)} {name(one.region)}",
            prose(became(one)),
            prose(money(one)),
            prose(one.why),
        )
        for one in diff.listed(group, _IN_MARKDOWN)
    )
    yield table(("volume", "where", "what", "USD a month:", "why"), listed)
    if volumes > _IN_MARKDOWN:
        yield f"{count_of(volumes - _IN_MARKDOWN, 'more volume')}: `plimsoll diff --rows 0` lists all.\n"


def _run(run: RunRecord) -> dict[str, str]:
    return {"id": run.id, "now": run.at.isoformat(), "status": run.status}


def _total(total: Total) -> dict[str, float | int | None]:
    before, after = (None if usd is None else round(usd, 2) for usd in (total.usd_before, total.usd_after))
    return {"volumes": total.volumes, "monthly_usd_before": before, "monthly_usd_after": after}


def _runs(diff: Diff) -> str:
    return " → ".join(f"{run.id} ({run.at:%Y-%m-%d %H:%M} UTC, {run.status})" for run in (diff.before, diff.after))


def _rows(diff: Diff) -> Iterator[tuple[str, ...]]:
    for group, total in diff.totals.items():
        yield group, GROUP_WORDS[group], *_figures(total)


def _figures(total: Total) -> Iterator[str]:
    yield f"{total.volumes:,}"
    for usd_month in (total.usd_before, total.usd_after):
        yield "not known" if usd_month is None else f"{usd_month:,.2f}"


def _totals(diff: Diff) -> Table:
    shown = plain_table(["", ""], ["volumes", "USD before", "USD now"], header_style="dim")
    shown.columns[1].style = "dim"
    for cells in _rows(diff):
        shown.add_row(*cells)
    shown.add_row("", "all known in both; USD a month", *_figures(diff.known), style="bold")
    return shown


def _listed(group: Group, found: Iterator[Difference], *, wide: bool) -> Table:
    shown = Table(
        title=f"{group}: {GROUP_WORDS[group]}", title_justify="left", box=None, pad_edge=False, header_style="dim"
    )
    shown.add_column("volume", overflow="fold", min_width=len("vol-0123456789abcdef0"))
    if wide:
        shown.add_column("where", overflow="fold")
    shown.add_column("what", overflow="fold")
    shown.add_column("USD a month" if wide else "USD", justify="right", no_wrap=True)
    shown.add_column("why", overflow="fold")
    for one in found:
        called = f"{one.volume_id} {one.name or ''}".rstrip()
        where = [f"{one.account} {one.region}"] if wide else []
        shown.add_row(*(Text(printable(cell)) for cell in (called, *where, became(one), money(one), one.why)))
    return shown


def headline(diff: Diff) -> str:
    """What has been saved since, and what is still open."""
    saved, left = diff.saved, diff.open_saving
    since = "Nothing saved"
    if saved.volumes:
        since = f"{usd(saved.usd)} a month saved by {count_of(saved.volumes, 'volume')} done"
    still = f"{count_of(left.volumes, 'volume')} still open, which can save {usd(left.usd)} a month"
    return f"{since} since; {still if left.volumes else 'nothing still open that can save'}."


def notes(diff: Diff) -> Iterator[str]:
    """What else differs between the runs, and what the figures leave out."""
    if diff.after.at < diff.before.at:
        yield "The second run is older than the first one."
    for run, which in ((diff.before, "first"), (diff.after, "second")):
        if run.status in {"interrupted", "running"}:
            yield f"The {which} run has not ended: a volume that it does not name may be there all the same."
    yield from _besides(diff)
    if diff.mixed:
        yield (
            f"{count_of(diff.mixed, 'volume')} changed to what the first run has no price for: what that saved may "
            "hold a change of prices."
        )
    if diff.unpriced:
        yield f"{count_of(diff.unpriced, 'done volume')} without a known price: what that saved is not in the sum."
    volumes, usd_more = diff.repriced
    if volumes:
        yield f"Prices differ: {count_of(volumes, 'volume')} of the same configuration, {_signed(usd_more)} a month."
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


def became(one: Difference) -> str:
    """What a volume was and what it is, in words."""
    match one.group:
        case Group.CHANGED:
            return f"{_answer(one.before)} → {_answer(one.after)}"
        case Group.NEW | Group.FIRST_READ | Group.OPEN | Group.WAITING | Group.SAME:
            return _answer(one.after)
        case Group.GONE | Group.NOT_READ | Group.FAILED | Group.LEFT_OUT:
            return _spec(one.before, "current")
        case Group.DONE | Group.ALTERED:
            return f"{_spec(one.before, 'current')} → {_spec(one.after, 'current') or 'gone'}"
        case Group.UNANSWERED:
            return ""


def money(one: Difference) -> str:
    """What a volume is about: what it saves since, or costs now or did before; USD a month."""
    if one.usd_saved is not None:
        return f"{usd(one.usd_saved)} saved" if one.usd_saved > -CENT else f"{usd(-one.usd_saved)} more"
    record = one.after or one.before
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


def _upgrades(found: Money) -> str:
    return count_of(found.volumes, "upgrade")


def _signed(amount: float) -> str:
    return f"{'+' if amount > 0 else ''}{usd(amount)}"
