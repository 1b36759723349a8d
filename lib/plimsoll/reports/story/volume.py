"""The story of a volume: what it is, the answer, what it was asked for, what can carry that, and how to change it."""

import math
from collections.abc import Iterator
from typing import Final

from plimsoll.decide.answer import SetAnswer
from plimsoll.decide.offers import LossCode
from plimsoll.demand.seconds import SecondsSeen
from plimsoll.model.kinds import CHANGES, CountsAs
from plimsoll.reports.record import CeilingRecord, DemandRecord, OfferRecord, RecommendationRecord, StripeSetRecord
from plimsoll.reports.seconds_seen import seen_lines, seen_title
from plimsoll.reports.steps import CENT
from plimsoll.reports.story import Figures, Headline, Note, Story, StoryBlock, Topic
from plimsoll.reports.wording import (
    FRONTIER_HEADS,
    FRONTIER_TITLE,
    coverage_words,
    epoch_text,
    frontier_rows,
    left_change_text,
    losses_in_words,
    outcome_text,
    owner_text,
    risk_text,
    spec_text,
    usd,
    wait_text,
    words_of,
)

CHOSEN: Final = "→ "
"""The mark before the configuration that is chosen, or kept."""

_SAID_ABOVE: Final = frozenset(
    {"peak-demand", "drop-in", "same-limits", "relief-price", "bare-type-change", *map(str, LossCode)}
)
"""The codes of reasons whose figures stand in the answer, the demand or the offers as well."""


def tell_volume(
    record: RecommendationRecord,
    *,
    together: SetAnswer | None = None,
    seen: SecondsSeen | None = None,
    link: str = "",
) -> Story:
    """The story of a volume: answer, money, risk, demand, offers, reasons, change and way back. `together` are the
    figures of its stripe set, `seen` is what a probe saw of it, and `link` shows its demand in its cloud's console."""
    codes = zip(record.reasons, record.reason_codes, strict=True)
    is_above = {reason: code in _SAID_ABOVE for reason, code in codes}
    blocks = [
        Headline(text=f"{record.volume_id} {record.name or ''}".rstrip() + f"  {record.account} {record.zone}"),
        Note(topic=Topic.PLACE, lines=(_place(record),)),
        Note(topic=Topic.ANSWER, lines=tuple(_answer(record))),
        Note(topic=Topic.MONEY, lines=(_money(record),)),
        Note(topic=Topic.RISK, lines=tuple(_risk(record))),
        *_figures(record),
        *_group(record.stripe_set, together),
        Note(topic=Topic.WHY, lines=tuple(reason for reason, above in is_above.items() if not above)),
        Note(topic=Topic.EVIDENCE, lines=tuple(_evidence(record))),
        Note(topic=Topic.CHANGE, title="how to change it", lines=(), copy=record.change or ""),
        Note(topic=Topic.UNDO, title="way back", lines=(), copy=_way_back(record)),
        Note(topic=Topic.MORE, title="more reasons", lines=tuple(filter(is_above.get, is_above))),
        *_history(record),
        *([] if seen is None else [_seconds(seen, record)]),
        Note(topic=Topic.CONSOLE, title=f"see it in {words_of(record.provider).monitoring}", lines=(), url=link),
    ]
    return tuple(block for block in blocks if not isinstance(block, Note) or block.lines or block.copy or block.url)


def ceilings_of(record: RecommendationRecord) -> dict[str, CeilingRecord]:
    """The volume's ceilings as it is and as offered; none where nothing was weighed."""
    if record.ceilings is None:
        return {}
    offered = {} if record.ceilings.offered is None else {"offered": record.ceilings.offered}
    return {"now": record.ceilings.now, **offered}


def _place(record: RecommendationRecord) -> str:
    hosts = ", ".join(record.hosts) or "no host"
    return f"{spec_text(record.current)} on {hosts}; owner: {owner_text(record.owner)}"


def _changes(record: RecommendationRecord) -> bool:
    return record.action in CHANGES and record.target is not None


def _answer(record: RecommendationRecord) -> Iterator[str]:
    if _changes(record):
        yield f"answer: {record.action} to {spec_text(record.target)}"
        yield from (f"gives up {loss}" for loss in losses_in_words(record))
    else:
        yield f"answer: {record.action}"
    yield from (f"blocked: {blocker.text}" for blocker in record.blockers)
    if record.too_risky is not None:
        yield left_change_text(record.too_risky)
    if record.wait is not None:
        yield wait_text(record.wait)


def _money(record: RecommendationRecord) -> str:
    if record.monthly_usd_now is None:
        return "money: no price is known for the present volume"
    now = f"money: {usd(record.monthly_usd_now)} a month now"
    if not _changes(record):
        return now
    is_same = record.drop_in is not None and record.drop_in.spec == record.target
    alone = "" if is_same or record.monthly_usd_saved_drop_in < CENT else usd(record.monthly_usd_saved_drop_in)
    limits = f" ({alone} with the same limits)" if alone else ""
    then = "an unknown price" if record.monthly_usd_then is None else usd(record.monthly_usd_then)
    return f"{now}, {then} then: {outcome_text(record)}{limits}"


