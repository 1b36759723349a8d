"""docs/decision.md for Google's disks, literally: alone on their machine, or in pools that change together.

Where the page leaves room, this is how it is read here:

- A part of a pool was held back in the minutes in which the pool was, each disk along its own ray by the same factor.
- Beside others of a type on the machine, both must be carried together, with headroom and lifted alike. A disk that
  stays of its type and asks for less changes nothing of that.
- A larger size is offered as a relief alone, to a disk that changes alone, of a type that its size makes faster.
- Of several pools of one machine that would become one type all change, the one that saves most first, as far as the
  type, or what the machine lets all of it do, carries those before it as well.
"""

from functools import partial

import numpy as np

from tests.oracle.choice import (
    Judge,
    carries_again,
    carries_all,
    cheapest_pair,
    decision,
    first_passing,
    grid,
    held_back,
    settled_from,
    stood_throughout,
    throttled_by_itself,
)
from tests.oracle.google_limits import (
    DISKS,
    capped,
    carried,
    least_sold,
    most_sold,
    of_figures,
    price,
    published,
    rank,
    unsuited,
)
from tests.oracle.lifted import disproved, load_of, part_of
from tests.oracle.limits import INFINITE
from tests.oracle.naive import POLICY as AWS_POLICY
from tests.oracle.received import COUNTERS, peak_work, scaled, summed, work_of
from tests.oracle.replay import SIDES, plain

POLICY = {**AWS_POLICY, "seconds_saturate": True}
FLOOR = {"iops": "mib_s", "mib_s": "iops"}


def observed_hours(minutes):
    """The minutes of the clock hours in which any counter has a point."""
    there = ~np.isnan(np.array([minutes[name] for name in COUNTERS])).all(axis=0)
    padded = np.concatenate([there, np.zeros(-len(there) % 60, dtype=bool)])
    return np.repeat(padded.reshape(-1, 60).any(axis=1), 60)[: len(there)]


def series_of(minutes):
    """A disk's work, its busiest seconds (None: not published), and which minutes were observed."""
    observed = observed_hours(minutes)
    work, seconds = work_of(minutes, observed), peak_work(minutes, observed)
    if seconds is not None:
        seconds = {name: np.maximum(values, work[name]) for name, values in seconds.items()}
    return {"work": work, "seconds": seconds, "observed": observed}


def summed_series(some):
    """Several disks as one; a disk without busiest seconds counts with its minutes."""
    seconds = None
    if any(one["seconds"] is not None for one in some):
        seconds = summed([one["seconds"] or one["work"] for one in some])
    observed = np.logical_or.reduce([one["observed"] for one in some])
    return {"work": summed([one["work"] for one in some]), "seconds": seconds, "observed": observed}


def pool_limit(name, disks, hosts):
    """What disks of a pooled type carry together: by the sum of their sizes, and by the machine."""
    size = sum(disk["spec"]["size_gib"] for disk in disks)
    return carried({"type": name, "size_gib": size, "iops": None, "throughput_mib_s": None}, hosts)


def search(disk, name, size, passes, highest=None, *, may_stay=False):
    """The cheapest figures of a type at a size for which `passes(spec)` holds; None where not even the largest does, of
    those that are no higher than `highest`.

    may_stay: a resource of which not even the largest passes stays as it is.
    """
    own, region = disk["spec"], disk["region"]
    today = own if name == own["type"] else {}
    rule, moved = DISKS[name]["iops"], DISKS[name]["throughput_mib_s"]

    def spec(iops=None, mib_s=None):
        return {"type": name, "size_gib": size, "iops": iops, "throughput_mib_s": mib_s}

    steps = POLICY["iops_step"], POLICY["throughput_step_mib_s"]
    iops = mib_s = [None]
    if "least" in rule:
        iops = grid({"least": least_sold(rule, size)}, most_sold(rule, size), steps[0], today.get("iops"))
    if "least" in moved:
        least = least_sold(moved, size, iops[0] or 0.0)
        most = most_sold(moved, size, iops[-1] or INFINITE)
        mib_s = grid({"least": least}, most, steps[1], today.get("throughput_mib_s"))
    if highest is not None:
        iops = [one for one in iops if one is None or one <= (highest["iops"] or INFINITE)]
        mib_s = [one for one in mib_s if one is None or one <= (highest["throughput_mib_s"] or INFINITE)]
    if not iops or not mib_s:
        return None
    if iops == [None] or mib_s == [None]:
        pairs = [(one, two) for one in iops for two in mib_s]
        at = first_passing(pairs, lambda pair: passes(spec(*pair), {}))
        return None if at is None else spec(*pairs[at])

    def alone(side, value):
        free = {FLOOR[side]: INFINITE, f"sustained_{FLOOR[side]}": INFINITE}
        one = spec(value, mib_s[-1]) if side == "iops" else spec(iops[-1], value)
        return passes(one, free)

    def sold(one, two):
        return least_sold(moved, size, one) <= two <= most_sold(moved, size, one)

    if may_stay:
        fewest = first_passing(iops, lambda one: alone("iops", one))
        least = first_passing(mib_s, lambda one: alone("mib_s", one))
        if fewest is None and least is not None:
            return next(spec(own["iops"], two) for two in mib_s[least:] if sold(own["iops"], two))
        if least is None and fewest is not None:
            moved_now = own["throughput_mib_s"]
            return next(spec(one, moved_now) for one in iops[fewest:] if sold(one, moved_now))

    found = cheapest_pair(
        iops,
        mib_s,
        sold,
        lambda one, two: price(spec(one, two), region),
        alone,
        lambda one, two: passes(spec(one, two), {}),
    )
    return None if found is None else spec(*found)


