"""Tables of a run: its records as CSV, and each table with its columns.

The table of a run: recommendations.csv, which a spreadsheet opens as text and figures and never as formulas.

The files that are made of a run's answers.

recommendations.json and .csv have the recommendations, demand.jsonl has what each volume was asked for over time, and
unanswered.jsonl has the volumes without a recommendation. checksums.json has what these were when they were written.
"""

import csv
import fcntl
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, Final

from pydantic import BaseModel

from plimsoll.files import atomic_path, note_checksums, writable
from plimsoll.reports.printable import printable
from plimsoll.reports.record import BlockerRecord, DemandProfileRecord, LossRecord, RecommendationRecord
from plimsoll.reports.run_files import DEMAND, RECOMMENDATIONS, TABLE, UNANSWERED
from plimsoll.reports.run_reader import UnansweredRecord
from plimsoll.reports.steps import step_of
from plimsoll.reports.wording import risk_level

_BLANK: Final = r"[\s\u200b-\u200f\u2060\ufeff\x00-\x1f\"'\u2018-\u201f]*"
"""What a spreadsheet may drop before it looks at a cell's first sign: blanks, signs without width, and quotes."""

_RUNS: Final = re.compile(
    rf"(?P<before>^|[;\t\r\n\v\f\x00\x85\u2028\u2029])(?={_BLANK}[=+\-@\uff1d\uff0b\uff0d\uff20])"
)
"""A formula at the beginning of a cell, or where one begins for a spreadsheet that splits cells at other signs: many
countries' do at semicolons, and then know no quotes around the cell, so that a line's end begins a cell as well."""

_BEGINS: Final = ("\t", "\r", "\n", "\x00")
"""What may not begin a cell whatever follows it."""


FORMULAS: Final = {"runs": _RUNS.pattern.replace("(?P<", "(?<"), "begins": "".join(_BEGINS)}
"""The same for a page's scripts, whose table of rows is to be as harmless."""


def inert(text: str) -> str:
    """The text with an apostrophe before whatever would be a formula; text that harms nobody stands as it is."""
    harmless = _RUNS.sub(lambda match: f"{match['before']}'", text)
    return f"'{harmless}" if harmless.startswith(_BEGINS) else harmless


ENCODING: Final = "utf-8-sig"
"""UTF-8 that says so at its beginning: without that, Excel takes it for the machine's own encoding."""

CSV_COLUMNS: Final = (
    ("account", "account"),
    ("region", "region"),
    ("zone", "zone"),
    ("volume_id", "volume_id"),
    ("name", "name"),
    ("hosts", "hosts"),
    ("step", ""),
    ("action", "action"),
    ("current_type", "current.type"),
    ("current_size_gib", "current.size_gib"),
    ("current_iops", "current.iops"),
    ("current_throughput_mib_s", "current.throughput_mib_s"),
    ("target_type", "target.type"),
    ("target_size_gib", "target.size_gib"),
    ("target_iops", "target.iops"),
    ("target_throughput_mib_s", "target.throughput_mib_s"),
    ("monthly_usd_now", "monthly_usd_now"),
    ("monthly_usd_then", "monthly_usd_then"),
    ("monthly_usd_saved", "monthly_usd_saved"),
    ("monthly_usd_saved_drop_in", "monthly_usd_saved_drop_in"),
    ("peak_iops", "demand.peak_iops"),
    ("peak_throughput_mib_s", "demand.peak_throughput_mib_s"),
    ("mean_iops", "demand.mean_iops"),
    ("mean_throughput_mib_s", "demand.mean_throughput_mib_s"),
    ("throttled_minutes", "demand.throttled_minutes"),
    ("censored", "demand.censored"),
    ("hours_observed", "demand.hours_observed"),
    ("evidence_grade", "evidence.grade"),
    ("evidence", "evidence.text"),
    ("owner_kind", "owner.kind"),
    ("owner_name", "owner.name"),
    ("stripe_set", "stripe_set.name"),
    ("blockers", "blockers"),
    ("reasons", "reasons"),
    ("change", "change"),
    ("tags", "tags"),
    ("provider", "provider"),
    ("pool", "pool"),
    ("peak_second_iops", "demand.peak_second_iops"),
    ("peak_second_throughput_mib_s", "demand.peak_second_throughput_mib_s"),
    ("coverage_pct", "demand.coverage_pct"),
    ("disputed_hours", "demand.disputed_hours"),
    ("series_received_pct", "demand.series_received_pct"),
    ("wait_until", "wait.until"),
    ("wait_code", "wait.code"),
    ("wait_monthly_usd_saved", "wait.monthly_usd_saved"),
    ("relief_monthly_usd", "relief.monthly_usd"),
    ("risk_promised_pct", "risk.promised_pct"),
    ("risk", "risk.text"),
    ("template_kind", "template.kind"),
    ("template_name", "template.name"),
    ("template_device", "template.device"),
    ("template_held", "template.held"),
    ("risk_level", ""),
    ("risk_allowed_pct", "risk.allowed_pct"),
    ("cuts", "cuts"),
    ("losses", "losses"),
    ("reason_codes", "reason_codes"),
    ("too_risky_monthly_usd_saved", "too_risky.monthly_usd_saved"),
    ("too_risky_promised_pct", "too_risky.risk.promised_pct"),
)
"""Each column's name, and where its figure is in a record; that of `_FOUND` is in none."""

