"""Sections 4 to 7, for one volume or disks that change together: the offers, and what is done.

Where the page leaves room, this is how it is read here:

- Two pairs of figures of one type at one price: fewer IOPS.
- Throttled minutes of the lifted demand are counted within the host's room. So a volume whose host is the limit is not
  throttled by itself, and nothing dearer is offered.
- A drop-in replacement is also taken where nothing cheaper passes or is worth `min_saving`, throttled or not, and while
  reductions wait: it gives nothing up. So it is where it costs no more than the cheapest that passes. Only in the
  middle of a modification it waits as well.
- A relief is an `upgrade` even where it costs less than today.
"""

import heapq
from itertools import pairwise

import numpy as np

from tests.oracle.lifted import asked, direct, together
from tests.oracle.received import scaled
from tests.oracle.replay import SIDES, counted, trial

BUDGETS = (0, 1, 5, 15, 60)


class Judge:
    """Tries limits on loads, for a policy and a window of so many minutes. Several loads are carried together."""

    def __init__(self, policy, length):
        self.policy = policy
        self.headroom = 1 + policy["headroom_pct"] / 100
        self.reducing = 1 + policy.get("reducing_pct", policy["headroom_pct"]) / 100
        self.days = length / 1440
        self.made = {}

    def budget(self, per_30_days=None):
        wanted = self.policy["throttle_budget_min"] if per_30_days is None else per_30_days
        return wanted * self.days / 30

    def wanted(self, loads, headroom, reducing, holding):
        """As `lifted.asked` of all together, made once."""
        key = (*map(id, loads), headroom, reducing, holding)
        if key not in self.made:
            parts = [asked(load, headroom, reducing=reducing, holding=holding) for load in loads]
            self.made[key] = together(parts), loads
        return self.made[key][0]

    def tried(self, loads, limit, *, reducing, headroom=None, start=1.0, offered=True, holding=False):
        """How many minutes are throttled, and the longest wait."""
        usual = self.reducing if reducing else self.headroom
        wanted = self.wanted(loads, usual if headroom is None else headroom, reducing, holding)
        throttled, wait = trial(wanted["work"], direct(wanted), limit, start=start, offered=offered)
        return int(throttled.sum()), wait

    def passes(self, loads, limit, budget, *, reducing, headroom=None, holding=False):
        """Whether a limit throttles no more than the budget, and lets nothing wait too long."""
        count, wait = self.tried(loads, limit, reducing=reducing, headroom=headroom, holding=holding)
        return count <= budget + 1e-9 and wait <= self.policy["max_wait_s"] + 1e-9

    def need(self, loads, limit, *, holding=False, reducing=True):
        """The highest rates that a reduction, or relief, has to carry, as a limit counts them."""
        headroom = self.reducing if reducing else self.headroom
        wanted = self.wanted(loads, headroom, reducing=reducing, holding=holding)
        some = [counted(work, limit) for work in (wanted["work"], *direct(wanted))]
        return {side: max(float(one[side].max(initial=0.0)) for one in some) for side in SIDES}


