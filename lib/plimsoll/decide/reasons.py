"""Reasons: the sentences that explain a recommendation to the person who has to act on it.

Reasons that lie in a volume: where it is, what was changed of it or is on record, and what it takes over from.

Reasons about the past: events, growth and idle days that speak against an offer.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Final, TypeVar

import numpy as np

from plimsoll.decide.answer import Choice, Comparison, FrontierStep, GrowthSummary, MemorySummary, Recommendation, Why
from plimsoll.decide.case import Case, Remembered
from plimsoll.decide.evidence import CODE
from plimsoll.decide.groups import Peer, ToldBy
from plimsoll.decide.offers import LOSS_WORDS, Loss, Offer, cuts_of, find_losses, is_reduction
from plimsoll.demand.days import AUDIT_DAYS, LONG_DAYS
from plimsoll.demand.demand import IOPS, MIB_S
from plimsoll.demand.epochs import Epoch, Settles, Unsettled, find_raised
from plimsoll.demand.profile import DemandSummary
from plimsoll.model.arrays import FloatArray
from plimsoll.model.ceiling import Ceiling, Resource
from plimsoll.model.kinds import Reason
from plimsoll.model.market import DOLLARS, unusable
from plimsoll.model.policy import MOST_GROWTH_TIMES, SizeOn
from plimsoll.model.series import SERIES, Role
from plimsoll.model.units import DAY_S, HOUR_S, MINUTE_S, day_of, dollars, lasting
from plimsoll.model.volume import Volume, VolumeSpec, VolumeState
from plimsoll.past.memory import Event, Idleness, ThrottledMinute, find_throttled_minute
from plimsoll.reading.window import Coverage

AnyAnswer = TypeVar("AnyAnswer", bound=Recommendation)

FAILED_LATELY: Final = timedelta(days=1)
"""The time for which a failed change is told. Changes are counted over 24 hours."""


def used_reasons(case: Case) -> Iterator[Reason]:
    """Yields the reason that says how much of the provisioned figures was used, where there is no other answer."""
    spec, summary = case.volume.spec, case.summary
    parts = (
        (summary.peak_iops, spec.iops, "IOPS"),
        (summary.peak_throughput_mib_s, spec.throughput_mib_s, "MiB/s"),
    )
    used = [f"{peak:,.0f} of the {bought:,} provisioned {unit}" for peak, bought, unit in parts if bought is not None]
    if used and summary.hours_observed:
        yield Reason("used", f"In {summary.hours_observed:,.0f} hours it used at most {' and '.join(used)}.")


def stopped_reason(case: Case) -> Iterator[Reason]:
    """Since when no host of it has been running."""
    since = case.volume.stopped_since
    if since is not None:
        names = ", ".join(host.id for host in case.volume.hosts)
        yield Reason(
            "host-stopped",
            f"Its host {names} has been stopped since {since:%Y-%m-%d}. The volume still costs the same: take a "
            f"snapshot and delete both if nobody needs them.",
        )


def with_idleness(answered: AnyAnswer, idle: Idleness | None) -> AnyAnswer:
    """An answer with what is known of its idleness, and the sentence for that, in the place of what was."""
    rest = tuple(reason for reason in answered.reasons if reason.code != "idle")
    if idle is None:
        return replace(answered, idle=None, reasons=rest)
    cost = "" if answered.usd_month_now is None else f" It costs {dollars(answered.usd_month_now)} a month."
    quarter = "" if idle.quarter is None else f", nor around the end of the last quarter ({idle.quarter:%Y-%m-%d})"
    why = Reason(
        "idle",
        f"It is attached and idle: no operation in the last {idle.days:,} days{quarter}.{cost} Ask its owner. Take a "
        "snapshot and delete it if nobody needs it.",
    )
    return replace(answered, idle=idle, reasons=(*rest, why))


def failed_change(volume: Volume, now: datetime) -> Iterator[Reason]:
    """The latest change, where it failed within a day."""
    change = volume.modification
    if change is not None and change.state == "failed" and now - (change.ended or change.started) < FAILED_LATELY:
        yield Reason(
            "modification-failed",
            f"The change begun {change.started:%Y-%m-%d %H:%M} UTC failed. Find out why before you try again: its "
            f"cloud may refuse another one for a while.",
        )


def copy_reason(case: Case, comparison: Comparison, best: Offer) -> Iterator[Reason]:
    """The reason that a change takes a copy, and what can be had without one."""
    now = case.market.types[case.volume.spec.type]
    if best.spec.size_gib > case.volume.spec.size_gib:
        yield Reason("larger-size", "It carries more because it is larger. A volume never shrinks.")
    if now.in_place or best.spec.type == now.name:
        return
    yield Reason(
        "not-in-place",
        f"A {now.name} volume cannot become another type in place. Its workload stops while a copy takes over, and "
        "going back takes the same.",
    )
    paid, then = case.usd_month, best.usd_month
    for offer in comparison.offers:
        if offer.spec.type == now.name and offer.feasible and paid and offer.usd_month is not None and then is not None:
            saved = paid - offer.usd_month
            if saved >= case.policy.min_saving_usd_month:
                yield Reason(
                    "in-place-first",
                    f"Without a copy, {offer.spec} in place saves {dollars(saved)} of the {dollars(paid - then)} a "
                    "month. Do that first.",
                )


def storage_pool_reason(case: Case, best: Offer) -> Iterator[Reason]:
    """The reason that what a disk of a storage pool gives back stays there."""
    pool, paid = case.volume.storage_pool, case.usd_month
    if pool is not None and paid is not None and best.usd_month is not None:
        saved = dollars(paid - best.usd_month)
        yield Reason(
            "in-a-storage-pool",
            f"The disk is in the storage pool {pool}, which is billed as a whole. The {saved} a month stays in the "
            f"pool and counts in no total.",
        )


def lately_changed(case: Case, target: VolumeSpec) -> Iterator[Reason]:
    """Yields the reason that limits were raised in the window, and whether this answer takes that back.

    Lowered limits are named only if it does.
    """
    when, before = _latest(case)
    was, now, then = (_ceiling(case, spec) for spec in (before, case.volume.spec, target))
    for code, word, changed, back in (
        ("raised-lately", "raised", sorted(find_raised(was, now)), set(find_raised(then, now))),
        ("lowered-lately", "lowered", sorted(find_raised(now, was)), set(find_raised(now, then))),
    ):
        text = f"Somebody {word} its {' and '.join(side.unit for side in changed)} {when}: it was {before}."
        if not back.isdisjoint(changed):
            yield Reason(
                code, f"{text} This answer reverts that, at least in part. Ask for the reason before you follow it."
            )
        elif changed and code == "raised-lately":
            yield Reason(code, text)


def _ceiling(case: Case, spec: VolumeSpec | None) -> Ceiling | None:
    """The published ceiling of a spec, whatever the hosts do; None if the spec or its type is unknown."""
    kind = None if spec is None else case.market.types.get(spec.type)
    return None if kind is None or spec is None else kind.ceiling(spec)


def _latest(case: Case) -> tuple[str, VolumeSpec | None]:
    """When the configuration was changed last, and what it was before; None where no change of the window is known."""
    change = case.volume.modification
    if change is not None and change.started.timestamp() >= case.demand.start_s:
        return f"on {day_of(change.started.timestamp())}", change.original
    specs = [epoch.spec or epoch.on_record for epoch in case.epochs]
    others = [place for place, spec in enumerate(specs) if spec not in {None, case.volume.spec}]
    if not others:
        return "", None
    last = others[-1]
    first, until = day_of(case.epochs[last].window.end_s), day_of(_known_again_s(case.epochs[last:]))
    return f"on {first}" if first == until else f"between {first} and {until}", specs[last]


def _known_again_s(epochs: Sequence[Epoch]) -> int:
    """When it is known again what the volume was, after the first of some epochs; the end where it is not."""
    return next((epoch.window.start_s for epoch in epochs[1:] if epoch.spec is not None), epochs[-1].window.end_s)


def record_reasons(case: Case) -> Iterator[Reason]:
    """Up to when its configuration cannot have been that on record, and which minute was counted twice."""
    for epoch in case.epochs:
        if epoch.on_record is not None:
            yield Reason(
                "above-record",
                f"Up to {_moment(epoch.window.end_s)} it did more than the recorded {epoch.on_record} can carry, so "
                f"it must have been larger then. That demand counts as measured, and none of it as throttled.",
            )
        if epoch.doubled_s is not None:
            yield Reason(
                "doubled-point",
                f"The minute of {_moment(epoch.doubled_s)} has twice what the volume can carry, between ordinary ones. "
                "The cloud counted it twice; here it counts as the limit.",
            )


def _moment(time_s: float) -> str:
    return f"{datetime.fromtimestamp(time_s, UTC):%Y-%m-%d %H:%M} UTC"


_TOLD_BY: Final[Mapping[ToldBy, str]] = {
    ToldBy.TAG: "the tag {}",
    ToldBy.STATEFUL_SET: "the StatefulSet behind the claims {}",
    ToldBy.BLUE_GREEN: "blue and green",
    ToldBy.AUTO_SCALING: "the Auto Scaling group {}",
}


def peer_reasons(peer: Peer | None) -> Iterator[Reason]:
    """Why a reduction leaves room for another volume's work."""
    if peer is None:
        return
    whom = f"It takes over from {_named(peer.volume)} ({_TOLD_BY[peer.takeover.told_by].format(peer.takeover.name)})"
    if peer.ceiling is None:
        yield Reason("peer-not-known", f"{whom}, which {peer.unknown}. Until that is known it keeps its limits.")
        return
    yield Reason(
        "takes-over",
        f"{whom}, which by its own answer carries {peer.ceiling.iops:,.0f} IOPS and "
        f"{peer.ceiling.throughput_mib_s:,.0f} MiB/s. With less it would throttle after a failover.",
    )