def _risk(record: RecommendationRecord) -> Iterator[str]:
    if record.risk is not None:
        yield f"risk: {record.risk.text}"
    elif _changes(record):
        yield f"risk: {risk_text(record) if record.cuts else 'no limit is lowered'}"


def _figures(record: RecommendationRecord) -> Iterator[StoryBlock]:
    if record.demand is not None or record.ceilings is not None:
        yield _demand(record)
    if record.demand is not None:
        yield Note(topic=Topic.DEMAND, lines=(_quality(record.demand),))
    if record.ceilings is not None:
        yield Figures(
            topic=Topic.OFFERS,
            title="why this and not another, cheapest first",
            heads=("configuration", "USD/month:", "result"),
            rows=tuple(_offers(record)),
        )


def _history(record: RecommendationRecord) -> Iterator[StoryBlock]:
    if (epochs := tell_epochs(record)).rows:
        yield epochs
    if record.frontier:
        yield tell_frontier(record)


def _way_back(record: RecommendationRecord) -> str:
    """The way back without the remarks that stand in the change."""
    remarks = {line for line in record.change.splitlines() if line.startswith("#")}
    return "\n".join(line for line in record.way_back.splitlines() if line not in remarks)


def tell_epochs(record: RecommendationRecord) -> Figures:
    """The volume's configurations over time; no rows if it was never changed."""
    rows = (
        ()
        if len(record.epochs) < 2
        else tuple(
            (f"{number}", epoch.start[:16], epoch.end[:16], epoch_text(epoch), f"{epoch.throttled_minutes:,.0f}")
            for number, epoch in enumerate(record.epochs, start=1)
        )
    )
    heads = ("", "from, UTC", "to, UTC", "volume", "minutes throttled:")
    return Figures(topic=Topic.EPOCHS, title="Earlier configurations", heads=heads, rows=rows)


def tell_frontier(record: RecommendationRecord) -> Figures:
    """The price of each budget of throttled minutes."""
    minutes, what, price, wait = FRONTIER_HEADS
    heads = (f"{minutes}:", what, f"{price}:", f"{wait}:")
    return Figures(topic=Topic.FRONTIER, title=FRONTIER_TITLE, heads=heads, rows=tuple(frontier_rows(record)))


def _demand(record: RecommendationRecord) -> Figures:
    """The demand above the limits of the volume, of the offer and of the hosts."""
    rows = [*_demand_rows(record.demand)] if record.demand is not None else []
    for label, ceiling in ceilings_of(record).items():
        rows += _ceiling_rows(f"the volume {label}" if label == "now" else "the offer", ceiling)
    if record.ceilings is not None:
        rows += _ceiling_rows("its hosts at most", record.ceilings.hosts)
    heads = ("demand and limits", "IOPS:", "sustained:", "MiB/s:", "sustained:")
    return Figures(topic=Topic.DEMAND, heads=heads, rows=tuple(rows))


def _demand_rows(demand: DemandRecord) -> Iterator[tuple[str, ...]]:
    least = demand.least_peak_iops, demand.least_peak_throughput_mib_s
    most = demand.peak_iops, demand.peak_throughput_mib_s
    figures = (
        ("peak" if least == most else "peak, at most", *most),
        ("peak while busy (upper bound)", demand.peak_busy_iops, demand.peak_busy_throughput_mib_s),
        ("busiest seconds", demand.peak_second_iops, demand.peak_second_throughput_mib_s),
        ("mean", demand.mean_iops, demand.mean_throughput_mib_s),
    )
    for label, iops, throughput_mib_s in figures:
        if iops is not None:
            yield label, f"{iops:,.1f}", "", "" if throughput_mib_s is None else f"{throughput_mib_s:,.2f}", ""


def _ceiling_rows(label: str, ceiling: CeilingRecord) -> Iterator[tuple[str, ...]]:
    figures = (ceiling.iops, ceiling.sustained_iops, ceiling.throughput_mib_s, ceiling.sustained_throughput_mib_s)
    yield label, *map(_figure, figures)
    if (ceiling.write_iops, ceiling.write_throughput_mib_s) != (None, None):
        iops = ceiling.iops if ceiling.write_iops is None else ceiling.write_iops
        moved = ceiling.throughput_mib_s
        moved = moved if ceiling.write_throughput_mib_s is None else ceiling.write_throughput_mib_s
        yield f"{label}, writes alone", _figure(iops), "", _figure(moved), ""


def _quality(demand: DemandRecord) -> str:
    size = "" if demand.mean_io_size_kib is None else f"; mean I/O {demand.mean_io_size_kib:,.1f} KiB"
    reads = "" if demand.read_share is None else f", {demand.read_share:.0%} reads"
    measured = demand.host_bound_measured_minutes
    known = f" ({measured:,.0f} measured)" if measured else ""
    return (
        f"{coverage_words(demand)}; by {demand.resolution_s} s{size}{reads}; "
        f"{demand.throttled_minutes:,.0f} min at the volume's ceiling, "
        f"{demand.host_bound_minutes:,.0f} at the host's{known}"
    )


