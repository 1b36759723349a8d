"""What a run's folder holds, read as a stream: memory does not grow with the fleet."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from plimsoll.domain.errors import BadInput
from plimsoll.reports.profile_record import DemandProfileRecord
from plimsoll.reports.record import RecommendationRecord

RECOMMENDATIONS: Final = "recommendations.json"
TABLE: Final = "recommendations.csv"
DEMAND: Final = "demand.jsonl"
UNANSWERED: Final = "unanswered.jsonl"
RUN: Final = "run.json"
PAGE: Final = "report.html"
MARKDOWN: Final = "report.md"

_RECORDS = TypeAdapter(list[RecommendationRecord], config=ConfigDict(defer_build=True))


class UnansweredRecord(BaseModel):
    """A volume without a recommendation, and why: one line of unanswered.jsonl."""

    model_config = ConfigDict(extra="forbid", defer_build=True, frozen=True)

    account: str
    region: str
    volume_id: str
    outcome: Literal["skipped", "failed"]
    reason: str


_Line = TypeVar("_Line", bound=BaseModel)


def stream_records(folder: Path) -> Iterator[RecommendationRecord]:
    """The recommendations of a run so far; none where the run has not begun; BadInput where the file is damaged."""
    path = folder / RECOMMENDATIONS
    if not path.exists():
        return
    try:
        yield from _by_line(path) if _has_lines(path) else _RECORDS.validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise BadInput(f"{path} is not a list of recommendations: move the folder away and run again.") from error


def read_records(folder: Path) -> list[RecommendationRecord]:
    """All of `stream_records`."""
    return list(stream_records(folder))


def find_record(folder: Path, volume_id: str) -> RecommendationRecord | None:
    """A volume's recommendation in a run, None where the run has none."""
    return next((record for record in stream_records(folder) if record.volume_id == volume_id), None)


def stream_profiles(folder: Path) -> Iterator[DemandProfileRecord]:
    """The demand profiles of a run's volumes; a volume whose metrics were not read has none.

    BadInput where the file is damaged; what a killed run left of a last line is no damage.
    """
    yield from _lines(folder / DEMAND, DemandProfileRecord)


def find_profile(folder: Path, volume_id: str) -> DemandProfileRecord | None:
    """A volume's demand profile in a run, None where the run has none."""
    return next((found for found in stream_profiles(folder) if found.volume_id == volume_id), None)


def stream_unanswered(folder: Path) -> Iterator[UnansweredRecord]:
    """The volumes of a run that have no recommendation; errors as of `stream_profiles`."""
    yield from _lines(folder / UNANSWERED, UnansweredRecord)


def read_run(folder: Path) -> dict[str, Any]:
    """The run.json of a run; BadInput where there is none."""
    try:
        return {**json.loads((folder / RUN).read_text(encoding="utf-8"))}
    except (OSError, TypeError, ValueError) as error:
        raise BadInput(
            f"{folder} holds no readable {RUN}: give the folder of a run, such as one under plimsoll-runs."
        ) from error


def _has_lines(path: Path) -> bool:
    """Whether each recommendation has a line of its own, as runs are written; other tools may lay JSON out anew."""
    with path.open("rb") as file:
        return next(file, b"") == b"[\n" and next(file, b"")[:1] in {b"{", b"]"}


def _by_line(path: Path) -> Iterator[RecommendationRecord]:
    with path.open("rb") as file:
        next(file)
        for line in file:
            if line == b"]\n":
                return
            yield RecommendationRecord.model_validate_json(line.removesuffix(b"\n").removesuffix(b","))
    raise BadInput(f"{path} ends in the middle: move the folder away and run again.")


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
                raise BadInput(f"{path} is damaged: move the folder away and run again.") from error