def suspected_takeover_reason(peer: Peer, did: DemandSummary | None) -> Reason:
    """Why only the owner knows if a volume takes over from another, as its name suggests."""
    peak = f", which {peer.unknown}"
    if did is not None:
        peak = f", which did up to {did.least_peak_iops:,.0f} IOPS and {did.least_peak_throughput_mib_s:,.0f} MiB/s"
    return Reason(
        "may-take-over",
        f"Its name suggests that it takes over from {_named(peer.volume)}{peak}. If it does, a smaller one throttles "
        f"after a failover. If so, give both the same value of the tag plimsoll:takeover, and audit again.",
    )


def detached_peer(others: int) -> Reason:
    """The reason that a detached volume takes over from others."""
    whom = "another volume" if others == 1 else f"{others:,} other volumes"
    return Reason(
        "takes-over-detached",
        f"It takes over from {whom}: do not delete it unless its owner says that no failover needs it.",
    )


def _named(volume: Volume) -> str:
    return f"{volume.name} ({volume.id})" if volume.name else volume.id


OFTEN: Final = 3
"""The number of days on one weekday that make a rhythm."""

ORDINARY: Final = 0.5
"""What was done on that share of the days was ordinary work, and no event."""

_SIDES: Final = {Resource.IOPS: "IOPS", Resource.THROUGHPUT: "throughput"}
_QUARTERS: Final = (3, 6, 9, 12)


def memory_summary(found: Remembered | None, chosen: VolumeSpec) -> MemorySummary | None:
    """The memory that an answer rests on, and what spoke against a cheaper one; None where nobody asked."""
    if found is None:
        return None
    event = found.event if chosen != found.instead_of.spec else None
    return MemorySummary(
        window=found.past.counted_window,
        days=found.past.days,
        instead_of=None if event is None else found.instead_of.spec,
        event=event,
        rhythm=None if event is None else rhythm(event.days),
        peaks=found.peaks,
    )


def spoken_against(case: "Case", chosen: VolumeSpec) -> Iterator[Reason]:
    """Why it is not what the window alone asks for."""
    summary = memory_summary(case.remembered, chosen)
    if summary is None or summary.event is None or summary.instead_of is None:
        return
    event, times = summary.event, case.headrooms.reducing.factor
    yield Reason(
        "past-event",
        f"{summary.instead_of} would carry the last {case.window_s / DAY_S:,.0f} days, but not "
        f"{_did(event, summary.days)}: up to {event.rate:,.0f} {event.side} within {lasting(event.minutes)}. With "
        f"headroom that needs {event.rate * times:,.0f}.",
    )
    if summary.rhythm is not None:
        yield Reason(
            "past-rhythm", f"{'All such days are' if len(event.days) > 1 else 'That day is'} {summary.rhythm}."
        )
    yield Reason(
        "set-memory-days",
        "If you know that this will not come again, set `memory_days` for this volume by an override, and audit again.",
    )


