"""Watches: what a changed volume and its unchanged siblings did, hour by hour, and the verdict on it."""

from dataclasses import dataclass
from enum import StrEnum

from plimsoll.model.arrays import FloatArray


class VerdictCode(StrEnum):
    """The verdicts on a change, or on a wave."""

    WATCHING = "watching"  # nothing can be told yet
    WORSE = "worse"
    HOLD = "hold"
    NO_SLOWER = "no-slower"
    BETTER = "better"
    CANNOT_TELL = "cannot-tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on one volume, with what it rests on.

    `promise` and `observed` are shares of false alarms, `placebo_weeks` those that `observed` was counted on.
    """

    code: VerdictCode
    reason: str  # a code, as `stopped-minutes` or `host-changed`
    text: str
    is_direct: bool = False  # by stopped minutes, without statistics
    hours_watched: float = 0.0
    busy_hours_seen: int = 0
    busy_hours: int = 0
    siblings: int = 0
    promise: float = 0.0
    observed: float | None = None
    placebo_weeks: int = 0
    is_own_calibration: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HourlySignal:
    """A volume's latency in each hour: the mean of its operations, and of the slowest minute; NaN where it has none."""

    mean_latency_us: FloatArray
    highest_latency_us: FloatArray
    operations: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Void:
    """Something that happened in the watch and makes a comparison with the time before impossible."""

    hour: int  # since the epoch
    reason: str  # a code, as `host-changed`, `restarted`, `workload-shifted`
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """A changed volume's hours from six weeks before its change until now. All arrays begin at `start_hour`.

    `stopped_minutes` are the minutes of each hour in which the volume was stopped and would not have been before, by
    the cloud's own check or by replay; NaN where neither says.
    """

    volume_id: str
    start_hour: int  # since the epoch
    requested_hour: int
    completed_hour: int | None  # None while the cloud still moves data
    signal: HourlySignal
    stopped_minutes: FloatArray
    budget_minutes: float  # of the watch: the most of 15, the policy's and the promised
    siblings: tuple[HourlySignal, ...] = ()
    voids: tuple[Void, ...] = ()
