"""Stripe sets: one answer and one target for all volumes of a set, or none.

Reasons of stripe sets: its volumes are answered as one, and their host may limit them.

The decision on a stripe set: one answer and one target for all its volumes, or none. See docs/decision.md, 9.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from plimsoll.decide.answer import Change, Recommendation, SetAnswer, SetMember, blockers_together
from plimsoll.decide.case import Case, DecisionContext
from plimsoll.decide.case_maker import on_these_hosts
from plimsoll.decide.decide import answer_together
from plimsoll.decide.groups import LINEAR, StripeSet, Unit
from plimsoll.decide.offers import ceiling_on_hosts
from plimsoll.demand.demand import add_demands
from plimsoll.demand.host_room import HostLoad, add_relief, find_host_room
from plimsoll.demand.load import find_highest_load, load_of
from plimsoll.model.kinds import Reason, dollars
from plimsoll.model.market import PriceBook, unusable
from plimsoll.model.units import MINUTE_S
from plimsoll.model.volume import Host, Volume

SET_ALREADY: Final = Reason(
    "stripe-set-already", "It already has the configuration that the other volumes of its stripe set will get."
)

UNEVEN: Final = 1.25
LEAST_UNEVEN: Final = 1.0
"""Members whose mean load differs by more than this factor, and is at least so many a second, are worth a sentence."""

ASSUMED_LAYOUT: Final[Mapping[str, str]] = {
    LINEAR: "one volume is filled after another, so that any may have to carry the whole load",
    "raid1": "every volume writes everything, and any may have to serve all reads",
}
OTHERWISE: Final = "any volume may have to carry what the busiest one did"


def held_back_reason(reasons: Mapping[str, str], stripes: StripeSet) -> Reason:
    """The reason that no volume of a set changes: the reasons of those that are held back, by id."""
    held_volumes = "; ".join(f"{volume_id} ({reason})" for volume_id, reason in reasons.items())
    return Reason(
        "stripe-set-held-back",
        f"The stripe set {stripes.name} changes as a whole or not at all. It is held back by {held_volumes}.",
    )


def set_member_reasons(volume_id: str, answer: SetAnswer, book: PriceBook) -> Iterator[Reason]:
    """Yields the reasons about a volume's set, a sentence each."""
    yield _membership(volume_id, answer)
    yield from _money(answer)
    yield from host_reasons(answer, book)
    yield from _uneven(answer)


def host_reasons(answer: SetAnswer, book: PriceBook) -> Iterator[Reason]:
    """Yields the sides on which the volumes of a set are provisioned for more than their host carries, as reasons."""
    limits, members = answer.host.limits, len(answer.members)
    if limits is None or answer.together is None:
        return
    for unit, together, most, baseline, figures in (
        ("IOPS", answer.together.iops, limits.maximum_iops, limits.baseline_iops, _figures(answer, "iops")),
        (
            "MiB/s",
            answer.together.throughput_mib_s,
            limits.maximum_throughput_mib_s,
            limits.baseline_throughput_mib_s,
            _figures(answer, "throughput_mib_s"),
        ),
    ):
        if together <= most:
            continue
        each = f" of {together / members:,.0f} {unit}" if len(figures) == 1 else ""
        usable = most / members if answer.stripes.even else most
        wasted = sum(unusable(member.spec, unit, usable, book) for member in answer.members)
        waste = f" {wasted:,.0f} {unit} are paid for and cannot be used, unless you replace it by a larger one."
        yield Reason(
            "stripe-set-above-its-host",
            f"{members} volumes{each} carry {together:,.0f} {unit} together. "
            f"{_host_text(answer.host, limits.burst_s, most, baseline)}. That is why the set gives no more."
            + (waste if wasted else ""),
        )


def _figures(answer: SetAnswer, side: str) -> set[float | None]:
    """The different figures that the members are provisioned for, by size if they are for their size."""
    return {getattr(member.spec, side) or float(member.spec.size_gib) for member in answer.members}


