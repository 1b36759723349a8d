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
class ChangeVerdict:
    """The verdict on one volume, with what it rests on.

    `promise` and `observed` are shares of false alarms, `placebo_weeks` those that `observed` was counted on. Both are
    of the same level: 1 % for worse and better, 5 % for hold and no slower.
    """

    code: VerdictCode
    reason: str  # a code, as `stopped-minutes` or `host-changed`
    text: str
    is_direct: bool = False  # by stopped minutes, without statistics
    hours_watched: int = 0  # with evidence
    busy_hours_seen: int = 0
    busy_hours: int = 0
    siblings: int = 0
    statistic: float = 0.0  # the highest so far
    slower_pct: float | None = None  # the mean; None without evidence
    stopped_minutes: float = 0.0  # since the request, beyond those of the past weeks
    promise: float = 0.0
    observed: float | None = None
    placebo_weeks: int = 0
    is_own_calibration: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupVerdict:
    """The verdict on a wave, and those on its members by volume id.

    `named` are the members with the highest statistic, the first to go back where the wave holds.
    """

    verdict: ChangeVerdict
    members: tuple[tuple[str, ChangeVerdict], ...]
    named: tuple[str, ...] = ()
    controls: int = 0
    permutation_p: float | None = None  # None with fewer than ten controls

    @property
    def may_go_on(self) -> bool:
        """The next wave may begin."""
        return self.verdict.code in {VerdictCode.NO_SLOWER, VerdictCode.BETTER}


@dataclass(frozen=True, slots=True, kw_only=True)
class HourlySignal:
    """A volume's latency in each hour: the mean of its operations, and of the slowest minute; NaN where it has none."""

    mean_latency_us: FloatArray
    highest_latency_us: FloatArray
    operations: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Void:
    """An event in the watch that makes a comparison with the time before impossible."""

    hour: int  # since the epoch
    reason: str  # a code, as `host-changed`, `restarted`, `workload-shifted`
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeWatch:
    """A changed volume's hours from six weeks before its change until now. All arrays begin at `start_hour`.

    `stopped_minutes` are the minutes of each hour in which the configuration then in force stopped the volume, by the
    cloud's own check or by replay, and after the change only those that the old one would have carried. NaN where
    neither says.
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

    @property
    def end_hour(self) -> int:
        """The hour after the last one."""
        return self.start_hour + len(self.stopped_minutes)
