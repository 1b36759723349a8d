"""The decision: volumes that change together, their demand and the market in; a recommendation for each out.

See docs/decision.md.

Answers that a volume's state gives, so that no demand is weighed. The part of a volume in its template's change.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from plimsoll.decide import reasons
from plimsoll.decide.answer import (
    Choice,
    ChoiceVerdict,
    Comparison,
    FrontierBudget,
    FrontierStep,
    InsufficientData,
    Keep,
    Migrate,
    Recommendation,
    Reprovision,
    TooRisky,
    Unweighed,
    Upgrade,
    Wait,
    Why,
)
from plimsoll.decide.blockers import blockers, evidence_blocker, evidence_of
from plimsoll.decide.case import Case, DecisionContext
from plimsoll.decide.choice import choose, choose_same_limits, find_risks, risks_of
from plimsoll.decide.groups import Part, PartOffer, Takeover, template_of
from plimsoll.decide.offers import Offer, bare_type_offer, cuts_of, find_losses
from plimsoll.decide.reasons import detached_peer, growth_summary, memory_summary, peer_reasons
from plimsoll.demand.epochs import Settles, Unsettled
from plimsoll.demand.load import peaks
from plimsoll.model.ceiling import Need
from plimsoll.model.kinds import DETACHED, Reason
from plimsoll.model.market import Provisioned, type_of
from plimsoll.model.volume import Volume, VolumeState
from plimsoll.risk.promise import Risk

LEAST_HOURS: Final = 1.0
"""The hours that have to be observed of a volume that counts for its template alone."""

LACKING: Final = "too little is known of it (its metrics, or a price)"
"""The reason that a volume holds back those that change together with it."""

WITH_OTHERS: Final = Reason("already", "It already has the configuration that the others will get.")

CHANGED_WITH_OTHERS: Final = "is changed together with its stripe set or pool"
THROTTLED: Final = "is throttled today"
WAITS: Final = "has to wait, because a reduction cannot be judged yet"
NOTHING_CHEAPER: Final = "has nothing cheaper that carries its demand"
"""The reasons that a volume holds back the change of its template."""


def answer(case: Case) -> Recommendation:
    """The answer to a case: by its demand if enough is known, else a same-limits replacement, else too little data."""
    if not is_insufficient(case):
        return answers([case])[case.volume.id]
    return unmeasured([case]).get(case.volume.id) or insufficient(case)


def unmeasured(cases: Sequence[Case]) -> dict[str, Migrate | Reprovision | Upgrade | Keep]:
    """The same-limits replacements of volumes that too little is known of, by id: they need no metrics.

    It keeps also the limits that their hosts cannot carry: what was never seen cannot show that these hosts stay. Its
    need is those limits: what was read of its demand says nothing. Nothing if it saves too little, or if a volume has
    no price, is billed by the operation, shares a pool, is between two configurations, or is in a state in which
    nothing can be changed.
    """
    if not all(_is_replaceable(case) for case in cases):
        return {}
    whole = [case.with_all_limits for case in cases]
    choice = choose_same_limits(whole)
    if choice is None or choice.target is None:
        return {}
    kind, found = _kind(whole, choice), dict[str, Migrate | Reprovision | Upgrade | Keep]()
    for place, (case, offer) in enumerate(zip(whole, choice.target.offers, strict=True)):
        comparison = _comparison(case, place, choice)
        if offer.spec == case.volume.spec:
            found[case.volume.id] = kept(case, comparison, WITH_OTHERS)
        else:
            limits = Need.from_ceiling(case.kept.ceiling.counted_as(offer.ceiling.accounting))
            changed = _changed(kind, case, comparison, replace(offer, need=limits), choice, None)
            found[case.volume.id] = replace(changed, measured=False)
    return found


def _is_replaceable(case: Case) -> bool:
    """True if a volume can be replaced whatever it does."""
    kind, change = type_of(case.volume.spec, case.market.types), case.volume.modification
    return (
        case.volume.state in {VolumeState.IN_USE, VolumeState.AVAILABLE}
        and case.usd_month is not None
        and not (kind.billed_per_io or kind.pooled or case.context.short_lived)
        and not (change is not None and change.is_running)
    )


def is_insufficient(case: Case) -> bool:
    """True if too little is known of a volume for an answer by its demand.

    Its state allows no demand, there is no price, fewer hours were observed than the policy wants (of what lives
    shorter, than one), any of what was received is disputed, or what the others on its host did is not known.
    """
    coverage, policy = case.summary.coverage, case.policy
    return (
        case.volume.state not in {VolumeState.IN_USE, VolumeState.AVAILABLE}
        or case.usd_month is None
        or case.demand.hours_observed < (LEAST_HOURS if case.context.short_lived else policy.least_hours)
        or coverage.hours_pct < policy.min_coverage_pct
        or bool(coverage.disputes)
        or not case.room.known
    )


def insufficient(case: Case) -> InsufficientData:
    """The answer where a price or hours of metrics are missing."""
    return InsufficientData(
        volume=case.volume,
        usd_month_now=case.usd_month,
        reasons=reasons.insufficient_reasons(case, case.usd_month),
        demand=case.summary,
        epochs=case.epochs,
    )


def answers(
    cases: Sequence[Case], *, why_held: Reason | None = None, already: Reason = WITH_OTHERS
) -> dict[str, Migrate | Reprovision | Upgrade | Keep | Wait]:
    """The answers to volumes that change together, by id: one type for all, or all are kept; {} without any.

    Enough must be known of each. `why_held` keeps them all as they are, whatever is best. `already` is the reason for
    one that has its target's configuration.
    """
    if not cases:
        return {}
    choice = choose(cases)
    kind, risks = _kind(cases, choice), risks_of(cases, choice) if why_held is None else [None] * len(cases)
    found: dict[str, Migrate | Reprovision | Upgrade | Keep | Wait] = {}
    for place, case in enumerate(cases):
        comparison = _comparison(case, place, choice)
        target = None if choice.target is None else choice.target.offers[place]
        if why_held is not None or target is None or choice.verdict is ChoiceVerdict.KEEP:
            answered = kept(case, comparison, why_held or reasons.keep_reasons(case, comparison, choice))
            answered = replace(answered, too_risky=None if why_held else _too_risky(cases, place, choice))
            found[case.volume.id] = _with_beneath(answered, _beneath(cases, choice))
        elif choice.verdict is ChoiceVerdict.WAIT and choice.settles is not None:
            found[case.volume.id] = _waits(case, comparison, target, choice.settles)
        elif target.spec == case.volume.spec:
            found[case.volume.id] = kept(case, comparison, already)
        else:
            risky = _too_risky(cases, place, choice)
            found[case.volume.id] = _changed(kind, case, comparison, target, choice, risks[place], risky)
    return {
        case.volume.id: replace(
            found[case.volume.id],
            part=part_of(cases, place, choice, held=why_held is not None),
            peer=case.context.peer,
            reasons=(*found[case.volume.id].reasons, *peer_reasons(case.context.peer)),
        )
        for place, case in enumerate(cases)
    }


def answer_together(
    cases: Sequence[Case],
    held: Mapping[str, str],
    why_held: Callable[[Mapping[str, str]], Reason],
    *,
    already: Reason,
    may_keep_limits: bool,
) -> tuple[dict[str, Recommendation], Mapping[str, str]]:
    """The answers to the volumes of a group and the reasons that hold the group back, both by volume id.

    `held` are the reasons that are known before; one of which too little is known has another. `why_held` makes one
    reason of them. `may_keep_limits`: where too little is known, a replacement with the same limits may do for all.
    """
    lacking = [case for case in cases if is_insufficient(case)]
    replaced = unmeasured(cases) if lacking and may_keep_limits else {}
    if replaced:
        return {**replaced}, held
    by_id: dict[str, Recommendation] = {case.volume.id: insufficient(case) for case in lacking}
    held = {**held, **dict.fromkeys(by_id, LACKING)}
    undecided = [case for case in cases if case.volume.id not in by_id]
    return {**by_id, **answers(undecided, why_held=why_held(held) if held else None, already=already)}, held


def _too_risky(cases: Sequence[Case], place: int, choice: Choice) -> TooRisky | None:
    """The offer that one volume would get if its risk was allowed; None without one.

    None also if it saves too little and no template made the volume.
    """
    saves_enough = choice.why is not Why.SAVES_TOO_LITTLE
    if choice.too_risky is None or not (saves_enough or template_of(cases[place].volume)):
        return None
    risk = find_risks(cases, choice.too_risky)[place]
    return TooRisky(offer=choice.too_risky.offers[place], risk=risk, saves_enough=saves_enough)


def _with_beneath(answered: Keep, beneath: Offer | None) -> Keep:
    """The answer with what saves too little alone, and what becomes of that."""
    if beneath is None:
        return answered
    return replace(answered, beneath=beneath, reasons=(*answered.reasons, reasons.ADDED_UP))


def _beneath(cases: Sequence[Case], choice: Choice) -> Offer | None:
    """The offer that saves too little for one volume alone; None unless a template made the volume."""
    if len(cases) > 1 or choice.beneath is None or template_of(cases[0].volume) is None:
        return None
    return choice.beneath.offers[0]


def kept(case: Case, comparison: Comparison, why: Reason) -> Keep:
    """The answer that nothing is changed, with the sentence that says why."""
    need = peaks(case.held.reducing.as_harmful, case.present.accounting)
    return Keep(
        volume=case.volume,
        usd_month_now=case.usd_month or 0.0,
        reasons=reasons.keep(case, comparison, why),
        epochs=case.epochs,
        memory=memory_summary(case.remembered, case.volume.spec),
        growth=growth_summary(case),
        demand=case.summary,
        comparison=comparison,
        evidence=evidence_of(case, case.volume.spec, case.present, need),
    )


def _kind(cases: Sequence[Case], choice: Choice) -> type[Migrate] | type[Reprovision] | type[Upgrade]:
    """The kind of a change of all: an upgrade if it relieves, else a reprovision if no type changes, else a
    migration."""
    if choice.verdict is ChoiceVerdict.RELIEVE:
        return Upgrade
    if choice.target is None or all(case.volume.spec.type == choice.target.kind.name for case in cases):
        return Reprovision
    return Migrate


def _waits(case: Case, comparison: Comparison, expected: Offer, settles: Settles) -> Wait:
    return Wait(
        volume=case.volume,
        usd_month_now=case.usd_month or 0.0,
        reasons=reasons.wait(case, comparison, expected, settles),
        epochs=case.epochs,
        memory=memory_summary(case.remembered, expected.spec),
        growth=growth_summary(case),
        until=settles.on.date(),
        code=settles.why.value,
        expected=expected,
        demand=case.summary,
        comparison=comparison,
        evidence=evidence_of(case, expected.spec, expected.ceiling, expected.need),
    )


def _changed(
    kind: type[Migrate] | type[Reprovision] | type[Upgrade],
    case: Case,
    comparison: Comparison,
    target: Offer,
    choice: Choice,
    risk: Risk | None,
    risky: TooRisky | None = None,
) -> Migrate | Reprovision | Upgrade:
    """The change to an offer, and what forbids it today."""
    evidence = evidence_of(case, target.spec, target.ceiling, target.need)
    cuts = cuts_of(target.ceiling, case.present, case.usable)
    losses = find_losses(case.volume.spec, target.spec, case.market.types, cuts)
    return kind(
        volume=case.volume,
        usd_month_now=case.usd_month or 0.0,
        reasons=(
            reasons.unmeasured_reasons(case, comparison, target, losses)
            if is_insufficient(case)
            else reasons.change(case, comparison, target, choice, losses, None if risky is None else risky.offer)
        ),
        losses=losses,
        epochs=case.epochs,
        memory=memory_summary(case.remembered, target.spec),
        growth=growth_summary(case),
        target=target,
        usd_month_then=target.usd_month or 0.0,
        demand=case.summary,
        comparison=comparison,
        evidence=evidence,
        risk=risk,
        too_risky=risky,
        blockers=(
            *blockers(case.volume, target.spec, case.market.types, now=case.context.now),
            *evidence_blocker(kind.action, evidence, case.policy),
        ),
    )


def _comparison(case: Case, place: int, choice: Choice) -> Comparison:
    """The comparison for one of the volumes of a choice, by its place among them."""
    cheapest, partly = choice.bundles[0], case.demand.spread is not None
    return Comparison(
        present=case.present,
        usable=case.usable,
        hosts=case.hosts,
        now=choice.now,
        offers=tuple(bundle.offers[place] for bundle in choice.bundles),
        drop_in=None if choice.drop_in is None else choice.drop_in.offers[place],
        same_limits=tuple(bundle.offers[place] for bundle in choice.same_limits),
        full=None if choice.full is None else choice.full.offers[place],
        flip=bare_type_offer((choice.target or cheapest).kind, case.volume.spec.size_gib, case.market.book),
        frontier=tuple(_step(step, place, partly=partly) for step in choice.frontier),
        relief=None if choice.relief is None else choice.relief.offers[place],
        lowering=None if choice.lowering is None else choice.lowering.offers[place],
    )


def _step(step: FrontierBudget, place: int, *, partly: bool) -> FrontierStep:
    offer, tried = step.bundle.offers[place], step.bundle.tried
    return FrontierStep(
        budget_min=step.budget_min,
        spec=offer.spec,
        usd_month=offer.usd_month or 0.0,
        throttled_minutes=tried.throttled_minutes,
        longest_wait_s=tried.longest_wait_s,
        at_most=step.budget_min > 0 and partly,
    )


def kind_by_state(volume: Volume) -> str | None:
    """The kind of answer that a volume's state gives, so that no metric can say anything. None if its demand does."""
    return DETACHED if volume.state is VolumeState.AVAILABLE and not volume.attachments else None


