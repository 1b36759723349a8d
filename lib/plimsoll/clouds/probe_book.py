"""The book of probes: what hosts saw of their volumes by the second. `probes.jsonl` has a line for each volume."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from plimsoll.domain.errors import BadInput
from plimsoll.domain.metrics.seconds_seen import SecondsSeen

LINES: Final = "probes.jsonl"


class ProbeLine(BaseModel):
    """What was seen of one volume. Account and region are empty where a device of this machine was looked at."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    account: str
    region: str
    host_id: str
    seen: SecondsSeen


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeBook:
    """What was seen, in a folder, which is made when something is written."""

    folder: Path

    def add(self, line: ProbeLine) -> None:
        """Notes what was seen of a volume; doing it again changes nothing."""
        if line in self.lines():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / LINES).open("a", encoding="utf-8") as into:
            into.write(line.model_dump_json() + "\n")
            into.flush()
            os.fsync(into.fileno())

    def lines(self) -> Iterator[ProbeLine]:
        """All that was seen so far, oldest first; BadInput for a damaged line."""
        path = self.folder / LINES
        if not path.exists():
            return
        with path.open(encoding="utf-8") as written:
            for number, line in enumerate(written, start=1):
                try:
                    yield ProbeLine.model_validate_json(line)
                except ValidationError as error:
                    raise BadInput(
                        f"line {number} of {path} is no probe ({error.errors()[0]['msg']}): remove that line."
                    ) from error

    def latest_of_each(self) -> dict[tuple[str, str, str], SecondsSeen]:
        """What was seen last of each volume that was probed, by account, region and id."""
        return {(line.account, line.region, line.seen.volume_id): line.seen for line in self.lines()}

    def latest(self, volume_id: str, account: str, region: str) -> ProbeLine | None:
        """What was seen of a volume last, None where it was never probed."""
        found = None
        for line in self.lines():
            if (line.seen.volume_id, line.account, line.region) == (volume_id, account, region):
                found = line
        return found