def grid(rule, most, step, today=None):
    """The figures that are sold, in steps: from the least to the most, both included, and today's."""
    least = rule["least"]
    inside = range(int(-(-least // step) * step), int(most) + 1, step)
    if most < least:
        return [int(least)]
    own = {today} if today is not None and least <= today <= most else set()
    return sorted({int(least), *inside, int(most)} | own)


def first_passing(figures, passes):
    """The place of the first figure that passes; more never throttles more. None: not even the last does."""
    if not figures or not passes(figures[-1]):
        return None
    low, high = 0, len(figures) - 1
    while low < high:
        middle = (low + high) // 2
        if passes(figures[middle]):
            high = middle
        else:
            low = middle + 1
    return low


def cheapest_pair(iops, mib_s, sold, usd, alone, passes):
    """The cheapest pair of figures that passes, by brute force from the least that each resource needs alone upward.

    sold(i, j): whether the pair can be bought. alone(side, figure): whether that side passes where the other is free.
    """
    begin_i = first_passing(iops, lambda figure: alone("iops", figure))
    begin_j = first_passing(mib_s, lambda figure: alone("mib_s", figure))
    if begin_i is None or begin_j is None:
        return None
    heap, seen = [], set()

    def push(i, j):
        if i < len(iops) and j < len(mib_s) and (i, j) not in seen:
            seen.add((i, j))
            heapq.heappush(heap, (usd(iops[i], mib_s[j]), iops[i], mib_s[j], i, j))

    push(begin_i, begin_j)
    while heap:
        _, one, two, i, j = heapq.heappop(heap)
        if sold(one, two) and passes(one, two):
            return one, two
        push(i + 1, j)
        push(i, j + 1)
    return None


def carries_all(limit, now, sides=SIDES):
    """Whether a limit does everything that another does on those sides: reads and writes, at most and without end."""
    costs = {"iops": "c", "mib_s": "d"}
    return all(
        limit[name] / (limit[costs[side]] if written else 1.0)
        >= now[name] / (now[costs[side]] if written else 1.0) * (1 - 1e-9) - 1e-6
        for side in sides
        for name in (side, f"sustained_{side}")
        for written in (False, True)
    )


def carries_again(limit, load, now, policy, kind, hosts):
    """Whether relief, or what holds, leaves what it lowers as much as the next relief would ask: of a present type
    whose figures are bought apart, beyond what it includes, and no more than the hosts carry (None: not known)."""
    rules = {"iops": kind["iops"], "mib_s": kind["throughput_mib_s"]}
    if any("least" not in rule for rule in rules.values()):
        return True
    times = 1 + policy["throttle_lift_pct"] / 100
    again = scaled(load["work"], *(times * load["lift"][side] for side in SIDES))
    if hosts is not None:
        plainly = {"iops": again["r"] + again["w"], "mib_s": again["rm"] + again["wm"]}
        with np.errstate(divide="ignore"):
            share = np.minimum.reduce([np.ones_like(again["r"]), *(hosts[side] / plainly[side] for side in SIDES)])
        again = scaled(again, share, share)
    at, rates = load["saturated"]["iops"] | load["saturated"]["mib_s"], counted(again, now)
    most = {side: float(np.where(at, rates[side], 0.0).max(initial=0.0)) for side in SIDES}
    bought = [side for side in SIDES if most[side] > times * rules[side].get("included", 0)]
    return all(limit[side] >= min(most[side], now[side]) - 1e-6 for side in bought)


def decision(offers, relief, drop_in, present, policy, *, by_host=None, hold=lambda: None):
    """What is done: (action, offer) of those found, where an offer is a dictionary of `usd`, `order` and what it is.

    present: `usd`, `passes`, `throttled` (frequently, and not by its host alone). offers and relief: those that pass,
    for reductions and as relief. drop_in: the cheapest that carries everything, or None, with `whole`, the one that
    carries also what its hosts cannot, where it does not; by_host: what carries what its hosts can where no drop_in
    saves enough. hold: finds the cheapest that throttles no more than today and need not wait. The third is the relief
    that is priced beside it.
    """
    now, least = present["usd"], policy["min_saving_usd_month"]
    best = min(offers, key=lambda one: one["order"], default=None)
    spare = drop_in is not None and now - drop_in["usd"] >= least - 1e-9
    by_host = by_host if by_host is not None and now - by_host["usd"] >= least - 1e-9 else None
    if present["throttled"]:
        ending = min(relief, key=lambda one: one["order"], default=None)
        if ending is not None and ending["usd"] < now:
            return "upgrade", ending, None
        if spare:
            return "change", drop_in, ending
        if ending is None:
            return ("change", by_host, None) if by_host else ("keep", None, None)
        held = hold() if ending["usd"] > now else None
        if held is not None and now - held["usd"] >= least - 1e-9:
            return "change", held, ending
        return "upgrade", ending, None
    if present["passes"] and best is not None and best["usd"] >= now:
        best = None
    saved = 0.0 if best is None else now - best["usd"]
    if best is None or saved < least - 1e-9:
        if not spare and by_host:
            return "change", by_host, None
        return ("change", drop_in, None) if spare else ("keep", None, None)
    whole = drop_in and drop_in.get("whole", drop_in)
    near = spare and now - whole["usd"] >= policy["drop_in_share_pct"] / 100 * saved - 1e-9
    if near and (whole["passes"] or whole["usd"] <= best["usd"]):
        return "change", drop_in, None
    return "change", best, None


def held_back(chosen, drop_in, present, policy, *, unsettled, modifying):
    """The action while something is unsettled: (action, offer, what is expected). Only reductions wait."""
    action, offer, _ = chosen
    if action == "change" and modifying:
        return "wait", None, offer
    if action != "change" or not unsettled or offer["carries_all"]:
        return action, offer, None
    if drop_in is not None and present["usd"] - drop_in["usd"] >= policy["min_saving_usd_month"] - 1e-9:
        return action, drop_in, None
    return "wait", None, offer


def settled_from(load, length, policy, *, restored_until=None, made=None, came=None):
    """The minute from which a reduction can be judged; None where nothing is unsettled.

    restored_until: up to when nothing that it did is its demand. made: when it was made. came: when it was attached
    where it is, where it may have been elsewhere before; nobody knows on what type of host.
    """
    week = int(policy["settle_days"] * 1440)
    ends = [start + week for start in load["held"]]
    if restored_until is not None:
        ends.append(restored_until)
    if made is not None:
        ends.append(made + week)
    if came is not None and is_new_there(load["observed"], int(came), week):
        ends.append(int(came) + week)
    latest = max(ends, default=0)
    return latest if latest > length else None


def stood_throughout(load):
    """Whether the present limits stood through the whole window."""
    return load["epochs"][-1] is None or load["epochs"][-1]["here"].start == 0


def is_new_there(observed, came, week):
    """Whether it did nothing in the week before it came, or did not come as it often does: after a pause of an hour and
    more, and without one since."""
    hours = [bool(observed[at : at + 60].any()) for at in range(0, len(observed), 60)]
    since = came // 60
    if since <= 0 or not any(hours[max(0, since - week // 60) : since]):
        return True
    pauses = sum(one and not then for one, then in pairwise(hours[:since]))
    for_its_job = not hours[since - 1] and all(hours[since + 1 :]) and pauses >= 3
    return not for_its_job


def throttled_by_itself(load, count, budget):
    """Whether the present configuration is throttled frequently, and more than what is tolerated."""
    return bool(load["frequent"]) and count > budget + 1e-9


def peak(load, limit_free):
    """The highest minutes, in operations and MiB as they are."""
    work = load["work"]
    observed = load["observed"]
    iops, mib_s = work["r"] + limit_free["c"] * work["w"], work["rm"] + limit_free["d"] * work["wm"]
    return (
        float(np.where(observed, iops, 0.0).max(initial=0.0)),
        float(np.where(observed, mib_s, 0.0).max(initial=0.0)),
    )
