"""The printed states: on a terminal, as JSON, and as CSV that a spreadsheet opens as text."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from plimsoll.files import write_lines
from plimsoll.reports.csv_table import ENCODING, inert
from plimsoll.reports.printable import printable
from plimsoll.reports.terminal.plot import plain_table
from plimsoll.reports.wording import usd
from plimsoll_bill.states.report import StatesReport, count_by_state
from plimsoll_bill.states.rows import STATE_ROWS, StateRecord

STATES_JSON: Final = "states.json"
STATES_CSV: Final = "states.csv"
_COLUMNS: Final = tuple(StateRecord.model_fields)
"""The columns of states.csv: the keys of a line."""

_PARTS: Final = ("paid", "used", "now", "proof", "owner", "unknown")
_HEADS: Final = ("paid", "used", "now", "with proof", "owner's word", "not known")


def write_states(folder: Path, report: StatesReport) -> None:
    """Writes both files into a run's folder."""
    write_lines(state_json_lines(report), folder / STATES_JSON, "utf-8")
    write_lines(state_csv_lines(report), folder / STATES_CSV, ENCODING)


def state_json_lines(report: StatesReport) -> Iterator[str]:
    """The report as JSON."""
    yield json.dumps(report.plain, indent=2, ensure_ascii=False) + "\n"


def state_csv_lines(report: StatesReport) -> Iterator[str]:
    """The states as CSV, a line each; a list has one part a line of its cell."""
    yield _csv_line(list(_COLUMNS))
    for record in report.records:
        plain = record.model_dump(mode="json")
        yield _csv_line([inert(printable(_cell(plain[name]))) for name in _COLUMNS])


def _csv_line(cells: list[str]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return "; ".join(f"{part['code']}: {part['text']}" if isinstance(part, dict) else str(part) for part in value)
    return str(value)


def show_states(console: Console, report: StatesReport, most: int) -> None:
    """Prints the picture, the states, and at most `most` lines (0: all)."""
    picture = plain_table(["type", "state"], [f"{head} a month" if head == "paid" else head for head in _HEADS])
    for row in report.picture:
        words = STATE_ROWS[row.state].words if row.state in STATE_ROWS else row.state
        picture.add_row(printable(row.type), words, *(usd(getattr(row, part) / 100) for part in _PARTS))
    sums = [sum(getattr(row, part) for row in report.picture) for part in _PARTS]
    picture.add_row("together", "", *(usd(cents / 100) for cents in sums), style="bold")
    console.print(picture)
    counted = plain_table(["state"], ["lines", "paid a month", "saved at least", "at most"])
    for words, count, paid, least, at_most in count_by_state(report.records):
        counted.add_row(words, f"{count:,}", usd(paid), usd(least), usd(at_most))
    console.print(counted)
    for name, why in report.unread.items():
        console.print(Text.assemble(("not read ", "yellow"), printable(f"{name}: {why}")), soft_wrap=True)
    for record in report.records[: most or None]:
        console.print(Text(printable(_line(record))), soft_wrap=True)
    if most and len(report.records) > most:
        console.print(Text(f"{len(report.records) - most:,} more; --rows 0 shows all.", style="dim"))


def _line(record: StateRecord) -> str:
    """One thing in a state, in a sentence."""
    name = record.ids[0] if len(record.ids) == 1 else f"{record.ids[0]} and {len(record.ids) - 1:,} more"
    called = f"{name} {record.name or ''}".rstrip()
    target = f" to {record.target}" if record.target else ""
    parts = [f"{called} ({STATE_ROWS[record.state].words}): {record.action}{target}{_money(record)}"]
    parts += [f"  why: {'; '.join(record.evidence)}"] if record.evidence else []
    parts += [f"  given up: {'; '.join(record.gives_up)}"] if record.gives_up else []
    parts += [f"  missing: {lack.text}" for lack in record.lacks]
    parts += [f"  {command}" for command in record.commands]
    return "\n".join([*parts, f"  way back: {_way_back(record)}"])


def _money(record: StateRecord) -> str:
    least, most = record.monthly_usd_saved_least, record.monthly_usd_saved_most
    if most is None:
        return ""
    if least is None or least == most:
        return f", {usd(most)} a month"
    return f", {usd(least)} to {usd(most)} a month"


def _way_back(record: StateRecord) -> str:
    parts = [record.way_back or "none"]
    parts += [f"{usd(record.way_back_usd)}"] if record.way_back_usd else []
    parts += [f"about {record.way_back_hours:g} hours"] if record.way_back_hours else []
    return ", ".join(parts)
