"""The run folder: the journal, the files that are made of it, and run.json, the run's account of itself.

Answers are appended to the journal. The files are made when a run ends or is interrupted, or by `bring_up_to_date` at
any time.

The journal of a run: every answer, appended to one file, from which the run's other files are made.

A line is a JSON object with one entry and the CRC-32 of that entry's bytes:

    {"crc32":"9ae0daaf","n":17,"recommendation":{...}}

Lines are numbered, so that one that is there twice counts once; those of earlier versions are not.

A line is with the operating system when `append` returns: a killed process loses none. It is on the disk at the latest
SYNC_S seconds later: a machine that fails loses those of its last second. Lines at the end that were cut or spoiled by
that are cut off by who goes on. A spoiled line before whole ones costs itself: it is an entry of the kind DAMAGED.
"""

import fcntl
import json
import os
import socket
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from pydantic import ValidationError

from plimsoll.files import (
    BESIDE,
    OWN_FILE,
    atomic_path,
    is_leftover,
    make_folder,
    make_private,
    open_file,
    seal,
    writable,
)
from plimsoll.model.errors import BadInput
from plimsoll.reports.csv_table import record_line, run_tables
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_files import RUN
from plimsoll.reports.run_reader import UnansweredRecord, damage_error, full_name, matched_records, read_run
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.totals import RunTotals

JOURNAL: Final = "journal.jsonl"


class EntryKind(StrEnum):
    """The kind of an entry."""

    OPENED = "opened"
    """A process began to write: its id, its host, and when."""
    BEGUN = "begun"
    """An audit began or went on: totals and volumes without an answer before this are asked for again."""
    SCOPE = "scope"
    """The places, each an account in a region, that a part of the run began with."""
    TOTALS = "totals"
    """What an outcome without a recommendation adds to the run's totals."""
    UNANSWERED = "unanswered"
    DEMAND = "demand"
    """The demand that the next recommendation rests on."""
    RECOMMENDATION = "recommendation"
    CHANGED = "changed"
    """A recommendation that takes the place of an earlier one of its volume."""
    WRITTEN = "written"
    """The run's other files hold everything before this."""
    DAMAGED = "damaged"
    """A line whose checksum does not fit; its content is its number in the file. Nobody writes such."""


NO_CONTENT: Final = b"{}"
"""The content of an entry that says nothing but its kind."""

SYNC_S: Final = 1.0
"""Seconds after which what was appended is on the disk: one write of the disk a second, however many volumes."""

_BEFORE: Final = b'{"crc32":"'
_BODY: Final = len(_BEFORE) + 8 + len(b'",')
_END: Final = b"}\n"
_NUMBER: Final = b'"n":'


class Entry(NamedTuple):
    """One entry: its kind, its content as JSON, where in the file its line ends, in bytes, and its number if it has
    one."""

    kind: EntryKind
    content: bytes
    end: int
    number: int | None = None


class Held(BadInput):
    """Another process is writing the run."""


def entries(path: Path) -> Iterator[Entry]:
    """The entries of a journal up to its last whole line, each once; BadInput if it is no file."""
    spoiled: list[Entry] = []
    last = -1
    with _open_journal(path) as file:
        end = 0
        for place, line in enumerate(file, start=1):
            end += len(line)
            entry = _entry(line, end)
            if entry is None:
                spoiled.append(Entry(EntryKind.DAMAGED, b"%d" % place, end))
                continue
            yield from spoiled
            spoiled.clear()
            if entry.number is not None and entry.number <= last:
                continue  # the line is there twice
            last = last if entry.number is None else entry.number
            yield entry


def damaged_lines(path: Path) -> list[int]:
    """The numbers of the lines of a journal that are damaged, before its last whole one."""
    return [int(entry.content) for entry in entries(path) if entry.kind is EntryKind.DAMAGED]


@contextmanager
def _open_journal(path: Path) -> Iterator[IO[bytes]]:
    try:
        with open_file(path) as file:
            yield file
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from error


def is_in_force(path: Path) -> bool:
    """True if a process got as far as to write this journal, as far as can be read."""
    return path.exists() and any(entry.kind in {EntryKind.OPENED, EntryKind.DAMAGED} for entry in entries(path))


def ends_written(path: Path) -> bool:
    """True if the run's other files hold all of the journal."""
    with _open_journal(path) as file:
        file.seek(max(0, path.stat().st_size - _MOST_WRITTEN))
        last = file.read().splitlines(keepends=True)[-1:]
    entry = _entry(last[0], 0) if last else None
    return entry is not None and entry.kind is EntryKind.WRITTEN


_MOST_WRITTEN: Final = 100
"""Bytes of the line that says so, at most."""


