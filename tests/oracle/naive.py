"""docs/decision.md for one AWS volume, literally."""

import math
from functools import partial

import numpy as np

from tests.oracle.choice import (
    BUDGETS,
    Judge,
    carries_again,
    carries_all,
    cheapest_pair,
    decision,
    first_passing,
    grid,
    held_back,
    peak,
    settled_from,
    stood_throughout,
    throttled_by_itself,
)
from tests.oracle.days import headroom_with_growth
from tests.oracle.lifted import disproved, load_of
from tests.oracle.limits import EBS, INFINITE, LATENCY, PRICES, ceiling, price
from tests.oracle.past import required_by
from tests.oracle.published import in_minutes
from tests.oracle.received import busy_work, coverage_pct, observed_minutes, scaled, summed, work_of
from tests.oracle.replay import SIDES, counted, host_carries, plain
from tests.oracle.risk import history_of, is_allowed, learned_pct
from tests.oracle.trend import AUDIT_DAYS, busiest_hours, is_outgrown

POLICY = {
    "headroom_pct": 20,
    "headroom_from": "fixed",
    "risk_pct": 100,
    "lookback_days": 14,
    "growth_days": 120,
    "throttle_budget_min": 0,
    "max_wait_s": 60,
    "throttle_lift_pct": 50,
    "iops_step": 100,
    "throughput_step_mib_s": 5,
    "drop_in_share_pct": 90,
    "settle_days": 7,
    "idle_days": 30,
    "memory_days": 455,
    "size_on": "peak-second",
    "min_hours": 30,
    "min_coverage_pct": 95,
    "saturation_pct": 95,
    "empty_balance_pct": 1,
    "frequent_share_pct": 0.5,
    "min_saving_usd_month": 1.0,
    "target_types": ["gp3", "io2"],
    "latency_floor": None,
    "durability_floor_pct": 0,
    "seconds_saturate": False,
}
MIB_OF_MB = 1_000_000 / 1_048_576
AS_COUNTED = plain(INFINITE, INFINITE)
"""How hosts count: operations of any size."""


def older(hosts):
    return any(host is not None and not host["nitro"] for host in hosts)


def limits_of_host(host):
    return {
        "baseline": {"iops": host["baseline_iops"], "mib_s": host["baseline_mb_s"] * MIB_OF_MB},
        "maximum": {"iops": host["maximum_iops"], "mib_s": host["maximum_mb_s"] * MIB_OF_MB},
    }


def maxima(volume, work, siblings, step):
    """What all its hosts carry at most, by side. Infinite where more was done than is published while the volume was on
    them; None where that is not known of each."""
    known = [limits_of_host(one)["maximum"] for one in volume["hosts"] if one and one["maximum_iops"] is not None]
    if not known or len(known) != volume["attachments"]:
        return None
    most = {side: sum(one[side] for one in known) for side in SIDES}
    total = summed([work, *(siblings if len(known) == 1 else [])])
    since = max(0, volume.get("on_host_from") or 0)
    refuted = step is not None and disproved(total, plain(most["iops"], most["mib_s"]), since)
    return dict.fromkeys(SIDES, INFINITE) if refuted else most