def _did(event: Event, days: int) -> str:
    """The words for work that an offer would not have carried: on one day, on some of `days`, or on most."""
    day, count = day_of(event.start_s), len(event.days)
    if count == 1:
        return f"what the volume did on {day}"
    if count < ORDINARY * days:
        return f"what it did on {count} of the {days} days before that. The most was on {day}"
    span = lasting((event.days[-1] + DAY_S - event.days[0]) / MINUTE_S)
    return f"its ordinary work before that, on {count} of {days} days in {span}. The most was on {day}"


def unproved_minutes(case: "Case", chosen: Offer) -> Iterator[Reason]:
    """The minutes of the past that a reduction would have throttled, or likely would have."""
    if case.remembered is None or not is_reduction(chosen, case.usable):
        return
    found = find_throttled_minute(case.remembered.past, chosen.ceiling, case.present, _ratios(case))
    if found is not None:
        yield _event_text(found, chosen)


def growth_summary(case: "Case") -> GrowthSummary | None:
    """The growth that an answer keeps room for; None where it keeps none."""
    growth = case.headrooms.growth
    if growth is None:
        return None
    return GrowthSummary(
        iops_pct_a_day=growth.iops_pct_a_day,
        throughput_pct_a_day=growth.throughput_pct_a_day,
        weeks=growth.weeks,
        headroom=case.headrooms.relief if case.frequent else case.headrooms.reducing,
    )


def room_for_growth(case: "Case") -> Iterator[Reason]:
    """Yields the reason that says how fast demand grows and what room is kept for it; none without growth."""
    growth, found = growth_summary(case), case.headrooms.growth
    if growth is None or found is None:
        return
    rates = ((growth.iops_pct_a_day, "operations"), (growth.throughput_pct_a_day, "bytes"))
    grown = " and ".join(f"{pct:.2g} % more {what} a day" for pct, what in rates if pct)
    yield Reason(
        "grows",
        f"Demand grows: {grown}, over {growth.weeks} weeks. With room for {found.days:g} more days "
        f"(growth_days), headroom is {growth.headroom.pct:g} % instead of {growth.headroom.usual_pct:g} %."
        + (
            f" Room is kept for at most {MOST_GROWTH_TIMES:g} times the demand."
            if found.times >= MOST_GROWTH_TIMES
            else ""
        ),
    )


def batch_job_reason(case: "Case") -> Iterator[Reason]:
    """Why a volume that stands at its ceiling is not given more."""
    for resource in sorted(case.lifted.deferred):
        yield Reason(
            "takes-what-it-gets",
            f"It stands at its {_SIDES[resource]} limit, but does no more work a day since that limit was "
            "raised. More speed would only finish the same work earlier.",
        )


def _event_text(found: ThrottledMinute, chosen: Offer) -> Reason:
    """The reason about a past minute that the chosen offer would have throttled, measured or only likely."""
    carried = chosen.ceiling.iops if found.side == "IOPS" else chosen.ceiling.throughput_mib_s
    did = f"{found.rate:,.0f} {found.side} on {day_of(found.day_s)}"
    if found.likely:
        return Reason(
            "past-minute-likely",
            f"Risk: single minutes likely reached {did}, above the offer's {carried:,.0f}. They have expired, so "
            "this is estimated from longer averages.",
        )
    return Reason(
        "past-minute",
        f"Risk: its busiest minute had {did}, above the offer's {carried:,.0f}. Such a minute would be throttled.",
    )


def rhythm(days_s: Sequence[int]) -> str | None:
    """The rhythm that days (epoch seconds) have in common, in words; None without one.

    The end of a quarter goes before that of a month, and both before a weekday.
    """
    days = [datetime.fromtimestamp(day_s, UTC).date() for day_s in days_s]
    ends = [_month_that_ends(day) for day in days]
    if all(month in _QUARTERS for month in ends):
        return "at the end of a quarter"
    if all(month is not None for month in ends):
        return "at the end of a month"
    if len(days) >= OFTEN and len({day.weekday() for day in days}) == 1:
        return f"a {days[0]:%A}"
    return None


def _month_that_ends(day: date) -> int | None:
    """The month that ends on a day or ended on the one before it; None for other days."""
    for last in (day, day - timedelta(days=1)):
        if (last + timedelta(days=1)).day == 1:
            return last.month
    return None


def _ratios(case: "Case") -> tuple[float, float]:
    """The ratio of the window's highest minute to its busiest hour, for IOPS and for MiB/s; at least 1."""
    demand, summary = case.demand, case.summary
    lengths_s = np.broadcast_to(np.asarray(demand.lengths_s), demand.iops.shape)
    hour = (demand.starts_s - demand.start_s) // HOUR_S
    firsts = np.flatnonzero(np.diff(hour, prepend=-1))

    def ratio(rate: FloatArray, peak: float) -> float:
        mean = np.add.reduceat(rate * lengths_s, firsts) / np.maximum(np.add.reduceat(lengths_s, firsts), HOUR_S)
        busiest = float(mean.max(initial=0.0))
        return max(1.0, peak / busiest) if busiest else 1.0

    return (
        ratio(demand.iops, summary.least_peak_iops),
        ratio(demand.throughput_mib_s, summary.least_peak_throughput_mib_s),
    )


A_WEEK_H = 168.0

_SAME: Final = 1e-6
"""The part of a figure by which rounding alone may change it."""

_MOST_DIGITS: Final = 4

_UNKNOWN_WITHOUT: Final = {
    (Role.CHECK, Resource.IOPS): "Bursts above the volume's IOPS are not visible in",
    (Role.CHECK, Resource.THROUGHPUT): "Bursts above the volume's throughput are not visible in",
    (Role.BALANCE, None): "The volume's credits are not known in",
}
"""What is not known where a series has no points that need not have any, by its role and side."""

