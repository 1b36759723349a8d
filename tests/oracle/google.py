"""docs/decision.md for Google's disks, literally: sections 1 to 6 for one alone, section 8 for a host of several."""

import math
from pathlib import Path

import numpy as np
import yaml

from tests.oracle.limits import INFINITE, LATENCY

DATA = Path(__file__).parents[2] / "lib" / "plimsoll" / "clouds" / "google" / "data"
DISKS = yaml.safe_load((DATA / "types.yaml").read_text(encoding="utf-8"))["types"]
PRICES = yaml.safe_load((DATA / "prices.yaml").read_text(encoding="utf-8"))["regions"]
HEADROOM, SATURATED, STEP, FREQUENT, LEAST_HOURS, LEAST_SAVING = 1.2, 0.95, 1.5, 0.005, 30, 1.0
LEAST_COVERED = 0.95
COUNTERS = ("read_ops", "write_ops", "read_bytes", "write_bytes")


def figure(rule, size):
    """What a rule that only knows the size gives."""
    value = rule.get("base", 0) + rule.get("per_gib", 0) * size
    return min(max(value, rule.get("floor", 0)), rule.get("cap", INFINITE))


def least_sold(rule, size, iops=0.0):
    least = max(rule["least"], rule.get("least_per_gib", 0) * size, rule.get("least_per_iops", 0) * iops)
    if rule.get("strict"):
        least = min(least, rule["per_gib"] * size)
    return math.ceil(least)


def most_sold(rule, size, iops=INFINITE):
    most = min(rule["most"], rule.get("per_gib", INFINITE) * size, rule.get("per_iops", INFINITE) * iops)
    return int(max(most, least_sold(rule, size, iops if iops < INFINITE else 0.0)))


def published(spec):
    """Reads and writes, IOPS and MiB/s, of a type at a size: a limit as (iops, mib_s, c, d), counted in reads."""
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
    return float(iops), float(mib_s), kind.get("write_iops_cost", 1.0), kind.get("write_throughput_cost", 1.0)


def both(one, other):
    """The lower of two limits, for reads and for writes each."""
    sides = []
    for place in (0, 1):
        reads = min(one[place], other[place])
        writes = min(one[place] / one[place + 2], other[place] / other[place + 2])
        sides.append((reads, 1.0 if reads == writes else reads / writes))
    return sides[0][0], sides[1][0], sides[0][1], sides[1][1]


def beside(one, other):
    sides = []
    for place in (0, 1):
        reads = one[place] + other[place]
        writes = one[place] / one[place + 2] + other[place] / other[place + 2]
        sides.append((reads, 1.0 if reads == writes else reads / writes))
    return sides[0][0], sides[1][0], sides[0][1], sides[1][1]


def carried(spec, hosts):
    """The published limit, and no more than the hosts let all disks of the type carry, if that is known of all."""
    caps = [host["caps"][spec["type"]] for host in hosts if spec["type"] in host["caps"]]
    limit = published(spec)
    if caps and len(caps) == len(hosts):
        cap = caps[0]
        for more in caps[1:]:
            cap = beside(cap, more)
        limit = both(limit, cap)
    return limit


def turned(limit, c, d):
    """The most that a limit comes to where writes cost otherwise."""
    return limit[0] * max(1.0, c / limit[2]), limit[1] * max(1.0, d / limit[3]), c, d


