"""The run folder: recommendations.json and .csv written as a stream, and run.json with the run's account of itself.

recommendations.json is a complete JSON list after every recommendation, so a run that is killed keeps what it had.
"""

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from pydantic import ConfigDict, TypeAdapter, ValidationError

from plimsoll.domain.errors import BadInput
from plimsoll.reports.record import RecommendationRecord

RECOMMENDATIONS: Final = "recommendations.json"
TABLE: Final = "recommendations.csv"
RUN: Final = "run.json"

_END: Final = b"\n]\n"
_RECORDS = TypeAdapter(list[RecommendationRecord], config=ConfigDict(defer_build=True))

_COLUMNS: Final = (
    ("account", "account"),
    ("region", "region"),
    ("volume_id", "volume_id"),
    ("name", "name"),
    ("action", "action"),
    ("current_type", "current.type"),
    ("current_size_gib", "current.size_gib"),
    ("current_iops", "current.iops"),
    ("current_throughput_mib_s", "current.throughput_mib_s"),
    ("target_type", "target.type"),
    ("target_iops", "target.iops"),
    ("target_throughput_mib_s", "target.throughput_mib_s"),
    ("monthly_usd_now", "monthly_usd_now"),
    ("monthly_usd_then", "monthly_usd_then"),
    ("monthly_usd_saved", "monthly_usd_saved"),
    ("monthly_usd_saved_at_parity", "monthly_usd_saved_at_parity"),
    ("peak_iops", "demand.peak_iops"),
    ("peak_throughput_mib_s", "demand.peak_throughput_mib_s"),
    ("censored", "demand.censored"),
    ("hours_observed", "demand.hours_observed"),
    ("evidence_grade", "evidence.grade"),
    ("owner_kind", "owner.kind"),
    ("owner_name", "owner.name"),
    ("stripe_set", "stripe_set.name"),
    ("blockers", "blockers"),
    ("reasons", "reasons"),
)


@dataclass(slots=True)
class RunFolder:
    """One run's folder, open for adding; use as a context manager. An existing one is continued."""

    path: Path
    answered: set[str] = field(default_factory=set)
    _json: IO[bytes] = field(init=False, repr=False)
    _csv: IO[str] = field(init=False, repr=False)

    def __enter__(self) -> "RunFolder":
        self.path.mkdir(parents=True, exist_ok=True)
        known = [json.loads(record.model_dump_json()) for record in read_records(self.path)]
        self.answered = {record["volume_id"] for record in known}
        self._json = (self.path / RECOMMENDATIONS).open("w+b")
        self._json.write(b"[" + _END)
        self._csv = (self.path / TABLE).open("w", encoding="utf-8", newline="")
        csv.writer(self._csv).writerow([name for name, _ in _COLUMNS])
        for record in known:
            self._append(record)
        self.flush()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._json.close()
        self._csv.close()

    def add(self, record: RecommendationRecord) -> None:
        """Adds a recommendation to both files."""
        self.answered.add(record.volume_id)
        self._append(record.model_dump(mode="json"))

    def flush(self) -> None:
        """Hands what was added to the operating system."""
        self._json.flush()
        self._csv.flush()

    def describe(self, run: Mapping[str, Any]) -> None:
        """Writes run.json, whole or not at all."""
        written = self.path / f"{RUN}.new"
        written.write_text(json.dumps(run, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        written.replace(self.path / RUN)

    def _append(self, record: Mapping[str, Any]) -> None:
        self._json.seek(-len(_END), 2)
        comma = b"" if self._json.tell() == 1 else b","
        self._json.write(comma + b"\n" + json.dumps(record, ensure_ascii=False).encode() + _END)
        csv.writer(self._csv).writerow([_cell(record, path) for _, path in _COLUMNS])


def read_records(folder: Path) -> list[RecommendationRecord]:
    """The recommendations of a run so far; none where the run has not begun; BadInput where the file is damaged."""
    path = folder / RECOMMENDATIONS
    if not path.exists():
        return []
    try:
        return _RECORDS.validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise BadInput(f"{path} is not a list of recommendations: move the folder away and run again.") from error


def replace_records(folder: Path, changed: Mapping[str, RecommendationRecord]) -> None:
    """Puts other recommendations in the place of a run's own, by volume id; the folder is whole at any time."""
    records = [changed.get(record.volume_id, record) for record in read_records(folder)]
    beside = folder / "replaced"
    with RunFolder(beside) as written:
        for record in records:
            written.add(record)
    for name in (RECOMMENDATIONS, TABLE):
        (beside / name).replace(folder / name)
    beside.rmdir()


def read_run(folder: Path) -> dict[str, Any]:
    """The run.json of a run; BadInput where there is none."""
    try:
        return {**json.loads((folder / RUN).read_text(encoding="utf-8"))}
    except (OSError, TypeError, ValueError) as error:
        raise BadInput(
            f"{folder} holds no readable {RUN}: give the folder of a run, such as one under plimsoll-runs."
        ) from error


def find_record(folder: Path, volume_id: str) -> RecommendationRecord | None:
    """A volume's recommendation in a run, None where the run has none."""
    return next((record for record in read_records(folder) if record.volume_id == volume_id), None)


def _cell(record: Mapping[str, Any], path: str) -> str:
    value: Any = record
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if value is None:
        return ""
    return _inert(
        "; ".join(_words(value)) if isinstance(value, list) else str(value), numeric=isinstance(value, int | float)
    )


def _words(values: list[Any]) -> Iterator[str]:
    return (value["text"] if isinstance(value, Mapping) else str(value) for value in values)


def _inert(text: str, *, numeric: bool) -> str:
    """Text that a spreadsheet shows and does not run: names come from tags, and tags from anybody."""
    return text if numeric or not text.startswith(("=", "+", "-", "@", "\t", "\r")) else f"'{text}"