_WITHOUT_DEMAND: Final[Mapping[VolumeState, str]] = {
    VolumeState.CREATING: "The volume is being created, and has done nothing yet.",
    VolumeState.DELETING: "The volume is being deleted.",
    VolumeState.DELETED: "The volume is deleted.",
    VolumeState.ERROR: "The volume is in the state error: its hardware failed, or it could not be made. Look at it in "
    "the cloud's console.",
}
"""What is said of a volume in a state in which nothing is asked of it."""

WORTH_A_WORD_H = 1.0
"""Gaps in the metrics shorter than this are not worth a sentence."""


def detached_reasons(usd_month: float | None, *, is_needed: bool = False) -> tuple[Reason, ...]:
    """Why a detached volume is worth a look; nobody is told to delete one that others may need."""
    cost = "" if usd_month is None else f" and costs {dollars(usd_month)} a month"
    advice = "" if is_needed else " Take a snapshot and delete it if nobody needs it."
    return (Reason("attached-to-nothing", f"It is attached to nothing{cost}.{advice}"),)


def insufficient_reasons(case: Case, usd_month: float | None) -> tuple[Reason, ...]:
    """Lists what is missing for an answer, e.g. a price or observed hours."""
    summary = case.summary
    if case.volume.state in _WITHOUT_DEMAND:
        return (Reason("state", _WITHOUT_DEMAND[case.volume.state]),)
    reasons: list[Reason] = []
    if case.volume.edge is not None:
        reasons.append(
            Reason(
                "other-market",
                f"The volume is in {case.volume.edge}, where other types, sizes and prices apply than in the region. "
                f"They are not known.",
            )
        )
        reasons += used_reasons(case)
    elif usd_month is None:
        reasons.append(_no_price(case))
        reasons += used_reasons(case)
    if summary.hours_observed < case.policy.least_hours:
        reasons += stopped_reason(case)
        reasons.append(few_hours(case))
    if not case.room.known:
        reasons.append(
            Reason(
                "host-traffic-unknown",
                "The metrics of another volume on the host could not be read, so the host may have been the "
                "bottleneck at any time. Audit again when they can be read.",
            )
        )
    return (*reasons, *failed_change(case.volume, case.context.now), *_coverage(case), *_quality(case))


def _no_price(case: Case) -> Reason:
    """The reason that nothing can be compared in dollars."""
    book, kind, region = case.market.book, case.volume.spec.type, case.volume.region
    if book.currency != DOLLARS:
        return Reason(
            "other-currency",
            f"Prices in {region} are in {book.currency}, so no dollar figures are given, and the volume is in no "
            f"sum. "
            "Give prices with --prices.",
        )
    return Reason("no-price", f"There is no price for {kind} in {region}. Give one with --prices.")


ADDED_UP: Final = Reason(
    "added-up-by-template",
    "The savings of all volumes of its template are added up. If one change of the template is worth it, the report "
    "names it.",
)


def few_hours(case: Case) -> Reason:
    """The reason that fewer hours are known than an answer needs."""
    return Reason(
        "few-hours",
        f"The metrics hold {case.summary.hours_observed:,.1f} hours of this volume, and the policy asks for "
        f"{case.policy.least_hours:g} (min_hours). Audit again when there are more.",
    )


def _coverage(case: Case) -> Iterator[Reason]:
    """Yields the series that were not received, and what to do."""
    coverage, least_pct = case.summary.coverage, case.policy.min_coverage_pct
    if coverage.disputes:
        names = sorted({doubt.series for doubt in coverage.disputes})
        spans = [moment for doubt in coverage.disputes for moment in (doubt.start_s, doubt.end_s)]
        first, last = (datetime.fromtimestamp(moment, UTC) for moment in (min(spans), max(spans)))
        yield Reason(
            "disputed",
            f"The cloud's metrics contradict each other: {', '.join(names)} lacked points that other series of the "
            f"same time show, in {lasting(60 * coverage.disputed_hours)} from {first:%Y-%m-%d %H:%M} to "
            f"{last:%Y-%m-%d %H:%M} "
            "UTC. Plimsoll asked twice. The missing points may be the peak, so nothing is recommended. Audit again "
            "later. "
            "If it stays so, look at these metrics in the console.",
        )
    if coverage.hours_pct < least_pct:
        yield Reason(
            "low-coverage",
            f"{_observed(coverage)}, {coverage.hours_pct:.1f} % of the time in which its host ran, and the policy asks "
            f"for {least_pct:g} % (min_coverage_pct). Audit again when there is more.",
        )


def _observed(coverage: Coverage) -> str:
    return f"Metrics were received for {coverage.hours_observed:,.0f} of {coverage.hours_expected:,.0f} hours"


def keep(case: Case, comparison: Comparison, why: Reason) -> tuple[Reason, ...]:
    """Why nothing is changed, in the sentence given, and what was seen."""
    return (
        why,
        *lately_changed(case, case.volume.spec),
        *failed_change(case.volume, case.context.now),
        *spoken_against(case, case.volume.spec),
        *_measurement_reasons(comparison.offers),
        *_demand(case),
        *_frontier(comparison.frontier),
        *_host(case),
        *_quality(case),
    )


def change(
    case: Case, comparison: Comparison, target: Offer, choice: Choice, losses: Sequence[Loss], risky: Offer | None
) -> tuple[Reason, ...]:
    """Why the offer, what it costs or saves, how much of that rests on proof, and what is given up. `risky` is what is
    not recommended because of its risk."""
    return (
        *_demand(case),
        *_preference(case, target, choice),
        *(() if risky is None else (risk_reason(case, risky),)),
        *(_sizing(case, target, choice) if choice.why not in {Why.DROP_IN, Why.BY_HOST} else ()),
        *_measurement_reasons(comparison.offers),
        *spoken_against(case, target.spec),
        *_bursts(case, target),
        *unproved_minutes(case, target),
        *_span(case),
        *_relief(comparison),
        *_frontier(comparison.frontier),
        *_money(case, comparison, target),
        *loss_reasons(losses),
        *copy_reason(case, comparison, target),
        *storage_pool_reason(case, target),
        *lately_changed(case, target.spec),
        *failed_change(case.volume, case.context.now),
        *_host(case),
        *_quality(case),
    )


