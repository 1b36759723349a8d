"""The run folder: the journal, the files that are made of it, and run.json, the run's account of itself.

Answers are appended to the journal. The files are made when a run ends or is interrupted, or by `bring_up_to_date` at
any time.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from plimsoll.domain.errors import BadInput
from plimsoll.reading import seal
from plimsoll.reports.journal import (
    JOURNAL,
    NO_CONTENT,
    Entry,
    EntryKind,
    Held,
    Journal,
    damaged_lines,
    ends_written,
    entries,
    is_in_force,
)
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_files import RUN
from plimsoll.reports.run_reader import UnansweredRecord, damage_error, full_name, matched_records, read_run
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.run_tables import record_line, run_tables
from plimsoll.reports.totals import RunTotals
from plimsoll.writing import BESIDE, atomic_path, is_leftover, make_folder, make_private, writable

_NAMED: Final = 10
RUNNING: Final = "running"
INTERRUPTED: Final = "interrupted"
"""What run.json says of a run that has not ended, and of one that was ended early."""


@dataclass(slots=True)
class RunFolder:
    """One run's folder, which this process alone adds to; use as a context manager. An existing one is continued.

    `answered` are the ids of the volumes with a recommendation, `changed` is the number of those changed by now, and
    `damaged` are the lines of the journal that cannot be read. A folder in which nothing was noted is taken away again
    where it was new. Held where another process writes the run.
    """

    path: Path
    answered: set[str] = field(default_factory=set)
    changed: int = 0
    damaged: list[int] = field(default_factory=list)
    _journal: Journal = field(init=False, repr=False)
    _made: list[Path] = field(init=False, repr=False)

    def __enter__(self) -> "RunFolder":
        with writable(self.path):
            self._made = [place for place in (self.path, *self.path.parents) if not place.exists()]
            make_folder(self.path)
            if self._is_own():
                make_private(self.path)
        self._journal = Journal(self.path / JOURNAL).__enter__()
        try:
            if not is_in_force(self._journal.path):
                self._take_over()
            self.damaged = damaged_lines(self._journal.path)
            self._journal.note_owner()
            _remove_leftovers(self.path)
            self.answered = {record.volume_id for record in self.records()}
        except BaseException:
            self._journal.__exit__()
            raise
        return self

    def __exit__(self, *_raised: object) -> None:
        try:
            if self._is_empty():
                self._remove()
            else:
                write_files(self.path)
                self._journal.append((EntryKind.WRITTEN, NO_CONTENT))
        finally:
            self._journal.__exit__()

    def begin(self) -> None:
        """Notes that an audit begins or goes on: what was left without an answer is asked again, and told anew."""
        self._journal.append((EntryKind.BEGUN, NO_CONTENT))

    def records(self) -> Iterator[RecommendationRecord]:
        """The recommendations so far."""
        for record, *_ in _stream_answers(self._journal.path):
            yield record

    def list_open_volumes(self) -> Iterator[UnansweredRecord]:
        """The volumes that some part of the run left without an answer and that no part has answered."""
        for entry in entries(self._journal.path):
            if entry.kind is EntryKind.UNANSWERED:
                record = UnansweredRecord.model_validate_json(entry.content)
                if record.volume_id not in self.answered:
                    yield record

    def list_places(self) -> set[str]:
        """The places, each an account in a region, that some part of the run began with."""
        kept = (entry for entry in entries(self._journal.path) if entry.kind is EntryKind.SCOPE)
        return {place for entry in kept for place in json.loads(entry.content)["places"]}

    def note_places(self, places: Sequence[str]) -> None:
        """Adds the places that a part of the run begins with."""
        self._journal.append((EntryKind.SCOPE, json.dumps({"places": places}).encode()))

    def add(self, record: RecommendationRecord, profile: DemandProfileRecord | None = None) -> None:
        """Adds a recommendation, and the profile of the demand that it rests on where there is one."""
        self.answered.add(record.volume_id)
        demand = [] if profile is None else [(EntryKind.DEMAND, profile.model_dump_json().encode())]
        self._journal.append(*demand, (EntryKind.RECOMMENDATION, record_line(record)))

    def change(self, record: RecommendationRecord) -> None:
        """Puts a recommendation in the place of an earlier one of its volume."""
        self._journal.append((EntryKind.CHANGED, record_line(record)))
        self.changed += 1

    def leave_out(self, volume: UnansweredRecord) -> None:
        """Adds a volume without a recommendation."""
        self._journal.append((EntryKind.UNANSWERED, volume.model_dump_json().encode()))

    def count(self, counted: RunTotals) -> None:
        """Adds what an outcome without a recommendation counts."""
        plain = {name: value for name, value in counted.plain.items() if value}
        self._journal.append((EntryKind.TOTALS, json.dumps(plain).encode()))

    def describe(self, run: Mapping[str, Any]) -> None:
        """Writes run.json, as `write_run` does."""
        write_run(self.path, run)

    def _take_over(self) -> None:
        """Begins the journal with what the folder's files hold: those of earlier versions have none."""
        self._journal.clear()
        for record, profile in matched_records(self.path, None):
            self.add(record, profile)

    def _is_own(self) -> bool:
        """True if the folder is a run's or empty, and not one in which somebody keeps other things."""
        return any((self.path / name).exists() for name in (RUN, JOURNAL)) or not any(self.path.iterdir())

    def _is_empty(self) -> bool:
        opening = {EntryKind.OPENED, EntryKind.BEGUN, EntryKind.SCOPE}
        return not (self.path / RUN).exists() and all(entry.kind in opening for entry in entries(self._journal.path))

    def _remove(self) -> None:
        self._journal.path.unlink()
        with suppress(OSError):  # a folder with files of somebody else's stays
            for place in self._made:
                place.rmdir()