def measure(carries, left, limits, measured, policy):
    """Puts what was measured of a host in the place of what its published limits say.

    measured: `iops_check`, `mib_s_check`, `iops_balance` and `mib_s_balance`, minute by minute, NaN where there is no
    point; any may be missing. A balance says whether credits were left, a replay (`left`, their share) where there is
    none: without them it stands at its baseline. A check is raised, or says in a minute in which the host may use its
    maximum that it was not the limit.
    """
    raised, quiet, empty, stands, refuted = {}, {}, {}, {}, {}
    for side in SIDES:
        maximum, baseline = limits["maximum"][side], limits["baseline"][side]
        nothing = np.full(len(carries[side]), np.nan)
        balance = measured.get(f"{side}_balance", nothing)
        check = measured.get(f"{side}_check", nothing)
        empty[side] = np.zeros(len(check), dtype=bool)
        refuted[side] = ((100 * left[side] < policy["empty_balance_pct"]) & (balance >= 10)).sum() >= 3
        if maximum > baseline:
            empty[side] = balance < policy["empty_balance_pct"]
            known = np.where(empty[side], baseline, maximum)
            carries[side][:] = np.where(np.isnan(balance), carries[side], known)
        spent = np.where(np.isnan(balance), 100 * left[side], balance) < policy["empty_balance_pct"]
        stands[side] = np.where(spent, np.minimum(baseline, carries[side]), carries[side])
        raised[side] = check > 0
        quiet[side] = (check == 0) & (carries[side] >= maximum)
    most = limits["maximum"]
    return {"raised": raised, "quiet": quiet, "empty": empty, "stands": stands, "most": most, "refuted": refuted}


def load_for(volume, minutes, siblings, policy, days):
    """The load of a volume on its hosts, and the share of its credits that it begins with."""
    minutes, step = in_minutes(minutes, older(volume["hosts"]))
    observed = observed_minutes(minutes)
    work = work_of(minutes, observed)
    most = maxima(volume, work, siblings, step)
    restored = volume.get("restored_until")
    if restored is not None:
        begun = np.arange(len(observed)) >= restored
        work = {name: np.where(begun, values, 0.0) for name, values in work.items()}
    hosted = None
    if most is not None and len(volume["hosts"]) == 1:
        others = summed([{name: np.zeros(len(observed)) for name in work}, *siblings])
        limits = limits_of_host(volume["hosts"][0])
        if INFINITE in most.values():
            limits = dict.fromkeys(limits, most)
        carries, left = host_carries(limits, counted(summed([work, others]), AS_COUNTED))
        checks_of_host = measure(carries, left, limits, volume.get("measured") or {}, policy)
        hosted = {"carries": carries, "counts": AS_COUNTED, "others": others, "limits": limits, **checks_of_host}
        hosted["extra"] = summed([dict.fromkeys(work, 0.0), *(one["extra"] for one in siblings if "extra" in one)])
        since = volume.get("on_host_from") or 0
        for side in SIDES:
            carries[side][: max(0, since)] = hosted["stands"][side][: max(0, since)] = INFINITE
            hosted["raised"][side][: max(0, since)] = False
    elif most is not None:
        carries = {side: np.full(len(observed), most[side]) for side in SIDES}
        hosted = {"carries": carries, "counts": AS_COUNTED, "others": None}  # nobody is bound by one of several
    checks = {
        side: None if minutes.get(name) is None else np.nan_to_num(minutes[name]) > 0
        for side, name in (("iops", "iops_exceeded"), ("mib_s", "throughput_exceeded"))
    }
    balance = minutes.get("burst_balance_pct")
    shown = None if balance is None else np.where(np.isnan(balance), 100.0, balance)
    epochs = [
        {"first": one["first"], "limit": None if one["spec"] is None else ceiling(one["spec"], older(volume["hosts"]))}
        for one in volume.get("epochs") or [{"first": 0, "spec": volume["spec"]}]
    ]
    seconds = None
    if policy["size_on"] == "busy-time" and minutes.get("idle_s") is not None:
        seconds = busy_work(minutes, work)
    known = {
        "step": step,
        "seconds": seconds,
        "checks": checks,
        "balance": shown,
        "hosted": hosted,
        "days": days,
    }
    load = load_of(work, observed, epochs, policy, **known)
    of_its_type = np.zeros(len(observed), dtype=bool)
    for one in volume.get("epochs") or [{"first": 0, "spec": volume["spec"]}]:
        of_its_type[max(0, one["first"]) :] = one["spec"] is not None and one["spec"]["type"] == volume["spec"]["type"]
    of_its_type &= ~load["unknown"]
    known = np.flatnonzero(of_its_type & ~np.isnan(balance)) if balance is not None else []
    return load, (float(balance[known[0]]) / 100 if len(known) else 1.0)


