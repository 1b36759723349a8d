"""Steps: whether the points of a volume are of one minute each, or of five.

Hosts of an older hypervisor may publish one sum each five minutes. Asked by the minute, a cloud gives that sum once and
four empty minutes, which looks like a job that runs every five minutes. It is told from series that are published
without activity as well, idle time and queue length, in two hours of each span in which the step can be another:

- idle time of more than a minute in a point: five minutes;
- points closer together than that, of any series: one minute;
- some points, and none closer: five minutes.

What else there is tells nothing. Then the points count as minutes, which refuses reductions, but demand stands at a
ceiling only where that of five minutes does, so that nothing is relieved for it (`Demand.evened`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from plimsoll.domain.arrays import FloatArray
from plimsoll.domain.demand.epochs import epochs_of
from plimsoll.domain.metrics.knowledge import Knowledge
from plimsoll.domain.metrics.received import find_doubts
from plimsoll.domain.metrics.series import IDLE, NAMES, SERIES, STEP, Role, names_with
from plimsoll.domain.metrics.sums import FIVE_MINUTES_S, Window
from plimsoll.domain.metrics.track import Look
from plimsoll.domain.units import HOUR_S, MINUTE_S
from plimsoll.domain.volume import Volume

ROUNDING_S: Final = 0.5
"""Idle time of a minute may be that much more than one, by the clock of who counts it."""

APART_S: Final = 240
"""Points of five minutes are never closer than this."""

SOME: Final = 3
"""Points in an hour that tell how far they are apart."""

_WITHOUT_ACTIVITY: Final = frozenset(names_with(Role.IDLE, Role.QUEUE))
"""The series that have a point in each step, whatever a volume does."""


@dataclass(frozen=True, slots=True)
class _Span:
    """Whole hours with one step; `doubtful`: their host is known to be one that may publish each five minutes."""

    window: Window
    doubtful: bool


class Steps:
    """What is asked to tell the steps of one volume, and what they are once that was read."""

    __slots__ = ("_knowledge", "_open")

    def __init__(self, volume: Volume, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._open = list(_spans(volume, knowledge))

    def looks(self) -> list[Look]:
        """What to read next to tell them; nothing once they are told, which the knowledge knows from then on.

        What disagreed while a sum of five minutes was taken for one of a minute is looked at again.
        """
        found: list[Look] = []
        for span in tuple(self._open):
            looks = self._looks(span)
            if not looks:
                self._open.remove(span)
            found += looks
        return found

    def _looks(self, span: _Span) -> list[Look]:
        known = self._knowledge
        for groups, hours in ((IDLE,), _idle_hours(known, span)), ((STEP,), _outer_hours(span)):
            looks = [look for hour in hours if (look := _unread(known, groups, hour)) is not None]
            if looks:
                return looks
            step_s = _step_of(known, groups, hours)
            if step_s is not None:
                if step_s > MINUTE_S:
                    known.publishes(span.window, step_s)
                    known.disputes = find_doubts(known) if known.disputes else ()
                return []
            if not span.doubtful:
                return []
        known.publishes(span.window, None)
        return []


def _spans(volume: Volume, knowledge: Knowledge) -> Iterator[_Span]:
    """The spans of a window in which the step is not known to be a minute."""
    for segment in knowledge.segments:
        if segment.period_s >= FIVE_MINUTES_S:
            continue
        for epoch in epochs_of(volume, segment.window):
            start_s, end_s = -(-epoch.window.start_s // HOUR_S) * HOUR_S, epoch.window.end_s // HOUR_S * HOUR_S
            older = epoch.hosts is not None and any(not host.nitro for host in epoch.hosts)
            if start_s < end_s and (older or epoch.hosts is None):
                yield _Span(Window(start_s=start_s, end_s=end_s), doubtful=older)


def _idle_hours(knowledge: Knowledge, span: _Span) -> list[int]:
    """The first and the last hour of a span with idle time."""
    if knowledge.published.isdisjoint(NAMES[IDLE]):
        return []
    track = knowledge.tracks[IDLE]
    at = track.within(span.window)
    there = track.starts_s[at][track.present[at]]
    return _outer(there // HOUR_S * HOUR_S)


def _outer_hours(span: _Span) -> list[int]:
    return _outer(np.array([span.window.start_s, span.window.end_s - HOUR_S]))


def _outer(starts_s: FloatArray | np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[int]:
    return sorted({int(starts_s[0]), int(starts_s[-1])}) if len(starts_s) else []


def _unread(knowledge: Knowledge, groups: Sequence[str], hour_s: int) -> Look | None:
    """A look at those groups of an hour of which not every minute was read; None where all were."""
    window = Window(start_s=hour_s, end_s=hour_s + HOUR_S)
    wanted = tuple(group for group in groups if not knowledge.has_minutes(group, window))
    return Look(window=window, period_s=MINUTE_S, groups=wanted) if wanted else None


def _step_of(knowledge: Knowledge, groups: Sequence[str], hours: Sequence[int]) -> int | None:
    """The step that some hours tell; None where they do not."""
    steady = False
    for group in groups:
        track = knowledge.tracks[group]
        for name in NAMES[group]:
            for hour_s in hours:
                at = track.within(Window(start_s=hour_s, end_s=hour_s + HOUR_S))
                values, starts_s = track.series[name][at], track.starts_s[at]
                there = starts_s[~np.isnan(values)].tolist()
                if SERIES[name].role is Role.IDLE and np.nanmax(values, initial=0.0) > MINUTE_S + ROUNDING_S:
                    return FIVE_MINUTES_S
                if any(then - before < APART_S for before, then in pairwise(there)):
                    return MINUTE_S
                steady |= name in _WITHOUT_ACTIVITY and len(there) >= SOME
    return FIVE_MINUTES_S if steady else None
