"""The part of a volume in its template's change, from the choice that was made for it alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from plimsoll.decide.answer import Choice, ChoiceVerdict, InsufficientData, Recommendation
from plimsoll.decide.case import Case
from plimsoll.decide.groups import Part, PartOffer, template_of
from plimsoll.decide.offers import Offer
from plimsoll.demand.epochs import Unsettled
from plimsoll.model.kinds import Reason
from plimsoll.model.market import Provisioned

CHANGED_WITH_OTHERS: Final = "is changed together with its stripe set or pool"
THROTTLED: Final = "is throttled today"
WAITS: Final = "has to wait, because a reduction cannot be judged yet"
NOTHING_CHEAPER: Final = "has nothing cheaper that carries its demand"


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
    counts = Reason("counts-with-its-template", "It counts together with the other volumes that its template makes.")
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
