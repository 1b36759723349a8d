"""Section 4: work pushed through a limit, minute by minute.

A limit is a dictionary: `iops` and `mib_s` at most, `sustained_iops` and `sustained_mib_s` without end, `credits`
(None, or the resource, the capacity and the refill a second), `io_kib` (operations of more count as several; None: they
do not), `least_charge_mib`, and `c` and `d`, what a written operation and a written MiB count for.
"""

import numpy as np

MINUTE = 60
SIDES = ("iops", "mib_s")


def plain(iops, mib_s, c=1.0, d=1.0, io_kib=None):
    """A limit on which nothing bursts."""
    return {
        "iops": iops,
        "mib_s": mib_s,
        "sustained_iops": iops,
        "sustained_mib_s": mib_s,
        "credits": None,
        "io_kib": io_kib,
        "least_charge_mib": 0,
        "c": c,
        "d": d,
    }


def counted(work, limit):
    """IOPS and MiB/s as a limit counts them."""
    iops, mib_s = work["r"] + limit["c"] * work["w"], work["rm"] + limit["d"] * work["wm"]
    if limit["io_kib"]:
        iops = np.maximum(iops, mib_s * 1024 / limit["io_kib"])
    return {"iops": iops, "mib_s": mib_s}


def queue(rates, most):
    """The minutes at whose end work waits behind a constant rate, and the longest wait in seconds."""
    if not len(rates) or rates.max() <= most:
        return np.zeros(len(rates), dtype=bool), 0.0
    # What has come since the queue was last empty, less what was carried: the sum, less its lowest point so far.
    total = np.cumsum((rates - most) * MINUTE)
    waiting = total - np.minimum(0.0, np.minimum.accumulate(total))
    if most <= 0:
        return waiting > 0, float("inf")
    return waiting > 1e-6 * most * MINUTE, float(waiting.max()) / most


def bucket(rates, capacity, refill, start):
    """As `queue`, behind a token bucket: a balance that refills and is spent."""
    balance, waiting, longest = capacity * start, 0.0, 0.0
    found = np.zeros(len(rates), dtype=bool)
    for minute, rate in enumerate(rates.tolist()):
        work = waiting + rate * MINUTE
        served = min(work, balance + refill * MINUTE)
        waiting = work - served
        balance = min(capacity, balance + refill * MINUTE - served)
        if waiting > 1e-6 * refill * MINUTE:
            found[minute] = True
            longest = max(longest, waiting / refill)
    return found, longest


def trial(work, direct, limit, *, start=1.0, offered=True):
    """The throttled minutes and the longest wait: `work` queues, and nothing in `direct` may be above the limit.

    `start` is the share of its credits that a type that bursts begins with. What is offered is charged a whole least
    charge for each operation, because the operations may be random.
    """
    rates = counted(work, limit)
    throttled, longest = np.zeros(len(work["r"]), dtype=bool), 0.0
    for side in SIDES:
        found, wait = queue(rates[side], limit[side])
        throttled, longest = throttled | found, max(longest, wait)
    for some in direct:
        held = counted(some, limit)
        for side in SIDES:
            throttled = throttled | (held[side] > limit[side] * (1 + 1e-9) + 1e-6)
    if limit["credits"] is not None:
        side, capacity, refill = limit["credits"]
        charged = rates[side]
        if offered and limit["least_charge_mib"]:
            charged = np.maximum(charged, (work["r"] + work["w"]) * limit["least_charge_mib"])
        found, wait = bucket(charged, float(capacity), float(refill), start)
        throttled, longest = throttled | found, max(longest, wait)
    return throttled, longest


def host_carries(host, total):
    """What a host carries in each minute, IOPS and MiB/s: up to its maximum while credits last, then the baseline; and
    the share of its credits that it has then (1 where it does not burst).

    Credits are half an hour of what is above the baseline, and come back over a day. What found none was dropped, so
    that they are never below zero.
    """
    found, shares = {}, {}
    for side in SIDES:
        baseline, maximum = host["baseline"][side], host["maximum"][side]
        carries = np.full(len(total[side]), float(maximum))
        shares[side] = np.ones(len(total[side]))
        if maximum > baseline:
            capacity = (maximum - baseline) * 1800
            refill, left = capacity / 86400, capacity
            for minute, rate in enumerate(total[side].tolist()):
                carries[minute] = min(maximum, baseline + refill + left / MINUTE)
                shares[side][minute] = left / capacity
                used = max(0.0, min(rate, carries[minute]) - baseline)
                left = min(capacity, max(0.0, left + (refill - used) * MINUTE))
        found[side] = carries
    return found, shares
