"""Google's published figures, read straight from the YAML, and the limits and prices they give."""

import math
from pathlib import Path

import yaml

from tests.oracle.limits import INFINITE, LATENCY
from tests.oracle.replay import plain

DATA = Path(__file__).parents[2] / "lib" / "plimsoll_google" / "data"
DISKS = yaml.safe_load((DATA / "types.yaml").read_text(encoding="utf-8"))["types"]
PRICES = yaml.safe_load((DATA / "prices.yaml").read_text(encoding="utf-8"))["regions"]


def figure(rule, size):
    """What a rule that only knows the size gives."""
    value = rule.get("base", 0) + rule.get("per_gib", 0) * size
    return min(max(value, rule.get("floor", 0)), rule.get("cap", INFINITE))


def least_sold(rule, size, iops=0.0):
    """The least that can be bought at a size, and with so many IOPS."""
    least = max(rule["least"], rule.get("least_per_gib", 0) * size, rule.get("least_per_iops", 0) * iops)
    if rule.get("strict"):
        least = min(least, rule["per_gib"] * size)
    return math.ceil(least)


def most_sold(rule, size, iops=INFINITE):
    """The most that can be bought at a size, and with so many IOPS."""
    most = min(rule["most"], rule.get("per_gib", INFINITE) * size, rule.get("per_iops", INFINITE) * iops)
    return int(max(most, least_sold(rule, size, iops if iops < INFINITE else 0.0)))


def published(spec):
    """The limit of a type at a size, for reads and writes, counted in reads."""
    kind, size = DISKS[spec["type"]], spec["size_gib"]
    rule, moved = kind["iops"], kind["throughput_mib_s"]
    mib_s = None
    if "least" in moved:
        mib_s = spec["throughput_mib_s"]
    elif "bands" not in moved:
        mib_s = figure(moved, size)
    if "least" in rule:
        iops = spec["iops"]
    elif "per_mib_s" in rule:
        iops = min(rule["per_mib_s"] * mib_s, rule["cap"])
    else:
        iops = figure(rule, size)
    if mib_s is None:
        mib_s = next(min(per * iops, cap) for up_to, per, cap in moved["bands"] if up_to is None or iops <= up_to)
    return plain(float(iops), float(mib_s), kind.get("write_iops_cost", 1.0), kind.get("write_throughput_cost", 1.0))


def combined(one, other, how):
    """Two limits as one, for reads and for writes each: the lower, or both beside each other."""
    reads = {side: how(one[side], other[side]) for side in ("iops", "mib_s")}
    writes = {
        side: how(one[side] / one[cost], other[side] / other[cost]) for side, cost in (("iops", "c"), ("mib_s", "d"))
    }
    costs = [1.0 if reads[side] == writes[side] else reads[side] / writes[side] for side in ("iops", "mib_s")]
    return plain(reads["iops"], reads["mib_s"], *costs)


def of_figures(figures):
    """A limit from (IOPS, MiB/s, c, d)."""
    return plain(*map(float, figures))


def capped(limit, name, hosts):
    """A limit, and no more than the hosts let all disks of its type carry, if that is known of all."""
    caps = [of_figures(host["caps"][name]) for host in hosts if name in host["caps"]]
    if not caps or len(caps) != len(hosts):
        return limit
    cap = caps[0]
    for more in caps[1:]:
        cap = combined(cap, more, lambda one, two: one + two)
    return combined(limit, cap, min)


def carried(spec, hosts):
    """What a disk carries on its hosts."""
    return capped(published(spec), spec["type"], hosts)


def price(spec, region):
    """USD a month, or None."""
    book = PRICES.get(region, {}).get(spec["type"])
    if book is None:
        return None
    usd = book["gib_month"] * spec["size_gib"]
    usd += book.get("iops_month", 0) * max(0, (spec["iops"] or 0) - book.get("included_iops", 0))
    included = book.get("included_throughput_mib_s", 0)
    return usd + book.get("throughput_mib_s_month", 0) * max(0, (spec["throughput_mib_s"] or 0) - included)


def unsuited(disk, name):
    """Whether a disk cannot become a type, whatever it needs."""
    kind, own = DISKS[name], disk["spec"]["type"]
    low, high = kind["size_gib"]
    return any(
        [
            not kind.get("sold", True),
            name != own and not kind.get("target", False),
            kind.get("zones", 1) != DISKS[own].get("zones", 1),
            not low <= disk["spec"]["size_gib"] <= high,
            name != own and any(name not in host["caps"] for host in disk["hosts"]),
            disk["boot"] and not kind["boots"],
            len(disk["hosts"]) > 1 and not kind["multi_attach"],
            name not in PRICES.get(disk["region"], {}),
        ]
    )


def rank(name):
    """What decides between equal prices: latency, durability, name."""
    kind = DISKS[name]
    return -LATENCY[kind["latency"]], -kind["durability_pct"], name