def sibling_of(volume, minutes, policy=POLICY):
    """The work of a volume as another one on its host sees it, with the `extra` that its own limit held back."""
    raw, _ = in_minutes(minutes, older(volume["hosts"]))
    load, _ = load_for(volume, minutes, [], policy, None)
    wanted = scaled(load["work"], load["lift"]["iops"], load["lift"]["mib_s"])
    extra = {name: wanted[name] - load["work"][name] for name in wanted}
    return {**work_of(raw, observed_minutes(raw)), "extra": extra}


def unsuited(volume, name, policy):
    kind = EBS[name]
    low, high = kind["size_gib"]
    return any(
        [
            not kind.get("sold", True),
            name not in policy["target_types"] and name != volume["spec"]["type"],
            not low <= volume["spec"]["size_gib"] <= high,
            volume["boot"] and not kind["boots"],
            volume["attachments"] > 1 and not kind["multi_attach"],
            policy["latency_floor"] is not None and LATENCY[kind["latency"]] < LATENCY[policy["latency_floor"]],
            kind["durability_pct"] < policy["durability_floor_pct"],
            name not in PRICES.get(volume["region"], {}),
        ]
    )


def order(spec, usd):
    kind = EBS[spec["type"]]
    return usd, -LATENCY[kind["latency"]], -kind["durability_pct"], spec["type"]


def search(volume, name, policy, mean_iops, passes, *, reducing, grows=True, highest=None):
    """The cheapest configuration of a type for which `passes(limit)` holds; None where none does, of those that have no
    more than `highest`.

    It has the volume's size, or, if it `grows` and the type sells IOPS by size, the least larger one of which anything
    passes. A reduction within the type has the volume's size; one of two resources may stay as it is.
    """
    within = reducing and name == volume["spec"]["type"]
    size, high = volume["spec"]["size_gib"], EBS[name]["size_gib"][1]

    def at(size_gib):
        return search_at(size_gib, volume, name, policy, mean_iops, passes, may_stay=within, highest=highest)

    found = at(size)
    if found is not None or within or not grows or "least" not in EBS[name]["iops"]:
        return found
    sizes = range(size + 1, high + 1)
    place = first_passing(sizes, lambda size_gib: at(size_gib) is not None)
    return None if place is None else at(sizes[place])


def search_at(size, volume, name, policy, mean_iops, passes, *, may_stay, highest):
    """The cheapest figures of a type at a size for which `passes(limit)` holds; None where not even the largest passes.

    may_stay: a resource of which not even the most passes stays as it is, and the other alone has to pass.
    """
    kind = EBS[name]
    nitro_less = older(volume["hosts"])

    def spec(iops=None, mib_s=None):
        return {"type": name, "size_gib": size, "iops": iops, "throughput_mib_s": mib_s}

    def limit(one):
        return ceiling(one, nitro_less)

    rule, moved = kind["iops"], kind["throughput_mib_s"]
    if "least" not in rule:
        found = spec()
        return found if passes(limit(found)) else None
    most = max(rule["least"], min(rule["most"], int(rule["per_gib"] * size)))
    own = volume["spec"]
    today = own if name == own["type"] else {}
    iops = grid(rule, most, policy["iops_step"], today.get("iops"))
    if highest is not None:
        iops = [figure for figure in iops if figure <= highest["iops"]]
    if "least" not in moved:
        at = first_passing(iops, lambda figure: passes(limit(spec(figure))))
        return None if at is None else spec(iops[at])
    mib_s = grid(moved, moved["most"], policy["throughput_step_mib_s"], today.get("throughput_mib_s"))
    if highest is not None:
        mib_s = [figure for figure in mib_s if figure <= highest["throughput_mib_s"]]
    if not iops or not mib_s:
        return None

    def alone(side, figure):
        other = "mib_s" if side == "iops" else "iops"
        capped = limit(spec(figure, mib_s[0]))[side] if side == "iops" else figure
        free = {other: INFINITE, f"sustained_{other}": INFINITE}
        return passes({**limit(spec(iops[-1], mib_s[-1])), side: capped, f"sustained_{side}": capped, **free})

    if may_stay:
        at = {
            "iops": first_passing(iops, lambda figure: alone("iops", figure)),
            "mib_s": first_passing(mib_s, lambda figure: alone("mib_s", figure)),
        }
        if at["iops"] is None and at["mib_s"] is not None:
            return spec(own["iops"], mib_s[at["mib_s"]])
        if at["mib_s"] is None and at["iops"] is not None:
            bringing = [figure for figure in iops if moved["per_iops"] * figure >= own["throughput_mib_s"]]
            return spec(max(iops[at["iops"]], bringing[0]), own["throughput_mib_s"])

    found = cheapest_pair(
        iops,
        mib_s,
        lambda one, two: two <= max(moved["least"], moved["per_iops"] * one) + 1e-9,
        lambda one, two: price(spec(one, two), volume["region"], mean_iops),
        alone,
        lambda one, two: passes(limit(spec(one, two))),
    )
    return None if found is None else spec(*found)