_FOUND: Final[Mapping[str, Callable[[RecommendationRecord], str | None]]] = {"step": step_of, "risk_level": risk_level}
"""What is found of a record, by column."""


def header() -> list[str]:
    """The names of the columns."""
    return [name for name, _ in CSV_COLUMNS]


def row(record: RecommendationRecord) -> list[str]:
    """A record's cells."""
    return [cell(_value(record, path) if path else _FOUND[name](record)) for name, path in CSV_COLUMNS]


def model_lines(model: type[BaseModel], records: Iterable[BaseModel]) -> Iterator[str]:
    """Records as the lines of a CSV file, with the model's keys as columns."""
    names = list(model.model_fields)
    yield csv_line(names)
    for record in records:
        yield csv_line(cell(_value(record, name)) for name in names)


def csv_line(cells: Iterable[str]) -> str:
    """A line of a CSV file, quoted where it must be."""
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


def cell(value: object) -> str:
    """A value as a spreadsheet takes it: a number stays a number, text is text, and what is not known is empty."""
    if value is None:
        return ""
    return str(value) if isinstance(value, int | float | Decimal) else inert(printable(str(value)))


def _value(record: BaseModel, path: str) -> Any:
    """The value at a dotted path of a record, lists joined; None if a part of the way is missing."""
    value: Any = record
    for part in path.split("."):
        value = None if value is None else getattr(value, part)
    if isinstance(value, dict):
        value = [f"{key}={entry}" for key, entry in value.items()]
    if not isinstance(value, list):
        return value
    return "; ".join(map(_entry_text, value))


def _entry_text(entry: object) -> str:
    """The text of an entry in a list's cell: a blocker's sentence, a loss's code, or the text itself."""
    match entry:
        case BlockerRecord():
            return entry.text
        case LossRecord():
            return entry.code
        case _:
            return str(entry)


@dataclass(slots=True)
class RunTables:
    """The files of a run's answers, open for adding."""

    _list: IO[bytes]
    _table: IO[bytes]
    _demand: IO[bytes]
    _unanswered: IO[bytes]
    _before: bytes = b"["

    def add(self, record: RecommendationRecord, profile: DemandProfileRecord | None) -> None:
        """Adds a recommendation, and the profile of the demand that it rests on where there is one."""
        self.put(record, record_line(record), None if profile is None else profile.model_dump_json().encode())

    def put(self, record: RecommendationRecord, line: bytes, profile: bytes | None) -> None:
        """Adds a record and its profile, as `add`, from their JSON."""
        if profile is not None:
            self._demand.write(profile + b"\n")
        self._list.write(self._before + b"\n" + line)
        self._before = b","
        self._table.write(csv_line(row(record)).encode())

    def leave_out(self, volume: UnansweredRecord) -> None:
        """Adds a volume without a recommendation."""
        self._unanswered.write(volume.model_dump_json().encode() + b"\n")

    def end(self) -> None:
        """Closes the list."""
        self._list.write((self._before if self._before == b"[" else b"") + b"\n]\n")


@contextmanager
def run_tables(folder: Path) -> Iterator[RunTables]:
    """The files of a run's answers, written anew: they take the place of earlier ones when the block ends well.

    One process at a time writes those of a folder, and others wait for it.
    """
    names = RECOMMENDATIONS, TABLE, DEMAND, UNANSWERED
    with _lock_folder(folder):
        with ExitStack() as stack:
            listed, table, demand, unanswered = (stack.enter_context(_open_whole(folder / name)) for name in names)
            table.write(csv_line(header()).encode(ENCODING))
            tables = RunTables(listed, table, demand, unanswered)
            yield tables
            tables.end()
        note_checksums(folder, names)


def record_line(record: RecommendationRecord) -> bytes:
    """A record as recommendations.json has it."""
    return json.dumps(record.model_dump(mode="json"), ensure_ascii=False).encode()


@contextmanager
def _open_whole(path: Path) -> Iterator[IO[bytes]]:
    with atomic_path(path) as beside, beside.open("wb") as file:
        yield file


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Locks a folder against other writers until the block ends; waits for them."""
    with writable(folder):
        place = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)