def unmeasured_reasons(case: Case, comparison: Comparison, target: Offer, losses: Sequence[Loss]) -> tuple[Reason, ...]:
    """Lists what is missing for a measured answer, and says that the replacement needs none of it."""
    return (
        Reason(
            "needs-no-metrics",
            "The metrics are too few for a smaller size. This replacement keeps all limits, so it needs no metrics.",
        ),
        *_same_limits(case, comparison, target),
        *loss_reasons(losses),
        *copy_reason(case, comparison, target),
        *storage_pool_reason(case, target),
        *lately_changed(case, target.spec),
        *insufficient_reasons(case, case.usd_month),
    )


def wait(case: Case, comparison: Comparison, expected: Offer, settles: Settles) -> tuple[Reason, ...]:
    """Why a reduction waits, until when, and what is expected then."""
    saved = (case.usd_month or 0.0) - (expected.usd_month or 0.0)
    return (
        Reason(settles.why.value, f"{_waiting_text(case, settles, expected)} Look again on {settles.on:%Y-%m-%d}."),
        Reason(
            "expected-then",
            f"If demand stays as seen so far, {expected.spec} will then save {dollars(saved)} a month.",
        ),
        *(() if settles.why in _OF_A_CHANGE else lately_changed(case, expected.spec)),
        *failed_change(case.volume, case.context.now),
        *_demand(case),
        *_measurement_reasons(comparison.offers),
        *spoken_against(case, expected.spec),
        *unproved_minutes(case, expected),
        *_frontier(comparison.frontier),
        *_same_limits(case, comparison, expected),
        *_host(case),
        *_quality(case),
    )


_WAITS: Final = {
    Unsettled.RAISED: (
        "A limit that held this workload back was raised on {since}. Its demand without that limit is not known yet."
    ),
    Unsettled.LARGER_HOST: (
        "A host that held this workload back was replaced on {since} by a faster one. The demand on that host is not "
        "known yet."
    ),
    Unsettled.MOVED: (
        "It moved on {since} to {hosts}, a type of host on which it was not seen before. Its demand there is not "
        "known yet."
    ),
    Unsettled.REATTACHED: (
        "It was attached on {since}, after {settle} days without work. Its demand has not been seen for {settle} "
        "days since."
    ),
    Unsettled.NEW: "It was created on {since}. Its demand has not been seen for {settle} days.",
    Unsettled.RISING: (
        "Demand rises: at this rate its busiest hours outgrow {offer} within {look} days. Every audit checks this "
        "again."
    ),
    Unsettled.CHANGING: "The volume is in the middle of a modification, which began on {since}.",
    Unsettled.RESTORED: (
        "The volume was restored from a snapshot on {since}. Its first reads fetch the snapshot, and are not demand "
        "of the workload."
    ),
}
"""Why a reduction waits, by code."""

_OF_A_CHANGE: Final = (Unsettled.RAISED, Unsettled.CHANGING)
"""Waits that name the change themselves."""


def _waiting_text(case: Case, settles: Settles, offer: Offer) -> str:
    """The cause of a wait, with its date."""
    hosts = " and ".join(sorted({host.type for host in case.volume.hosts}))
    since = day_of(settles.since.timestamp())
    return _WAITS[settles.why].format(
        since=since,
        hosts=hosts,
        offer=offer.spec,
        settle=f"{case.policy.settle_days:g}",
        look=f"{case.policy.settle_days + AUDIT_DAYS:g}",
    )


def risk_reason(case: Case, offer: Offer) -> Reason:
    """The reason that an offer is not recommended because of its risk, with its price and that risk."""
    risk, more = case.risk_of_offer(offer), (offer.usd_month or 0.0) - (case.usd_month or 0.0)
    price = f"would save {dollars(-more)} a month" if more < 0 else f"costs {dollars(more)} a month more"
    known = "No risk was learned from histories like this one." if risk is None else risk.text
    return Reason(
        Why.TOO_RISKY,
        f"{offer.spec} {price}, but is not recommended: its risk is above the "
        f"{case.policy.risk_pct:g} % that the policy allows (risk_pct), or unknown. {known}",
    )


def keep_reasons(case: Case, comparison: Comparison, choice: Choice) -> Reason:
    """Why nothing else is worth it."""
    best = comparison.offers[0]
    more = choice.bundles[0].usd_month - choice.usd_month_now
    match choice.why:
        case Why.TOO_RISKY:
            return risk_reason(case, best)
        case Why.HOST_IS_THE_LIMIT:
            hosts = ", ".join(f"{host.id} ({host.type})" for host in case.volume.hosts)
            return Reason(
                Why.HOST_IS_THE_LIMIT,
                f"The host {hosts} is the limit. A larger volume does not help there; a larger host does.",
            )
        case Why.SAVES_TOO_LITTLE:
            return Reason(
                Why.SAVES_TOO_LITTLE,
                f"{best.spec} would save {dollars(-more)} a month, less than the policy asks for: "
                f"{dollars(case.policy.min_saving_usd_month)} (min_saving_usd_month).",
            )
        case Why.PRESENT_IS_CHEAPEST if best.feasible and best.spec != case.volume.spec:
            return Reason(
                Why.PRESENT_IS_CHEAPEST,
                "The present configuration carries this workload. With headroom the cheapest that does is "
                f"{best.spec}, and costs {dollars(more)} a month more.",
            )
        case Why.PRESENT_IS_CHEAPEST:
            return Reason(
                Why.PRESENT_IS_CHEAPEST, "The present configuration is the cheapest that carries this workload."
            )
        case _:
            return Reason(
                Why.NOTHING_PASSES,
                "No configuration that the policy allows carries the required demand on this host. Each one says why.",
            )


