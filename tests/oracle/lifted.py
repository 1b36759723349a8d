"""Sections 1 and 3: every minute against the ceiling of its own epoch, and what was held back, lifted along its ray.

Where the page leaves room, this is how it is read here:

- The ceiling of a type that bursts is its highest, whether or not credits are left.
- A limit has been raised when any later epoch has a higher one (its highest or its sustained figure). Buckets of an
  epoch before that are not lifted, whatever came after.
- A job that takes what it gets (`days`) asks in its saturated minutes for no headroom above the ceiling of their epoch.
- A bucket that is saturated on both resources is lifted to the farther of the two points.
- Single seconds never stood at a limit in an epoch if any of the window are published (checks, or busiest seconds) and
  none of the epoch's did.
- The room that a host leaves is what it carries in the minute less what its other volumes did in it, and never less
  than what was observed. A lifted point that it would have stopped on its one saturated side, or on either side where
  it moves along its line, has no more of the other either.
- The first `settle_days` of a volume that was restored are no demand at all, reads and writes alike.
- A rate that is known by the second, times 1 + headroom, is clipped to the ceiling of its epoch.
"""

import numpy as np

from tests.oracle.days import FOREVER, MINUTES, takes_what_it_gets
from tests.oracle.published import evened
from tests.oracle.received import scaled, summed
from tests.oracle.replay import SIDES, counted, host_carries

FREQUENT_SHARE, FREQUENT_MINUTES = 0.005, 30
DIRECTIONS = (("r", "w"), ("rm", "wm"))


def load_of(work, observed, epochs, policy, *, step=1, seconds=None, checks=None, balance=None, hosted=None, days=None):
    """What a volume (or the sum of a pool) asked for, ready to be tried.

    epochs: dictionaries of `first` (minute), `limit` (None: not known). step: how many minutes a point is of (None:
    not known). checks: raised minutes by side. hosted: None where no host or not every host is known, else what it
    `carries` by side, at what it `stands` (without credits at its baseline) and the `most` of it, the host's `counts`
    (a limit that says how it counts), its `limits` (`baseline` and `maximum` by side), and `others`, the work of
    everybody else on it, with the `extra` that their own limits held back; None for several hosts, of which nobody is
    bound by one. days: what was done on each known day, as `days.days_of` makes it; None where only the
    window is known.
    """
    done = work
    epochs, clip, unknown = held_against_record(work, observed, epochs, step)
    work = scaled(done, clip, clip)
    if seconds is not None and not policy["seconds_saturate"]:
        seconds = scaled(seconds, clip, clip)
    spans = spans_of(epochs, len(observed))
    found = {
        "work": work,
        "counts": clip,
        "unknown": unknown,
        "observed": observed,
        "seconds": seconds,
        "frequent": set(),
        "held": [],
        "held_back": np.zeros(len(observed), dtype=bool),
        "saturated": {side: np.zeros(len(observed), dtype=bool) for side in SIDES},
        "lift": {side: np.ones(len(observed)) for side in SIDES},
        "to_ceiling": {side: np.ones(len(observed)) for side in SIDES},
        "held_at": {side: np.full(len(observed), np.inf) for side in SIDES},
        "bound_lift": {side: np.ones(len(observed)) for side in SIDES},
        "most": {side: np.full(len(observed), np.inf) for side in SIDES},
        "room": {side: room / clip for side, room in room_of(done, observed, hosted, policy).items()},
        "bound": bound_minutes(done, observed, hosted, policy),
        "clip": {side: np.full(len(observed), np.inf) for side in SIDES},
        "days": days_in_window(done, observed) if days is None else days,
    }
    share = policy["saturation_pct"] / 100
    if step != 1:  # each of five minutes must have stood at that share
        share = 1 - (1 - share) / 5
    described = []
    for first, last, limit in spans:
        here = slice(first, last)
        if limit is None:
            described.append(None)
            continue
        rates = counted(cut(work, here), limit)
        stood = counted(cut(evened(work) if step is None else work, here), limit)
        at, single, clear = {}, {}, {}
        for side in SIDES:
            at[side] = stood[side] >= share * limit[side]
            if limit["credits"] is not None and limit["credits"][0] == side and balance is not None:
                at[side] = at[side] | (balance[here] < policy["empty_balance_pct"])
            in_seconds, clear[side] = np.zeros(len(stood[side]), dtype=bool), False
            if checks is not None and checks.get(side) is not None:
                in_seconds, clear[side] = in_seconds | checks[side][here], True
            if seconds is not None and policy["seconds_saturate"]:
                busiest = cut(seconds, here)
                reads, writes = ("r", "w") if side == "iops" else ("rm", "wm")
                cost = limit["c"] if side == "iops" else limit["d"]
                level = policy["saturation_pct"] / 100 * limit[side]
                in_seconds = in_seconds | (np.maximum(busiest[reads], cost * busiest[writes]) >= level)
                clear[side] = True
            clear[side] = clear[side] and not (in_seconds & observed[here]).any()
            single[side] = in_seconds & ~at[side]
            at[side] = (at[side] | in_seconds) & observed[here]
            found["saturated"][side][here] = at[side]
            found["clip"][side][here] = limit[side]
        described.append({"here": here, "limit": limit, "at": at, "rates": rates, "single": single, "clear": clear})
    for number, one in enumerate(described):
        if one is not None:
            lift_epoch(found, one, earlier_than(epochs, one["here"].start), described[number + 1 :], policy)
    bind(found, described, hosted)
    found["relief"] = relief_of(found, hosted, policy) if found["frequent"] else found["room"]
    found["epochs"] = described
    return found