def write_run(folder: Path, run: Mapping[str, Any]) -> None:
    """Writes run.json, whole or not at all, and on the disk when this returns."""
    with atomic_path(folder / RUN) as beside, beside.open("w", encoding="utf-8") as file:
        file.write(json.dumps(seal(run), indent=2, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())


def bring_up_to_date(folder: Path) -> None:
    """Completes a run's files from its journal if they lack something, as a killed run's do.

    run.json then says that the run was interrupted. While a process still writes the run, run.json is left to it.
    BadInput if a run has ended and its journal has less than that: it was cut.
    """
    journal = folder / JOURNAL
    if not is_in_force(journal):
        return
    run = read_run(folder)
    is_running = run.status == RUNNING
    if not is_running:
        if ends_written(journal):
            return
        _check_whole(journal, run)
    try:
        with RunFolder(folder) as held:
            if is_running:
                written = (folder / RUN).stat()
                totals = _totals(journal)
                totals.note(JOURNAL, damage_texts(held.damaged))
                held.describe({**run.plain, **totals.summary(), "status": INTERRUPTED})
                os.utime(folder / RUN, ns=(written.st_atime_ns, written.st_mtime_ns))  # it is no newer for that
    except Held:
        write_files(folder)


def _check_whole(journal: Path, run: RunRecord) -> None:
    """BadInput if a journal has fewer volumes than its run counted when it ended. One that has just been gone on with
    has no failures yet."""
    counted, has = run.volumes, _totals(journal)
    missing = counted.answered - has.answered_count
    if any(True for _ in _entries_of_last_part(journal)):
        missing += counted.failed - has.failed_count
        missing += sum(counted.skipped.values()) - has.skipped.total()
    if missing > 0:
        raise BadInput(
            f"{journal} is damaged: its end is missing, with {missing:,} of the run's volumes. "
            f"`plimsoll audit --resume {journal.parent}` asks for them again."
        )


def damage_texts(lines: Sequence[int]) -> Iterator[str]:
    """Sentences for people on the damaged lines of a journal."""
    if lines:
        named = ", ".join(map(str, lines[:_NAMED])) + (", ..." if len(lines) > _NAMED else "")
        yield (
            f"{'line' if len(lines) == 1 else 'lines'} {named} of it cannot be read: the checksum does not fit. What "
            "stood there is left out; where it was an answer, `plimsoll audit --resume` asks for it again."
        )


def _remove_leftovers(folder: Path) -> None:
    """Removes the files that a killed process was writing; this process alone writes the run."""
    for path in folder.glob(f"{BESIDE}*"):
        if is_leftover(path):
            path.unlink(missing_ok=True)


def write_files(folder: Path) -> None:
    """Writes the files of a run's answers anew from its journal."""
    journal = folder / JOURNAL
    with run_tables(folder) as tables:
        for record, line, profile in _stream_answers(journal):
            tables.put(record, line, profile)
        for entry in _entries_of_last_part(journal):
            if entry.kind is EntryKind.UNANSWERED:
                tables.leave_out(UnansweredRecord.model_validate_json(entry.content))


def _stream_answers(journal: Path) -> Iterator[tuple[RecommendationRecord, bytes, bytes | None]]:
    """The recommendations of a journal, in its order: record, JSON, and the JSON of its demand. A changed one has its
    last state."""
    changed = {}
    for entry in entries(journal):
        if entry.kind is EntryKind.CHANGED:
            record = _record(journal, entry)
            changed[full_name(record)] = record, entry.content
    profile, is_after_damage, answered = None, False, set[str]()
    for entry in entries(journal):
        if entry.kind is EntryKind.DEMAND:
            profile = entry.content
        elif entry.kind is EntryKind.RECOMMENDATION:
            record = _record(journal, entry)
            name, lost = full_name(record), profile is None and is_after_damage and record.demand is not None
            if name not in answered and not lost:  # without its demand it is only half an answer: it is asked for again
                answered.add(name)
                yield *changed.get(name, (record, entry.content)), profile
        if entry.kind is not EntryKind.DEMAND:
            profile = None
        is_after_damage = entry.kind is EntryKind.DAMAGED


def _totals(journal: Path) -> RunTotals:
    """The totals of a run by its journal."""
    totals = RunTotals.add_up(record for record, *_ in _stream_answers(journal))
    for entry in _entries_of_last_part(journal):
        if entry.kind is EntryKind.TOTALS:
            totals.merge(RunTotals.parse(json.loads(entry.content)))
    return totals


def _entries_of_last_part(journal: Path) -> Iterator[Entry]:
    """The entries since an audit last began or went on."""
    begun, before = 0, None
    for entry in entries(journal):
        # What is damaged right after a process began to write said most likely that an audit began.
        if entry.kind is EntryKind.BEGUN or (entry.kind is EntryKind.DAMAGED and before is EntryKind.OPENED):
            begun = entry.end
        before = entry.kind
    return (entry for entry in entries(journal) if entry.end > begun)


def _record(journal: Path, entry: Entry) -> RecommendationRecord:
    try:
        return RecommendationRecord.model_validate_json(entry.content)
    except ValidationError as error:
        raise damage_error(journal, "has a recommendation that this version cannot read") from error
