"""The published figures, read straight from the YAML, and the ceilings they give: plain dictionaries and floats."""

from pathlib import Path

import yaml

DATA = Path(__file__).parents[2] / "lib" / "plimsoll" / "clouds" / "aws" / "data"
EBS = yaml.safe_load((DATA / "types.yaml").read_text(encoding="utf-8"))["types"]
PRICES = yaml.safe_load((DATA / "prices.yaml").read_text(encoding="utf-8"))["regions"]
INFINITE = float("inf")
LATENCY = {"tens-of-ms": 0, "single-digit-ms": 1, "sub-ms": 2}


def sized(rule, size):
    figure = rule.get("per_gib", 0) * size
    figure = max(figure, rule.get("floor", 0))
    if figure > rule.get("cap", INFINITE):
        figure = rule["cap"]
    return figure


def ceiling(spec, older_host=False):
    """The highest iops and mib_s, both sustained for ever, and credits: None or (resource, capacity, refill)."""
    kind = EBS[spec["type"]]
    size = spec["size_gib"]
    rule = kind["iops"]
    iops = float(spec["iops"]) if "least" in rule else float(sized(rule, size))
    if older_host and "least" in rule and iops > kind.get("older_host_iops", INFINITE):
        iops = float(kind["older_host_iops"])
    rule = kind["throughput_mib_s"]
    if "least" in rule:
        mib_s = float(spec["throughput_mib_s"])
    elif "steps" in rule:
        mib_s = next(figure for up_to, figure in rule["steps"] if up_to is None or size <= up_to)
    elif "bands" in rule:
        per, cap = next((per, cap) for up_to, per, cap in rule["bands"] if up_to is None or iops <= up_to)
        mib_s = min(per * iops, cap)
    else:
        mib_s = sized(rule, size)
    found = {
        "iops": iops,
        "mib_s": float(mib_s),
        "sustained_iops": iops,
        "sustained_mib_s": float(mib_s),
        "credits": None,
        "io_kib": kind["io_kib"],
        "least_charge_mib": 0,
        "c": 1.0,
        "d": 1.0,
    }
    burst = kind.get("burst")
    if burst is not None:
        rate = sized(burst["rate"], size)
        capacity = burst.get("credits", 0) + burst.get("credits_per_gib", 0) * size
        side = "iops" if burst["resource"] == "iops" else "mib_s"
        if rate > found[side]:
            found["credits"] = (side, capacity, found[side])
            found[side] = float(rate)
            found["least_charge_mib"] = burst.get("least_charge_mib", 0)
    by_iops = found["sustained_iops"] * kind["io_kib"] / 1024
    found["sustained_mib_s"] = min(found["sustained_mib_s"], by_iops)
    return found


def price(spec, region, mean_iops=0.0):
    """USD a month, or None."""
    book = PRICES.get(region, {}).get(spec["type"])
    if book is None:
        return None
    usd = book["gib_month"] * spec["size_gib"]
    iops = spec["iops"] or 0
    if "iops_month" in book:
        usd += book["iops_month"] * max(0, iops - book.get("included_iops", 0))
    for number, (up_to, each) in enumerate(book.get("iops_tiers", [])):
        start = book["iops_tiers"][number - 1][0] if number else book.get("included_iops", 0)
        end = iops if up_to is None else min(iops, up_to)
        usd += each * max(0, end - start)
    throughput = spec["throughput_mib_s"] or 0
    included = book.get("included_throughput_mib_s", 0)
    usd += book.get("throughput_mib_s_month", 0) * max(0, throughput - included)
    return usd + book.get("million_io", 0) * mean_iops * 730 * 3600 / 1_000_000