def held_against_record(work, observed, epochs, step):
    """The epochs as what was carried lets them be, how many times each minute counts, and the minutes of which it is
    not known what the volume was although that is on record.

    Up to 5 % above a limit is the limit. Further above it the limit of that epoch is unknown, up to the last such
    minute; but one alone, of twice the limit between two ordinary ones, was counted twice. Of points of an unknown step
    nothing is said.
    """
    length, found = len(observed), []
    clip, unknown = np.ones(length), np.zeros(length, dtype=bool)
    firsts = [min(length, max(0, epoch["first"])) for epoch in epochs] + [length]
    for epoch, first, last in zip(epochs, firsts, firsts[1:], strict=False):
        found.append(epoch)
        if epoch["limit"] is None or step is None or first >= last:
            continue
        rates = counted(work, epoch["limit"])
        times = np.maximum(*(rates[side] / epoch["limit"][side] for side in SIDES))
        above = [minute for minute in range(first, last) if times[minute] > 1.05]
        known = first
        if above and not (len(above) == 1 and is_doubled(times, observed, above[0])):
            known = above[-1] + 1
            unknown[first:known] = True
            found[-1] = {**epoch, "limit": None}
            if known < last:
                found.append({**epoch, "first": known})
        clip[known:last] = 1 / np.maximum(1.0, times[known:last])
    return found, clip, unknown


def is_doubled(times, observed, minute):
    """Whether a minute has twice the limit between two that were observed and have not."""
    if not 0 < minute < len(times) - 1:
        return False
    beside = all(observed[one] and times[one] <= 1.05 for one in (minute - 1, minute + 1))
    return beside and 1.9 <= times[minute] <= 2.1


def spans_of(epochs, length):
    """First minute, last minute and limit of each epoch that has any minute."""
    firsts = [max(0, epoch["first"]) for epoch in epochs] + [length]
    return [
        (first, last, epoch["limit"])
        for epoch, first, last in zip(epochs, firsts, firsts[1:], strict=False)
        if first < last
    ]


def earlier_than(epochs, minute):
    """First minute, last minute and limit of the epochs that were over by a minute; the first began long before."""
    firsts = [FOREVER, *(epoch["first"] for epoch in epochs[1:])]
    lasts = [*firsts[1:], 10**9]
    return [
        (first, last, epoch["limit"])
        for epoch, first, last in zip(epochs, firsts, lasts, strict=True)
        if first < last <= minute
    ]