def sized(disk, name, size, passes, *, reducing, grows=True, highest=None):
    """As `search` at a size, or, if it `grows`, the least larger one of which anything passes. A reduction within the
    type has its size; there one of two resources may stay as it is."""
    own = disk["spec"]
    within = reducing and name == own["type"]
    high = DISKS[name]["size_gib"][1]
    found = search(disk, name, size, passes, highest, may_stay=within)
    if found is not None or within or not grows or DISKS[name].get("pooled"):
        return found
    sizes = range(size + 1, high + 1)
    place = first_passing(sizes, lambda at: search(disk, name, at, passes, highest) is not None)
    return None if place is None else search(disk, name, sizes[place], passes, highest)


def held_to(host, work, others, extra):
    """What a host lets through of some work beside that of others, and what of theirs it held back; None if its limit
    is not known, or was disproved."""
    limit = None if host is None or host["limit"] is None else of_figures(host["limit"])
    minutes = len(next(iter(work.values())))
    zero = dict.fromkeys(work, np.zeros(minutes))
    beside = summed([zero, *others])
    if limit is None or disproved(summed([work, beside]), limit):
        return None
    carries = {side: np.full(minutes, limit[side]) for side in SIDES}
    return {
        "carries": carries,
        "stands": carries,
        "most": limit,
        "limits": {"baseline": limit, "maximum": limit},
        "counts": plain(INFINITE, INFINITE, limit["c"], limit["d"]),
        "others": beside,
        "extra": summed([zero, *extra]),
    }


