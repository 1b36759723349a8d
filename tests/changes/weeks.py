"""Weeks of watches: cut from a world for many volumes at once, unchanged or with a harm of a known kind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from plimsoll.model.arrays import FloatArray, IntArray
from plimsoll_change.evidence import (
    Deviations,
    center_on_week_before,
    excess_over_past,
    mark_busy_hours,
    subtract_siblings,
)
from plimsoll_change.watch import PAST_H, WEEK_H
from tests.changes.latency import HOURS, World

UNCHANGED: Final = "nothing changed"
BUDGET_MINUTES: Final = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Weeks:
    """Watches of one week each. `stopped` are the minutes so far, [watch, hour]."""

    deviations: Deviations
    stopped: FloatArray
    first_hour: int  # of the first deviation

    @property
    def budget(self) -> FloatArray:
        return np.full_like(self.stopped, BUDGET_MINUTES)

    @property
    def has_evidence(self) -> FloatArray:
        return (~np.isnan(self.deviations.watched_means)).any(axis=-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """What a change did to the watch: latencies (logarithms) and stopped minutes of each hour, [volume, hour]."""

    mean: FloatArray
    highest: FloatArray
    stopped: FloatArray


Harm = Callable[[World, slice], Cut]


def _plain(world: World, at: slice) -> Cut:
    return Cut(mean=world.mean[:, at], highest=world.highest[:, at], stopped=np.zeros_like(world.mean[:, at]))


def _times(factor: float) -> Harm:
    def slow(world: World, at: slice) -> Cut:
        plain = _plain(world, at)
        return Cut(mean=plain.mean + np.log(factor), highest=plain.highest + np.log(factor), stopped=plain.stopped)

    return slow


def _wider(world: World, at: slice) -> Cut:
    plain, noise = _plain(world, at), world.noise[:, at]
    return Cut(mean=plain.mean + noise, highest=plain.highest + noise, stopped=plain.stopped)


def _at_night(world: World, at: slice) -> Cut:
    """Twice as slow for two hours of each day, which differ by volume."""
    plain = _plain(world, at)
    hours = np.arange(HOURS)[at]
    slow = np.where((hours + 5 * np.arange(len(plain.mean))[:, np.newaxis]) % 24 < 2, np.log(2.0), 0.0)
    return Cut(mean=plain.mean + slow, highest=plain.highest + slow, stopped=plain.stopped)


def _stopped(name: str) -> Harm:
    def stop(world: World, at: slice) -> Cut:
        mean, highest, minutes = world.cut(name)
        return Cut(mean=mean[:, at], highest=highest[:, at], stopped=minutes[:, at])

    return stop


HARMS: Final[dict[str, Harm]] = {
    UNCHANGED: _plain,
    "latency x1.05": _times(1.05),
    "latency x1.25": _times(1.25),
    "latency x1.5": _times(1.5),
    "latency x2": _times(2.0),
    "latency x3": _times(3.0),
    "spread doubled": _wider,
    "busiest 1 % of minutes stopped": _stopped("1 %"),
    "busiest 0.1 % of minutes stopped": _stopped("0.1 %"),
    "x2 for two hours a day": _at_night,
    "latency x0.6": _times(0.6),
}


def starts(first: int = 0, every_h: int = 96) -> IntArray:
    """The hours at which watches of a week can begin in a world."""
    return np.arange(PAST_H + first, HOURS - WEEK_H + 1, every_h)


def weeks_of(world: World, begin: int, harm: Harm = _plain, siblings: Sequence[IntArray] | None = None) -> Weeks:
    """The watches of all volumes of a world that begin at an hour.

    `siblings` are the unchanged volumes of each; None: the others of its zone. They are unchanged where it is harmed.
    """
    window = slice(begin - PAST_H, begin + WEEK_H)
    operations = world.operations[:, window]
    after = harm(world, slice(begin, begin + WEEK_H))
    excess = []
    for before, then in ((world.mean, after.mean), (world.highest, after.highest)):
        plain = excess_over_past(np.exp(before[:, window]), operations)
        changed = np.array(before[:, window])
        changed[:, PAST_H:] = then
        own = plain if harm is _plain else excess_over_past(np.exp(changed), operations)
        excess.append(center_on_week_before(_less_siblings(own, plain, world.zones, siblings)))
    return Weeks(
        deviations=Deviations(mean=excess[0], highest=excess[1], is_busy=mark_busy_hours(operations)),
        stopped=np.cumsum(after.stopped, axis=-1),
        first_hour=begin - WEEK_H,
    )


def _less_siblings(
    own: FloatArray, plain: FloatArray, zones: IntArray, siblings: Sequence[IntArray] | None
) -> FloatArray:
    less = np.empty_like(own)
    for volume in range(len(own)):
        others = np.flatnonzero(zones == zones[volume]) if siblings is None else siblings[volume]
        less[volume] = subtract_siblings(own[volume], plain[others[others != volume]])
    return less


def join_weeks(lots: Sequence[Weeks]) -> Weeks:
    """Watches of several beginnings, which are at the same hour of the day, as one lot."""
    return Weeks(
        deviations=Deviations(
            mean=np.concatenate([lot.deviations.mean for lot in lots]),
            highest=np.concatenate([lot.deviations.highest for lot in lots]),
            is_busy=np.concatenate([lot.deviations.is_busy for lot in lots]),
        ),
        stopped=np.concatenate([lot.stopped for lot in lots]),
        first_hour=lots[0].first_hour,
    )


def window_of(world: World, begin: int, harm: Harm) -> tuple[FloatArray, FloatArray]:
    """The hourly latencies and operations from six weeks before an hour until a week after it, [volume, hour]."""
    window = slice(begin - PAST_H, begin + WEEK_H)
    latency = np.array(world.mean[:, window])
    latency[:, PAST_H:] = harm(world, slice(begin, begin + WEEK_H)).mean
    return np.exp(latency), world.operations[:, window]
