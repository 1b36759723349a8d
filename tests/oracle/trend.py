"""Section 7, literally: whether busiest hours rise so fast that a reduction would be outgrown.

Where the page leaves room, this is how it is read here:

- Days are numbered from the window's first one (0) on. The last 14 and 7 are whole days of the window; earlier lines
  may begin in days before it, of which what the memory leaves out is not known.
- An hour of which a part is known has what is known of it, over the whole hour.
- A day on which demand stood at a limit that was raised since is not known.
- A side is asked about where the offer carries less than today on it, at most or without end.
"""

from statistics import median

import numpy as np

from tests.oracle.replay import SIDES

HOURS, MINUTES = 24, 1440
AUDIT_DAYS = 7


def busiest_hours(rates, there, first_day):
    """The mean of the busiest hour of each day of which half is known, by its number: IOPS, and MiB/s.

    rates: what was done a second in each minute, of both. there: which minutes are known. They begin with a day.
    """
    found = {}
    for place in range(len(there) // MINUTES):
        at = [slice(place * MINUTES + hour * 60, place * MINUTES + hour * 60 + 60) for hour in range(HOURS)]
        if sum(bool(there[one].any()) for one in at) >= HOURS / 2:
            found[first_day + place] = tuple(
                max(float(np.nansum(np.where(there[one], rate[one], 0.0))) / 60 for one in at) for rate in rates
            )
    return found


def slope(days, figures, least_known=2):
    """How much a figure rises a day, by those of some days that are known; 0 where it does not."""
    known = [(day, figures[day]) for day in days if day in figures]
    if len(known) < least_known:
        return 0.0
    same = 0.02 * max(figure for _, figure in known)
    slopes, rising, falling = [], 0, 0
    for place, (day, figure) in enumerate(known):
        for other, then in known[place + 1 :]:
            slopes.append((then - figure) / (other - day))
            rising += then - figure > same
            falling += figure - then > same
    if rising < 4 or rising < 0.6 * (rising + falling):
        return 0.0
    return max(0.0, median(slopes))


def is_outgrown(busy, whole_days, limit, now, most, policy, headroom_pct):
    """Whether a limit would be outgrown on a side on which it is lower than what is there now.

    busy: the busiest hours by day. most: the highest minute of the window, by side.
    """
    for place, side in enumerate(SIDES):
        if all(limit[name] >= now[name] * (1 - 1e-9) - 1e-6 for name in (side, f"sustained_{side}")):
            continue
        figures = {day: found[place] for day, found in busy.items()}
        window = range(max(0, whole_days - 14), whole_days)
        lasts = [figures[day] for day in window[-7:] if day in figures]
        slow, fast = slope(window, figures), slope(window[-7:], figures)
        for end in range(whole_days - 56, whole_days - 6):
            if fast > 0 and slope(range(end - 7, end), figures, 6) >= fast * (1 - 1e-9):
                fast = 0.0
        rise = max(slow, fast)
        if rise <= 0 or not lasts:
            continue
        highest = max(figures[day] for day in window if day in figures)
        reach = (max(lasts) + rise * (policy["settle_days"] + AUDIT_DAYS)) / highest
        if reach * most[side] * max(1.0, (1 + headroom_pct / 100) / 1.2) > limit[side] * (1 + 1e-9):
            return True
    return False
