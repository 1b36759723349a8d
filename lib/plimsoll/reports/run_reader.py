"""What a run's folder holds, read as a stream: memory does not grow with the fleet."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from plimsoll.domain.errors import BadInput
from plimsoll.reports.record import FIRST_PROVIDER, DemandProfileRecord, RecommendationRecord, run_of
from plimsoll.reports.run_files import DEMAND, RECOMMENDATIONS, RUN, UNANSWERED

_PLAIN: Final = re.compile(r"[A-Za-z0-9._-]+")
"""An id that JSON writes as it is."""

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

_Line = TypeVar("_Line", bound=BaseModel)
_Volume = TypeVar("_Volume", RecommendationRecord, DemandProfileRecord)


def stream_records(folder: Path, only: Only | None = None) -> Iterator[RecommendationRecord]:
    """The recommendations of a run so far, those that `only` takes where it is given; none where the run has not begun;
    BadInput where the file is damaged.
    """
    path = folder / RECOMMENDATIONS
    if not path.exists():
        return
    try:
        found = _by_line(path) if _has_lines(path) else _RECORDS.validate_json(path.read_bytes())
        yield from found if only is None else filter(only, found)
    except (OSError, ValidationError) as error:
        raise damaged(path, "is not a list of recommendations") from error


def _records_naming(folder: Path, volume: str) -> Iterator[RecommendationRecord]:
    """The recommendations of a run in whose text a volume's id stands: others need not be parsed."""
    path, named = folder / RECOMMENDATIONS, volume.rpartition("/")[2]
    if _PLAIN.fullmatch(named) is None or not path.exists() or not _has_lines(path):
        yield from stream_records(folder)
        return
    try:
        yield from _by_line(path, naming=named.encode("ascii"))
    except (OSError, ValidationError) as error:
        raise damaged(path, "is not a list of recommendations") from error


def read_records(folder: Path) -> list[RecommendationRecord]:
    """All of `stream_records`."""
    return list(stream_records(folder))


def find_record(folder: Path, volume: str) -> RecommendationRecord | None:
    """A volume's recommendation in a run, by its id or as account/region/id; None where the run has none.

    BadInput where several volumes have that id.
    """
    return _only_one(volume, _records_naming(folder, volume))


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
    yield from matched(stream_records(folder), stream_profiles(folder), only)


def matched(
    records: Iterable[RecommendationRecord], profiles: Iterator[DemandProfileRecord], only: Only | None = None
) -> Iterator[Matched]:
    """Records, those that `only` takes where it is given, with their profiles, which are in the same order."""
    profile = next(profiles, None)
    for record in records:
        found = profile if profile is not None and full_name(record) == full_name(profile) else None
        if found is not None:
            profile = next(profiles, None)
        if only is None or only(record):
            yield record, found


def find_profile(folder: Path, volume: str) -> DemandProfileRecord | None:
    """A volume's demand profile in a run, None where the run has none; names and errors as of `find_record`."""
    return _only_one(volume, stream_profiles(folder))


def stream_unanswered(folder: Path) -> Iterator[UnansweredRecord]:
    """The volumes of a run that have no recommendation; errors as of `stream_profiles`."""
    yield from _lines(folder / UNANSWERED, UnansweredRecord)


def full_name(volume: RecommendationRecord | DemandProfileRecord | UnansweredRecord) -> str:
    """What names a volume where its id alone may not: account/region/id."""
    return f"{volume.account}/{volume.region}/{volume.volume_id}"


def ambiguous(volume: str, full_names: Sequence[str]) -> BadInput:
    """That several volumes have an id, and what they are called in full."""
    return BadInput(f"{volume} is the id of {len(full_names)} volumes of this run: give {' or '.join(full_names)}.")


def damaged(path: Path, told: str = "is damaged") -> BadInput:
    """The error for a run's file that cannot be read, with what to do: a run that is still being written is waited
    for."""
    try:
        running = read_run(path.parent).get("status") == "running"
    except BadInput:
        running = False
    if running:
        return BadInput(
            f"{path} {told}, because its run is still being written: wait until that has ended. Where nothing writes "
            "it any more, move the folder away and run again."
        )
    return BadInput(f"{path} {told}: move the folder away and run again.")


def read_run(folder: Path) -> dict[str, Any]:
    """The run.json of a run; BadInput where there is none."""
    try:
        return run_of((folder / RUN).read_bytes())
    except (OSError, TypeError, ValueError) as error:
        raise BadInput(
            f"{folder} holds no readable {RUN}: give the folder of a run, such as one under plimsoll-runs."
        ) from error


def audited_at(run: Mapping[str, Any]) -> datetime:
    """The time, in UTC, that a run's figures are of; KeyError, TypeError and ValueError where it says none."""
    return datetime.fromisoformat(run["now"]).astimezone(UTC)


def _only_one(volume: str, among: Iterable[_Volume]) -> _Volume | None:
    found = [one for one in among if volume in {one.volume_id, full_name(one)}]
    if len(found) > 1:
        raise ambiguous(volume, [full_name(one) for one in found])
    return found[0] if found else None


def _has_lines(path: Path) -> bool:
    """Whether each recommendation has a line of its own, as runs are written; other tools may lay JSON out anew."""
    with path.open("rb") as file:
        return next(file, b"") == b"[\n" and next(file, b"")[:1] in {b"{", b"]"}


def _by_line(path: Path, naming: bytes = b"") -> Iterator[RecommendationRecord]:
    with path.open("rb") as file:
        next(file)
        for line in file:
            if line == b"]\n":
                return
            if naming in line:
                yield RecommendationRecord.model_validate_json(line.removesuffix(b"\n").removesuffix(b","))
    raise damaged(path, "ends in the middle")


def _lines(path: Path, kind: type[_Line]) -> Iterator[_Line]:
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                return
            try:
                yield kind.model_validate_json(line)
            except ValidationError as error:
                raise damaged(path) from error