@dataclass(slots=True)
class Journal:
    """A journal that this process alone may write; use as a context manager.

    Held where another process writes it: the kernel gives a journal free with the process that had it. BadInput where
    there can be no file, DiskFull where there is no room for a line: then none of it stays.
    """

    path: Path
    _file: int = field(init=False, repr=False)
    _thread: threading.Thread = field(init=False, repr=False)
    _ended: threading.Event = field(default_factory=threading.Event, init=False, repr=False)
    _unsynced: bool = field(default=False, init=False, repr=False)
    _failed: OSError | None = field(default=None, init=False, repr=False)
    _next: int = field(default=1, init=False, repr=False)

    def __enter__(self) -> "Journal":
        with writable(self.path):
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, OWN_FILE)
        try:
            self._lock()
            with writable(self.path):
                end = 0
                for entry in entries(self.path):
                    end, self._next = entry.end, max(self._next, (entry.number or 0) + 1)
                os.ftruncate(self._file, end)
        except BaseException:
            os.close(self._file)
            raise
        self._thread = threading.Thread(target=self._sync_each_second, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._ended.set()
        self._thread.join()
        try:
            self.sync()
        finally:
            os.close(self._file)

    def append(self, *added: tuple[EntryKind, bytes]) -> None:
        """Adds entries, each a kind and its content as JSON: all of them or none."""
        lines = b"".join(_line(entry, number) for number, entry in enumerate(added, start=self._next))
        with writable(self.path):
            self._raise_failed()
            size = os.fstat(self._file).st_size
            try:
                written = 0
                while written < len(lines):
                    written += os.write(self._file, lines[written:])
            except OSError:
                os.ftruncate(self._file, size)
                raise
        self._next += len(added)
        self._unsynced = True

    def clear(self) -> None:
        """Takes every entry away."""
        with writable(self.path):
            os.ftruncate(self._file, 0)

    def note_owner(self) -> None:
        """Notes that this process writes from here on."""
        owner = {
            "process": os.getpid(),
            "host": socket.gethostname(),
            "at": datetime.now(UTC).isoformat("T", "seconds"),
        }
        self.append((EntryKind.OPENED, json.dumps(owner).encode()))

    def sync(self) -> None:
        """Has what was appended written to the disk, and waits for that."""
        with writable(self.path):
            self._raise_failed()
            os.fsync(self._file)

    def _sync_each_second(self) -> None:
        """Writes the journal to disk each second until it ends; an error is kept for the next writer."""
        while not self._ended.wait(SYNC_S):
            if self._unsynced and self._failed is None:
                self._unsynced = False
                try:
                    os.fsync(self._file)
                except OSError as error:
                    self._failed = error

    def _raise_failed(self) -> None:
        """Raises the error of an earlier write to the disk to the next caller that appends."""
        if self._failed is not None:
            raise self._failed

    def _lock(self) -> None:
        """Locks the journal. Raises Held if another process writes it, and says which."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Held(
                f"{self.path.parent} is being written by {_owner(self.path)}: wait until that has ended, or end it."
            ) from error
        except OSError as error:
            raise BadInput(
                f"{self.path.parent} cannot be kept to one process ({error.strerror}): give a folder on another disk."
            ) from error


def _owner(path: Path) -> str:
    """Who writes a journal, in words."""
    noted = [json.loads(entry.content) for entry in entries(path) if entry.kind is EntryKind.OPENED][-1:]
    return (
        "".join(f"process {process['process']} on {process['host']} since {process['at']}" for process in noted)
        or "another process"
    )


def _line(added: tuple[EntryKind, bytes], number: int) -> bytes:
    kind, content = added
    body = b'"n":%d,"%b":%b' % (number, kind.encode(), content)
    return b'%b%08x",%b%b' % (_BEFORE, zlib.crc32(body), body, _END)


def _entry(line: bytes, end: int) -> Entry | None:
    """The entry of a line; None where the line is not whole."""
    body = line[_BODY : -len(_END)]
    if line != b'%b%08x",%b%b' % (_BEFORE, zlib.crc32(body), body, _END):
        return None
    number = None
    if body.startswith(_NUMBER):
        digits, _, body = body.removeprefix(_NUMBER).partition(b",")
        number = int(digits)
    kind, _, content = body.partition(b":")
    name = kind.strip(b'"').decode("ascii", errors="replace")
    return Entry(EntryKind(name), content, end, number) if name in set(EntryKind) else None  # a later version's


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
        """Removes the journal and the folders that this made; a folder with other files stays."""
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


def has_ended(folder: Path) -> bool:
    """True if nothing writes a run any more, or goes on with it."""
    return read_run(folder).status not in {RUNNING, "interrupted"}


def note_in_run(folder: Path, **parts: Any) -> None:
    """Notes parts in the run.json of a run that has ended, whose reports show them."""
    write_run(folder, {**read_run(folder).plain, **parts})


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


def is_written_whole(folder: Path, run: RunRecord) -> bool:
    """True if a run has ended, and its files hold all of its journal. Nothing is written."""
    journal = folder / JOURNAL
    return run.status != RUNNING and (not is_in_force(journal) or ends_written(journal))


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
            f"{'line' if len(lines) == 1 else 'lines'} {named} of it cannot be read: the checksum does not "
            "fit. They are left out; `plimsoll audit --resume` asks for lost answers again."
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
