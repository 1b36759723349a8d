"""The book of probes: what hosts saw of their volumes by the second. `probes.jsonl` has a line for each volume."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from plimsoll.clouds.local_store import append_line, lines_of
from plimsoll.demand.seconds import SecondsSeen

PROBES_FILE: Final = "probes.jsonl"


class ProbeLine(BaseModel):
    """The counts of one volume by a probe. Account and region are empty for a device of this machine."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    account: str
    region: str
    host_id: str
    seen: SecondsSeen


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeBook:
    """The book of probes: a file in a folder, which is made when something is written."""

    folder: Path

    def add(self, line: ProbeLine) -> None:
        """Notes what was seen of a volume; doing it again changes nothing."""
        if line not in self.lines():
            append_line(self.folder / PROBES_FILE, line.model_dump_json())

    def lines(self) -> Iterator[ProbeLine]:
        """All that was seen so far, oldest first; BadInput for a damaged line."""
        return lines_of(self.folder / PROBES_FILE, ProbeLine, "probe")

    def latest_of_each(self) -> dict[tuple[str, str, str], SecondsSeen]:
        """The latest counts of each probed volume, by account, region and id."""
        return {(line.account, line.region, line.seen.volume_id): line.seen for line in self.lines()}

    def latest(self, volume_id: str, account: str, region: str) -> ProbeLine | None:
        """The latest line about a volume; None if it was never probed."""
        found = None
        for line in self.lines():
            if (line.seen.volume_id, line.account, line.region) == (volume_id, account, region):
                found = line
        return found