def _demand(case: Case) -> Iterator[Reason]:
    """Yields the reasons about the demand: its peaks, and when and why it was held back."""
    summary = case.summary
    span = f"{summary.resolution_s // MINUTE_S} minute" + ("s" if summary.resolution_s > MINUTE_S else "")
    yield Reason(
        "peak-demand",
        f"Peak demand over {summary.hours_observed:,.0f} hours, in buckets of {span}: "
        f"{_range_text(summary.least_peak_iops, summary.peak_iops, 0)} IOPS, "
        f"{_range_text(summary.least_peak_throughput_mib_s, summary.peak_throughput_mib_s, 1)} MiB/s.",
    )
    yield from _held_back(case)
    for resource in sorted(case.frequent):
        side = "IOPS" if resource is Resource.IOPS else "throughput"
        yield Reason(
            "frequently-throttled",
            f"The workload is throttled on {side} often enough to act. In such minutes its true demand is assumed to "
            f"be "
            f"{case.policy.throttle_lift_pct:g} % above the limit (throttle_lift_pct).",
        )
    yield from batch_job_reason(case)
    yield from room_for_growth(case)
    yield from record_reasons(case)
    if any(epoch.spec is None and epoch.on_record is None for epoch in case.epochs):
        yield Reason(
            "earlier-spec-unknown",
            "The volume was changed in this time, and its earlier configuration is not known. Until the change, true "
            "demand may have been higher than measured.",
        )
    if summary.peak_second_iops is not None and summary.peak_second_throughput_mib_s is not None:
        sized = "do not count" if case.policy.size_on is SizeOn.AVERAGE else "count"
        yield Reason(
            "busiest-seconds",
            f"Its busiest seconds had at most {summary.peak_second_iops:,.0f} IOPS and "
            f"{summary.peak_second_throughput_mib_s:,.1f} MiB/s. "
            f"They {sized} as demand, because of `size_on` in the policy.",
        )
    yield from _micro_bursts(case)


def _held_back(case: Case) -> Iterator[Reason]:
    """Yields the reasons that say when the volume held work back: the cloud's check alone, or demand at the ceiling."""
    summary = case.summary
    flagged, stood = summary.flagged_minutes, summary.throttled_minutes - summary.flagged_minutes
    if flagged:
        share = 100 * flagged / max(1.0, summary.hours_observed * MINUTE_S)
        yield Reason(
            "flagged-by-the-cloud",
            f"The cloud's own check flagged {_minutes(flagged)}, {share:.2g} % of those observed: some seconds in them "
            "asked for more than the volume allows, though their averages did not. True demand is assumed to be "
            "higher there, at the same I/O size.",
        )
    if stood:
        yield Reason(
            "at-ceiling",
            f"Demand reached the volume's limit in {_minutes(stood)}. True demand is assumed to be higher there, at "
            f"the same I/O size.",
        )


def _preference(case: Case, target: Offer, choice: Choice) -> Iterator[Reason]:
    """Why this one of those that pass."""
    if choice.settles is not None:
        why = _waiting_text(case, choice.settles, choice.bundles[0].offers[0])
        yield Reason(
            choice.settles.why.value,
            f"{why} A reduction waits until {choice.settles.on:%Y-%m-%d}. This offer reduces nothing.",
        )
    if choice.why is Why.THROTTLES_NO_MORE:
        yield Reason(
            Why.THROTTLES_NO_MORE,
            f"{target.spec} throttles no more minutes than today, and carries everything else with headroom.",
        )
    if choice.why is Why.RELIEF:
        usd_month = (target.usd_month or 0.0) - (case.usd_month or 0.0)
        verb = "costs" if usd_month >= 0 else "saves"
        lowered = "" if choice.lowering is None else " and lowers no limit"
        yield Reason(
            Why.RELIEF,
            f"{target.spec} is the cheapest that at least halves the throttled minutes{lowered}, and {verb} "
            f"{dollars(abs(usd_month))} a month{' more' if usd_month >= 0 else ''}.",
        )


def _relief(comparison: Comparison) -> Iterator[Reason]:
    """Yields the relief that would end the throttling, if something else was chosen."""
    relief = comparison.relief
    if relief is not None and relief.usd_month is not None:
        yield Reason(
            "relief-price",
            f"The workload may still be throttled then. {relief.spec} would end that for "
            f"{dollars(relief.usd_month)} a month.",
        )


def _frontier(steps: Sequence[FrontierStep]) -> Iterator[Reason]:
    """Yields the price of tolerating throttled minutes, in one sentence."""
    if len(steps) < 2:
        return
    first, last = steps[0], steps[-1]
    waits = f" and waits of up to {last.longest_wait_s:,.0f} seconds" if last.longest_wait_s >= 1 else ""
    yield Reason(
        "price-of-the-last-minute",
        f"The price of the last minute: {dollars(first.usd_month)} a month with "
        f"{_minutes(first.budget_min)} throttled in 30 days, {dollars(last.usd_month)} with "
        f"{_minutes(last.budget_min)}{waits} (throttle_budget_min).",
    )


def _minutes(count: float) -> str:
    return "no minute" if count == 0 else f"{count:,.0f} minute{'' if count == 1 else 's'}"


def _range_text(least: float, most: float, digits: int) -> str:
    """A figure, or the two that it lies between where not all was read."""
    low, high = f"{least:,.{digits}f}", f"{most:,.{digits}f}"
    return high if low == high else f"at most {high} (at least {low})"


def _micro_bursts(case: Case) -> Iterator[Reason]:
    """Yields the reason about seconds above the limit, where the cloud's check shows some."""
    summary = case.summary
    exceeded = case.demand.exceeded.get(Resource.IOPS)
    if exceeded is None or not exceeded.any():
        return
    asked = "Some seconds asked for more than is provisioned."
    if summary.peak_busy_iops is None:
        yield Reason("seconds-above-limit", asked)
        return
    sized = "sizes" if case.policy.size_on is SizeOn.BUSY_TIME else "does not size"
    yield Reason(
        "seconds-above-limit",
        f"{asked} While busy, the rate was up to {summary.peak_busy_iops:,.0f} IOPS, which {sized} the "
        "offer, because of `size_on` in the policy.",
    )


