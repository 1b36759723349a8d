"""docs/decision.md, literally."""

import math

from tests.oracle.limits import EBS, INFINITE, LATENCY, ceiling, price

POLICY = {
    "headroom_pct": 20,
    "peak_quantile": 1.0,
    "size_on": "average",
    "min_hours": 30,
    "min_coverage_pct": 95,
    "saturation_pct": 95,
    "empty_balance_pct": 1,
    "upgrade_throttled_share_pct": 0.5,
    "upgrade_step_pct": 50,
    "min_saving_usd_month": 1.0,
    "target_types": ["gp3", "io2"],
    "latency_floor": None,
    "durability_floor_pct": 0,
}
MINUTE = 60


def rates(minutes):
    """iops, mib_s and observed, minute by minute; the minutes of an hour without any sum or idle time are not.

    The first minute is that of a full hour.
    """
    iops, mib_s, observed = [], [], []
    names = ("read_ops", "write_ops", "read_bytes", "write_bytes")
    idle = minutes.get("idle_s") or [None] * len(minutes["read_ops"])
    for minute in range(len(minutes["read_ops"])):
        hour = range(minute // 60 * 60, min(minute // 60 * 60 + 60, len(minutes["read_ops"])))
        if minute % 60:
            observed.append(observed[-1])
        else:
            there = [minutes[name][one] is not None for name in names for one in hour]
            observed.append(any(there) or any(idle[one] is not None for one in hour))
    for sums in zip(*(minutes[name] for name in names), strict=True):
        read_ops, write_ops, read_bytes, write_bytes = (value or 0.0 for value in sums)
        iops.append((read_ops + write_ops) / MINUTE)
        mib_s.append((read_bytes + write_bytes) / 1048576 / MINUTE)
    return iops, mib_s, observed


def lacks(ops, moved, idle):
    """Whether one direction's operations and bytes of a minute lack what is proven by nothing else of it."""
    proven = (idle is not None and idle >= MINUTE) or moved == 0
    return (ops is None and not proven) or (bool(ops) and moved is None)


def contradicts(day):
    """Whether the series of a day cannot be true together."""
    seconds = MINUTE * len(day["read_ops"])
    total = {name: sum(value or 0.0 for value in values) for name, values in day.items()}
    for way in ("read", "write"):
        ops, moved = total[f"{way}_ops"], total[f"{way}_bytes"]
        if (moved > 0 and ops == 0) or (moved == 0 and ops > 5 * seconds):
            return True
    idle_all_day = "idle_s" in day and total["idle_s"] >= seconds * (1 - 1e-9)
    return idle_all_day and total["read_ops"] + total["write_ops"] > 5 * seconds


def disputed(minutes):
    """Whether series of one time disagree. The first minute is that of a day (UTC)."""
    names = ["read_ops", "write_ops", "read_bytes", "write_bytes"]
    if minutes.get("idle_s") is not None:
        names.append("idle_s")
    for minute in range(len(minutes["read_ops"])):
        now = {name: minutes[name][minute] for name in names}
        if all(value is None for value in now.values()):
            continue
        idle = now.get("idle_s")
        if any(lacks(now[f"{way}_ops"], now[f"{way}_bytes"], idle) for way in ("read", "write")):
            return True
        counted = now["read_ops"] is not None or now["write_ops"] is not None
        if "idle_s" in now and idle is None and counted:
            return True
    days = range(0, len(minutes["read_ops"]), 1440)
    return any(contradicts({name: minutes[name][day : day + 1440] for name in names}) for day in days)


def coverage_pct(observed, ran_from):
    """The share of the hours observed, and of those without any point after the host was started (None: not known)."""
    seen = sum(observed) / 60
    if ran_from is None:
        return 100.0
    hours = range(math.ceil(ran_from / 60) * 60 if ran_from > 0 else 0, len(observed), 60)
    missing = sum(1 for first in hours if not observed[first])
    return 100.0 * seen / (seen + missing) if seen + missing else 100.0


def accounted(iops, mib_s, io_kib):
    return [max(one, two * 1024 / io_kib) for one, two in zip(iops, mib_s, strict=True)]


def peak(series, observed, minutes, policy):
    seen = []
    for minute, value in enumerate(series):
        if observed[minute]:
            if policy["size_on"] == "busy-time" and minutes.get("idle_s") is not None:
                idle = minutes["idle_s"][minute] or 0.0
                seen.append(value / (min(MINUTE, max(1.0, MINUTE - idle)) / MINUTE))
            else:
                seen.append(value)
    if not seen:
        return 0.0
    return sorted(seen)[math.ceil(policy["peak_quantile"] * (len(seen) - 1))]


def is_throttled(value, limit, exceeded, balance, credited, policy):
    at_ceiling = value >= policy["saturation_pct"] / 100 * limit
    empty = credited and balance is not None and balance < policy["empty_balance_pct"]
    return at_ceiling or (exceeded or 0) > 0 or empty


def throttled_minutes(now, iops, mib_s, observed, minutes, policy):
    """The minutes throttled on IOPS and those throttled on throughput."""
    found = {"iops": set(), "mib_s": set()}
    counted = accounted(iops, mib_s, now["io_kib"])
    for side, series, check in (("iops", counted, "iops_exceeded"), ("mib_s", mib_s, "throughput_exceeded")):
        credited = now["credits"] is not None and now["credits"][0] == side
        for minute, value in enumerate(series):
            exceeded = minutes[check][minute] if minutes.get(check) is not None else None
            balance = minutes["burst_balance_pct"][minute] if minutes.get("burst_balance_pct") is not None else None
            if observed[minute] and is_throttled(value, now[side], exceeded, balance, credited, policy):
                found[side].add(minute)
    return found


def host_bound_minutes(host, siblings, iops, mib_s, observed, policy):
    """The minutes in which the volume's only host stood at what it could carry just then."""
    found = set()
    if host is None or host["maximum_iops"] is None:
        return found
    mib = 1_000_000 / 1_048_576
    sides = (
        ("iops", 0, iops, host["baseline_iops"], host["maximum_iops"]),
        ("mib_s", 1, mib_s, host["baseline_mb_s"] * mib, host["maximum_mb_s"] * mib),
    )
    for _side, place, own, baseline, maximum in sides:
        capacity = (maximum - baseline) * 1800
        refill = capacity / 86400
        spent = 0.0
        for minute in range(len(own)):
            total = 0.0
            for sibling in siblings:
                total += sibling[place][minute]
            spent = max(0.0, spent + (max(0.0, total - baseline) - refill) * MINUTE)
            carries = maximum
            if maximum > baseline and spent > capacity:
                carries = baseline + refill
            at_limit = total >= policy["saturation_pct"] / 100 * carries
            if at_limit and own[minute] >= 0.05 * total and own[minute] > 0 and observed[minute]:
                found.add(minute)
    return found


def queue(series, limit):
    """The minutes at whose end work is still waiting behind a constant rate."""
    waiting, found = 0.0, set()
    for minute, rate in enumerate(series):
        waiting = max(0.0, waiting + (rate - limit) * MINUTE)
        if waiting > 1e-6 * limit * MINUTE:
            found.add(minute)
    return found


def bucket(series, rate, capacity, refill):
    """The minutes at whose end work is still waiting behind a token bucket: balance, serve, refill, cap."""
    balance, waiting, found = float(capacity), 0.0, set()
    for minute, arriving in enumerate(series):
        work = waiting + arriving * MINUTE
        allowed = min(rate * MINUTE, balance + refill * MINUTE)
        served = min(work, allowed)
        waiting = work - served
        balance = min(float(capacity), balance + refill * MINUTE - served)
        if waiting > 1e-6 * refill * MINUTE:
            found.add(minute)
    return found


def replayed(limit, iops, mib_s, scale=1.0, whole_ios=False):
    """How many minutes are throttled when the demand is pushed through a ceiling."""
    series = {
        "iops": [value * scale for value in accounted(iops, mib_s, limit["io_kib"])],
        "mib_s": [value * scale for value in mib_s],
    }
    found = queue(series["iops"], limit["iops"]) | queue(series["mib_s"], limit["mib_s"])
    if limit["credits"] is not None:
        side, capacity, refill = limit["credits"]
        charged = series[side]
        if whole_ios and limit["least_charge_mib"]:
            charge = limit["least_charge_mib"]
            charged = [max(one, two * scale * charge) for one, two in zip(charged, iops, strict=True)]
        # Each resource has a queue of its own: the highest rate is the flat queue's business, credits this one's.
        found |= bucket(charged, INFINITE, capacity, refill)
    return len(found)


def spec_for(name, size, needs):
    """The smallest configuration of the type for the needs, or the largest that is sold."""
    kind = EBS[name]
    need_iops = max(needs["iops"], needs["sustained_iops"])
    need_mib_s = max(needs["mib_s"], needs["sustained_mib_s"])
    need_iops = max(need_iops, needs["sustained_mib_s"] * 1024 / kind["io_kib"])
    iops = throughput = None
    rule = kind["throughput_mib_s"]
    if "least" in rule:
        throughput = min(max(rule["least"], math.ceil(need_mib_s - 1e-6)), rule["most"])
        need_iops = max(need_iops, throughput / rule["per_iops"])
    if "bands" in rule:
        enough = [
            need_mib_s / per
            for up_to, per, cap in rule["bands"]
            if need_mib_s <= cap and (up_to is None or need_mib_s / per <= up_to)
        ]
        need_iops = max(need_iops, enough[0] if enough else INFINITE)
    if "least" in kind["iops"]:
        most = max(kind["iops"]["least"], min(kind["iops"]["most"], int(kind["iops"]["per_gib"] * size)))
        iops = most if need_iops > most else max(kind["iops"]["least"], math.ceil(need_iops - 1e-6))
        if throughput is not None:
            throughput = min(throughput, max(rule["least"], int(rule["per_iops"] * iops)))
    return {"type": name, "size_gib": size, "iops": iops, "throughput_mib_s": throughput}


def unsuited(volume, name, usd, policy):
    kind = EBS[name]
    low, high = kind["size_gib"]
    reasons = [
        not kind.get("sold", True),
        name not in policy["target_types"] and name != volume["spec"]["type"],
        not low <= volume["spec"]["size_gib"] <= high,
        volume["boot"] and not kind["boots"],
        volume["attachments"] > 1 and not kind["multi_attach"],
        policy["latency_floor"] is not None and LATENCY[kind["latency"]] < LATENCY[policy["latency_floor"]],
        kind["durability_pct"] < policy["durability_floor_pct"],
        usd is None,
    ]
    return any(reasons)


def too_small(limit, needs):
    return any(limit[side] < needs[side] - 1e-6 for side in ("iops", "mib_s", "sustained_iops", "sustained_mib_s"))


def order(offer):
    kind = EBS[offer["spec"]["type"]]
    return offer["usd"], -LATENCY[kind["latency"]], -kind["durability_pct"], offer["spec"]["type"]


def usable(volume):
    hosts = volume["hosts"]
    if any(host is None or host["maximum_iops"] is None for host in hosts):
        return {"iops": INFINITE, "mib_s": INFINITE}
    return {
        "iops": sum(host["maximum_iops"] for host in hosts),
        "mib_s": sum(host["maximum_mb_s"] for host in hosts) * 1_000_000 / 1_048_576,
    }


def needs_of(io_kib, facts, policy):
    headroom = 1 + policy["headroom_pct"] / 100
    step = 1 + max(policy["upgrade_step_pct"], policy["headroom_pct"]) / 100
    now, minutes, observed = facts["now"], facts["minutes"], facts["observed"]
    needs = {
        "iops": peak(accounted(facts["iops"], facts["mib_s"], io_kib), observed, minutes, policy) * headroom,
        "mib_s": peak(facts["mib_s"], observed, minutes, policy) * headroom,
        "sustained_iops": 0.0,
        "sustained_mib_s": 0.0,
    }
    if facts["censored"]:
        needs = {side: max(needed, now[side]) for side, needed in needs.items()}
    seen = {"iops": accounted(facts["iops"], facts["mib_s"], now["io_kib"]), "mib_s": facts["mib_s"]}
    for side in facts["frequent"]:
        raised = max(peak(seen[side], observed, minutes, policy), now[f"sustained_{side}"]) * step
        needs[side] = max(needs[side], raised)
        needs[f"sustained_{side}"] = max(needs[f"sustained_{side}"], raised)
    return {side: min(needed, facts["hosts"][side.removeprefix("sustained_")]) for side, needed in needs.items()}


def offers(volume, facts, policy):
    made = []
    older = any(host is not None and not host["nitro"] for host in volume["hosts"])
    replay_now = facts["replay_now"]
    needs = {io_kib: needs_of(io_kib, facts, policy) for io_kib in {kind["io_kib"] for kind in EBS.values()}}
    for name, kind in EBS.items():
        need = needs[kind["io_kib"]]
        spec = spec_for(name, volume["spec"]["size_gib"], need)
        limit = ceiling(spec, older)
        usd = price(spec, volume["region"], facts["mean_iops"])
        if unsuited(volume, name, usd, policy) or too_small(limit, need):
            continue
        then = replayed(limit, facts["iops"], facts["mib_s"], whole_ios=True)
        if then > replay_now:
            continue
        scale = 1 + policy["headroom_pct"] / 100
        if limit["credits"] and replayed(limit, facts["iops"], facts["mib_s"], scale, whole_ios=True):
            continue
        made.append({"spec": spec, "usd": usd, "limit": limit, "replay": then})
    return sorted(made, key=order)


def drop_in(volume, now, policy):
    made = []
    older = any(host is not None and not host["nitro"] for host in volume["hosts"])
    for name in EBS:
        spec = spec_for(name, volume["spec"]["size_gib"], now)
        limit = ceiling(spec, older)
        usd = price(spec, volume["region"])
        if spec != volume["spec"] and not unsuited(volume, name, usd, policy) and not too_small(limit, now):
            made.append({"spec": spec, "usd": usd})
    return min(made, key=order, default=None)


def answer(action, target, usd_now, usd_then, facts=None, **more):
    return {
        "action": action,
        "target": target,
        "usd_now": usd_now,
        "usd_then": usd_then,
        **({} if facts is None else facts["shown"]),
        **more,
    }


def decide(volume, minutes, siblings, policy=POLICY):
    """The answer for one volume.

    Its `ran_from` is the minute from which its host has run, with it attached; None where that is not known.

    volume: spec, region, state, boot, attachments, hosts (maximum_iops, maximum_mb_s, baseline_iops, baseline_mb_s,
    nitro; None where unknown). minutes: eight series of floats or None. siblings: (iops, mib_s) of every volume on its
    only host, itself included.
    """
    usd_now = price(volume["spec"], volume["region"])
    if volume["state"] == "available" and volume["attachments"] == 0:
        return answer("detached", None, usd_now, usd_now)
    older = any(host is not None and not host["nitro"] for host in volume["hosts"])
    iops, mib_s, observed = rates(minutes)
    seen = [value for value, there in zip(iops, observed, strict=True) if there]
    mean_iops = sum(seen) / len(seen) if seen else 0.0
    usd_now = price(volume["spec"], volume["region"], mean_iops)
    now = ceiling(volume["spec"], older)
    throttled = throttled_minutes(now, iops, mib_s, observed, minutes, policy)
    host = volume["hosts"][0] if volume["attachments"] == 1 else None
    bound = host_bound_minutes(host, siblings, iops, mib_s, observed, policy)
    total = len(seen)
    least = max(1, policy["upgrade_throttled_share_pct"] / 100 * total)
    frequent = [side for side in throttled if len(throttled[side]) >= least]
    held_back = len(throttled["iops"] | throttled["mib_s"] | bound)
    censored = bool(frequent) or held_back > (1 - policy["peak_quantile"]) * total + 1e-9
    plain = {**policy, "size_on": "average"}
    facts = {
        "now": now,
        "minutes": minutes,
        "iops": iops,
        "mib_s": mib_s,
        "observed": observed,
        "mean_iops": mean_iops,
        "censored": censored,
        "frequent": frequent,
        "hosts": usable(volume),
        "shown": {
            "peak_iops": peak(iops, observed, minutes, plain),
            "peak_mib_s": peak(mib_s, observed, minutes, plain),
            "censored": censored,
            "throttled_minutes": len(throttled["iops"] | throttled["mib_s"]),
            "host_bound_minutes": len(bound),
            "hours": total / 60,
        },
    }
    covered = coverage_pct(observed, volume.get("ran_from")) >= policy["min_coverage_pct"]
    if usd_now is None or facts["shown"]["hours"] < policy["min_hours"] or not covered or disputed(minutes):
        return answer("insufficient-data", None, usd_now, usd_now, facts)
    facts["replay_now"] = replayed(now, iops, mib_s)
    found = offers(volume, facts, policy)
    same = drop_in(volume, now, policy)
    told = {"replay_now": facts["replay_now"], "drop_in_usd": None if same is None else same["usd"]}
    best = found[0] if found else None
    if best is None or best["spec"] == volume["spec"]:
        return answer("keep", volume["spec"], usd_now, usd_now, facts, replay_then=facts["replay_now"], **told)
    relieved = any(
        best["limit"][side] > now[side] or best["limit"][f"sustained_{side}"] > now[f"sustained_{side}"]
        for side in facts["frequent"]
    )
    if relieved:
        action = "upgrade"
    elif usd_now - best["usd"] < policy["min_saving_usd_month"]:
        return answer("keep", volume["spec"], usd_now, usd_now, facts, replay_then=facts["replay_now"], **told)
    else:
        action = "migrate" if best["spec"]["type"] != volume["spec"]["type"] else "reprovision"
    return answer(action, best["spec"], usd_now, best["usd"], facts, replay_then=best["replay"], **told)