def found_offers(volume, policy, mean_iops, passes, no_more_than=None, *, reducing, grows=True):
    """The cheapest passing configuration of each type that may be offered. no_more_than: the limit that is had, where
    nothing may be raised; of another type, the least that does all of it is no raise."""
    made = []
    for name in EBS:
        if unsuited(volume, name, policy):
            continue
        most = None
        if no_more_than is not None and name == volume["spec"]["type"]:
            most = volume["spec"]
        elif no_more_than is not None:
            same = partial(carries_all, now=no_more_than)
            most = search(volume, name, policy, mean_iops, same, reducing=False)
        spec = search(volume, name, policy, mean_iops, passes, reducing=reducing, grows=grows, highest=most)
        if spec is not None:
            usd = price(spec, volume["region"], mean_iops)
            made.append(
                {"spec": spec, "usd": usd, "order": order(spec, usd), "limit": ceiling(spec, older(volume["hosts"]))}
            )
    return made


def replaced_unmeasured(volume, usd_now, policy, mean_iops):
    """What keeps all limits wherever it is, where too little is known of what the volume does; None where nothing does
    that saves enough, the volume is billed by the operation, or it is between two configurations."""
    if volume.get("modifying") or EBS[volume["spec"]["type"]].get("billed_per_io"):
        return None
    found = cheapest_that_keeps(volume, ceiling(volume["spec"]), policy, mean_iops, anywhere=True)
    saves = found is not None and usd_now - found["usd"] >= policy["min_saving_usd_month"] - 1e-9
    return found if saves else None


def within(limit, most):
    """A limit as far as its hosts carry it at most; as it is where that is not known."""
    if most is None:
        return limit
    return {
        **limit,
        **{f"{long}{side}": min(limit[f"{long}{side}"], most[side]) for side in SIDES for long in ("", "sustained_")},
    }


def cheapest_that_keeps(volume, limit, policy, mean_iops, *, anywhere):
    """The cheapest other configuration that does all that a limit does, on its hosts or `anywhere`; None where none."""
    placed = {**volume, "hosts": []} if anywhere else volume
    same = found_offers(placed, policy, mean_iops, lambda other: carries_all(other, limit), reducing=False, grows=False)
    return min([one for one in same if one["spec"] != volume["spec"]], key=lambda one: one["order"], default=None)


def answer(action, target, usd_now, usd_then, **more):
    return {"action": action, "target": target, "usd_now": usd_now, "usd_then": usd_then, **more}