class Unit:
    """Disks that change together: those of a pool that nobody excludes, or one alone."""

    def __init__(self, free, staying, neighbors, series, room_for):
        self.room_for = room_for
        self.free, self.staying, self.neighbors, self.series = free, staying, neighbors, series
        self.hosts, self.own = free[0]["hosts"], free[0]["spec"]["type"]
        everybody = [*free, *staying]
        self.alone = not staying and not neighbors and len(free) == 1
        self.pooled = DISKS[self.own].get("pooled", False) and not self.alone
        self.now = pool_limit(self.own, everybody, self.hosts) if self.pooled else carried(free[0]["spec"], self.hosts)
        self.whole = summed_series([series[disk["id"]] for disk in everybody])
        self.load = self.load_on(None)
        wanted = scaled(self.whole["work"], self.load["lift"]["iops"], self.load["lift"]["mib_s"])
        self.extra = {name: wanted[name] - self.whole["work"][name] for name in wanted}
        self.judge = Judge(POLICY, len(self.whole["observed"]))
        self.parts, self.most, self.host = {}, None, None

    def load_on(self, hosted):
        """The load of all of them, on a host that lets so much through."""
        whole = self.whole
        epochs = [{"first": 0, "limit": self.now}]
        return load_of(whole["work"], whole["observed"], epochs, POLICY, seconds=whole["seconds"], hosted=hosted)

    def put_on(self, host, units):
        """Holds the load to what the host lets through beside all others there."""
        self.host = host
        others = [self.series[disk["id"]]["work"] for disk in self.neighbors]
        hosted = held_to(host, self.whole["work"], others, [unit.extra for unit in units if unit is not self])
        if hosted is not None:
            self.load, self.most = self.load_on(hosted), hosted["most"]

    def part(self, disks):
        """The load of some of the disks: all, or a part of it that was held back with all."""
        key = tuple(disk["id"] for disk in disks)
        if len(key) == len(self.free) + len(self.staying):
            return self.load
        if key not in self.parts:
            some = summed_series([self.series[one] for one in key])
            self.parts[key] = part_of(self.load, some["work"], some["seconds"])
        return self.parts[key]

    def beside(self, name, units):
        """The loads and disks of a type that are on the machine already, those of this unit apart."""
        same = [disk for disk in self.neighbors if disk["spec"]["type"] == name]
        ids = {disk["id"] for disk in same}
        loads = []
        for unit in units:
            inside = [disk for disk in [*unit.free, *unit.staying] if disk["id"] in ids]
            if inside:
                loads.append(unit.part(inside))
                ids -= {disk["id"] for disk in inside}
        for disk in same:
            if disk["id"] in ids:  # a pool that nobody may change is a load as well
                one = self.series[disk["id"]]
                epochs = [{"first": 0, "limit": carried(disk["spec"], disk["hosts"])}]
                beside = [each for each in [*self.free, *self.staying, *self.neighbors] if each is not disk]
                others = [self.series[each["id"]]["work"] for each in beside]
                hosted = held_to(self.host, one["work"], others, [unit.extra for unit in units])
                known = {"seconds": one["seconds"], "hosted": hosted}
                loads.append(load_of(one["work"], one["observed"], epochs, POLICY, **known))
        return loads, same

    def shares(self, name, specs, units, *, reducing):
        """What must be carried together where the free become a type: (loads, limit) each."""
        if self.alone:
            return []
        sized = [{"spec": specs[disk["id"]]} for disk in self.free]
        loads, same = self.beside(name, units)
        free = self.part(self.free)
        found = []
        if DISKS[name].get("pooled"):
            found.append(([free], pool_limit(name, sized, self.hosts)))
            if same:
                found.append(([free, *loads], pool_limit(name, [*sized, *same], self.hosts)))
        elif name in self.hosts[0]["caps"] and not (reducing and name == self.own):
            found.append(([free, *loads], of_figures(self.hosts[0]["caps"][name])))
        if self.staying:
            found.append(([self.part(self.staying)], pool_limit(self.own, self.staying, self.hosts)))
        return found

    def touches_others(self, name, units):
        """Whether the free, as a type, would share it with a disk that does not change, or leave one behind."""
        if self.alone:
            return False
        shared = DISKS[name].get("pooled") or (name in self.hosts[0]["caps"] and name != self.own)
        return bool(self.staying) or bool(shared and self.beside(name, units)[0])


def offers(unit, units, budget, *, reducing, everything=False, larger=False, holding=False, no_less=False):
    """One offer a type that passes: for reductions, as relief, because it does everything that is done now, or because
    it throttles no more than that."""
    made = []
    for name in DISKS:
        if any(unsuited(disk, name) for disk in unit.free):
            continue
        sizes = {disk["id"]: disk["spec"]["size_gib"] for disk in unit.free}
        how = {"reducing": reducing, "everything": everything, "holding": holding, "no_less": no_less}
        specs = fitted(unit, units, name, sizes, budget, **how)
        if specs is None and larger and len(unit.free) == 1 and not unit.staying and DISKS[name].get("pooled"):
            specs = grown(unit, units, name, budget)
        if specs is None or all(specs[disk["id"]] == disk["spec"] for disk in unit.free):
            continue
        usd = sum(price(spec, unit.free[0]["region"]) for spec in specs.values())
        limit = limit_then(unit, name, specs)
        all_of_it = carries_all(limit, unit.now)
        made.append({"specs": specs, "usd": usd, "order": (usd, *rank(name)), "limit": limit, "carries_all": all_of_it})
    return made


def limit_then(unit, name, specs):
    """What the disks that change carry then: of a pooled type together, else the least of any."""
    if DISKS[name].get("pooled") and not unit.alone:
        return pool_limit(name, [{"spec": spec} for spec in specs.values()], unit.hosts)
    limits = [carried(spec, unit.hosts) for spec in specs.values()]
    return min(limits, key=lambda limit: (limit["iops"], limit["mib_s"]))


def grown(unit, units, name, budget):
    """The least larger size of a type that relieves the one disk; None where none does."""
    (disk,) = unit.free
    sizes = range(disk["spec"]["size_gib"] + 1, DISKS[name]["size_gib"][1] + 1)

    def at(size):
        return fitted(unit, units, name, {disk["id"]: size}, budget, reducing=False)

    found = first_passing(sizes, lambda size: at(size) is not None)
    return None if found is None else at(sizes[found])


