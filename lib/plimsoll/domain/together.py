"""The decision on a stripe set: one answer and one target for all its volumes, or none. See docs/decision.md, 7."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.domain import reasons, set_reasons
from plimsoll.domain.case import Case, DecisionContext
from plimsoll.domain.decide import (
    changed,
    cheapest,
    compare,
    insufficient,
    is_insufficient,
    kept,
    kind_of,
    relieves,
    usd_month_now,
)
from plimsoll.domain.joined import joined
from plimsoll.domain.offer import Offer, ceiling_on_hosts, flip, preference
from plimsoll.domain.recommendation import Blocker, Change, Comparison, Recommendation, SetAnswer, SetMember
from plimsoll.domain.saturation import HostLoad
from plimsoll.domain.stripes import StripeSet
from plimsoll.domain.volume import Volume


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A stripe set to be decided on: all its volumes, and why some of them must stay as they are, by id."""

    stripes: StripeSet
    volumes: Sequence[Volume]
    held: Mapping[str, str]


def units_of(known: Iterable[StripeSet], volumes: Iterable[Volume], context: DecisionContext) -> list[Unit]:
    """The sets as units, of volumes that hold all of theirs: those that the policy or somebody excludes, or whose type
    is not published, must stay as they are."""
    by_id = {volume.id: volume for volume in volumes}
    units = []
    for stripes in known:
        members = [by_id[volume_id] for volume_id in stripes.members]
        held = {volume.id: reason for volume in members if (reason := untouchable(volume, context)) is not None}
        units.append(Unit(stripes=stripes, volumes=members, held=held))
    return units


def free_to_change(units: Iterable[Unit]) -> list[Volume]:
    """The volumes of units that are not held."""
    return [volume for unit in units for volume in unit.volumes if volume.id not in unit.held]


def untouchable(volume: Volume, context: DecisionContext) -> str | None:
    """Why a volume must stay as it is whatever is best for it; None where nothing forbids a change."""
    match = context.policy.excluding(volume.tags)
    if match is not None:
        return f"the policy excludes it by its tag {match}"
    if volume.id in context.excluded:
        return f"it is {context.excluded[volume.id]}"
    if volume.spec.type not in context.market.types:
        return f"volume type {volume.spec.type} has no published limits here"
    return None


def decide_together(unit: Unit, cases: Sequence[Case], host: HostLoad | None) -> dict[str, Recommendation]:
    """What should be done with each volume of a set, by id.

    `cases` are those of all members that are not held, their demands at full resolution on one grid; `host` is the
    traffic of the host that they share.
    """
    if not cases:
        return {}
    members = joined(cases, host, even=unit.stripes.even)
    lacking = [case for case in members if usd_month_now(case) is None or is_insufficient(case)]
    held = {**unit.held, **{case.volume.id: set_reasons.LACKING for case in lacking}}
    answers: dict[str, Recommendation] = {case.volume.id: insufficient(case, usd_month_now(case)) for case in lacking}
    rest = [case for case in members if case.volume.id not in answers]
    answers |= weighed(
        rest, why_held=set_reasons.held(held, unit.stripes) if held else None, already=set_reasons.ALREADY
    )
    told = _set_answer(replace(unit, held=held), members, answers)
    return {case.volume.id: _as_member(answers, case, told) for case in members}


def weighed(cases: Sequence[Case], *, why_held: str | None, already: str) -> dict[str, Recommendation]:
    """The answers to volumes that change together, by id: one type for all, or all are kept.

    `why_held` says what keeps them as they are whatever is best, `already` what is said of one that needs no change.
    """
    compared = _compared(cases)
    usd = {case.volume.id: usd_month_now(case) or 0.0 for case in cases}
    best = {case.volume.id: cheapest(compared[case.volume.id]) for case in cases}
    targets = [offer for offer in best.values() if offer is not None]
    saved = sum(usd.values()) - sum(offer.usd_month or 0.0 for offer in targets)
    if why_held or len(targets) < len(cases) or not _worth_it(cases, targets, saved):
        return {
            case.volume.id: kept(
                case,
                compared[case.volume.id],
                usd[case.volume.id],
                why_held or reasons.why_keep(case, best[case.volume.id], saved if targets else 0.0),
            )
            for case in cases
        }
    kind = kind_of(cases, targets)
    return {
        case.volume.id: kept(case, compared[case.volume.id], usd[case.volume.id], already)
        if target.spec == case.volume.spec
        else changed(kind, case, compared[case.volume.id], target, usd[case.volume.id])
        for case, target in zip(cases, targets, strict=True)
    }


