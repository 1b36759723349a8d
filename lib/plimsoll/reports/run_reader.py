"""Readers of a run's folder as a stream: memory does not grow with the fleet."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from plimsoll.files import CHECKSUMS, is_as_written, open_file, parse_json, read_bytes
from plimsoll.model.errors import BadInput
from plimsoll.model.units import MIB
from plimsoll.model.volume_names import NamedVolume, NameSearch, choose_volume, nearest_hint, quote_word
from plimsoll.reports.record import FIRST_PROVIDER, DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_files import DEMAND, RECOMMENDATIONS, RUN, UNANSWERED
from plimsoll.reports.run_record import RunBegun, RunRecord, run_begun, run_of

_PLAIN: Final = re.compile(r"[A-Za-z0-9._-]+")
"""An id that JSON writes as it is."""

MOST_LIST_BYTES: Final = 4096 * MIB
"""Bytes of a list of recommendations that another tool has laid out anew, which is read at once."""

_UNLIKE: Final = f"is damaged, or {CHECKSUMS} beside it is: its checksum does not fit"

_RECORDS = TypeAdapter(list[RecommendationRecord], config=ConfigDict(defer_build=True))


class UnansweredRecord(BaseModel):
    """A volume without a recommendation, and why: one line of unanswered.jsonl."""

    model_config = ConfigDict(extra="forbid", defer_build=True, frozen=True)

    account: str
    region: str
    volume_id: str
    outcome: Literal["skipped", "failed"]
    reason: str
    provider: str = FIRST_PROVIDER


Only = Callable[[RecommendationRecord], bool]
Matched = tuple[RecommendationRecord, DemandProfileRecord | None]

_Run = TypeVar("_Run", RunRecord, RunBegun)
_Line = TypeVar("_Line", bound=BaseModel)


def stream_records(folder: Path, only: Only | None = None) -> Iterator[RecommendationRecord]:
    """The recommendations of a run so far that `only` takes; none if the run has not begun. BadInput if damaged."""
    path = folder / RECOMMENDATIONS
    if not path.exists():
        return
    try:
        if _has_lines(path):
            _check(path)
            records: Iterable[RecommendationRecord] = _read_lines(path)
        else:
            records = _read_list(path)
        yield from records if only is None else filter(only, records)
    except (OSError, ValidationError) as error:
        raise damage_error(path, "is not a list of recommendations") from error


def _records_naming(folder: Path, volume: str) -> Iterator[RecommendationRecord]:
    """The recommendations of a run in whose text an id, its beginning or a name stands: others need not be parsed."""
    path, named = folder / RECOMMENDATIONS, volume.rpartition("/")[2]
    try:
        if _PLAIN.fullmatch(named) is None or not path.exists() or not _has_lines(path):
            yield from stream_records(folder)
            return
        _check(path)
        yield from _read_lines(path, naming=named.encode("ascii"))
    except (OSError, ValidationError) as error:
        raise damage_error(path, "is not a list of recommendations") from error


def read_records(folder: Path) -> list[RecommendationRecord]:
    """All of `stream_records`."""
    return list(stream_records(folder))


def find_record(folder: Path, volume: str) -> RecommendationRecord | None:
    """A volume's recommendation in a run, by what people call it (`volume_names`); None where the run has none.

    BadInput lists the volumes where several are called so, also those without a recommendation.
    """
    search = NameSearch[RecommendationRecord | None](volume)
    for record in _records_naming(folder, volume):
        search.see(name_of_record(record), record)
    if not search.is_exact:
        for unanswered in stream_unanswered(folder):
            search.see(name_of_record(unanswered), None)
    return search.choose()


def find_absence(folder: Path, volume: str, listed: str, last: str = "") -> str:
    """The reason why a run has no recommendation of a volume, and what to do.

    Where no volume is nearly called so, `listed` says where to look; `last` ends the sentence on an unknown one.
    """
    unanswered = choose_volume(volume, ((name_of_record(record), record) for record in stream_unanswered(folder)))
    if unanswered is not None:
        return f"{unanswered.volume_id} has no recommendation in {folder}: {unanswered.reason}"
    near = nearest_hint(volume, map(name_of_record, stream_records(folder)))
    return f"there is no volume {quote_word(volume)} in {folder}: {near or listed}{last}"


def stream_profiles(folder: Path) -> Iterator[DemandProfileRecord]:
    """The demand profiles of a run's volumes; a volume whose metrics were not read has none.

    BadInput where the file is damaged; what a killed run left of a last line is no damage.
    """
    yield from _lines(folder / DEMAND, DemandProfileRecord)


def matched_records(folder: Path, only: Only | None) -> Iterator[Matched]:
    """A run's records with their profiles, None where a volume has none; only those that `only` takes, where it is
    given.

    Both files are in the order in which the volumes were answered. So they are read side by side, and neither is held
    in memory. Errors are as of `stream_records`.
    """
    yield from match_profiles(stream_records(folder), stream_profiles(folder), only, whole=not _was_killed(folder))


def match_profiles(
    records: Iterable[RecommendationRecord],
    profiles: Iterator[DemandProfileRecord],
    only: Only | None = None,
    *,
    whole: bool = True,
) -> Iterator[Matched]:
    """Records that `only` takes, or all, with their profiles, which are in the same order.

    BadInput if a profile is nobody's, and both are `whole`.
    """
    profile = next(profiles, None)
    for record in records:
        own_profile = profile if profile is not None and full_name(record) == full_name(profile) else None
        if own_profile is not None:
            profile = next(profiles, None)
        if only is None or only(record):
            yield record, own_profile
    if whole and profile is not None:
        raise BadInput(
            f"{DEMAND} is damaged: it has demand of {full_name(profile)}, which {RECOMMENDATIONS} lacks there. "
            "Take another copy of the run, or run again."
        )


def find_profile(folder: Path, volume: str) -> DemandProfileRecord | None:
    """A volume's demand profile in a run, by its id or as account/region/id; None where the run has none."""
    profiles = (profile for profile in stream_profiles(folder) if volume in {profile.volume_id, full_name(profile)})
    return choose_volume(volume, ((name_of_record(profile), profile) for profile in profiles))