def series_of(minutes):
    """A disk's minutes as rates: reads and writes, the busiest seconds of each, and which minutes were observed."""
    there = np.zeros(len(minutes["read_ops"]), dtype=bool)
    for name in COUNTERS:
        there |= ~np.isnan(minutes[name])
    hours = -(-len(there) // 60)
    padded = np.concatenate([there, np.zeros(hours * 60 - len(there), dtype=bool)])
    observed = np.repeat(padded.reshape(-1, 60).any(axis=1), 60)[: len(there)]
    reads, writes, read_bytes, write_bytes = (np.nan_to_num(minutes[name]) / 60 for name in COUNTERS)
    found = {"r": reads, "w": writes, "rm": read_bytes / 2**20, "wm": write_bytes / 2**20, "observed": observed}
    names = [f"peak_{name}" for name in COUNTERS]
    if any(not np.isnan(minutes[name]).all() for name in names):
        seconds = [np.nan_to_num(minutes[name]) for name in names]
        found |= {"sr": seconds[0], "sw": seconds[1], "srm": seconds[2] / 2**20, "swm": seconds[3] / 2**20}
    return found


def summed(some):
    names = set().union(*some) - {"observed"}
    total = {name: sum(one[name] for one in some if name in one) for name in names}
    return total | {"observed": np.logical_or.reduce([one["observed"] for one in some])}


def counted(asked, c, d):
    return asked["r"] + c * asked["w"], asked["rm"] + d * asked["wm"]


def peaks(asked, c, d):
    found = []
    for rate, second in zip(counted(asked, c, d), ("s", "m"), strict=True):
        values = rate
        if "sr" in asked:
            busiest = asked["sr"] + c * asked["sw"] if second == "s" else asked["srm"] + d * asked["swm"]
            values = np.maximum(rate, busiest)
        found.append(float(values[asked["observed"]].max(initial=0.0)))
    return found


def queued(asked, limit):
    """The minutes at whose end work still waits behind a limit."""
    waiting = set()
    for rate, most in zip(counted(asked, limit[2], limit[3]), limit[:2], strict=True):
        if rate.max(initial=0.0) <= most:
            continue
        backlog = 0.0
        for minute, value in enumerate(rate.tolist()):
            backlog = max(0.0, backlog + (value - most) * 60)
            if backlog > 1e-6 * most * 60:
                waiting.add(minute)
    return len(waiting)


def stood(asked, now, host):
    """Throttled and host-bound minutes, what is censored and what is throttled often."""
    observed, throttled = asked["observed"], []
    ways = (("sr", "sw", now[2]), ("srm", "swm", now[3]))
    for rate, most, (reads, writes, cost) in zip(counted(asked, now[2], now[3]), now[:2], ways, strict=True):
        at = rate >= SATURATED * most
        if "sr" in asked:
            at = at | (np.maximum(asked[reads], cost * asked[writes]) >= SATURATED * most)
        throttled.append(at & observed)
    bound = np.zeros_like(observed)
    if host is not None and host["limit"] is not None:
        limit = host["limit"]
        totals = counted(host["total"], limit[2], limit[3])
        for own, total, most in zip(counted(asked, limit[2], limit[3]), totals, limit[:2], strict=True):
            bound |= (total >= SATURATED * most) & (own >= 0.05 * total) & (own > 0)
    bound &= observed
    buckets = int(observed.sum())
    often = [side for side, at in enumerate(throttled) if at.sum() >= max(1.0, FREQUENT * buckets)]
    held = int((throttled[0] | throttled[1] | bound).sum())
    return {
        "throttled_minutes": int((throttled[0] | throttled[1]).sum()),
        "host_bound_minutes": int(bound.sum()),
        "often": often,
        "censored": bool(often) or held > 0,
    }


def need_of(asked, c, d, now, state, most):
    """Section 4, for IOPS and MiB/s: what is needed at its highest and for ever is one where nothing bursts."""
    now, most = turned(now, c, d), turned(most, c, d)
    found = []
    for side, peak in enumerate(peaks(asked, c, d)):
        need = peak * HEADROOM
        if state["censored"]:
            need = max(need, now[side])
        if side in state["often"]:
            need = max(need, max(peak, now[side]) * STEP)
        found.append(min(need, most[side]))
    return found


def spec_for(name, size, need):
    rule, moved = DISKS[name]["iops"], DISKS[name]["throughput_mib_s"]
    need_iops, need_mib_s = need
    iops = throughput = None
    if "per_mib_s" in rule:
        need_mib_s = max(need_mib_s, need_iops / rule["per_mib_s"] if need_iops <= rule["cap"] else INFINITE)
    if "least" in moved:
        most = most_sold(moved, size)
        throughput = most if need_mib_s > most else max(least_sold(moved, size), math.ceil(need_mib_s - 1e-6))
        need_iops = max(need_iops, throughput / moved.get("per_iops", INFINITE))
    if "bands" in moved:
        per, cap = moved["bands"][0][1:]
        need_iops = max(need_iops, need_mib_s / per if need_mib_s <= cap else INFINITE)
    if "least" in rule:
        most = most_sold(rule, size)
        iops = most if need_iops > most else max(least_sold(rule, size), math.ceil(need_iops - 1e-6))
        if throughput is not None:
            throughput = min(max(least_sold(moved, size, iops), throughput), most_sold(moved, size, iops))
    return {"type": name, "size_gib": size, "iops": iops, "throughput_mib_s": throughput}


def price(spec, region):
    book = PRICES.get(region, {}).get(spec["type"])
    if book is None:
        return None
    usd = book["gib_month"] * spec["size_gib"]
    usd += book.get("iops_month", 0) * max(0, (spec["iops"] or 0) - book.get("included_iops", 0))
    included = book.get("included_throughput_mib_s", 0)
    return usd + book.get("throughput_mib_s_month", 0) * max(0, (spec["throughput_mib_s"] or 0) - included)


def unsuited(disk, name, usd):
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
            usd is None,
        ]
    )