def days_in_window(work, observed):
    """Operations and bytes of the window's whole days, those in which anything was observed."""
    found = {}
    for day in range(len(observed) // MINUTES):
        at = slice(day * MINUTES, (day + 1) * MINUTES)
        if observed[at].any():
            done = [
                float((work[reads][at] + work[writes][at]).sum()) * 60 for reads, writes in (("r", "w"), ("rm", "wm"))
            ]
            found[day] = done[0], done[1] * 1_048_576
    return found


def cut(work, here):
    return {name: values[here] for name, values in work.items()}


def lift_epoch(found, one, earlier, after, policy):
    """Writes the lift of an epoch's saturated minutes, and which resources are saturated frequently."""
    observed = found["observed"][one["here"]]
    reads = {side: DIRECTIONS[0 if side == "iops" else 1] for side in SIDES}
    own, waited = (one["here"].start, one["here"].stop, one["limit"]), np.zeros(len(observed), dtype=bool)
    for side in SIDES:
        done = found["work"][reads[side][0]] + found["work"][reads[side][1]]
        standing = np.zeros(len(done), dtype=bool)
        standing[one["here"]] = one["at"][side]
        kept = raised(one["limit"], after, side) is None
        if kept and takes_what_it_gets(done, standing, own, earlier, found["days"], side):
            keep_to_ceiling(found, one, side)
            waited |= one["at"][side]
    lifted = {**one, "at": {side: one["at"][side] & ~waited for side in SIDES}}
    for side in SIDES:
        at = one["at"][side]
        more = raised(one["limit"], after, side)
        if more is not None:
            if at.any():
                found["held"].append(more)
                found["held_back"][one["here"]] |= at
            continue
        at = lifted["at"][side]
        count = int(at.sum())
        frequent = count >= max(FREQUENT_MINUTES, policy["frequent_share_pct"] / 100 * int(observed.sum()))
        if frequent:
            found["frequent"].add(side)
        raise_to(found["lift"], lifted, side, 1 + policy["throttle_lift_pct"] / 100 if frequent else 1.0)
        raise_to(found["to_ceiling"], lifted, side, 1.0)
        if frequent:
            here = found["held_at"][side][one["here"]]
            here[at] = np.minimum(here, np.maximum(1.0, times(one, side, 1.0)))[at]


def times(one, side, step):
    """How many times its rate each minute of an epoch would be at so much of its limit; infinite without work."""
    with np.errstate(divide="ignore"):
        return np.where(one["rates"][side] > 0, step * one["limit"][side] / one["rates"][side], np.inf)


def raise_to(lifts, one, side, step):
    """Raises the lifts of the minutes that are saturated on a side: both figures along their line until the first of
    them stands at its limit. In minutes that single seconds alone show that side goes all the way; the other one, if
    no second of the epoch stood at its limit, no further than that, and nowhere if the line would be beyond it."""
    (other,) = (name for name in SIDES if name != side)
    line = np.minimum(times(one, side, step), times(one, other, step))
    own = np.where(one["single"][side], times(one, side, step), line)
    beside = line
    if one["clear"][other]:
        other_mix = times(one, side, 1.0) > times(one, other, 1.0)
        allowed = np.where(other_mix, 1.0, np.minimum(line, times(one, other, 1.0)))
        beside = np.where(one["single"][side], allowed, line)
    works = one["at"][side] & (one["rates"][side] > 0)
    for name, lift in ((side, own), (other, beside)):
        here = lifts[name][one["here"]]
        here[works] = np.maximum(here, lift)[works]


def keep_to_ceiling(found, one, side):
    """Lets the saturated minutes of a job ask for no more than the ceiling of their epoch."""
    for other in SIDES:
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(one["rates"][other] > 0, one["limit"][other] / one["rates"][other], np.inf)
        here = found["most"][other][one["here"]]
        found["most"][other][one["here"]] = np.where(one["at"][side], np.minimum(here, np.maximum(1.0, reach)), here)


def raised(limit, after, side):
    """The minute in which a later epoch with more of a resource begins; None where none has."""
    names = (side, f"sustained_{side}")
    for later in (epoch for epoch in after if epoch is not None):
        if any(later["limit"][name] > limit[name] * (1 + 1e-9) for name in names):
            return later["here"].start
    return None


def disproved(total, most, since=0):
    """Whether all volumes of a host did more, for three minutes, than what is published of it lets through."""
    rates = counted(total, most)
    above = np.logical_or.reduce([rates[side] > 1.05 * most[side] for side in SIDES])
    return int(above[since:].sum()) >= 3


def bound_minutes(work, observed, hosted, policy, *, measured_alone=False):
    """The minutes in which the host was the limit, and this volume had its part in it; or those that were measured."""
    bound = np.zeros(len(observed), dtype=bool)
    if hosted is None or hosted["others"] is None:
        return bound
    own = counted(work, hosted["counts"])
    total = counted(summed([work, hosted["others"]]), hosted["counts"])
    for side in SIDES:
        at = total[side] >= policy["saturation_pct"] / 100 * hosted["stands"][side]
        if "quiet" in hosted:
            at = at & ~hosted["quiet"][side]
            at = hosted["raised"][side] | (at & hosted["empty"][side] if measured_alone else at)
        elif measured_alone:
            continue
        bound |= at & has_its_part(own[side], total[side])
    return bound & observed


def has_its_part(own, total):
    """The minutes in which a volume did at least a twentieth of what all on its host did."""
    return (own >= 0.05 * total) & (own > 0)


def room_of(work, observed, hosted, policy):
    """How many times what was observed the host could have let through, by side; at least once, and once where it was
    measured as the limit."""
    if hosted is None:
        return {side: np.full(len(observed), np.inf) for side in SIDES}
    own, others = counted(work, hosted["counts"]), dict.fromkeys(SIDES, 0.0)
    if hosted["others"] is not None:
        others = counted(hosted["others"], hosted["counts"])
    with np.errstate(divide="ignore", invalid="ignore"):
        room = {
            side: np.where(own[side] > 0, np.maximum(1.0, (hosted["carries"][side] - others[side]) / own[side]), np.inf)
            for side in SIDES
        }
    full = bound_minutes(work, observed, hosted, policy, measured_alone=True)
    return {side: np.where(full, 1.0, room[side]) for side in SIDES}


def relief_of(found, hosted, policy):
    """As `room`, if all volumes of the host did what was held back by their own limits as well.

    Its credits are spent by that. If a balance refutes the replay of what was done, it carries its maximum, but where
    the balance was spent. If it was the limit, or would be, in half of the minutes in which the volume stood at its
    limit or at the host's, it carries its baseline where the volume stood at its own, and no more than was done where
    that is nearly all of it. What it carries beyond what was done is parted as more is asked for.
    """
    if hosted is None or hosted["others"] is None:
        return found["room"]
    own, total = counted(found["work"], hosted["counts"]), summed([found["work"], hosted["others"]])
    done = counted(total, hosted["counts"])
    wanted = counted(scaled(found["work"], found["lift"]["iops"], found["lift"]["mib_s"]), hosted["counts"])
    beside = counted(hosted["extra"], hosted["counts"])
    more = {side: wanted[side] - own[side] for side in SIDES}
    then = {side: done[side] + more[side] + beside[side] for side in SIDES}
    carries, _ = host_carries(hosted["limits"], then)
    if "refuted" in hosted:
        for side in (one for one in SIDES if hosted["refuted"][one]):
            least, most = (hosted["limits"][name][side] for name in ("baseline", "maximum"))
            carries[side] = np.where(hosted["empty"][side], least, most)
    by_host = np.logical_or.reduce([found["bound"], *(then[side] > carries[side] * (1 + 1e-6) for side in SIDES)])
    lifted = (more["iops"] > 1e-6) | (more["mib_s"] > 1e-6)
    for at in (at & lifted for at in found["saturated"].values()):
        held = at | found["bound"]
        if not at.any() or (held & by_host).sum() < held.sum() / 2:
            continue
        for side in SIDES:
            least = hosted["limits"]["baseline"][side]
            least = np.where(done[side] >= policy["saturation_pct"] / 100 * least, done[side], least)
            carries[side] = np.where(at, np.minimum(carries[side], least), carries[side])
    relief = {}
    for side in SIDES:
        spare = np.maximum(0.0, carries[side] - done[side])
        extra = more[side] + beside[side]
        with np.errstate(divide="ignore", invalid="ignore"):
            mine = np.where(extra > 1e-6, np.maximum(spare * more[side] / extra, spare - beside[side]), spare)
            times = np.where(own[side] > 0, (own[side] + mine) / own[side], np.inf)
        relief[side] = np.minimum(found["room"][side], np.maximum(1.0, times))
    return relief


def bind(found, described, hosted):
    """For reductions: minutes bound by the host, lifted until volume or host alone could ever carry no more."""
    if hosted is None or not found["bound"].any():
        return
    own = counted(found["work"], hosted["counts"])
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.full(len(found["bound"]), np.inf)
        for side in SIDES:
            most = np.minimum(most, np.where(own[side] > 0, hosted["most"][side] / own[side], np.inf))
            for one in (epoch for epoch in described if epoch is not None):
                rates = one["rates"][side]
                reach = np.where(rates > 0, one["limit"][side] / rates, np.inf)
                most[one["here"]] = np.minimum(most[one["here"]], reach)
    lift = np.where(found["bound"] & np.isfinite(most), np.maximum(1.0, most), 1.0)
    found["bound_lift"] = dict.fromkeys(SIDES, lift)


def asked(load, headroom, *, reducing, holding=False):
    """What is to be carried: the `work` that queues, the `lifted` work of the minutes `at` a limit, and the `seconds`.

    headroom: 1 and more. Never more than the host's room, but for minutes that it bound, where a reduction must leave
    what the whole host could carry. As relief, no more than the room that is left if nobody there is held back. Where
    both figures move along their line, what stops the one stops the other. holding: to be throttled no more than
    today, so that frequently saturated minutes ask up to their limit alone.
    """
    room, most = load["room"] if reducing or holding else load["relief"], load["most"]
    if holding:
        most = {side: np.minimum(most[side], load["held_at"][side]) for side in SIDES}
    work = scaled(load["work"], *(np.minimum(headroom, np.minimum(room[side], most[side])) for side in SIDES))
    lifts, wanted = [], load["lift"]
    if holding:
        wanted = {side: np.where(load["saturated"][side], load["to_ceiling"][side], wanted[side]) for side in SIDES}
    line = wanted["iops"] == wanted["mib_s"]
    for side, other in (SIDES, SIDES[::-1]):
        stopped = line | (load["saturated"][other] & ~load["saturated"][side])
        limit = np.where(stopped, np.minimum(room["iops"], room["mib_s"]), room[side])
        lifts.append(np.minimum(wanted[side], limit))
    at = load["saturated"]["iops"] | load["saturated"]["mib_s"]
    if reducing:
        lifts = [np.maximum(lift, load["bound_lift"][side]) for lift, side in zip(lifts, SIDES, strict=True)]
        at = at | load["bound"]
    seconds = None if load["seconds"] is None else clipped(load, headroom)
    return {"work": work, "lifted": scaled(load["work"], *lifts), "at": at, "seconds": seconds}


def direct(wanted):
    """What is held against a limit directly: lifted minutes, and busiest seconds."""
    found = [{name: np.where(wanted["at"], values, 0.0) for name, values in wanted["lifted"].items()}]
    return found if wanted["seconds"] is None else [*found, wanted["seconds"]]


def together(some):
    """Several that must be carried by one limit: the sums, each at least with its headroom."""
    if len(some) == 1:
        return some[0]
    most = [
        {
            name: np.where(one["at"], np.maximum(one["lifted"][name], values), values)
            for name, values in one["work"].items()
        }
        for one in some
    ]
    seconds = [one["work"] if one["seconds"] is None else one["seconds"] for one in some]
    return {
        "work": summed([one["work"] for one in some]),
        "lifted": summed(most),
        "at": np.logical_or.reduce([one["at"] for one in some]),
        "seconds": None if all(one["seconds"] is None for one in some) else summed(seconds),
    }


def part_of(load, work, seconds):
    """One volume's part of a load: its own work, held back in the minutes in which all were."""
    return {**load, "work": scaled(work, load["counts"], load["counts"]), "seconds": seconds}


def clipped(load, headroom):
    """The busiest seconds with headroom, up to the ceiling of their epoch."""
    factors = {side: np.full(len(load["observed"]), headroom) for side in SIDES}
    for one in (epoch for epoch in load["epochs"] if epoch is not None):
        rates = counted(cut(load["seconds"], one["here"]), one["limit"])
        for side in SIDES:
            with np.errstate(divide="ignore", invalid="ignore"):
                most = np.where(rates[side] > 0, one["limit"][side] / rates[side], headroom)
            factors[side][one["here"]] = np.minimum(headroom, most)
    return scaled(load["seconds"], factors["iops"], factors["mib_s"])
