"""The proof by both ends: an answer is that of every minute if the least and the most that unread buckets can have been
give the same one.

It knows nothing of what answers rest on, so that it guards the certificate, which lists that. It holds under rules:
checks, balances, edges, presence and the host's metrics are read; no unread bucket is lifted or host-bound; the most
has the same saturated and bound buckets, frequent counts and waits, and disproves the same records up to the same
bucket, which is read; no unread bucket can have been above its ceiling on record, since that may be a minute counted
twice; the host reaches its limit at neither end and cuts nothing. All volumes of a host are proved, or none.
"""

from dataclasses import replace

import numpy as np

from plimsoll.decide.case_maker import SLIGHTLY, case_of
from plimsoll.decide.decide import answer
from plimsoll.demand.demand import limits_of
from plimsoll.demand.host_room import host_loads
from plimsoll.demand.load import Load
from plimsoll.demand.trial import Required
from plimsoll.refine.certificate import Open, open_of_host
from plimsoll.refine.member import Judged
from plimsoll.refine.next import find_looks
from tests.unit.domain.answered import decided_on


def proved(group, query_cost, resolution_s=60):
    """The answers of a group's volumes, by id, if both ends prove all of them; else None."""
    members = group.readable()
    demands, load = group.traffic(resolution_s)
    most = {name: demand.most_demand or demand for name, demand in demands.items()}
    load_of_most = next(iter(host_loads([member.volume for member in members], most).values()), None)
    answers = {}
    for member in members:
        name = member.volume.id
        context = replace(member.context, draft=False)
        case = case_of(member.volume, demands[name], load, context)
        case_of_most = case_of(member.volume, most[name], load_of_most, context)
        policies = [one.context.policy for one in members]
        if not (
            _is_read(case, member, load, policies, query_cost)
            and _are_alike(case, case_of_most)
            and not _may_be_above(case, most[name])
            and _cuts_nothing(case, load)
            and _cuts_nothing(case_of_most, load_of_most)
        ):
            return None
        least, highest = (
            Judged(recommendation=answer(_with_load(case, end)), profile=None, demand=None)
            for end in (_at_least, _at_most)
        )
        if decided_on(least) != decided_on(highest):
            return None
        answers[name] = least
    return answers


def _is_read(case, member, load, policies, query_cost):
    """Whether only work is left to read, and no bucket of that is lifted, bound, or the last of a wrong record."""
    demand, nothing = case.demand, np.zeros((2, len(case.demand.observed)))
    host = open_of_host(load, demand, policies) if load is not None and member.asks_host else {}
    rest = Open(work=nothing, seconds=nothing[0], host=host)
    held_back = case.lifted.any | case.room.bound
    for epoch in case.epochs:
        if epoch.on_record is not None:
            held_back[epoch.buckets.stop - 1] = True
    return not find_looks(case, demand, rest, member.knowledge, query_cost) and not (
        demand.spread is not None and (held_back & demand.spread.any_unread).any()
    )


def _are_alike(case, highest):
    """Whether the most is held back where the least is, as often, waits as long, and disproves the same records."""
    pairs = [(case.lifted.saturated, highest.lifted.saturated)]
    pairs += [(case.room.bound, highest.room.bound), (case.room.cleared, highest.room.cleared)]
    same = all(np.array_equal(one, other) for one, other in pairs)
    windows, others = ([epoch.window for epoch in each.epochs] for each in (case, highest))
    return same and (windows, case.frequent, case.settles) == (others, highest.frequent, highest.settles)


def _may_be_above(case, most):
    """True if an unread bucket can have been above what its epoch carries."""
    if case.demand.spread is None:
        return False
    unread, above = case.demand.spread.any_unread, np.zeros(len(case.demand.observed), np.bool_)
    for epoch in (epoch for epoch in case.epochs if epoch.ceiling is not None):
        times = (most.count(epoch.ceiling.accounting) / limits_of(epoch.ceiling)).max(axis=0)
        above[epoch.buckets] |= times[epoch.buckets] > SLIGHTLY
    return bool((above & unread).any())


def _cuts_nothing(case, load):
    """Whether the host of a case is nowhere at its limit, and has room for all that is required."""
    if load is not None and _is_at(load.limit(case.demand, case.policy)):
        return False
    times, accounting = case.headrooms.relief.factor, case.room.ceiling.accounting
    return (case.demand.count(accounting) * times <= case.room.room).all()


def _is_at(limit):
    return (limit.at | limit.modeled).any()


def _with_load(case, end):
    names = ("reducing", "keeping", "raising", "holding", "now")
    load = Load(**{name: end(getattr(case.load, name)) for name in names})
    return replace(case, load=load, held=load)


def _at_most(required):
    """What is required, of which everybody is shown the most."""
    return required.as_harmful


def _at_least(required):
    """What is required, of which nobody asks for the most."""
    least = Required(work=required.work, short=required.short)
    least._at_most.append(least)
    return least
