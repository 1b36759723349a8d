"""Whole days (UTC), literally: what was done on each, how fast that grows, and whether a job takes what it gets.

Days are numbered from the window's first one (0) on; those before it are negative. Where the page leaves room, this is
how it is read here:

- A day is known by any point of operations or bytes. Of the memory only days that it remembers are.
- A week belongs to the epoch that holds all of it, and to none where it is not known what the volume was.
- Where a reduction is asked about, weeks of any two epochs are compared.
- Of a week in which nothing was done there is no logarithm, so that it does not count on that side.
- Growth is rounded up to a tenth of a percent of headroom.
- An earlier epoch tells of its last 28 known days. The later one tells of the window alone.
- What a higher ceiling should have brought is counted in the minutes that stand at it: the part that the lower one
  would not have let through. Less than a tenth of what was done a day before tells nothing.
"""

import math
from statistics import mean, median

import numpy as np

from tests.oracle.trend import busiest_hours

DAY, KEPT_DAYS, MINUTES = 86_400, 455, 1440
FOREVER = -(10**9)


def days_of(operations, moved, first_minute, window_minute, now_s, made_s, moved_on=(), policy=None):
    """What was done on each known day: operations and bytes by its number.

    operations, moved: what was done in each minute from `first_minute` (since the epoch) to the window's end, NaN where
    there is no point. The window begins at `window_minute`.
    """
    out = {int(when) // DAY for when in moved_on}
    filled_s = made_s + policy["settle_days"] * DAY
    forgotten_s = now_s - min(KEPT_DAYS, policy["memory_days"]) * DAY
    found = {}
    for day in range(math.ceil(first_minute / MINUTES), (first_minute + len(operations)) // MINUTES):
        at = slice(day * MINUTES - first_minute, (day + 1) * MINUTES - first_minute)
        empty = np.isnan(operations[at]).all() and np.isnan(moved[at]).all()
        forgotten = day * MINUTES < window_minute and day * DAY < forgotten_s
        if not (empty or forgotten or day in out or day * DAY < filled_s):
            number = day - window_minute // MINUTES
            found[number] = float(np.nansum(operations[at])), float(np.nansum(moved[at]))
    return found


def edges_of(volume):
    """When each epoch began, in minutes of the window, with what the volume was then; None: that is not known."""
    epochs = volume.get("epochs") or [{"first": FOREVER, "spec": volume["spec"]}]
    found = [(FOREVER if number == 0 else one["first"], one["spec"]) for number, one in enumerate(epochs)]
    if volume.get("replaced") and volume.get("on_host_from") is not None:
        moved = volume["on_host_from"]
        found.append((moved, [spec for first, spec in found if first <= moved][-1]))
    return sorted(found, key=lambda one: one[0])


def busy_of(operations, moved, first_minute, window_minute, now_s, made_s, moved_on=(), policy=None):
    """The busiest hours of the days before the window, of the same: those of the last 63 days that are remembered."""
    out = {int(when) // DAY for when in moved_on}
    from_s = max(made_s + policy["settle_days"] * DAY, now_s - min(KEPT_DAYS, policy["memory_days"]) * DAY)
    first_day, window_day = math.ceil(first_minute / MINUTES), window_minute // MINUTES
    at = slice(first_day * MINUTES - first_minute, window_day * MINUTES - first_minute)
    there = ~(np.isnan(operations[at]) & np.isnan(moved[at]))
    rates = np.nan_to_num(operations[at]) / 60, np.nan_to_num(moved[at]) / 60 / 1_048_576
    found = busiest_hours(rates, there, first_day - window_day)
    return {
        day: figures
        for day, figures in found.items()
        if (day + window_day) * DAY >= from_s and day + window_day not in out
    }


def headroom_with_growth(volume, days, whole_days, policy, less):
    """The headroom in percent that keeps room for growth; None where there is none. `less`: it is about a reduction."""
    weeks = []
    edges = edges_of(volume)
    for number in range(8):
        first = whole_days - 56 + 7 * number
        cut = any(first * MINUTES < edge < (first + 7) * MINUTES for edge, _ in edges)
        epoch = max(place for place, (edge, _) in enumerate(edges) if edge <= first * MINUTES)
        known = [days[day] for day in range(first, first + 7) if day in days]
        if not cut and edges[epoch][1] is not None and len(known) >= 6:
            weeks.append((number, 0 if less else epoch, mean(one[0] for one in known), mean(one[1] for one in known)))
    fastest = max(risen(weeks, 2), risen(weeks, 3))
    if fastest <= 0 or policy["growth_days"] <= 0:
        return None
    times = min(3.0, math.exp(min(9.0, fastest * policy["growth_days"])))
    percent = ((1 + policy["headroom_pct"] / 100) * times - 1) * 100
    return min(400.0, max(policy["headroom_pct"], math.ceil(percent * 10 - 1e-6) / 10))


def risen(weeks, figure):
    """The slope a day of a figure's logarithm; 0 where fewer than four of five pairs that rise or fall rise."""
    some = [week for week in weeks if week[figure] > 0]
    slopes = [
        math.log(other[figure] / one[figure]) / (7 * (other[0] - one[0]))
        for place, one in enumerate(some)
        for other in some[place + 1 :]
        if one[1] == other[1]
    ]
    rising, falling = (sum(sign * slope > 0 for slope in slopes) for sign in (1, -1))
    if len(slopes) < 6 or rising < 4 or rising < 0.8 * (rising + falling):
        return 0.0
    return max(0.0, median(slopes))


def takes_what_it_gets(work, at, own, earlier, days, side):
    """Whether more of a resource than it once had brought no more work.

    work: what was done a second in each minute of the window, by side. at: the minutes that stand at the ceiling. own,
    earlier: first minute, last minute and limit of the present epoch, and of those before it, oldest first.
    """
    place = 0 if side == "iops" else 1
    unit = 1 if side == "iops" else 1_048_576
    lower = None
    for first, last, limit in earlier:
        known = [day for day in sorted(days) if first <= day * MINUTES and (day + 1) * MINUTES <= last][-28:]
        if limit is not None and limit[side] < own[2][side] and len(known) >= 5:
            lower = limit, mean(days[day][place] for day in known) / unit
    whole = [day for day in days if day >= 0 and own[0] <= day * MINUTES and (day + 1) * MINUTES <= own[1]]
    if lower is None or len(whole) < 5:
        return False
    done = held = 0.0
    for day in whole:
        minutes = slice(day * MINUTES, (day + 1) * MINUTES)
        done += float(work[minutes].sum()) * 60 / len(whole)
        held += float(work[minutes][at[minutes]].sum()) * 60 / len(whole)
    brought = held * (1 - lower[0][side] / own[2][side])
    return brought >= 0.1 * lower[1] and done - lower[1] < brought / 2
