"""Deciding: the cases and answers of the volumes of a host: alone, as a stripe set or as a pool."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from plimsoll.domain.case import Case
from plimsoll.domain.context import DecisionContext
from plimsoll.domain.decide import answer
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.demand.saturation import HostLoad
from plimsoll.domain.groups.decide_pools import DecidedPool, decide_pools
from plimsoll.domain.groups.decide_stripes import decide_together
from plimsoll.domain.groups.group import Unit
from plimsoll.domain.recommendation import Change, Keep, Recommendation, Wait
from plimsoll.domain.refine.member import Member
from plimsoll.domain.refine.members import Group


def decide_group(
    group: Group,
    members: Sequence[Member],
    demands: Mapping[str, Demand],
    load: HostLoad | None,
    *,
    draft: bool,
) -> DecidedPool:
    """The cases and answers of the volumes of a host, by what is known."""
    contexts = {
        member.volume.id: replace(member.context, draft=draft, peer=member.peer)
        for member in group.members
        if member.context is not None
    }
    found = _decided_pools(group, contexts, demands, load)
    for member in members:
        if member.alone and member.context is not None:
            context = member.sized(contexts[member.volume.id]).growing(member.growth)
            case = member.case(demands[member.volume.id], load, context)
            found[member.volume.id] = case, member.answer(case)
    for unit in group.units:
        found |= _decided_set(unit, group, contexts, demands, load)
    return found


def draw_group(
    group: Group, members: Sequence[Member], found: DecidedPool, demands: Mapping[str, Demand], load: HostLoad | None
) -> DecidedPool:
    """The same answers with what a draft left out. A volume's own case is what it was, with the trials made of it."""
    if group.pools or group.units:
        return decide_group(group, members, demands, load, draft=False)
    return {name: _drawn_alone(case, answered) for name, (case, answered) in found.items()}


def _drawn_alone(case: Case, answered: Recommendation) -> tuple[Case, Recommendation]:
    if not is_to_be_drawn(answered):
        return case, answered
    case = replace(case, context=replace(case.context, draft=False))
    return case, answer(case)


def is_to_be_drawn(answered: Recommendation) -> bool:
    """Whether a draft left out a frontier that is worth drawing, or what the next level of safety costs."""
    is_promised = isinstance(answered, Change) and answered.risk is not None and answered.risk.promised_pct is not None
    return is_promised or (isinstance(answered, Keep | Change | Wait) and len(answered.comparison.frontier) == 1)


def _decided_set(
    unit: Unit,
    group: Group,
    contexts: Mapping[str, DecisionContext],
    demands: Mapping[str, Demand],
    load: HostLoad | None,
) -> DecidedPool:
    """The cases and answers of the volumes of a stripe set: what one of them grows by, all have to carry."""
    members = [member for member in group.members if member.volume.id in unit.stripes.members]
    unread = {member.volume.id: f"it could not be read: {member.error}" for member in members if member.error}
    growth = max((member.growth for member in members if member.growth), key=lambda one: one.times, default=None)
    cases = [
        member.case(demands[member.volume.id], load, member.sized(contexts[member.volume.id]).growing(growth))
        for member in members
        if member.context is not None and member.error is None
    ]
    found = decide_together(replace(unit, held={**unit.held, **unread}), cases, load)
    by_volume = {case.volume.id: case for case in cases}
    return {name: (by_volume[name], answered) for name, answered in found.items()}


def _decided_pools(
    group: Group, contexts: Mapping[str, DecisionContext], demands: Mapping[str, Demand], load: HostLoad | None
) -> DecidedPool:
    """The cases and answers of the volumes of a host's pools."""
    return decide_pools(group.pools, demands, contexts, load) if group.pools else {}
