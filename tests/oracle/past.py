"""Section 8, literally: every bucket of the past, one after the other.

Where the page leaves room, this is how it is read here:

- A day (UTC) is kept by five minutes if all of it is younger than 63 days, and by the hour up to 455.
- A volume has filled its first `settle_days` at the midnight after they are over.
- A bucket counts with all its minutes against the budget, and a budget is for each 30 days before the window.
"""

import math

import numpy as np

DAY = 86_400
KEPT = ((300, 63), (3600, 455))


def buckets_of(operations, moved, first_minute, now_s, made_s, moved_on=(), policy=None):
    """What the cloud still has: (seconds before the window's beginning, minutes, IOPS, MiB/s) of each bucket.

    operations, moved: what was done in each minute from `first_minute` (since the epoch) to the window, NaN where
    there is no point. made_s, moved_on: when the volume was made, and when it came to a host (epoch seconds).
    """
    window_s = (first_minute + len(operations)) * 60
    from_s = max(made_s + policy["settle_days"] * DAY, now_s - policy["memory_days"] * DAY)
    out = {int(when) // DAY for when in moved_on}
    found = []
    for day in range(first_minute // 1440, window_s // DAY):
        age_days = (now_s - day * DAY) / DAY
        length_s = next((period for period, days in KEPT if age_days <= days), None)
        if length_s is None or day * DAY < from_s or day in out:
            continue
        for start_s in range(day * DAY, (day + 1) * DAY, length_s):
            at = start_s // 60 - first_minute
            some = slice(max(0, at), max(0, at + length_s // 60))
            if np.isnan(operations[some]).all() and np.isnan(moved[some]).all():
                continue
            done, bytes_moved = float(np.nansum(operations[some])), float(np.nansum(moved[some]))
            found.append((window_s - start_s, length_s / 60, done / length_s, bytes_moved / 1_048_576 / length_s))
    return found


def required_by(past, policy, hosts=None):
    """What the past requires of a reduction, by side; no more than its hosts carry."""
    headroom, floor = 1 + policy["headroom_pct"] / 100, {"iops": 0.0, "mib_s": 0.0}
    for place, side in ((2, "iops"), (3, "mib_s")):
        blocks = {}
        for bucket in past:
            blocks.setdefault(math.ceil(bucket[0] / (30 * DAY)), []).append((bucket[place], bucket[1]))
        for buckets in blocks.values():
            left = policy["throttle_budget_min"]
            for rate, minutes in sorted(buckets, reverse=True):
                left -= minutes
                if left < -1e-6:
                    floor[side] = max(floor[side], headroom * rate)
                    break
        if hosts is not None:
            floor[side] = min(floor[side], hosts[side])
    return floor