def _host_text(host: Host, burst_s: float, most: float, baseline: float) -> str:
    if most <= baseline:
        return f"The host {host.type} carries {most:,.0f}"
    minutes = f"{burst_s / MINUTE_S:.0f} minutes"
    return f"The host {host.type} carries {most:,.0f} for {minutes} a day and {baseline:,.0f} sustained"


def _membership(volume_id: str, answer: SetAnswer) -> Reason:
    """The reason that names the set of a volume, its other members, and what is assumed of its layout."""
    stripes = answer.stripes
    others = ", ".join(member.volume_id for member in answer.members if member.volume_id != volume_id)
    mounts = f", mounted at {', '.join(stripes.mounts)}" if stripes.mounts else ""
    assumed = "" if stripes.even else f" ({stripes.level}: {ASSUMED_LAYOUT.get(stripes.level, OTHERWISE)})"
    return Reason(
        "stripe-set",
        f"It is one device, {stripes.name} ({stripes.level}{mounts}), with {others or 'no other volume'}. Its volumes "
        f"are sized for the greatest need of any, and change together{assumed}.",
    )


def _money(answer: SetAnswer) -> Iterator[Reason]:
    """Yields the reason with the saving or cost of a whole set; none if a price is unknown or nothing changes."""
    if answer.usd_month_now is None or answer.usd_month_then is None or answer.usd_month_now == answer.usd_month_then:
        return
    saved = answer.usd_month_now - answer.usd_month_then
    verb = "saves" if saved >= 0 else "costs"
    yield Reason(
        "stripe-set-money",
        f"The change of the whole set {verb} {dollars(abs(saved))} a month{'' if saved >= 0 else ' more'}.",
    )


def _uneven(answer: SetAnswer) -> Iterator[Reason]:
    """Yields the sides on which striping should have spread the load evenly and did not, as reasons."""
    if not answer.stripes.even:
        return
    for unit, means in (
        ("IOPS", {member.volume_id: member.demand.mean_iops for member in answer.members if member.demand}),
        (
            "MiB/s",
            {member.volume_id: member.demand.mean_throughput_mib_s for member in answer.members if member.demand},
        ),
    ):
        if not means:
            continue
        least, most = min(means, key=lambda name: means[name]), max(means, key=lambda name: means[name])
        if means[most] > max(LEAST_UNEVEN, UNEVEN * means[least]):
            yield Reason(
                "stripe-set-uneven",
                f"The load is not spread evenly as {answer.stripes.level} should: {most} carries "
                f"{means[most]:,.1f} {unit} on average, {least} {means[least]:,.1f}. Look at how its data is laid out.",
            )


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
    exclusion = context.policy.find_exclusion(volume, context.now)
    if exclusion is not None:
        return f"the policy excludes it: {exclusion}"
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
    by_id, held = answer_together(
        members,
        unit.held,
        lambda reasons: held_back_reason(reasons, unit.stripes),
        already=SET_ALREADY,
        may_keep_limits=not unit.held,
    )
    set_answer = _set_answer(replace(unit, held=held), members, by_id)
    return {case.volume.id: _make_member_answer(by_id, case, set_answer) for case in members}


def share_highest_load(cases: Sequence[Case], host: HostLoad | None, *, parts: int) -> list[Case]:
    """The cases of a set's members, each with the highest load of any member in each bucket.

    The host is theirs together, in even `parts`: none can use more than its part, unless more than that was seen.
    """
    whole, first = add_demands([case.demand for case in cases]), cases[0]
    there = on_these_hosts(first.epochs, whole)
    done = add_demands([case.done for case in cases])
    room = find_host_room(done, host, first.hosts, first.policy, there).mask(there)
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
        ceiling=room.ceiling.divide(parts),
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
        reasons=(*answer.reasons, *set_member_reasons(case.volume.id, set_answer, case.market.book)),
        blockers=blockers_together(answers, answer, "stripe set"),
    )
