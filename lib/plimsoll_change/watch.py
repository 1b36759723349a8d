"""Watches: what a changed volume and its unchanged siblings did, hour by hour, and the verdict on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from plimsoll.model.arrays import FloatArray

WEEK_H: Final = 168
PAST_WEEKS: Final = 6
PAST_H: Final = PAST_WEEKS * WEEK_H


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

    `observed` is the share of false alarms that was counted on `placebo_weeks` at the thresholds that ship.
    """

    code: VerdictCode
    reason: str  # a code, as `stopped-minutes` or `host-changed`
    text: str
    is_direct: bool = False  # by stopped minutes, without statistics
    hours_watched: int = 0  # with evidence
    busy_hours_seen: int = 0
    busy_hours: int = 0
    siblings: int = 0  # or controls of a wave
    statistic: float = 0.0  # the highest so far
    slower_pct: float | None = None  # the mean; None without evidence
    stopped_minutes: float = 0.0  # since the request, beyond those of the past weeks
    promise: float = 0.0  # of false alarms: 1 % for worse and better, 5 % for hold and no slower
    observed: float | None = None  # None if nobody counted
    placebo_weeks: int = 0
    own_weeks: int = 0  # placebos of the account
    is_own_calibration: bool = False  # by these alone


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupVerdict:
    """The verdict on a wave. `named` are the members that go back where it holds."""

    verdict: ChangeVerdict
    named: tuple[str, ...] = ()

    @property
    def may_go_on(self) -> bool:
        """The next wave may begin."""
        return self.verdict.code in {VerdictCode.NO_SLOWER, VerdictCode.BETTER}


@dataclass(frozen=True, slots=True, kw_only=True)
class HourlySignal:
    """A volume's hours: the mean latency of its operations, that of the slowest minute, and how many there were.

    NaN where a volume has none.
    """

    latency_us: FloatArray  # [mean or highest, hour]
    operations: FloatArray

    def cut(self, at: slice) -> "HourlySignal":
        """The signal of some hours."""
        return HourlySignal(latency_us=self.latency_us[:, at], operations=self.operations[at])


@dataclass(frozen=True, slots=True, kw_only=True)
class Void:
    """An event in the watch that makes a comparison with the time before impossible."""

    hour: int  # since the epoch
    reason: str  # a code, as `host-changed`, `restarted`, `workload-shifted`
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeWatch:
    """A changed volume's hours: all arrays are by hour, from six weeks before its request until now.

    `stopped_minutes` are those in which the configuration then in force stopped the volume, by the cloud's own check or
    by replay, and after the request only those that the old one would have carried. NaN where neither says.
    """

    volume_id: str
    requested_hour: int  # since the epoch
    completed_hour: int | None  # None while the cloud still moves data
    signal: HourlySignal
    stopped_minutes: FloatArray
    budget_minutes: float  # of the watch: the most of 15, the policy's and the promised
    siblings: tuple[HourlySignal, ...] = ()
    voids: tuple[Void, ...] = ()

    @property
    def end_hour(self) -> int:
        """The hour after the last one."""
        return self.requested_hour - PAST_H + len(self.stopped_minutes)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLevels:
    """The levels that unchanged weeks of an account reach; with too few weeks the highest that any reaches."""

    weeks: int
    slower: Mapping[float, float]
    faster: Mapping[float, float]
