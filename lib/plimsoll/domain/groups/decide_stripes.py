"""The decision on a stripe set: one answer and one target for all its volumes, or none. See docs/decision.md, 9."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from plimsoll.domain.case import Case
from plimsoll.domain.context import DecisionContext
from plimsoll.domain.decide import answers, insufficient, is_insufficient, unmeasured
from plimsoll.domain.demand.demand import add_demands
from plimsoll.domain.demand.host_room import HostLoad, add_relief, find_host_room
from plimsoll.domain.demand.load import find_highest_load, load_of
from plimsoll.domain.demand_epochs import on_these_hosts
from plimsoll.domain.groups import set_reasons
from plimsoll.domain.groups.group import StripeSet, Unit
from plimsoll.domain.offers.offer import ceiling_on_hosts
from plimsoll.domain.recommendation import Change, Recommendation, SetAnswer, SetMember, blockers_of_others
from plimsoll.domain.volume import Volume


def make_units(known: Iterable[StripeSet], volumes: Iterable[Volume], context: DecisionContext) -> list[Unit]:
    """Makes the units of stripe sets. Members that must stay as they are hold all of theirs.

    The policy or somebody excludes them, or their type is not published.
    """
    by_id = {volume.id: volume for volume in volumes}
    units = []
    for stripes in known:
        members = [by_id[volume_id] for volume_id in stripes.members]
        held = {volume.id: reason for volume in members if (reason := reason_to_stay(volume, context)) is not None}
        units.append(Unit(stripes=stripes, volumes=members, held=held))
    return units


def volumes_free_to_change(units: Iterable[Unit]) -> list[Volume]:
    return [volume for unit in units for volume in unit.volumes if volume.id not in unit.held]


def reason_to_stay(volume: Volume, context: DecisionContext) -> str | None:
    """The reason why a volume must stay as it is, whatever is best for it; None if it may change."""
    match = context.policy.excluding(volume.tags)
    if match is not None:
        return f"the policy excludes it by its tag {match}"
    if volume.id in context.excluded:
        return f"it is {context.excluded[volume.id]}"
    if volume.spec.type not in context.market.types:
        return f"volume type {volume.spec.type} has no published limits here"
    return None


def decide_together(unit: Unit, cases: Sequence[Case], host: HostLoad | None) -> dict[str, Recommendation]:
    """Decides on each volume of a stripe set, by id: one target for all, or none.

    `cases` are those of all members that are not held, their demands at full resolution on one grid; `host` is the
    traffic of the host that they share.
    """
    if not cases:
        return {}
    members = share_highest_load(cases, host, parts=len(unit.volumes) if unit.stripes.even else 1)
    lacking = [case for case in members if is_insufficient(case)]
    by_id: dict[str, Recommendation] = dict(unmeasured(members)) if lacking and not unit.held else {}
    held = dict(unit.held)
    if not by_id:
        by_id = {case.volume.id: insufficient(case) for case in lacking}
        held |= dict.fromkeys(by_id, set_reasons.SET_LACKING)
    undecided = [case for case in members if case.volume.id not in by_id]
    by_id |= answers(
        undecided,
        why_held=set_reasons.held_back_reason(held, unit.stripes) if held else None,
        already=set_reasons.SET_ALREADY,
    )
    set_answer = _set_answer(replace(unit, held=held), members, by_id)
    return {case.volume.id: _make_member_answer(by_id, case, set_answer) for case in members}


def share_highest_load(cases: Sequence[Case], host: HostLoad | None, *, parts: int) -> list[Case]:
    """The cases of a set's members, each with the highest load of any member in each bucket.

    The host is theirs together, in even `parts`: none can use more than its part, unless more than that was seen.
    """
    whole, first = add_demands([case.demand for case in cases]), cases[0]
    there = on_these_hosts(first.epochs, whole)
    room = find_host_room(whole, host, first.hosts, first.policy, there).mask(there)
    if any(case.frequent for case in cases):
        room = add_relief(
            room,
            host,
            whole,
            add_demands([case.lifted.demand for case in cases]),
            np.logical_or.reduce([case.lifted.saturated for case in cases]),
            [case.volume.id for case in cases],
            first.policy,
        )
    counted = first.room.ceiling.accounting
    seen = np.max([case.demand.count(counted) for case in cases], axis=0)
    room = replace(
        room,
        ceiling=room.ceiling.divided(parts),
        room=np.maximum(seen, room.room / parts),
        relief=None if room.relief is None else np.maximum(seen, room.relief / parts),
    )
    load = find_highest_load(
        [
            load_of(
                case.demand,
                case.lifted,
                room,
                case.epochs,
                case.policy,
                case.headrooms,
            )
            for case in cases
        ]
    )
    frequent = frozenset(resource for case in cases for resource in case.frequent)
    shared = [case.with_all_limits for case in cases] if len(cases) > 1 else cases
    return [
        replace(case, room=room, load=load, held=load, lifted=replace(case.lifted, frequent=frequent))
        for case in shared
    ]


def _set_answer(unit: Unit, cases: Sequence[Case], answers: Mapping[str, Recommendation]) -> SetAnswer:
    summaries = {case.volume.id: case.summary for case in cases}
    now = [answer.usd_month_now for answer in answers.values() if answer.usd_month_now is not None]
    then = [
        answer.usd_month_then if isinstance(answer, Change) else answer.usd_month_now or 0.0
        for answer in answers.values()
    ]
    whole = len(now) == len(unit.volumes)
    types = cases[0].market.types
    carried = [
        ceiling_on_hosts(types[volume.spec.type], volume.spec, volume)
        for volume in unit.volumes
        if volume.spec.type in types
    ]
    in_all = carried[0]
    for ceiling in carried[1:]:
        in_all += ceiling
    return SetAnswer(
        stripes=unit.stripes,
        members=tuple(
            SetMember(
                volume_id=volume.id,
                spec=volume.spec,
                demand=summaries.get(volume.id),
                held=unit.held.get(volume.id),
            )
            for volume in unit.volumes
        ),
        usd_month_now=sum(now) if whole else None,
        usd_month_then=sum(then) if whole else None,
        together=in_all if len(carried) == len(unit.volumes) else None,
        host=cases[0].volume.hosts[0],
    )


def _make_member_answer(answers: Mapping[str, Recommendation], case: Case, set_answer: SetAnswer) -> Recommendation:
    """The answer for a member, with the reasons about its set and the blockers of the others."""
    answer = answers[case.volume.id]
    return replace(
        answer,
        stripe_set=set_answer,
        reasons=(*answer.reasons, *set_reasons.set_member_reasons(case.volume.id, set_answer, case.market.book)),
        blockers=(*answer.blockers, *blockers_of_others(answers, answer, "stripe set"))
        if isinstance(answer, Change)
        else answer.blockers,
    )
