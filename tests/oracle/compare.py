"""In what a record of the pipeline differs from the oracle's answer."""

from collections.abc import Iterator
from typing import Any

import pytest


def differences(found: dict[str, Any], expected: dict[str, Any]) -> Iterator[str]:
    """Each difference in words. Peaks that were not read lie between the record's two figures."""
    names = ("demand", "drop_in", "relief", "wait", "too_risky")
    demand, drop_in, relief, wait, too_risky = (found[name] or {} for name in names)
    pairs = {
        "action": (found["action"], expected["action"]),
        "target": (found["target"], expected["target"]),
        "now": (found["monthly_usd_now"], cents(expected["usd_now"])),
        "then": (found["monthly_usd_then"], cents(expected["usd_then"])),
        "relief": (relief.get("spec"), expected.get("relief")),
        "too risky": (too_risky.get("spec"), expected.get("too_risky")),
        "expected": (wait.get("expected"), expected.get("expected")),
    }
    if demand:
        pairs |= {
            "throttled": (demand["throttled_minutes"], expected["throttled_minutes"]),
            "host-bound": (demand["host_bound_minutes"], expected["host_bound_minutes"]),
            "hours": (demand["hours_observed"], pytest.approx(expected["hours"], abs=0.06)),
        }
        sides = (("peak_iops", "peak_iops"), ("peak_throughput_mib_s", "peak_mib_s"))
        pairs |= {
            name: (demand[name], pytest.approx(max(demand[f"least_{name}"], expected[side]), abs=0.006))
            for name, side in sides
            if not demand[f"least_{name}"] - 0.006 <= expected[side] <= demand[name] + 0.006
        }
    if found["replay"] is not None and "drop_in_usd" in expected:
        pairs["drop-in"] = (drop_in.get("monthly_usd"), cents(expected["drop_in_usd"]))
    for name, (one, other) in pairs.items():
        if one != other:
            yield f"{name} is {one}, the oracle has {other}"


def cents(usd: float | None) -> float | None:
    """Money as records have it."""
    return usd if usd is None else round(usd, 2)