def fitted(unit, units, name, sizes, budget, *, reducing, everything=False, holding=False, no_less=False):
    """The configurations of a type that pass, one for each disk; None where one does not or all together do not."""
    judge, pooled = unit.judge, DISKS[name].get("pooled") and not unit.alone
    specs = {}
    for disk in unit.free:
        load, room = unit.part([disk]), unit.room_for.get(disk["id"], {})

        def passes(spec, free, load=load, room=room, everything=everything):
            limit = capped({**published(spec), **free}, name, unit.hosts)
            limit = {**limit, **free}
            if everything:
                return carries_all(limit, unit.now)
            if (reducing and leaves_less(limit, room)) or (no_less and not carries_all(limit, unit.now)):
                return False
            kind = DISKS[unit.own]
            if (holding or not reducing) and not carries_again(limit, load, unit.now, POLICY, kind, unit.most):
                return False
            return judge.passes([load], limit, budget, reducing=reducing, holding=holding)

        if pooled:
            spec = {"type": name, "size_gib": sizes[disk["id"]], "iops": None, "throughput_mib_s": None}
        else:
            most = None
            if reducing and not everything:
                whole = sized(disk, name, sizes[disk["id"]], partial(passes, everything=True), reducing=False)
                most = disk["spec"] if name == disk["spec"]["type"] else whole
            how = {"reducing": reducing and not everything, "grows": not everything, "highest": most}
            spec = sized(disk, name, sizes[disk["id"]], passes, **how)
        if spec is None:
            return None
        specs[disk["id"]] = spec
    if everything:
        if pooled and not carries_all(limit_then(unit, name, specs), unit.now):
            return None
        return None if unit.touches_others(name, units) else specs
    rooms = [unit.room_for.get(one, {}) for one in specs]
    if reducing and pooled and any(leaves_less(limit_then(unit, name, specs), room) for room in rooms):
        return None
    fine = all(
        judge.passes(loads, limit, budget, reducing=reducing, holding=holding)
        for loads, limit in unit.shares(name, specs, units, reducing=reducing)
    )
    return specs if fine else None