def answer_by_state(volume: Volume, context: DecisionContext, takeover: Takeover | None = None) -> Unweighed | None:
    """The answer that a volume's state gives, None if its demand does. Raises UnknownVolumeType."""
    kind = kind_by_state(volume)
    if kind is None:
        return None
    type_of(volume.spec, context.market.types)
    usd_month = None if volume.edge is not None else context.market.book.usd_month(volume.spec)
    others = 0 if takeover is None or takeover.is_suspected else len(takeover.volumes) - 1
    why = (*reasons.detached_reasons(usd_month, is_needed=others > 0), *((detached_peer(others),) if others else ()))
    return Unweighed(action=kind, volume=volume, usd_month_now=usd_month, reasons=why)


def part_of(cases: Sequence[Case], place: int, choice: Choice, *, held: bool) -> Part | None:
    """Makes a volume's part in the change of its template; None if no template made it.

    `cases` are those that one choice was made for, and `place` the volume's among them. `held`: they stay as they are
    for the sake of another one.
    """
    case = cases[place]
    template = template_of(case.volume)
    if template is None or case.volume.storage_pool is not None:
        return None  # what a disk of a storage pool gives back stays in the pool, which is paid for as a whole
    waits_new = (
        case.settles is not None and case.settles.why is Unsettled.NEW and choice.verdict is not ChoiceVerdict.CHANGE
    )
    together = case.context.short_lived or waits_new
    part = Part(
        template=template,
        least_usd_month=case.policy.min_saving_usd_month,
        least_hours=max(case.policy.least_hours, case.policy.settle_days * 24 if together else 0.0),
        together=together,
    )
    if held or len(cases) > 1 or case.shared:
        return replace(part, held=CHANGED_WITH_OTHERS)
    if choice.verdict is ChoiceVerdict.RELIEVE:
        return replace(part, held=THROTTLED)
    is_chosen = choice.verdict is ChoiceVerdict.CHANGE or (waits_new and choice.verdict is ChoiceVerdict.WAIT)
    chosen = choice.target if is_chosen else choice.beneath
    if choice.too_risky is not None and _is_too_young(case):
        chosen = choice.too_risky
    if chosen is not None:
        return replace(part, offer=_price_in_parts(case, chosen.offers[0]))
    if case.settles is not None:
        return part if case.settles.why is Unsettled.RESTORED else replace(part, held=WAITS)
    return replace(part, held=NOTHING_CHEAPER)