def fails(asked, need, limit, queue_now):
    """Whether a limit does not carry a need, or its replay throttles more than the present one's."""
    short = any(limit[side] < need[side] - 1e-6 for side in (0, 1))
    return short or queued(asked, limit) > queue_now


def offers(disk, asked, shares, facts):
    """One type after the other: (usd, order, spec, limit) of those that nothing speaks against.

    `shares` gives, for a type, what has to be carried together: (what is asked, the limit, what is needed at least).
    """
    made = []
    for name, kind in DISKS.items():
        c, d = kind.get("write_iops_cost", 1.0), kind.get("write_throughput_cost", 1.0)
        spec = spec_for(name, disk["spec"]["size_gib"], facts["need"](asked, c, d))
        usd = price(spec, disk["region"])
        if unsuited(disk, name, usd):
            continue
        shared = shares(name)
        conditions = [] if shared and kind.get("pooled") else [(asked, carried(spec, disk["hosts"]), None)]
        conditions += shared
        bad = False
        for load, limit, least in conditions:
            need = facts["need"](load, limit[2], limit[3])
            if least is not None:
                need = [max(one, two) for one, two in zip(need, least, strict=True)]
            bad = bad or fails(load, need, limit, facts["queue_now"])
        if not bad:
            order = (usd, -LATENCY[kind["latency"]], -kind["durability_pct"], name)
            made.append((order, spec, conditions[0][1]))
    return made


