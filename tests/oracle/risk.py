"""Section 4, the risk of a reduction: what is promised of an offer, and the headroom that keeps a promise, literally.

A table is a list of bands: from how many days of history on each holds, and the factor that keeps each risk in percent
(None: none does). Where the page leaves room, this is how it is read here:

- A day counts where both of its highest minutes are known, and the volume was what it is now.
- What is usual rests on the days before the window and in it, the most on those before it.
- Without a day before the window the history is the window, or the volume's age.
"""

import json
import math
from functools import cache
from pathlib import Path

import numpy as np

DAY, MINUTES = 86_400, 1440
MOST = 50.0
SHIPPED = Path(__file__).parents[2] / "benchmarks" / "learned" / "public.json"


@cache
def shipped():
    """The table that ships, by its file."""
    bands = json.loads(SHIPPED.read_text(encoding="utf-8"))["bands"]
    return [
        {
            "days": one["memory_days"],
            "factors": {float(pct): factor for pct, factor in one["learned"]["factors"].items()},
        }
        for one in bands
    ]


def highest_of(operations, moved, first_minute, window_minute, now_s, made_s, moved_on=(), policy=None):
    """The highest minute of each known day, IOPS and MiB/s by its number: the window's first day is 0.

    The arguments are those of `days.days_of`.
    """
    out = {int(when) // DAY for when in moved_on}
    from_s = max(made_s + policy["settle_days"] * DAY, now_s - policy["memory_days"] * DAY)
    found = {}
    for day in range(math.ceil(first_minute / MINUTES), (first_minute + len(operations)) // MINUTES):
        at = slice(day * MINUTES - first_minute, (day + 1) * MINUTES - first_minute)
        before = day * MINUTES < window_minute
        if day in out or (before and day * DAY < from_s):
            continue
        if not (np.isnan(operations[at]).all() or np.isnan(moved[at]).all()):
            number = day - window_minute // MINUTES
            found[number] = float(np.nanmax(operations[at])) / 60, float(np.nanmax(moved[at])) / 60 / 1_048_576
    return found


def history_of(volume, highest, length, policy):
    """How many days are known, which share is usual, and the most before the window (None: not known)."""
    epochs = volume.get("epochs") or [{"first": -(10**9)}]
    since = epochs[-1]["first"] if len(epochs) > 1 else -(10**9)
    if volume.get("replaced") and volume.get("on_host_from") is not None:
        since = max(since, volume["on_host_from"])
    days = {day: rates for day, rates in (highest or {}).items() if day * MINUTES >= since}
    before = [rates for day, rates in days.items() if day < 0]
    if not before:
        made = volume.get("made")
        age_days = policy["lookback_days"] if made is None else (length - made) / MINUTES
        return {"days": min(policy["lookback_days"], age_days), "usual": 1.0, "most": None}
    usual = 1.0
    if len(days) >= 4:
        shares = []
        for side in (0, 1):
            ordered = sorted((rates[side] for rates in days.values()), reverse=True)
            shares.append(ordered[3] / ordered[0] if ordered[0] > 0 else 0.0)
        usual = math.sqrt(max(*shares, 1 / 16))
    return {"days": len(days), "usual": usual, "most": tuple(max(rates[side] for rates in before) for side in (0, 1))}


def band_of(history):
    """The factors for so much history; None where that is too short."""
    fitting = [one for one in shipped() if one["days"] <= history["days"]]
    return max(fitting, key=lambda one: one["days"])["factors"] if fitting else None


def promised(history, factor, policy):
    """The least risk in percent that a factor promises; None where it promises none."""
    factors = band_of(history)
    if factors is None or policy["throttle_budget_min"] > 0:
        return None
    reached = (min(factor, MOST) + 1e-9) / history["usual"]
    return min((pct for pct, least in factors.items() if least is not None and reached >= least), default=None)


def learned_pct(history, policy):
    """The headroom of reductions in percent: what keeps the risk, the most cautious where nothing does, and no less
    than the policy's."""
    factors = band_of(history)
    if policy["headroom_from"] != "learned" or factors is None or policy["throttle_budget_min"] > 0:
        return policy["headroom_pct"]
    known = {pct: least * history["usual"] for pct, least in factors.items() if least is not None}
    known = {pct: factor for pct, factor in known.items() if factor <= 5}
    kept = [pct for pct in known if pct <= policy["risk_pct"]]
    if not known:
        return policy["headroom_pct"]
    factor = known[max(kept)] if kept else known[min(known)]
    return max(policy["headroom_pct"], math.ceil(1000 * max(0.0, factor - 1) - 1e-6) / 10)


def is_allowed(offer, now, need, history, policy, usual_pct, grown_pct):
    """Whether the policy allows the risk of an offer, a limit: on the sides that it lowers.

    need: the highest rates that it has to carry, by side. usual_pct, grown_pct: headroom without and with room for
    growth.
    """
    if policy["risk_pct"] >= 100:
        return True
    times = past = math.inf
    for place, side in enumerate(("iops", "mib_s")):
        own = offer[f"sustained_{side}"]
        if offer[side] >= now[side] - 1e-6 and own >= now[f"sustained_{side}"] - 1e-6:
            continue
        if need[side] > 0:
            times = min(times, own / min(need[side], offer[side]))
        if history["most"] is not None and history["most"][place] > 0:
            past = min(past, own / history["most"][place] / (1 + grown_pct / 100))
    pct = promised(history, (1 + usual_pct / 100) * min(max(1.0, times), past), policy)
    return pct is not None and pct <= policy["risk_pct"]