def decide(volume, minutes, siblings, policy=POLICY, frontier=False, past=None, days=None, busy=None, highest=None):
    """The answer for one volume.

    volume: spec, region, state, boot, attachments, hosts (maximum_iops, maximum_mb_s, baseline_iops, baseline_mb_s,
    nitro; None where unknown), and where known: `edge` (whether it is in no zone of the region's own), `measured` of
    its only host (see `measure`), `epochs` (dictionaries of first, a minute, and spec, None where it is not known; the
    last is the present), `made` (the minute), `on_host_from` and `replaced` (the minute from which it is on its host,
    and whether it was made more than an hour earlier), `restored_until` (the minute up to which nothing is its demand),
    `modifying`, `may_move` (whether its host is stopped, was of another type, or a template or takeover moves it),
    `ran_from` (the minute from which it is on a running host), `room_for` (what a reduction must carry at
    least, by the names of a limit). minutes: the series, as arrays with NaN where there is no point.
    siblings: the work of every other volume on its only host, as `sibling_of` makes it of those that may be changed.
    `frontier`: what the budgets cost as well. past, days:
    what was before the window, as `past.buckets_of` and `days.days_of` make it, these of the window too. busy: the
    busiest hours of the days before it, as `days.busy_of` makes them. highest: the highest minute of each day, as
    `risk.highest_of` makes it.
    """
    own = None if days is None else {day: done for day, done in days.items() if day >= 0}
    history = history_of(volume, highest, len(minutes["read_ops"]), policy)
    relief_pct = usual_pct = policy["headroom_pct"]
    known, asked = {"frontier": frontier, "busy": busy or {}, "usual_pct": usual_pct}, None
    found = decide_with(volume, minutes, siblings, policy, own, **known)
    if found.get("reduces") and learned_pct(history, policy) > usual_pct:
        usual_pct = learned_pct(history, policy)
        known["usual_pct"] = usual_pct
        policy = {**policy, "reducing_pct": usual_pct}
        found = decide_with(volume, minutes, siblings, policy, own, **known)
    if past is not None and asks_the_past(found):
        own = days
        found = decide_with(volume, minutes, siblings, policy, days, **known)
        hosts = carried_by_hosts(volume, minutes, siblings)
        if found["rises"]:
            asked = required_of(past, highest, policy, hosts)
            found = decide_with(volume, minutes, siblings, policy, days, **known, asked=asked)
        whole_days = len(minutes["read_ops"]) // 1440
        headroom_pct = None
        if asks_the_past(found) and not found["rises"]:
            by_reduction = found["action"] != "upgrade"
            headroom_pct = headroom_with_growth(volume, days, whole_days, policy, by_reduction)
        if headroom_pct is not None:
            reducing = {**policy, "headroom_pct": usual_pct}
            more_pct = headroom_with_growth(volume, days, whole_days, reducing, by_reduction)
            grown = {**policy, "headroom_pct": headroom_pct, "reducing_pct": more_pct}
            more = decide_with(volume, minutes, siblings, grown, days, **known)
            if found["action"] != "upgrade" or more["action"] == "upgrade":
                found, policy = more, grown
        if found["reduces"]:
            asked = required_of(past, highest, policy, hosts)
            found = decide_with(volume, minutes, siblings, policy, days, **known, asked=asked)
    ending, lowering = found.get("ending"), None
    if asks_the_past(found) and ending is not None and not ending["carries_all"]:
        pcts = relief_pct, policy["headroom_pct"]
        allowed = is_allowed(ending["limit"], found["now"], ending["need"], history, policy, *pcts)
        if not allowed or found["ending_rises"]:
            pinned = decide_with(volume, minutes, siblings, policy, own, **known, asked=asked, pinned=True)
            if pinned.get("ending") is not None:
                found, lowering = pinned, None if allowed else ending
    return without_risk(found, volume, history, policy, usual_pct, lowering)


