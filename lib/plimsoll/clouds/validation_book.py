"""The book of validations: what was measured with which verdict. `validations.jsonl` has a line for each."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.clouds.local_store import append_line, lines_of
from plimsoll.decide.evidence import FailedMeasurement
from plimsoll.files import atomic_path
from plimsoll.model.ceiling import Ceiling, Resource
from plimsoll.model.envelope import DELIVERED, SIMULATED_TOOL, locate, name_own
from plimsoll.model.volume import VolumeSpec

VALIDATIONS_FILE: Final = "validations.jsonl"


_MADE: Final = {"canary": "for", "copy": "on a copy of", "in-place": "on"}
"""How what was measured stands to the volume, by mode."""


class ValidationLine(BaseModel):
    """One verdict, as it is kept. Rates are per second, money is USD."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    id: str
    at: datetime
    class_key: str
    mode: Literal["canary", "copy", "in-place"]
    account: str
    region: str
    zone: str
    volume_id: str
    serves: list[str]
    spec: VolumeSpec
    ceiling_iops: float
    ceiling_throughput_mib_s: float
    need_iops: float
    need_throughput_mib_s: float
    bench_host: str
    bench_host_type: str
    passed: bool
    reasons: list[str]
    failures: list[str]
    shown_iops: float
    shown_throughput_mib_s: float
    p99_latency_us: float | None
    too_slow: bool
    bench_limited: list[Resource] = []
    simulated: bool
    campaign: str
    usd: float | None
    seconds: Annotated[float, Field(ge=0)]

    @property
    def cited(self) -> str:
        """The name of its measurement, with the volume that it was made for."""
        day = self.at.date()
        return name_own((day, day), f"{_MADE[self.mode]} {self.volume_id}")

    def failed_measurement(self, folder: str) -> FailedMeasurement | None:
        """The failed measurement that this verdict is: a configuration delivered too little or too late. None if it is
        not.

        `folder` is where people open its campaign.

        A measurement in place was held to a rate beside another load, and speaks against nothing. Nor does what the
        bench did not let through.
        """
        shown = {Resource.IOPS: self.shown_iops, Resource.THROUGHPUT: self.shown_throughput_mib_s}
        should = {Resource.IOPS: self.ceiling_iops, Resource.THROUGHPUT: self.ceiling_throughput_mib_s}
        needed = {Resource.IOPS: self.need_iops, Resource.THROUGHPUT: self.need_throughput_mib_s}
        short_of = {
            side: carried
            for side, carried in shown.items()
            if carried < DELIVERED * min(should[side], needed[side]) and side not in self.bench_limited
        }
        if self.passed or self.mode == "in-place" or not (short_of or self.too_slow):
            return None
        return FailedMeasurement(
            account=self.account,
            region=self.region,
            spec=self.spec,
            ceiling=Ceiling(iops=self.ceiling_iops, throughput_mib_s=self.ceiling_throughput_mib_s),
            measured_on=self.at.date(),
            delivered=short_of,
            volume_id=self.volume_id if self.too_slow else None,
            source=locate(
                f"{self.cited} ({SIMULATED_TOOL if self.simulated else 'fio'})", f"{folder}/{self.campaign}.yaml"
            ),
            text=f"{self.spec} was measured here on {self.at:%Y-%m-%d} and did not pass: {'; '.join(self.failures)}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationBook:
    """Verdicts in a folder, which is made when something is written. `at` is where people open it, if elsewhere."""

    folder: Path
    at: str | None = None

    def lines(self) -> Iterator[ValidationLine]:
        """Every verdict so far, oldest first; BadInput for a damaged line."""
        return lines_of(self.folder / VALIDATIONS_FILE, ValidationLine, "validation")

    def add(self, line: ValidationLine) -> None:
        """Notes a verdict: one line, handed to the disk at once."""
        append_line(self.folder / VALIDATIONS_FILE, line.model_dump_json())

    def keep(self, campaign: Path, line: ValidationLine) -> None:
        """Keeps a verdict and the file of its campaign, beside it; doing it again changes nothing."""
        with atomic_path(self.folder / campaign.name) as beside:
            shutil.copyfile(campaign, beside)
        if all(kept.id != line.id for kept in self.lines()):
            self.add(line)

    def failed_measurements(self) -> tuple[FailedMeasurement, ...]:
        """The failed measurements by all verdicts; a later verdict on the same class stands over an earlier one."""
        latest: dict[tuple[str, str | None], FailedMeasurement | None] = {}
        for line in self.lines():
            found = line.failed_measurement(self.at or str(self.folder))
            latest[line.class_key, found.volume_id if found else None] = found
            if line.passed:
                latest[line.class_key, line.volume_id] = None
        return tuple(found for found in latest.values() if found is not None)