def _worth_it(cases: Sequence[Case], targets: Sequence[Offer], saved_usd_month: float) -> bool:
    """Whether the change of all relieves what is throttled often, or saves enough over the whole set."""
    pairs = list(zip(cases, targets, strict=True))
    if all(target.spec == case.volume.spec for case, target in pairs):
        return False
    least = max(case.policy.min_saving_usd_month for case in cases)
    return any(relieves(case, target.ceiling) for case, target in pairs) or saved_usd_month >= least


def _compared(cases: Sequence[Case]) -> dict[str, Comparison]:
    """What is weighed for each member, in the order of what all cost together; what one refuses is refused for all."""
    found = {case.volume.id: compare(case) for case in cases}
    offers = {name: {offer.spec.type: offer for offer in weighed.offers} for name, weighed in found.items()}
    types = cases[0].market.types if cases else {}
    shared = {name: _shared({member: of[name] for member, of in offers.items()}) for name in types}
    order = sorted(types, key=lambda name: preference(_as_one(list(shared[name].values())), types[name]))
    return {
        case.volume.id: replace(
            found[case.volume.id],
            offers=tuple(shared[name][case.volume.id] for name in order),
            flip=flip(types[order[0]], case.volume.spec.size_gib, case.market.book),
        )
        for case in cases
    }


def _shared(offers: Mapping[str, Offer]) -> dict[str, Offer]:
    """One type's offers by member, refused by all where one refuses it."""
    refused = [f"{member}: {offer.refused[0]}" for member, offer in offers.items() if offer.refused]
    return {
        member: offer if offer.refused else replace(offer, refused=tuple(refused)) for member, offer in offers.items()
    }


def _as_one(offers: Sequence[Offer]) -> Offer:
    """Members' offers of one type as if they were one, at the price of all."""
    prices = [offer.usd_month for offer in offers if offer.usd_month is not None]
    return replace(offers[0], usd_month=sum(prices) if len(prices) == len(offers) else None)


def _set_answer(unit: Unit, cases: Sequence[Case], answers: Mapping[str, Recommendation]) -> SetAnswer:
    summaries = {case.volume.id: case.summary for case in cases}
    now = [found.usd_month_now for found in answers.values() if found.usd_month_now is not None]
    then = [
        found.usd_month_then if isinstance(found, Change) else found.usd_month_now or 0.0 for found in answers.values()
    ]
    whole = len(now) == len(unit.volumes)
    types = cases[0].market.types
    carried = [
        ceiling_on_hosts(types[volume.spec.type], volume.spec, volume)
        for volume in unit.volumes
        if volume.spec.type in types
    ]
    together = carried[0]
    for ceiling in carried[1:]:
        together += ceiling
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
        together=together if len(carried) == len(unit.volumes) else None,
        host=cases[0].volume.hosts[0],
    )


def _as_member(answers: Mapping[str, Recommendation], case: Case, told: SetAnswer) -> Recommendation:
    """A member's answer with what is to be said of its set, and with what blocks any of the others."""
    own = answers[case.volume.id]
    return replace(
        own,
        stripe_set=told,
        reasons=(*own.reasons, *set_reasons.of_set(case.volume.id, told)),
        blockers=(*own.blockers, *of_others(answers, own, "stripe set")) if isinstance(own, Change) else own.blockers,
    )


def of_others(answers: Mapping[str, Recommendation], own: Recommendation, unit: str) -> tuple[Blocker, ...]:
    """What blocks the change of the others that change together with one, told as its own."""
    return tuple(
        Blocker(code=blocker.code, text=f"{other.volume.id} of the same {unit}: {blocker.text}")
        for other in answers.values()
        if other is not own
        for blocker in other.blockers
    )