def required_of(past, highest, policy, hosts):
    """What the past requires of a reduction, by side; also its highest minutes where headroom is learned."""
    reducing = {**policy, "headroom_pct": policy.get("reducing_pct", policy["headroom_pct"])}
    asked = required_by(past, reducing, hosts)
    before = [rates for day, rates in (highest or {}).items() if day < 0]
    if policy["headroom_from"] == "learned" and policy["throttle_budget_min"] == 0:
        for place, side in enumerate(SIDES):
            most = (1 + reducing["headroom_pct"] / 100) * max([rates[place] for rates in before], default=0.0)
            asked[side] = max(asked[side], most if hosts is None else min(most, hosts[side]))
    return asked


def without_risk(found, volume, history, policy, usual_pct, lowering):
    """The answer; in the place of a reduction whose risk is not allowed relief, what keeps today's limits, or none.

    lowering: relief that lowers a limit, and whose risk is not allowed.
    """
    names = ("rises", "reduces", "offer", "now", "need", "spare", "ending", "ending_rises")
    told = {name: found.pop(name, None) for name in names}
    if found["action"] == "upgrade" and lowering is not None:
        found["too_risky"] = lowering["spec"]
    if found["action"] not in {"migrate", "reprovision"} or not told["reduces"]:
        return found
    offer, grown_pct = told["offer"], policy.get("reducing_pct", policy["headroom_pct"])
    if is_allowed(offer["limit"], told["now"], told["need"], history, policy, usual_pct, grown_pct):
        return found
    found["too_risky"] = offer["spec"]
    if told["ending"] is not None:
        spec = told["ending"]["spec"]
        return found | {"action": "upgrade", "target": spec, "usd_then": told["ending"]["usd"], "relief": None}
    if told["spare"] is None:
        return found | {"action": "keep", "target": volume["spec"], "usd_then": found["usd_now"]}
    spec = told["spare"]["spec"]
    action = "migrate" if spec["type"] != volume["spec"]["type"] else "reprovision"
    return found | {"action": action, "target": spec, "usd_then": told["spare"]["usd"]}


def carried_by_hosts(volume, minutes, siblings):
    """The most that all its hosts carry, by side; None where that is not known of each."""
    minutes, step = in_minutes(minutes, older(volume["hosts"]))
    most = maxima(volume, work_of(minutes, observed_minutes(minutes)), siblings, step)
    return None if most is None or INFINITE in most.values() else most


def asks_the_past(found):
    """Whether an answer is one that the past is asked for: less than now on any side, or relief."""
    return found.get("reduces", False) or found["action"] == "upgrade"