def stream_unanswered(folder: Path) -> Iterator[UnansweredRecord]:
    """The volumes of a run that have no recommendation; errors as of `stream_profiles`."""
    yield from _lines(folder / UNANSWERED, UnansweredRecord)


def full_name(volume: RecommendationRecord | DemandProfileRecord | UnansweredRecord) -> str:
    """The unambiguous name of a volume: account/region/id."""
    return f"{volume.account}/{volume.region}/{volume.volume_id}"


def name_of_record(volume: RecommendationRecord | DemandProfileRecord | UnansweredRecord) -> NamedVolume:
    """The name of a record's volume, with its Name tag where the record has it."""
    return NamedVolume(volume.account, volume.region, volume.volume_id, getattr(volume, "name", None))


def damage_error(path: Path, fault: str = "is damaged") -> BadInput:
    """The error for a run's file that cannot be read, and what to do. A run being written is waited for."""
    try:
        running = read_run(path.parent).status == "running"
    except BadInput:
        running = False
    if running:
        return BadInput(
            f"{path} {fault}, because its run is still being written: wait until that has ended. Where nothing writes "
            "it any more, move the folder away and run again."
        )
    return BadInput(f"{path} {fault}: move the folder away and run again.")


def read_run(folder: Path) -> RunRecord:
    """The run.json of a run; BadInput where there is none."""
    return _parse_run(folder, run_of)


def read_begun(folder: Path) -> RunBegun:
    """The beginning of a run, which may be all that its run.json has; BadInput where it lacks that."""
    return _parse_run(folder, run_begun)


def _parse_run(folder: Path, parse: Callable[[bytes], _Run]) -> _Run:
    try:
        return parse(read_bytes(folder / RUN))
    except (OSError, TypeError, ValueError, AttributeError, LookupError) as error:
        why = f" ({fault})" if (fault := _fault_of(error)) else ""
        raise BadInput(
            f"{folder} holds no readable {RUN}{why}: give the folder of a run, such as one under plimsoll-runs."
        ) from error


def _fault_of(error: Exception) -> str:
    """The fault of a file that is there and is no run's JSON; empty if it is just that."""
    if isinstance(error, FileNotFoundError | json.JSONDecodeError):
        return ""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error.strerror) if isinstance(error, OSError) else str(error)


def check_files(folder: Path) -> None:
    """BadInput if a file of a run's answers is not as it was written; one that another tool laid out anew is."""
    for name in (RECOMMENDATIONS, DEMAND, UNANSWERED):
        path = folder / name
        try:
            if path.exists() and name == RECOMMENDATIONS and not _has_lines(path):
                _read_list(path)
            elif path.exists():
                _check(path)
        except (OSError, ValidationError) as error:
            raise damage_error(path) from error


def _check(path: Path) -> None:
    """BadInput for a file that is not as it was written, OSError for what is no file."""
    if not is_as_written(path):
        raise damage_error(path, _UNLIKE)


def _read_list(path: Path) -> list[RecommendationRecord]:
    """The recommendations of a file that another tool has laid out anew."""
    content = read_bytes(path, MOST_LIST_BYTES)
    records = _RECORDS.validate_json(content)
    lines = ",".join(f"\n{json.dumps(record, ensure_ascii=False)}" for record in parse_json(content))
    if not is_as_written(path, f"[{lines}\n]\n".encode()):
        raise damage_error(path, _UNLIKE)
    return records


def _has_lines(path: Path) -> bool:
    """True if each recommendation has a line of its own, as runs are written; other tools may lay JSON out anew."""
    with open_file(path) as file:
        return next(file, b"") == b"[\n" and next(file, b"")[:1] in {b"{", b"]"}


def _read_lines(path: Path, naming: bytes = b"") -> Iterator[RecommendationRecord]:
    """Yields the records of a list that Plimsoll wrote, a line each; only lines that contain `naming`."""
    with open_file(path) as file:
        next(file)
        for line in file:
            if line == b"]\n":
                return
            if naming in line:
                yield RecommendationRecord.model_validate_json(line.removesuffix(b"\n").removesuffix(b","))
    raise damage_error(path, "ends in the middle")


def _lines(path: Path, kind: type[_Line]) -> Iterator[_Line]:
    if not path.exists():
        return
    try:
        _check(path)
        with open_file(path) as file:
            for line in file:
                if not line.endswith(b"\n"):
                    if _was_killed(path.parent):
                        return
                    raise damage_error(path, "is damaged: its last line is cut")
                yield kind.model_validate_json(line)
    except (OSError, ValidationError) as error:
        raise damage_error(path) from error


def _was_killed(folder: Path) -> bool:
    """True if a run of an earlier version may have been killed inside a file. Today's are written whole."""
    if (folder / CHECKSUMS).exists():
        return False
    try:
        return read_run(folder).status in {"running", "interrupted"}
    except BadInput:
        return True
