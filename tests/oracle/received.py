"""Section 2: which minutes of a volume were observed, and what it did in them."""

import math

import numpy as np

MINUTE = 60
MIB = 1048576
COUNTERS = ("read_ops", "write_ops", "read_bytes", "write_bytes")


def observed_minutes(minutes):
    """A minute is observed when everything that must be there came, and nothing in it contradicts another series.

    An absent count is zero only where idle time fills the minute, or where that direction moved no byte. A whole day
    is not observed where its sums cannot be true together. Minutes in which nothing at all came are idle where another
    minute of their clock hour was observed. The first minute is that of a day (UTC).
    """
    there = ~np.isnan(np.array([minutes[name] for name in COUNTERS]))
    idle = minutes.get("idle_s")
    seen = there.any(axis=0) | (~np.isnan(idle) if idle is not None else False)
    for way in (0, 1):
        ops, moved = minutes[COUNTERS[way]], minutes[COUNTERS[way + 2]]
        proven = (moved == 0) | ((idle >= MINUTE) if idle is not None else False)
        seen &= ~(np.isnan(ops) & ~proven)
        seen &= ~((np.nan_to_num(ops) > 0) & np.isnan(moved))
    if idle is not None:
        counted = there[0] | there[1]
        seen &= ~(counted & np.isnan(idle))
    for day in range(0, len(seen), 1440):
        if contradicts({name: minutes[name][day : day + 1440] for name in (*COUNTERS, "idle_s") if name in minutes}):
            seen[day : day + 1440] = False
    silent = ~came(minutes)
    for hour in range(0, len(seen), 60):
        if seen[hour : hour + 60].any():
            seen[hour : hour + 60] |= silent[hour : hour + 60]
    return seen


def came(minutes):
    """The minutes in which any series has a point."""
    known = [minutes[name] for name in (*COUNTERS, "idle_s") if minutes.get(name) is not None]
    return ~np.isnan(np.array(known)).all(axis=0)


def disputed(minutes):
    """Whether anything came that is not believed. Series are lists, None where there is no point; any may be None."""
    arrays = {
        name: np.array([np.nan if value is None else value for value in values], dtype=float)
        for name, values in minutes.items()
        if values is not None
    }
    return bool((came(arrays) & ~observed_minutes(arrays)).any())


def contradicts(day):
    """Whether the series of a day cannot be true together."""
    seconds = MINUTE * len(day["read_ops"])
    total = {name: float(np.nansum(values)) for name, values in day.items() if values is not None}
    for way in ("read", "write"):
        ops, moved = total[f"{way}_ops"], total[f"{way}_bytes"]
        if (moved > 0 and ops == 0) or (moved == 0 and ops > 5 * seconds):
            return True
    idle_all_day = "idle_s" in total and total["idle_s"] >= seconds * (1 - 1e-9)
    return idle_all_day and total["read_ops"] + total["write_ops"] > 5 * seconds


def work_of(minutes, observed):
    """Reads and writes a second, in operations (r, w) and MiB (rm, wm); zero where nothing was observed."""
    rates = (np.where(observed, np.nan_to_num(minutes[name]), 0.0) / MINUTE for name in COUNTERS)
    reads, writes, read_bytes, write_bytes = rates
    return {"r": reads, "w": writes, "rm": read_bytes / MIB, "wm": write_bytes / MIB}


def busy_work(minutes, work):
    """What it did while it worked: the rate over the seconds that were not idle, at least one."""
    busy = np.clip(MINUTE - np.nan_to_num(minutes["idle_s"]), 1.0, MINUTE) / MINUTE
    return {name: values / busy for name, values in work.items()}


def peak_work(minutes, observed):
    """Google's busiest seconds; None where none are published. Reads and writes as if they had been the same second."""
    if all(np.isnan(minutes[f"peak_{name}"]).all() for name in COUNTERS):
        return None
    r, w, rm, wm = (np.where(observed, np.nan_to_num(minutes[f"peak_{name}"]), 0.0) for name in COUNTERS)
    return {"r": r, "w": w, "rm": rm / MIB, "wm": wm / MIB}


def coverage_pct(observed, ran_from):
    """The share of the minutes observed, of those in which the volume was attached to a running host (None: unknown).

    `ran_from` is the minute from which that is known; before it only what was observed counts.
    """
    if ran_from is None:
        return 100.0
    first = max(0, math.ceil(ran_from / MINUTE) * MINUTE)
    expected = int(observed[:first].sum()) + max(0, len(observed) - first)
    return 100.0 * int(observed.sum()) / expected if expected else 100.0


def summed(some):
    """Several volumes' work as one."""
    return {name: sum(one[name] for one in some) for name in ("r", "w", "rm", "wm")}


def scaled(work, iops, mib_s):
    """Work times a factor of its operations and one of its bytes, each a number or one a minute."""
    return {"r": work["r"] * iops, "w": work["w"] * iops, "rm": work["rm"] * mib_s, "wm": work["wm"] * mib_s}