def decide_with(volume, minutes, siblings, policy, days, *, frontier, busy, usual_pct, asked=None, pinned=False):
    """As `decide` by what is known of days, where what lowers a side has to carry that much of it (`asked`) as well.

    usual_pct: the headroom without room for growth. pinned: relief lowers nothing.
    """
    usd_now = None if volume.get("edge") else price(volume["spec"], volume["region"])
    if volume["state"] == "available" and volume["attachments"] == 0:
        return answer("detached", None, usd_now, usd_now)
    load, start = load_for(volume, minutes, siblings, policy, days)
    observed = load["observed"]
    seen = int(observed.sum())
    plain_iops = load["work"]["r"] + load["work"]["w"]
    mean_iops = float(plain_iops[observed].sum()) / seen if seen else 0.0
    usd_now = None if volume.get("edge") else price(volume["spec"], volume["region"], mean_iops)
    now = ceiling(volume["spec"], older(volume["hosts"]))
    hosts = carried_by_hosts(volume, minutes, siblings)
    used = now if volume.get("may_move") else within(now, hosts)
    peak_iops, peak_mib_s = peak(load, AS_COUNTED)
    shown = {
        "peak_iops": peak_iops,
        "peak_mib_s": peak_mib_s,
        "throttled_minutes": int((load["saturated"]["iops"] | load["saturated"]["mib_s"]).sum()),
        "host_bound_minutes": int(load["bound"].sum()),
        "hours": seen / 60,
    }
    covered = coverage_pct(observed, volume.get("ran_from")) >= policy["min_coverage_pct"]
    works = volume["state"] in {"available", "in-use"}
    if not works or usd_now is None or shown["hours"] < policy["min_hours"] or not covered:
        same = works and usd_now is not None and replaced_unmeasured(volume, usd_now, policy, mean_iops)
        if same:
            action = "reprovision" if same["spec"]["type"] == volume["spec"]["type"] else "migrate"
            return answer(action, same["spec"], usd_now, same["usd"], **shown, unmeasured=True)
        return answer("insufficient-data", None, usd_now, usd_now, **shown)
    judge = Judge(policy, len(observed))
    budget = judge.budget()
    throttled_now, wait_now = judge.tried([load], now, reducing=False, headroom=1.0, start=start, offered=False)
    present = {
        "usd": usd_now,
        "passes": throttled_now <= budget + 1e-9 and wait_now <= policy["max_wait_s"] + 1e-9,
        "throttled": throttled_by_itself(load, throttled_now, budget),
    }

    def passing(tolerated, *, reducing, holding=False, floor=None):
        def passes(limit):
            if floor is not None and not carries_all(limit, floor):
                return False
            most = now if holding or not reducing else dict.fromkeys(now, INFINITE)
            if asked and any(limit[side] < min(asked[side], most[side]) - 1e-6 for side in SIDES):
                return False
            kind = EBS[volume["spec"]["type"]]
            if (holding or not reducing) and not carries_again(limit, load, now, policy, kind, hosts):
                return False
            for name, least in (volume.get("room_for") or {}).items():
                if limit[name] < (least if reducing else min(least, now[name])) - 1e-6:
                    return False
            return judge.passes([load], limit, tolerated, reducing=reducing, holding=holding)

        return passes

    def cheaper_offers(tolerated, no_more_than=None, *, holding=False):
        passes = passing(tolerated, reducing=True, holding=holding)
        made = found_offers(volume, policy, mean_iops, passes, no_more_than, reducing=True)
        return [one | {"carries_all": carries_all(one["limit"], used), "holding": holding} for one in made]

    ends = settled_from(
        load,
        len(observed),
        policy,
        restored_until=volume.get("restored_until"),
        made=volume.get("made"),
        came=volume.get("on_host_from") if volume.get("replaced") else None,
    )
    modifying = bool(volume.get("modifying"))
    is_judged = ends is None and not modifying and stood_throughout(load)
    floor = None if is_judged and not pinned else now

    offers = cheaper_offers(budget, now)
    relief = []
    if present["throttled"]:
        passes = passing(budget, reducing=False, floor=floor)
        for one in found_offers(volume, policy, mean_iops, passes, reducing=False):
            count, _ = judge.tried([load], one["limit"], reducing=False, headroom=1.0)
            if 2 * count <= throttled_now:
                need = judge.need([load], one["limit"], reducing=False)
                relief.append(one | {"carries_all": carries_all(one["limit"], used), "need": need})
    full = cheapest_that_keeps(volume, ceiling(volume["spec"]), policy, mean_iops, anywhere=True)
    whole = full if volume.get("may_move") else cheapest_that_keeps(volume, now, policy, mean_iops, anywhere=False)
    drop_in, by_host = whole, None
    if whole is not None:
        passes = judge.passes([load], whole["limit"], budget, reducing=True, headroom=judge.headroom)
        drop_in |= {"carries_all": True, "passes": passes}
    if used != now:
        kept_there = cheapest_that_keeps(volume, used, policy, mean_iops, anywhere=False)
        if kept_there is not None:
            kept_there |= {"carries_all": True, "whole": whole}
            count, _ = judge.tried([load], kept_there["limit"], reducing=False, headroom=1.0)
            if count > throttled_now:
                pass
            elif whole is not None and usd_now - whole["usd"] >= policy["min_saving_usd_month"] - 1e-9:
                drop_in = kept_there
            elif kept_there["spec"]["type"] != volume["spec"]["type"]:
                by_host = kept_there
    shown |= {"replay_now": throttled_now, "drop_in_usd": drop_in and drop_in["usd"], "full": full and full["spec"]}
    if frontier:
        shown["frontier"] = {
            minutes_of: min([one["usd"] for one in cheaper_offers(judge.budget(minutes_of))], default=None)
            for minutes_of in BUDGETS
        }
    offers = [one for one in offers if one["spec"] != volume["spec"]]

    def outgrown(limit):
        whole_days = len(observed) // 1440
        here = busiest_hours((plain_iops, load["work"]["rm"] + load["work"]["wm"]), observed, 0)
        begun = volume.get("restored_until") or 0
        held = {int(minute) // 1440 for minute in np.flatnonzero(load["held_back"])}
        own = {day: figures for day, figures in here.items() if day * 1440 >= begun and day not in held}
        most = dict(zip(SIDES, peak(load, limit), strict=True))
        return is_outgrown({**busy, **own}, whole_days, limit, now, most, policy, usual_pct)

    def hold():
        """The cheapest that throttles no more minutes than today, and carries everything else with headroom."""
        if not is_judged:
            return None
        for one in sorted(cheaper_offers(budget, now, holding=True), key=lambda one: one["order"]):
            if judge.tried([load], one["limit"], reducing=False, headroom=1.0)[0] <= throttled_now:
                return None if outgrown(one["limit"]) else one
        return None

    chosen = decision(offers, relief, drop_in, present, policy, by_host=by_host, hold=hold)
    if by_host is not None and chosen[1] is by_host:
        shown["drop_in_usd"] = by_host["usd"]
    rises = ends is None and not modifying and chosen[0] == "change" and not chosen[1]["carries_all"]
    rises = rises and outgrown(chosen[1]["limit"])
    action, offer, expected = held_back(
        chosen, drop_in, present, policy, unsettled=ends is not None or rises, modifying=modifying
    )
    shown["rises"] = rises and action == "wait"
    if rises:
        ends = len(observed) + AUDIT_DAYS * 1440
    aim = expected if action == "wait" else offer
    shown["reduces"] = action in {"wait", "change", "upgrade"} and aim is not None and not aim["carries_all"]
    if action == "wait":
        more = {"expected": expected["spec"], "settled_from": ends}
        return answer("wait", None, usd_now, usd_now, **shown, **more)
    if action == "keep" or (action == "change" and small(volume["spec"], offer, usd_now, policy)):
        return answer("keep", volume["spec"], usd_now, usd_now, **shown)
    ending = offer if action == "upgrade" else chosen[2]
    shown |= {"now": used, "ending": ending}
    shown["ending_rises"] = is_judged and ending is not None and not ending["carries_all"] and outgrown(ending["limit"])
    if action == "change":
        spare = drop_in is not None and usd_now - drop_in["usd"] >= policy["min_saving_usd_month"] - 1e-9
        need = judge.need([load], offer["limit"], holding=offer.get("holding", False))
        shown |= {"offer": offer, "need": need, "spare": drop_in if spare else None}
        action = "migrate" if offer["spec"]["type"] != volume["spec"]["type"] else "reprovision"
    return answer(action, offer["spec"], usd_now, offer["usd"], **shown, relief=chosen[2] and chosen[2]["spec"])


def small(spec, offer, usd_now, policy):
    """Whether a change is under 5 % of the present figures and under the least saving."""
    other = offer["spec"]
    if other["type"] != spec["type"] or abs(usd_now - offer["usd"]) >= policy["min_saving_usd_month"]:
        return False
    names = ("iops", "throughput_mib_s")
    return all(math.isclose(other[name] or 0, spec[name] or 0, rel_tol=0.05) for name in names)