def _sizing(case: Case, target: Offer, choice: Choice) -> Iterator[Reason]:
    """Yields the need that the offer has to carry, and its parts."""
    need, seen, demand = target.need, case.summary, case.demand
    counted = target.ceiling.accounting
    iops = {
        "peak": seen.peak_iops,
        "peak as the type counts it": demand.peak(demand.count(counted)[IOPS]),
        "busiest second": seen.peak_second_iops,
    }
    throughput = {
        "peak": seen.peak_throughput_mib_s,
        "peak as the type counts it": demand.peak(demand.count(counted)[MIB_S]),
        "busiest second": seen.peak_second_throughput_mib_s,
    }
    times = (case.headrooms.relief if choice.why is Why.RELIEF else case.headrooms.reducing).factor
    sides = {
        Resource.IOPS: _required("IOPS", need.iops, iops, times, 0),
        Resource.THROUGHPUT: _required("MiB/s", need.throughput_mib_s, throughput, times, 1),
    }
    cut = [required for side, required in sides.items() if side is not target.staying]
    yield Reason("need", f"{target.spec} must carry {' and '.join(cut)}.")
    if target.staying is not None:
        yield Reason(
            "stays-as-it-is",
            f"Its {target.staying.unit} stay: they leave less than {100 * (times - 1):g} % headroom above the "
            f"measured demand, and a reduction never raises a limit.",
        )


def _required(unit: str, need: float, seen: Mapping[str, float | None], times: float, digits: int) -> str:
    """A figure that has to be carried, as a sum that adds up: what was seen with headroom, or else what that is raised
    to, or held down to."""
    headroom = f"{100 * (times - 1):g} % headroom"
    known = {what: figure for what, figure in seen.items() if figure is not None}
    for what, figure in known.items():
        if abs(need - figure * times) <= _SAME * max(1.0, need):
            enough = (more for more in range(digits, _MOST_DIGITS) if _adds_up(need, figure, times, more))
            shown = next(enough, _MOST_DIGITS)
            return f"{round(figure, shown) * times:,.{shown}f} {unit} ({what} {figure:,.{shown}f}, {headroom})"
    peak = max(known.values())
    if need > peak * times:
        return f"{need:,.{digits}f} {unit} (raised for throttled demand, or for past peaks)"
    if need > peak:
        return f"{need:,.{digits}f} {unit} ({headroom}, but no more than volume and host could do)"
    return f"{need:,.{digits}f} {unit}"


def _adds_up(need: float, figure: float, times: float, digits: int) -> bool:
    """Two figures with the same decimals differ by the headroom alone."""
    return f"{round(figure, digits) * times:.{digits}f}" == f"{need:.{digits}f}"


def _span(case: Case) -> Iterator[Reason]:
    """Yields the reason about a short history: less than a week, or less than two."""
    if case.summary.hours_observed < A_WEEK_H:
        yield Reason(
            "less-than-a-week",
            "Less than a week was observed. A weekly or monthly job, or a failover, may be missing: audit again after "
            "the next one.",
        )
    elif case.context.now - case.volume.created < timedelta(days=LONG_DAYS):
        made = day_of(case.volume.created.timestamp())
        yield Reason(
            "less-than-two-weeks",
            f"Seen for one week only: it was created on {made}. Work that comes once in two weeks or a month may be "
            f"missing.",
        )


def _measurement_reasons(offers: Iterable[Offer]) -> Iterator[Reason]:
    """Yields the measurements here that speak against an offer, or against a smaller one."""
    for offer in offers:
        what = f"{offer.spec.type} is not offered" if offer.refused else f"Less than {offer.spec} is not offered"
        for measurement in offer.failed:
            yield Reason(
                CODE,
                f"{what}: {measurement.text} ({CODE}). If you doubt that, measure it again with `plimsoll validate`.",
            )


def _bursts(case: Case, best: Offer) -> Iterator[Reason]:
    """Yields the bursts that a minute's average may hide, on the sides on which the offer carries less than now."""
    summary, ceiling = case.summary, best.ceiling
    if case.demand.busiest is not None:
        yield from _unsized_seconds(case, best)
        return
    if case.policy.size_on is SizeOn.BUSY_TIME:
        return
    cuts = cuts_of(ceiling, case.present, case.usable)
    for unit, busy, peak, carried in (
        ("IOPS", summary.peak_busy_iops, summary.peak_iops, ceiling.iops),
        ("MiB/s", summary.peak_busy_throughput_mib_s, summary.peak_throughput_mib_s, ceiling.throughput_mib_s),
    ):
        if unit not in cuts or (busy is None and peak * summary.resolution_s <= carried):
            continue
        if busy is None:
            yield Reason(
                "bursts-not-known",
                f"Risk: single seconds may have asked for more than the offer's {carried:,.0f} {unit}. The volume's "
                f"busy time in each minute was not read, or is not published. Such bursts would queue. To size "
                "for them, set `size_on: busy-time`.",
            )
        elif busy > carried:
            yield Reason(
                "bursts-above-offer",
                f"Risk: while busy, the volume may have reached {busy:,.0f} {unit} for seconds, above the offer's "
                f"{carried:,.0f}. Such bursts would queue. To size for them, set `size_on: busy-time`.",
            )


def _unsized_seconds(case: Case, best: Offer) -> Iterator[Reason]:
    """Yields the busiest seconds, if they do not size the offer and it would not carry them."""
    summary, ceiling = case.summary, best.ceiling
    if case.policy.size_on is not SizeOn.AVERAGE:
        return
    for unit, busiest, carried in (
        ("IOPS", summary.peak_second_iops, ceiling.iops),
        ("MiB/s", summary.peak_second_throughput_mib_s, ceiling.throughput_mib_s),
    ):
        if busiest is not None and busiest > carried:
            yield Reason(
                "seconds-above-offer",
                f"Risk: in some second the volume may have reached {busiest:,.0f} {unit}, above the offer's "
                f"{carried:,.0f}. Such bursts would queue. To size for them, set `size_on: peak-second`.",
            )


_KEPT: Final = {
    False: "all of today's IOPS and MiB/s",
    True: "all of today's IOPS and MiB/s that its host carries",
}
"""What a same-limits replacement keeps, by whether the host takes anything from it."""


def _same_limits(case: Case, comparison: Comparison, target: Offer) -> Iterator[Reason]:
    """Yields the replacement with all of today's limits kept, and whether it was chosen."""
    same, now = comparison.drop_in, case.usd_month or 0.0
    if same is None or same.usd_month is None:
        return
    difference = now - same.usd_month
    if difference < 0 and target.spec.type == case.volume.spec.type:
        return
    verb, more = ("saves", "") if difference >= 0 else ("costs", " more")
    chosen = " It does not depend on metrics." if target.spec == same.spec else ""
    losses = find_losses(case.volume.spec, same.spec, case.market.types)
    code, named = ("same-limits", "Same-limits replacement") if losses else ("drop-in", "Drop-in replacement")
    shown = losses if target.spec != same.spec else ()
    lost = f" It gives up {', '.join(LOSS_WORDS[loss.code] for loss in shown)}." if shown else ""
    yield Reason(
        code,
        f"{named}: {same.spec} keeps {_KEPT[case.kept.by_host]}, and {verb} {dollars(abs(difference))} a "
        f"month{more}.{lost}{chosen}",
    )
    if case.kept.by_host:
        yield _full_limits(case, comparison.full)


