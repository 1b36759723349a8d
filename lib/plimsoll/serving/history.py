"""The history of a volume: what each run recommended for it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from plimsoll.domain.errors import BadInput
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_files import RUN
from plimsoll.reports.run_reader import audited_at, find_record, read_run

MOST_RUNS: Final = 60
"""How many runs are looked through, the newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastAnswer:
    """What a run recommended, and when it was made."""

    run: str
    at: datetime
    record: RecommendationRecord


def history_of(volume: str, runs_dir: Path) -> Iterator[PastAnswer]:
    """What the runs of a folder recommended for a volume (account/region/id), the newest first.

    What cannot be read, and runs that do not have the volume, are passed over.
    """
    for at, folder in sorted(_runs(runs_dir), reverse=True)[:MOST_RUNS]:
        try:
            record = find_record(folder, volume)
        except BadInput:
            continue
        if record is not None:
            yield PastAnswer(run=folder.name, at=at, record=record)


def _runs(runs_dir: Path) -> Iterator[tuple[datetime, Path]]:
    for path in runs_dir.glob(f"*/{RUN}"):
        try:
            yield audited_at(read_run(path.parent)), path.parent
        except (BadInput, KeyError, TypeError, ValueError):
            continue