def _figure(figure: float | None) -> str:
    return "not known" if figure is None or math.isinf(figure) else f"{figure:,.0f}"


def _offers(record: RecommendationRecord) -> Iterator[tuple[str, str, str]]:
    """Every offer, the cheapest first, with its price and its result."""
    besides = [offer for offer in (record.drop_in, record.relief) if offer is not None]
    weighed = {spec_text(offer.spec): offer for offer in [*besides, *record.offers]}
    for name, offer in sorted(weighed.items(), key=lambda item: _price(item[1])):
        mark = CHOSEN if offer.spec == record.target else ""
        price = "" if offer.monthly_usd is None else f"{offer.monthly_usd:,.2f}"
        yield f"{mark}{name}", price, _result(offer, record)


def _price(offer: OfferRecord) -> float:
    return math.inf if offer.monthly_usd is None else offer.monthly_usd


def _result(offer: OfferRecord, record: RecommendationRecord) -> str:
    """The result of weighing an offer: chosen or kept, every refusal, or why it is not the choice although it
    carries the demand."""
    keeps = "same limits as today" if record.drop_in is not None and offer.spec == record.drop_in.spec else ""
    is_kept = record.kind.money is CountsAs.SAME
    if offer.spec == record.target:
        return ", ".join(filter(None, ("kept" if is_kept else "chosen", keeps)))
    if record.relief is not None and offer.spec == record.relief.spec:
        return "would end the throttling"
    if offer.refused:
        return f"refused: {'; '.join(_without_subject(text, offer) for text in offer.refused)}"
    return keeps or f"carries it{_add_why(offer, record, is_kept=is_kept)}"


def _without_subject(refusal: str, offer: OfferRecord) -> str:
    """A refusal without the configuration that it begins with, which stands before it."""
    for subject in (spec_text(offer.spec), offer.spec.type):
        refusal = refusal.removeprefix(f"{subject} ")
    return refusal.removeprefix("is ")


def _add_why(offer: OfferRecord, record: RecommendationRecord, *, is_kept: bool) -> str:
    then = record.monthly_usd_then
    if record.too_risky is not None and offer.spec == record.too_risky.spec:
        return ", but its risk is too high or unknown"
    if offer.monthly_usd is None or then is None:
        return ", but no price is known"
    if offer.monthly_usd > then + CENT:
        return ", costs more"
    if offer.monthly_usd > then - CENT:
        return ", costs the same"
    if record.wait is not None:
        return ", as far as was seen so far"
    return ", but saves too little" if is_kept else ", but only by measured use"


def _group(record: StripeSetRecord | None, together: SetAnswer | None) -> Iterator[StoryBlock]:
    """The volumes that change together: with their peaks against their host, or as a run's record names them."""
    if together is not None:
        yield tell_set(together)
    elif record is not None:
        named = f"stripe set {record.name} ({record.level}) on {record.host}"
        held = (f"held back by {volume}: {reason}" for volume, reason in record.held_back_by.items())
        lines = (f"{named}: changed together with {', '.join(record.members)}", *held)
        yield Note(topic=Topic.GROUP, lines=lines)


def tell_set(answer: SetAnswer) -> Figures:
    """Every volume of a stripe set with its peaks, and what all carry together against what their host does."""
    rows: list[tuple[str, ...]] = []
    for member in answer.members:
        peaks = ("not read", "not read")
        if member.demand is not None:
            peaks = f"{member.demand.peak_iops:,.0f}", f"{member.demand.peak_throughput_mib_s:,.1f}"
        held = f"; held back: {member.held}" if member.held else ""
        rows.append((member.volume_id, f"{spec_text(member.spec)}, peak{held}", *peaks))
    if answer.together is not None:
        figures = answer.together.iops, answer.together.throughput_mib_s
        rows.append(("all together", "are provisioned to carry", *map(_figure, figures)))
    host = answer.host.ceiling
    limits = host.iops, host.throughput_mib_s
    rows.append((answer.host.id, f"{answer.host.type} at most", *map(_figure, limits)))
    if answer.host.limits is not None and host.buckets:
        baseline = answer.host.limits.baseline_iops, answer.host.limits.baseline_throughput_mib_s
        rows.append(("", "sustained", *map(_figure, baseline)))
    heads = ("volume", "", "IOPS:", "MiB/s:")
    return Figures(topic=Topic.GROUP, title=f"stripe set {answer.stripes}", heads=heads, rows=tuple(rows))


def _evidence(record: RecommendationRecord) -> Iterator[str]:
    if record.evidence is not None:
        yield f"evidence {record.evidence.grade}: {record.evidence.text}"


def _seconds(seen: SecondsSeen, record: RecommendationRecord) -> Note:
    return Note(topic=Topic.SECONDS, title=seen_title(seen), lines=tuple(seen_lines(seen, ceilings_of(record))))