def _is_too_young(case: Case) -> bool:
    """The volume is younger than the window: no promise can be made of it, whatever its template becomes."""
    return case.context.looked_back(case.volume).days < case.policy.lookback_days


def leave_to_template(case: Case, answer: Recommendation, few_hours: Reason) -> Recommendation:
    """Replaces the answer for a volume that lives too short for one of its own: it counts for its template alone."""
    if not case.context.short_lived or isinstance(answer, InsufficientData):
        return answer
    part = answer.part
    counts = Reason(
        "counts-with-its-template",
        "It counts only for its template's change, together with the template's other volumes.",
    )
    return InsufficientData(
        volume=answer.volume,
        usd_month_now=answer.usd_month_now,
        reasons=(few_hours, counts),
        epochs=answer.epochs,
        demand=case.summary,
        part=part,
    )


def _price_in_parts(case: Case, offer: Offer) -> PartOffer | None:
    """Prices an offer in three parts; None if there is no price."""
    spec, kind, book = offer.spec, case.market.types[offer.spec.type], case.market.book
    mean_iops = case.summary.mean_iops
    without = (
        replace(spec, iops=None, throughput_mib_s=None),
        replace(spec, throughput_mib_s=None),
        replace(spec, iops=None),
    )
    size_usd, with_iops, with_throughput = (book.usd_month(part_spec, mean_iops=mean_iops) for part_spec in without)
    if size_usd is None or with_iops is None or with_throughput is None:
        return None
    most_iops = kind.iops.most_at(spec.size_gib) if isinstance(kind.iops, Provisioned) else None
    most_throughput = (
        kind.throughput.most_at(spec.size_gib, most_iops or 0) if isinstance(kind.throughput, Provisioned) else None
    )
    return PartOffer(
        spec=spec,
        size_usd=size_usd,
        iops_usd=with_iops - size_usd,
        throughput_usd=with_throughput - size_usd,
        most_iops=most_iops,
        most_throughput_mib_s=most_throughput,
    )