def silent_hours(disk, observed):
    """The hours without a point in which the disk was attached to a machine that ran."""
    begins = disk.get("runs_from_hour")
    if begins is None:
        return 0
    return sum(not observed[hour * 60] for hour in range(max(0, begins), len(observed) // 60))


def shown(asked, state):
    plain = counted(asked, 1.0, 1.0)
    return {
        "peak_iops": float(plain[0].max(initial=0.0)),
        "peak_mib_s": float(plain[1].max(initial=0.0)),
        "hours": int(asked["observed"].sum()) / 60,
        "censored": state["censored"],
        "throttled_minutes": state["throttled_minutes"],
        "host_bound_minutes": state["host_bound_minutes"],
    }


def relieves(limit, now, often):
    there = turned(now, limit[2], limit[3])
    return any(limit[side] > there[side] for side in often)


def unit(free, staying, neighbors, series, host, needs):
    """The answers to disks that change together: section 8, or sections 1 to 6 where one is alone on its host.

    What a demand needs there is added to `needs`.
    """
    everybody = [*free, *staying]
    first = free[0]
    own = first["spec"]["type"]
    alone = not staying and not neighbors and len(free) == 1
    pooled = DISKS[own].get("pooled", False) and not alone

    def together(disks):
        return summed([series[disk["id"]] for disk in disks])

    def pool(name, disks):
        size = sum(disk["spec"]["size_gib"] for disk in disks)
        return carried({"type": name, "size_gib": size, "iops": None, "throughput_mib_s": None}, first["hosts"])

    whole = together(everybody)
    now = pool(own, everybody) if pooled else carried(first["spec"], first["hosts"])
    state = stood(whole, now, host)
    most = usable(first)
    facts = {
        "queue_now": queued(whole, now),
        "need": lambda asked, c, d: need_of(asked, c, d, now, state, most),
    }
    needs.append(facts["need"])

    def shares(name):
        if alone:
            return []
        if name == own and pooled:
            return [(whole, now, None)]
        same = [disk for disk in neighbors if disk["spec"]["type"] == name]
        found = []
        if DISKS[name].get("pooled"):
            found.append((together(free), pool(name, free), None))
            if same:
                limit, there = pool(name, [*free, *same]), pool(name, same)
                least = None
                if stood(together(same), there, None)["censored"]:
                    needed = need_of(together(free), limit[2], limit[3], now, state, most)
                    least = [one + two for one, two in zip(needed, turned(there, limit[2], limit[3])[:2], strict=True)]
                found.append((together([*free, *same]), limit, least))
        elif name in first["hosts"][0]["caps"]:
            found.append((together([*free, *same]), first["hosts"][0]["caps"][name], None))
        if staying:
            found.append((together(staying), pool(own, staying), None))
        return found

    usd = {disk["id"]: price(disk["spec"], disk["region"]) for disk in free}
    known = {disk["id"]: shown(series[disk["id"]], state) | {"replay_now": facts["queue_now"]} for disk in free}
    silent = {disk["id"]: silent_hours(disk, series[disk["id"]]["observed"]) for disk in free}
    lacking = {
        name
        for name in usd
        if usd[name] is None
        or known[name]["hours"] < LEAST_HOURS
        or known[name]["hours"] < LEAST_COVERED * (known[name]["hours"] + silent[name])
    }
    rest = [disk for disk in free if disk["id"] not in lacking]
    answers = {
        name: {"action": "insufficient-data", "target": None, "now": usd[name], "then": usd[name], **known[name]}
        for name in lacking
    }
    kept = {
        disk["id"]: {
            "action": "keep",
            "target": disk["spec"],
            "now": usd[disk["id"]],
            "then": usd[disk["id"]],
            **known[disk["id"]],
        }
        for disk in rest
    }
    if lacking:
        return answers | kept
    found = {disk["id"]: offers(disk, series[disk["id"]], shares, facts) for disk in rest}
    types = set.intersection(*({spec["type"] for _, spec, _ in made} for made in found.values()))
    candidates = []
    for name in types:
        picked = {one: next(offer for offer in made if offer[1]["type"] == name) for one, made in found.items()}
        total = sum(order[0] for order, _, _ in picked.values())
        candidates.append(((total, *next(iter(picked.values()))[0][1:]), picked))
    if not candidates:
        return kept
    picked = min(candidates, key=lambda one: one[0])[1]
    if all(picked[disk["id"]][1] == disk["spec"] for disk in rest):
        return kept
    saved = sum(usd.values()) - sum(order[0] for order, _, _ in picked.values())
    relieved = any(relieves(limit, now, state["often"]) for _, _, limit in picked.values())
    if not relieved and saved < LEAST_SAVING:
        return kept
    changes = any(spec["type"] != own for _, spec, _ in picked.values())
    action = "upgrade" if relieved else "migrate" if changes else "reprovision"
    for disk in rest:
        (order, spec, _) = picked[disk["id"]]
        if spec != disk["spec"]:
            answers[disk["id"]] = kept[disk["id"]] | {"action": action, "target": spec, "then": order[0]}
        else:
            answers[disk["id"]] = kept[disk["id"]]
    return answers


def usable(disk):
    hosts = disk["hosts"]
    if not hosts or any(host["limit"] is None for host in hosts):
        return INFINITE, INFINITE, 1.0, 1.0
    limit = hosts[0]["limit"]
    for host in hosts[1:]:
        limit = beside(limit, host["limit"])
    return limit


def decide(disks):
    """The answers by id to all disks of a project and region.

    disks: id, spec, region, boot, excluded, detached, hosts (id; caps: limits by type; limit, None where unknown), and
    minutes (eight series of floats, NaN where there is no point). A limit is (IOPS, MiB/s, c, d), counted in reads.
    """
    answers, hosted = {}, {}
    series = {disk["id"]: series_of(disk["minutes"]) for disk in disks if not disk["detached"]}
    for disk in disks:
        if disk["detached"]:
            usd = price(disk["spec"], disk["region"])
            if not disk["excluded"]:
                answers[disk["id"]] = {"action": "detached", "target": None, "now": usd, "then": usd}
        else:
            alone = len(disk["hosts"]) != 1
            hosted.setdefault(disk["id"] if alone else disk["hosts"][0]["id"], []).append(disk)
    for group in hosted.values():
        answers |= on_host(group, series)
    specs = {disk["id"]: disk["spec"] for disk in disks}
    return {
        name: found | {"target": specs[name]} if found["action"] == "keep" else found for name, found in answers.items()
    }


def on_host(group, series):
    host = None
    if len(group[0]["hosts"]) == 1:
        host = {"limit": group[0]["hosts"][0]["limit"], "total": summed([series[disk["id"]] for disk in group])}
    pools = {}
    for disk in (one for one in group if one["spec"]["type"] in DISKS):  # of others the traffic alone counts
        own = disk["spec"]["type"]
        pools.setdefault(own if DISKS[own].get("pooled") else disk["id"], []).append(disk)
    decided, needs = [], []
    for inside in pools.values():
        free = [disk for disk in inside if not disk["excluded"]]
        staying = [disk for disk in inside if disk["excluded"]]
        neighbors = [disk for disk in group if disk not in inside]
        if free:
            decided.append(unit(free, staying, neighbors, series, host, needs))
    if len(group) > 1:
        wait(decided, needs, group, series)
    return {name: found for answers in decided for name, found in answers.items()}


def wait(decided, needs, group, series):
    """Of several that would become a pooled type only the one that saves most changes; of several that would become
    another, those that save most, as far as the host's cap carries them."""
    order = []
    for answers, need in zip(decided, needs, strict=True):
        changed = {name: one for name, one in answers.items() if one["action"] in {"migrate", "upgrade", "reprovision"}}
        if changed:
            saved = sum(one["now"] - one["then"] for one in changed.values())
            order.append((saved, answers, changed, need, next(iter(changed.values()))["target"]["type"]))
    taken = {}
    for _, answers, changed, need, name in sorted(order, key=lambda one: one[0], reverse=True):
        pooled = DISKS[name].get("pooled")
        before = taken.setdefault("pooled" if pooled else name, [])
        cap = group[0]["hosts"][0]["caps"].get(name)
        fine = not before
        if before and not pooled:
            ids = {one for some, _ in [*before, (changed, need)] for one in some}
            asked = summed([series[disk["id"]] for disk in group if disk["id"] in ids or disk["spec"]["type"] == name])
            fine = cap is None or all(
                cap[side] >= needed - 1e-6
                for of_one in [need, *(other for _, other in before)]
                for side, needed in enumerate(of_one(asked, cap[2], cap[3]))
            )
        if fine:
            before.append((changed, need))
        else:
            for one in changed:
                answers[one] = answers[one] | {"action": "keep", "then": answers[one]["now"]}