def silent_hours(disk, observed):
    """The hours without a point in which the disk was attached to a machine that ran."""
    begins = disk.get("runs_from_hour")
    if begins is None:
        return 0
    return sum(not observed[hour * 60] for hour in range(max(0, begins), len(observed) // 60))


def shown(unit, disk):
    """The figures of a disk; what was throttled is that of all that change with it."""
    one, load, work = unit.series[disk["id"]], unit.load, unit.part([disk])["work"]
    return {
        "peak_iops": float((work["r"] + work["w"]).max(initial=0.0)),
        "peak_mib_s": float((work["rm"] + work["wm"]).max(initial=0.0)),
        "hours": int(one["observed"].sum()) / 60,
        "throttled_minutes": int((load["saturated"]["iops"] | load["saturated"]["mib_s"]).sum()),
        "host_bound_minutes": int(load["bound"].sum()),
    }


def replaced_unmeasured(unit, units, answers):
    """The answer of a disk of which too little is known: what keeps all its limits, where that saves enough."""
    (name, found), *others = answers.items()
    same = [] if others or found["usd_now"] is None else offers(unit, units, 0, reducing=True, everything=True)
    best = min(same, key=lambda one: one["order"], default=None)
    if best is not None and found["usd_now"] - best["usd"] >= POLICY["min_saving_usd_month"] - 1e-9:
        spec = best["specs"][name]
        word = "reprovision" if spec["type"] == unit.own else "migrate"
        answers[name] = found | {"action": word, "target": spec, "usd_then": price(spec, unit.free[0]["region"])}
    return answers


def decided(unit, units):
    """The answers to the disks of a unit, before those beside it are thought of."""
    usd = {disk["id"]: price(disk["spec"], disk["region"]) for disk in unit.free}
    answers, lacking = {}, False
    for disk in unit.free:
        name, known = disk["id"], shown(unit, disk)
        expected = known["hours"] + silent_hours(disk, unit.series[name]["observed"])
        covered = known["hours"] >= POLICY["min_coverage_pct"] / 100 * expected
        short = usd[name] is None or known["hours"] < POLICY["min_hours"] or not covered
        lacking = lacking or short
        said = ("insufficient-data", None) if short else ("keep", disk["spec"])
        answers[name] = {"action": said[0], "target": said[1], "usd_now": usd[name], "usd_then": usd[name], **known}
    if lacking:
        return answers if unit.pooled or DISKS[unit.own].get("pooled") else replaced_unmeasured(unit, units, answers)
    judge = unit.judge
    budget, now = judge.budget(), sum(usd.values())
    count, wait = judge.tried([unit.load], unit.now, reducing=False, headroom=1.0)
    present = {
        "usd": now,
        "passes": count <= budget and wait <= POLICY["max_wait_s"],
        "throttled": throttled_by_itself(unit.load, count, budget),
    }
    found = offers(unit, units, budget, reducing=True)

    def then(one):
        """How many minutes it throttles."""
        pooled = len(unit.free) == 1 or DISKS[next(iter(one["specs"].values()))["type"]].get("pooled")
        return judge.tried([unit.part(unit.free)], one["limit"], reducing=False, headroom=1.0)[0] if pooled else 0

    minutes = len(unit.load["observed"])
    unsettled = any(
        settled_from(unit.load, minutes, POLICY, made=disk.get("made"), came=disk.get("replaced_at")) is not None
        for disk in unit.free
    )
    stood = not unsettled and stood_throughout(unit.load)
    relief = []
    if present["throttled"]:
        made = offers(unit, units, budget, reducing=False, larger=True, no_less=not stood and not unit.pooled)
        relief = [one for one in made if 2 * then(one) <= count]
    same = offers(unit, units, budget, reducing=True, everything=True)
    drop_in = min(same, key=lambda one: one["order"], default=None)
    if drop_in is not None:
        name = next(iter(drop_in["specs"].values()))["type"]
        drop_in["passes"] = all(
            judge.passes(loads, limit, budget, reducing=True)
            for loads, limit in [
                ([unit.part(unit.free)], drop_in["limit"]),
                *unit.shares(name, drop_in["specs"], units, reducing=True),
            ]
        )
    minutes = len(unit.load["observed"])

    def hold():
        """The cheapest that throttles no more than today."""
        held = sorted(offers(unit, units, budget, reducing=True, holding=True), key=lambda one: one["order"])
        return next((one for one in held if then(one) <= count), None) if stood else None

    chosen = decision(found, relief, drop_in, present, POLICY, hold=hold)
    action, offer, expected = held_back(chosen, drop_in, present, POLICY, unsettled=unsettled, modifying=False)
    for disk in unit.free:
        name = disk["id"]
        answers[name]["drop_in_usd"] = drop_in and price(drop_in["specs"][name], disk["region"])
        if action == "wait":
            answers[name] |= {"action": "wait", "target": None, "expected": expected["specs"][name]}
        elif action != "keep" and offer["specs"][name] != disk["spec"]:
            spec = offer["specs"][name]
            changes = any(one["type"] != unit.own for one in offer["specs"].values())
            word = action if action == "upgrade" else "migrate" if changes else "reprovision"
            answers[name] |= {"action": word, "target": spec, "usd_then": price(spec, disk["region"])}
            answers[name]["relief"] = chosen[2] and chosen[2]["specs"][name]
    return answers


def side_by_side(units, answers):
    """Of several that would become one type, those that save most change, as far as all together are carried."""
    order = []
    for unit, found in zip(units, answers, strict=True):
        changed = {name: one for name, one in found.items() if one["action"] in {"migrate", "upgrade", "reprovision"}}
        if changed:
            saved = sum(one["usd_now"] - one["usd_then"] for one in changed.values())
            order.append((saved, unit, found, changed))
    taken = {}
    for _, unit, found, changed in sorted(order, key=lambda one: one[0], reverse=True):
        name = next(iter(changed.values()))["target"]["type"]
        before = taken.setdefault(name, [])
        if before and not carried_together(name, [*before, (unit, changed)], units):
            for one in changed:
                found[one] = found[one] | {"action": "keep", "usd_then": found[one]["usd_now"]}
                found[one].pop("relief", None)
        else:
            before.append((unit, changed))


def carried_together(name, changes, units):
    """Whether a type carries what all of these and those of the type on the machine do."""
    first = changes[0][0]
    ids = {one for _, changed in changes for one in changed}
    sized = [{"spec": one["target"]} for _, changed in changes for one in changed.values()]
    loads = [unit.part([disk for disk in unit.free if disk["id"] in changed]) for unit, changed in changes]
    there = [unit for unit in units if unit.own == name]
    for unit in there:
        rest = [disk for disk in [*unit.free, *unit.staying] if disk["id"] not in ids]
        if rest:
            loads.append(unit.part(rest))
            sized += rest
    if all(one["action"] == "reprovision" for _, changed in changes for one in changed.values()):
        return True
    if DISKS[name].get("pooled"):
        limit = pool_limit(name, sized, first.hosts)
    elif name in first.hosts[0]["caps"]:
        limit = of_figures(first.hosts[0]["caps"][name])
    else:
        return True
    return first.judge.passes(loads, limit, first.judge.budget(), reducing=True)


def decide(disks):
    """The answers by id to all disks of a project and region.

    disks: id, spec, region, boot, excluded, detached, hosts (id; caps: limits by type; limit, None where unknown),
    made (the minute), replaced_at (the minute from which it is on its machine, where it was made earlier), and minutes
    (eight series of floats, NaN where there is no point), and where known `takes_over`, what disks have in common that
    take over from one another. A limit is (IOPS, MiB/s, c, d), counted in reads.
    """
    answers, hosted = {}, {}
    series = {disk["id"]: series_of(disk["minutes"]) for disk in disks if not disk["detached"]}
    for disk in disks:
        if disk["detached"]:
            usd = price(disk["spec"], disk["region"])
            if not disk["excluded"]:
                answers[disk["id"]] = {"action": "detached", "target": None, "usd_now": usd, "usd_then": usd}
        else:
            alone = len(disk["hosts"]) != 1
            hosted.setdefault(disk["id"] if alone else disk["hosts"][0]["id"], []).append(disk)
    for group in hosted.values():
        answers |= on_host(group, series, {})
    rooms = rooms_for_peers(disks, answers)
    for group in hosted.values():
        if any(disk["id"] in rooms for disk in group):
            answers |= on_host(group, series, rooms)
    specs = {disk["id"]: disk["spec"] for disk in disks}
    return {
        name: found | {"target": specs[name]} if found["action"] == "keep" else found for name, found in answers.items()
    }


def rooms_for_peers(disks, answers):
    """What the reductions of disks that take over from others have to leave room for, by id; where they do not yet."""
    rooms = {}
    for disk in disks:
        found = answers.get(disk["id"])
        if not disk.get("takes_over") or found is None or found["action"] not in {"migrate", "reprovision", "wait"}:
            continue
        now, least = carried(disk["spec"], disk["hosts"]), dict.fromkeys(SIDES, 0.0)
        for other in disks:
            if other["id"] != disk["id"] and other.get("takes_over") == disk["takes_over"] and not other["detached"]:
                spec = spec_then(other, answers.get(other["id"]), waits=found["action"] == "wait")
                asked = now if spec is None else carried(spec, other["hosts"])
                least = {side: max(least[side], min(now[side], asked[side])) for side in SIDES}
        limit = carried(found.get("expected") or found["target"], disk["hosts"])
        if leaves_less(limit, least):
            rooms[disk["id"]] = least
    return rooms


def leaves_less(limit, room):
    """Whether a limit is under what it has to leave room for."""
    return any(limit[side] < least - 1e-6 for side, least in room.items())


def spec_then(disk, found, *, waits):
    """What a disk will be by its own answer; None where that is not known. waits: whether the one that asks waits."""
    if found is None or found["action"] == "keep":
        return disk["spec"]
    if found["action"] == "wait":
        return found["expected"] if waits else disk["spec"]
    return found["target"]


def on_host(group, series, room_for):
    """The answers to the disks of one machine; `room_for`: what reductions have to carry at least, by disk and side."""
    host = group[0]["hosts"][0] if len(group[0]["hosts"]) == 1 else None
    pools = {}
    for disk in (one for one in group if one["spec"]["type"] in DISKS):  # of others the traffic alone counts
        own = disk["spec"]["type"]
        pools.setdefault(own if DISKS[own].get("pooled") else disk["id"], []).append(disk)
    units = []
    for inside in pools.values():
        free = [disk for disk in inside if not disk["excluded"]]
        staying = [disk for disk in inside if disk["excluded"]]
        if free:
            units.append(Unit(free, staying, [disk for disk in group if disk not in inside], series, room_for))
    for unit in units:
        unit.put_on(host, units)
    decided_on = [decided(unit, units) for unit in units]
    if len(group) > 1:
        side_by_side(units, decided_on)
    return {name: found for answers in decided_on for name, found in answers.items()}
