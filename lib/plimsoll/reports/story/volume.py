"""The story of a volume: what it is, the answer, what it was asked for, what can carry that, and how to change it."""

import math
from collections.abc import Iterator, Mapping

from plimsoll.decide.answer import SetAnswer
from plimsoll.demand.seconds import SecondsSeen
from plimsoll.model.kinds import CHANGES
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


def tell_volume(
    record: RecommendationRecord,
    *,
    together: SetAnswer | None = None,
    seen: SecondsSeen | None = None,
    link: str = "",
) -> Story:
    """The story of a volume. `together` are the figures of its stripe set, `seen` is what a probe saw of it, and `link`
    shows its demand in its cloud's console."""
    blocks = [
        Headline(text=f"{record.volume_id} {record.name or ''}".rstrip() + f"  {record.account} {record.zone}"),
        Note(topic=Topic.PLACE, lines=(_place(record),)),
        Note(topic=Topic.ANSWER, lines=tuple(_answer(record))),
        *_figures(record),
        *_group(record.stripe_set, together),
        Note(topic=Topic.WHY, lines=tuple(record.reasons)),
        Note(topic=Topic.EVIDENCE, lines=tuple(_evidence(record))),
        *([] if seen is None else [_seconds(seen, record)]),
        Note(topic=Topic.CHANGE, title="how to change it", lines=(), copy=record.change or ""),
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
    money = "" if record.monthly_usd_now is None else f", {usd(record.monthly_usd_now)} a month"
    return f"{spec_text(record.current)}{money}; on {hosts}; owner: {owner_text(record.owner)}"


def _answer(record: RecommendationRecord) -> Iterator[str]:
    answer = f"answer: {record.action}"
    changes = record.action in CHANGES and record.target is not None
    if changes:
        answer += f" to {spec_text(record.target)}, {usd(record.monthly_usd_then or 0)} a month, {outcome_text(record)}"
        if record.monthly_usd_saved_drop_in >= CENT:
            answer += f" ({usd(record.monthly_usd_saved_drop_in)} with the same limits)"
    yield answer
    if changes:
        yield from (f"gives up {loss}" for loss in losses_in_words(record))
        if record.cuts:
            yield f"risk: {risk_text(record)}"
    if record.too_risky is not None:
        yield left_change_text(record.too_risky)
    if record.wait is not None:
        yield wait_text(record.wait)


def _figures(record: RecommendationRecord) -> Iterator[StoryBlock]:
    if (epochs := tell_epochs(record)).rows:
        yield epochs
    if record.demand is not None:
        yield _demand(record.demand)
        yield Note(topic=Topic.DEMAND, lines=(_quality(record.demand),))
    if record.ceilings is not None:
        yield _ceilings({**ceilings_of(record), "hosts at most": record.ceilings.hosts})
        yield Figures(
            topic=Topic.OFFERS,
            title="offers",
            heads=("configuration", "USD/month:", "result"),
            rows=tuple(_offers(record)),
        )
    if record.frontier:
        yield tell_frontier(record)


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


def _demand(demand: DemandRecord) -> Figures:
    least = demand.least_peak_iops, demand.least_peak_throughput_mib_s
    most = demand.peak_iops, demand.peak_throughput_mib_s
    figures = (
        ("peak" if least == most else "peak, at most", *most),
        ("peak while busy (upper bound)", demand.peak_busy_iops, demand.peak_busy_throughput_mib_s),
        ("busiest seconds", demand.peak_second_iops, demand.peak_second_throughput_mib_s),
        ("mean", demand.mean_iops, demand.mean_throughput_mib_s),
    )
    rows = tuple(
        (label, f"{iops:,.1f}", f"{throughput_mib_s or 0:,.2f}")
        for label, iops, throughput_mib_s in figures
        if iops is not None
    )
    return Figures(topic=Topic.DEMAND, heads=("demand", "IOPS:", "MiB/s:"), rows=rows)


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


def _ceilings(ceilings: Mapping[str, CeilingRecord]) -> Figures:
    rows: list[tuple[str, ...]] = []
    for label, ceiling in ceilings.items():
        figures = (ceiling.iops, ceiling.sustained_iops, ceiling.throughput_mib_s, ceiling.sustained_throughput_mib_s)
        rows.append((label, *map(_figure, figures)))
        if (ceiling.write_iops, ceiling.write_throughput_mib_s) != (None, None):
            iops = ceiling.iops if ceiling.write_iops is None else ceiling.write_iops
            moved = ceiling.throughput_mib_s
            moved = moved if ceiling.write_throughput_mib_s is None else ceiling.write_throughput_mib_s
            rows.append((f"{label}, writes alone", _figure(iops), "", _figure(moved), ""))
    heads = ("ceiling", "IOPS:", "sustained:", "MiB/s:", "sustained:")
    return Figures(topic=Topic.CEILINGS, heads=heads, rows=tuple(rows))


def _figure(figure: float | None) -> str:
    return "not known" if figure is None or math.isinf(figure) else f"{figure:,.0f}"


def _offers(record: RecommendationRecord) -> Iterator[tuple[str, str, str]]:
    """Every offer, the cheapest that passes first, with its price and its result."""
    weighed = [(offer, _result(offer, record)) for offer in record.offers if offer != record.relief]
    if record.drop_in is not None:
        chosen = "chosen: " if record.drop_in.spec == record.target else ""
        weighed.append((record.drop_in, f"{chosen}same-limits replacement, keeps the IOPS and MiB/s of today"))
    if record.relief is not None:
        weighed.append((record.relief, "would end the throttling"))
    for offer, why in weighed:
        yield spec_text(offer.spec), "" if offer.monthly_usd is None else f"{offer.monthly_usd:,.2f}", why


def _result(offer: OfferRecord, record: RecommendationRecord) -> str:
    """The result of weighing an offer: chosen, carries the demand, or the first refusal and the number of others."""
    if offer.refused:
        others = len(offer.refused) - 1
        return f"refused: {offer.refused[0]}" + (f" (and {others} more)" if others else "")
    if offer.spec == record.target:
        return "chosen"
    then = record.monthly_usd_then
    is_dearer = then is not None and offer.monthly_usd is not None and offer.monthly_usd > then
    return "carries it, costs more" if is_dearer else "carries it"


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
    if record.risk is not None:
        yield f"risk: {record.risk.text}"
    yield from (f"blocked: {blocker.text}" for blocker in record.blockers)


def _seconds(seen: SecondsSeen, record: RecommendationRecord) -> Note:
    return Note(topic=Topic.SECONDS, title=seen_title(seen), lines=tuple(seen_lines(seen, ceilings_of(record))))
