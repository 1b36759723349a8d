"""What the field judges changes by, for comparison: a test of ranks, and a threshold for three hours."""

from typing import Final

import numpy as np

from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll_change.verdict import SLOWER_MARGIN
from plimsoll_change.watch import PAST_H, WEEK_H

CONFIDENCE_Z: Final = 2.326  # of 98 %, both sides
TOLERANCE: Final = 0.25
LOOKS_H: Final = (8, 16, 24, 48, 72, 96, 120, 144, 168)
LEAST_KNOWN: Final = 6


def rank_alarm_hours(latency: FloatArray, operations: FloatArray) -> IntArray:
    """The hour at which each volume is first called worse by ranks, 0 for never, [volume].

    As Kayenta's judge works: the hours of the watch so far against the same hours of the week before; worse where the
    lower confidence bound of the shift (98 %) is over a quarter of the shift itself. Looked at nine times in the week.
    `latency` and `operations` are [volume, hour] from six weeks before the change.
    """
    known = np.where(operations > 0, latency, np.nan)
    before, watch = known[:, PAST_H - WEEK_H : PAST_H], known[:, PAST_H : PAST_H + WEEK_H]
    alarms = np.zeros(len(latency), dtype=np.int64)
    for look in LOOKS_H:
        for volume in np.flatnonzero(alarms == 0):
            control, canary = before[volume, :look], watch[volume, :look]
            control, canary = control[~np.isnan(control)], canary[~np.isnan(canary)]
            if min(len(control), len(canary)) >= LEAST_KNOWN and is_higher_by_ranks(control, canary):
                alarms[volume] = look
    return alarms


def is_higher_by_ranks(control: FloatArray, canary: FloatArray) -> bool:
    """True if the lower confidence bound of the shift between two samples is over a quarter of the shift.

    The bound is that of the normal approximation, with ties in both samples together taken into account.
    """
    shifts = np.sort((canary[:, np.newaxis] - control).reshape(-1))
    pairs, both = len(shifts), len(canary) + len(control)
    ties = np.unique(np.concatenate([canary, control]), return_counts=True)[1].astype(np.float64)
    variance = pairs / 12 * (both + 1 - (ties**3 - ties).sum() / (both * (both - 1)))
    place = int(pairs / 2 - CONFIDENCE_Z * np.sqrt(variance))
    return bool(shifts[max(0, place)] > TOLERANCE * abs(shifts[len(shifts) // 2]))


def three_hour_alarms(watched: FloatArray) -> BoolArray:
    """Marks the hours after three in a row that were over 25 % slower, [volume, hour]."""
    with np.errstate(invalid="ignore"):
        slow = watched > SLOWER_MARGIN
    alarms = np.zeros_like(slow)
    alarms[:, 2:] = slow[:, 2:] & slow[:, 1:-1] & slow[:, :-2]
    return alarms