def _full_limits(case: Case, full: Offer | None) -> Reason:
    """Yields the price of keeping the limits that the host cannot carry."""
    now = case.usd_month or 0.0
    if full is None or full.usd_month is None or full.usd_month >= now:
        text = f"Only the present configuration has all of today's limits on a larger host, for {dollars(now)} a month."
    else:
        text = (
            f"On a larger host it would need {full.spec} for all of today's limits, which costs "
            f"{dollars(full.usd_month)} a month."
        )
    return Reason("full-limits", text)


def _money(case: Case, comparison: Comparison, best: Offer) -> Iterator[Reason]:
    """Yields the reasons about money: the same limits, a bare change of type, and operations that are billed."""
    yield from _same_limits(case, comparison, best)
    flip = comparison.flip
    if flip is not None and flip.spec not in (best.spec, case.volume.spec) and flip.usd_month is not None:
        yield Reason(
            "bare-type-change",
            f"Changing the type alone would give {flip.spec} for {dollars(flip.usd_month)} a month. State IOPS and "
            "throughput in the change as well.",
        )
    if case.market.types[case.volume.spec.type].billed_per_io:
        yield Reason(
            "billed-by-operation",
            "The present type is billed by operation as well. The mean of the window stands for the month.",
        )


_UNLIMITED: Final = "The host's limit is unknown, so it neither explains nor limits any demand."


def loss_reasons(losses: Iterable[Loss]) -> Iterator[Reason]:
    """Yields the losses of a change beside IOPS and MiB/s."""
    for loss in losses:
        yield Reason(loss.code, f"Given up: {loss.text}.")


def _host(case: Case) -> Iterator[Reason]:
    """Yields the reasons about hosts: limits that are unknown or disproved, and when a host was the limit."""
    present, hosts = case.present, case.hosts
    for host in case.volume.hosts:
        if host.unlimited_by is not None:
            yield Reason("host-limit-unknown", f"{host.unlimited_by} {_UNLIMITED}")
    if case.room.disproved:
        yield Reason(
            "host-limit-unknown",
            f"The volumes of its host did more than its published limits allow, so these limits are wrong. "
            f"{_UNLIMITED}",
        )
    if case.summary.host_bound_minutes:
        minutes = case.summary.host_bound_minutes
        yield Reason(
            "host-bound",
            f"The host was the bottleneck in {_minutes(minutes)}. A larger volume does not help there; a larger "
            f"host does. {_host_source_text(minutes, case.summary.host_bound_measured_minutes)}",
        )
    taken_back = None if case.room.taken_back is None else case.room.taken_back & ~case.room.bound
    if taken_back is not None and taken_back.any():
        yield Reason(
            "host-takes-back",
            "Without the volumes' own limits, the host would be the bottleneck in "
            f"{_minutes(case.demand.minutes(taken_back))}. No more is recommended than the host can carry.",
        )
    if case.summary.host_cleared_minutes:
        yield Reason(
            "host-cleared",
            f"In {_minutes(case.summary.host_cleared_minutes)} the host reached its published limit, but "
            "the cloud measured that it was not the bottleneck.",
        )
    spec, book = case.volume.spec, case.market.book
    for unit, carried, bought, usable in (
        ("IOPS", present.iops, spec.iops, hosts.iops),
        ("MiB/s", present.throughput_mib_s, spec.throughput_mib_s, hosts.throughput_mib_s),
    ):
        wasted = unusable(spec, unit, usable, book)
        if wasted:
            yield Reason(
                "waste",
                f"The volume is provisioned for {bought:,} {unit}, and its host carries {usable:,.0f} at most. "
                f"{wasted:,.0f} are paid for and cannot be used, unless you replace the host by a larger one.",
            )
        elif carried > usable:
            yield Reason(
                "above-its-host",
                f"The volume could do {carried:,.0f} {unit}, and its host carries {usable:,.0f} at most.",
            )


def _host_source_text(minutes: float, measured: float) -> str:
    """The source of a host's limit: the cloud measured it, or it is published."""
    if measured >= minutes:
        return "The cloud measured this."
    if not measured:
        return "This follows from its published limits."
    return f"The cloud measured {_minutes(measured)} of these. The others follow from its published limits."


def _quality(case: Case) -> Iterator[Reason]:
    """Yields the reasons about the data: sums of five minutes, gaps, and what else was not received."""
    if case.demand.summed is not None:
        yield Reason(
            "five-minute-sums",
            "Its host published one sum each five minutes. Single minutes of these may have asked for more.",
        )
    if case.demand.undecided is not None:
        yield Reason(
            "step-unknown",
            "Its points may be of one minute each, or sums of five: neither idle time nor queue length shows which. "
            "Reductions assume minutes; an upgrade needs five minutes at the limit.",
        )
    if case.summary.gap_hours >= WORTH_A_WORD_H:
        gaps = lasting(60 * case.summary.gap_hours)
        yield Reason("gaps", f"The metrics have gaps of {gaps}, which count as unknown.")
    coverage = case.summary.coverage
    if coverage.hours_expected - coverage.hours_observed >= WORTH_A_WORD_H:
        yield Reason("coverage", f"{_observed(coverage)} in which its host ran.")
    if case.demand.spread is not None and case.demand.spread.rates_disagree:
        yield Reason(
            "averages-disagree",
            "The cloud's own averages of each minute contradict its counters. They were left out, and more minutes "
            "were read instead.",
        )
    for name, pct in coverage.series_pct:
        unknown = _UNKNOWN_WITHOUT.get((SERIES[name].role, SERIES[name].side))
        if unknown is not None and pct < 100:
            yield Reason(
                "series-missing",
                f"{unknown} {100 - pct:.3g} % of the time: {name} was not received then.",
            )
