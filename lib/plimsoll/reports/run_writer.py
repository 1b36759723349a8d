"""The run folder, written as a stream: recommendations.json and .csv, demand.jsonl with what each volume was asked for
over time, unanswered.jsonl with the volumes that have no recommendation, and run.json with the run's account of itself.

recommendations.json is a complete JSON list after every recommendation, so a run that is killed keeps what it had.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from plimsoll.reports.csv_table import ENCODING, csv_line, header, row
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_reader import (
    DEMAND,
    RECOMMENDATIONS,
    RUN,
    TABLE,
    UNANSWERED,
    UnansweredRecord,
    stream_profiles,
    stream_records,
)

_END: Final = b"\n]\n"
_FILES: Final = (DEMAND, UNANSWERED, RECOMMENDATIONS, TABLE)
"""In the order in which they are handed to the operating system: what is answered there has its demand there."""


@dataclass(slots=True)
class RunFolder:
    """One run's folder, open for adding; use as a context manager. An existing one is continued.

    What was left without an answer is asked again by who continues, so that unanswered.jsonl begins anew.
    """

    path: Path
    answered: set[str] = field(default_factory=set)
    _files: dict[str, IO[bytes]] = field(init=False, repr=False)

    def __enter__(self) -> "RunFolder":
        self.path.mkdir(parents=True, exist_ok=True)
        self._files = {name: self._beside(name).open("w+b") for name in _FILES}
        try:
            self._take_over()
        except BaseException:
            self.__exit__()
            for name in _FILES:
                self._beside(name).unlink()
            raise
        for name in _FILES:
            self._beside(name).replace(self.path / name)
        return self

    def __exit__(self, *_raised: object) -> None:
        for file in self._files.values():
            file.close()

    def add(self, record: RecommendationRecord, profile: DemandProfileRecord | None = None) -> None:
        """Adds a recommendation, and the profile of the demand that it rests on where there is one.

        The profile is handed over first: what is answered on disk has its demand there.
        """
        self.answered.add(record.volume_id)
        if profile is not None:
            self._write(DEMAND, profile)
            self._files[DEMAND].flush()
        listed = self._files[RECOMMENDATIONS]
        listed.seek(-len(_END), 2)
        comma = b"" if listed.tell() == 1 else b","
        listed.write(comma + b"\n" + record_line(record) + _END)
        self._files[TABLE].write(csv_line(row(record)).encode())

    def leave_out(self, volume: UnansweredRecord) -> None:
        """Adds a volume without a recommendation."""
        self._write(UNANSWERED, volume)

    def flush(self) -> None:
        """Hands what was added to the operating system."""
        for file in self._files.values():
            file.flush()

    def describe(self, run: Mapping[str, Any]) -> None:
        """Writes run.json, whole or not at all."""
        written = self._beside(RUN)
        written.write_text(json.dumps(run, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        written.replace(self.path / RUN)

    def _take_over(self) -> None:
        self._files[RECOMMENDATIONS].write(b"[" + _END)
        self._files[TABLE].write(csv_line(header()).encode(ENCODING))
        for record in stream_records(self.path):
            self.add(record)
        for profile in stream_profiles(self.path):
            if profile.volume_id in self.answered:
                self._write(DEMAND, profile)
        self.flush()

    def _beside(self, name: str) -> Path:
        return self.path / f"{name}.new"

    def _write(self, name: str, line: DemandProfileRecord | UnansweredRecord) -> None:
        self._files[name].write(line.model_dump_json().encode() + b"\n")


def record_line(record: RecommendationRecord) -> bytes:
    """A record as recommendations.json has it."""
    return json.dumps(record.model_dump(mode="json"), ensure_ascii=False).encode()


def replace_records(folder: Path, changed: Mapping[str, RecommendationRecord]) -> None:
    """Puts other recommendations in the place of a run's own, by volume id; the folder is whole at any time."""
    beside = folder / "replaced"
    with RunFolder(beside) as written:
        for record in stream_records(folder):
            written.add(changed.get(record.volume_id, record))
    for name in (RECOMMENDATIONS, TABLE):
        (beside / name).replace(folder / name)
    shutil.rmtree(beside)
