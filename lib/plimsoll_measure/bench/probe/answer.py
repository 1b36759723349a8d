"""The answer of a probe: one line of JSON, as the domain's values."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from plimsoll.demand.seconds import Exceeded, LatencyBin, Peak, RateHistogram, SecondsSeen, Source
from plimsoll.model.ceiling import Resource
from plimsoll.model.errors import NotMeasured
from plimsoll_measure.bench.answer import parse_report

_Count = Annotated[int, Field(ge=0)]
_Rate = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _VolumeAnswer(BaseModel):
    """A host's answer about one volume."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    volume: str
    device: str
    source: Literal["nvme", "diskstats", ""]
    seconds: _Count
    missed_s: _Count
    restarts: _Count
    operations: _Count
    bytes: _Count
    spent_us: _Count
    peaks: dict[Literal["iops", "bytes_s"], tuple[_Rate, _Count]]
    ratio: Annotated[float, Field(gt=1, allow_inf_nan=False)]
    bins: dict[Literal["iops", "bytes_s"], list[tuple[Annotated[int, Field(ge=-1, le=10_000)], _Count]]]
    most_queue: _Count
    mean_queue: _Rate | None
    exceeded: dict[str, tuple[_Count, _Count]] | None
    latency_us: Annotated[list[list[tuple[_Count, _Count, _Count]]], Field(min_length=2, max_length=2)] | None

    def to_seconds_seen(self, began: datetime) -> SecondsSeen:
        """The answer as the domain's value."""
        reads, writes = self.latency_us or (None, None)
        return SecondsSeen(
            volume_id=self.volume,
            began=began,
            source=Source(self.source),
            seconds=self.seconds,
            missed_s=self.missed_s,
            restarts=self.restarts,
            iops=self._rates("iops"),
            bytes_s=self._rates("bytes_s"),
            most_queue=self.most_queue,
            mean_queue=self.mean_queue or 0.0,
            mean_latency_us=self.spent_us / self.operations if self.operations else None,
            exceeded_volume=self._exceedances("volume"),
            exceeded_host=self._exceedances("host"),
            reads=_bins(reads),
            writes=_bins(writes),
        )

    def _rates(self, name: Literal["iops", "bytes_s"]) -> RateHistogram:
        rate, at_s = self.peaks[name]
        peak = Peak(rate=rate, at=datetime.fromtimestamp(at_s, UTC))
        return RateHistogram(peak=peak, ratio=self.ratio, bins=dict(self.bins[name]))

    def _exceedances(self, whose: str) -> Mapping[Resource, Exceeded] | None:
        if self.exceeded is None:
            return None
        sides = {Resource.IOPS: f"{whose}_iops", Resource.THROUGHPUT: f"{whose}_throughput"}
        nothing = (0, 0)  # what is counted and never rose
        return {
            side: Exceeded(us=us, seconds=seconds)
            for side, name in sides.items()
            for us, seconds in [self.exceeded.get(name, nothing)]
        }


class _Answer(BaseModel):
    mode: Literal["probe"]
    began_s: _Count
    volumes: list[_VolumeAnswer]
    absent: list[str]


def read_probe(output: str) -> tuple[Sequence[SecondsSeen], Sequence[str]]:
    """The seconds that a host saw of its volumes, and the volumes without a device or a second.

    Raises NotMeasured, with the reason, if the output has no answer.
    """
    try:
        answer = _Answer.model_validate(parse_report(output))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "it"
        raise NotMeasured(
            f"the host's answer cannot be used: {where}: {first['msg']}. Probe again with this version."
        ) from error
    began = datetime.fromtimestamp(answer.began_s, UTC)
    seen = [volume.to_seconds_seen(began) for volume in answer.volumes if volume.seconds]
    return seen, [*answer.absent, *(volume.volume for volume in answer.volumes if not volume.seconds)]


def _bins(rows: list[tuple[int, int, int]] | None) -> tuple[LatencyBin, ...] | None:
    if rows is None:
        return None
    return tuple(LatencyBin(lower_us=lower, upper_us=upper, count=count) for lower, upper, count in rows)
