"""Section 2: how often points come, and what five minutes that are published as one were minute by minute.

Hosts that are not Nitro may publish one sum each five minutes. It is told by idle time (or queue length, `queue`),
which is published without activity as well: more than a minute of it in one point, or points that are never neighbors.
Points of any series that are neighbors are of one minute. Without either it is undecided.
"""

import numpy as np

LEAST = ("burst_balance_pct",)


def in_minutes(minutes, older):
    """The minutes as they were, sums of five spread evenly, and how many minutes a point is of (None: undecided).

    older: whether any of its hosts is not Nitro. The window begins with the first of five minutes.
    """
    told = step_of(minutes) if older else 1
    if told == 5:
        return {name: None if values is None else spread(name, values) for name, values in minutes.items()}, told
    return minutes, told


def step_of(minutes):
    """How many minutes a point is of; None where nothing tells."""
    there = {
        name: ~np.isnan(minutes[name])
        for name in ("idle_s", "queue", "read_ops", "write_ops")
        if minutes.get(name) is not None
    }
    if "idle_s" in there and np.nanmax(minutes["idle_s"], initial=0) > 60.5:
        return 5
    if any((some[:-1] & some[1:]).any() for some in there.values()):
        return 1
    return 5 if any(there[name].sum() >= 3 for name in ("idle_s", "queue") if name in there) else None


def spread(name, values):
    """A series of which each five minutes have one point, with a fifth of it in each of them, or the least of all."""
    five = values.reshape(-1, 5)
    some = np.nanmax(np.where(np.isnan(five), -np.inf, five), axis=1)
    some = np.where(np.isfinite(some), some if name in LEAST else some / 5, np.nan)
    return np.repeat(some, 5)


def evened(work):
    """What was done as the mean of each five minutes."""
    return {name: np.repeat(values.reshape(-1, 5).mean(axis=1), 5) for name, values in work.items()}
