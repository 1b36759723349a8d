"""The files that are made of a run's answers.

recommendations.json and .csv have the recommendations, demand.jsonl has what each volume was asked for over time, and
unanswered.jsonl has the volumes without a recommendation. checksums.json has what these were when they were written.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from plimsoll.reports.checksums import note_checksums
from plimsoll.reports.csv_table import ENCODING, csv_line, header, row
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_files import DEMAND, RECOMMENDATIONS, TABLE, UNANSWERED
from plimsoll.reports.run_reader import UnansweredRecord
from plimsoll.writing import atomic_path, writable


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
    with writable(folder):
        place = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)
