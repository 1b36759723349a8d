"""Host received: what of a host's own series came, and what has to be asked once more.

As with the checks of a volume (`received`): a series that is there on other days has to be there on each day on which
the volume was, and is disputed where it is not. Within a day points may be absent. Those are asked once more, and are
unknown where they stay absent: then the published limit tells.
"""

from collections.abc import Iterator

import numpy as np

from plimsoll.domain.metrics.knowledge import (
    HOST,
    HOST_CHECKS,
    OPERATIONS,
    SERIES,
    BoolArray,
    Doubt,
    IntArray,
    Knowledge,
    Look,
)
from plimsoll.domain.units import DAY_S


def lone_days(knowledge: Knowledge) -> Iterator[Doubt]:
    """The days with operations on which a series of the host has no point, though it had one before.

    A check counts only if it was said not to be raised: one that is there where it is raised, and nowhere else, is not
    known to be published otherwise.
    """
    operations = knowledge.first[OPERATIONS]
    days, busy = _by_day(operations.starts_s, operations.present)
    for group in HOST:
        (name,) = SERIES[group]
        if group not in knowledge.first or name not in knowledge.published:
            continue
        track = knowledge.first[group]
        values = track.series[name]
        if group in HOST_CHECKS and not (values == 0).any():
            continue
        same, there = _by_day(track.starts_s, ~np.isnan(values))
        absent = busy & ~there[np.searchsorted(same, days)]
        if there.any():
            absent &= days > same[np.argmax(there)]
            yield from _spans(name, days[absent], knowledge)


def gaps_to_ask_again(knowledge: Knowledge, look: Look) -> Iterator[Look]:
    """A look at the host, once more, where one of its series has points in some buckets and in others none."""
    groups = tuple(group for group in look.groups if group in HOST and _has_gaps(knowledge, group, look))
    if groups:
        yield Look(window=look.window, period_s=look.period_s, groups=groups)


def _has_gaps(knowledge: Knowledge, group: str, look: Look) -> bool:
    track = knowledge.tracks[group]
    absent = np.isnan(track.series[SERIES[group][0]][track.within(look.window)])
    found = knowledge.tracks[group] is not knowledge.first[group] or not absent.all()
    return bool(found and absent.any())


def _by_day(starts_s: IntArray, there: BoolArray) -> tuple[IntArray, BoolArray]:
    """The days (UTC) of some buckets, by number, and whether anything is there on each."""
    days = starts_s // DAY_S
    at = np.flatnonzero(np.diff(days, prepend=-1))
    return days[at], np.logical_or.reduceat(there, at)


def _spans(name: str, days: IntArray, knowledge: Knowledge) -> Iterator[Doubt]:
    """Each of some days, as far as the window has it."""
    for day in days.tolist():
        start_s, end_s = max(day * DAY_S, knowledge.window.start_s), min((day + 1) * DAY_S, knowledge.window.end_s)
        yield Doubt(name, start_s, end_s)
