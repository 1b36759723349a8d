"""Whole days (UTC), literally: what was done on each, how fast that grows, and whether a job takes what it gets.

Days are numbered from the window's first one (0) on; those before it are negative. Where the page leaves room, this is
how it is read here:

- A day is known by any point of operations or bytes. Of the memory only days that it remembers are.
- A week belongs to the epoch that holds all of it, and to none where it is not known what the volume was.
- The last two weeks are the last two that count.
- Where a reduction is asked about, weeks of any two epochs are compared.
- Growth is rounded up to a tenth of a percent of headroom.
- An earlier epoch tells of its last 28 known days. The later one tells of the window alone.
- What a higher ceiling should have brought is counted in the minutes that stand at it: the part that the lower one
  would not have let through. Less than a tenth of what was done a day before tells nothing.
"""

import math
from statistics import mean, median

import numpy as np

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
    times = min(3.0, 1 + fastest * policy["growth_days"])
    percent = ((1 + policy["headroom_pct"] / 100) * times - 1) * 100
    return min(400.0, max(policy["headroom_pct"], math.ceil(percent * 10 - 1e-6) / 10))


def risen(weeks, figure):
    """By what share of the last two weeks a figure rises a day; 0 where fewer than four of five pairs rise."""
    slopes, rising = [], 0
    for place, one in enumerate(weeks):
        for other in weeks[place + 1 :]:
            if one[1] == other[1]:
                slopes.append((other[figure] - one[figure]) / (7 * (other[0] - one[0])))
                rising += other[figure] > one[figure]
    if len(slopes) < 10 or rising / len(slopes) < 0.8:
        return 0.0
    return median(slopes) / median([week[figure] for week in weeks[-2:]])


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
