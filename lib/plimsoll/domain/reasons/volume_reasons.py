"""Reasons that lie in a volume: where it is, what was changed of it or is on record, and what it takes over from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from plimsoll.domain.case import Case
from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.demand.epoch import Epoch, find_raised
from plimsoll.domain.groups.group import Peer, ToldBy
from plimsoll.domain.offers.offer import Offer
from plimsoll.domain.reason import Reason
from plimsoll.domain.recommendation import Comparison, DemandSummary, Idleness, Recommendation
from plimsoll.domain.units import day_of, dollars
from plimsoll.domain.volume import Volume, VolumeSpec

AnyAnswer = TypeVar("AnyAnswer", bound=Recommendation)

FAILED_LATELY: Final = timedelta(days=1)
"""How long a failed change is worth a word: changes are counted over 24 hours."""


def used_reasons(case: Case) -> Iterator[Reason]:
    """What is used of what is provisioned, where the rest of the answer is missing."""
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
    hosts = [host for host in case.volume.hosts if host.stopped_since is not None]
    if hosts and len(hosts) == len(case.volume.attachments):
        since = max(host.stopped_since for host in hosts if host.stopped_since is not None)
        names = ", ".join(host.id for host in hosts)
        yield Reason(
            "host-stopped",
            f"Its host {names} has been stopped since {since:%Y-%m-%d}. The volume costs the same meanwhile: take a "
            "snapshot and delete both if nobody needs them.",
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
            f"The change begun {change.started:%Y-%m-%d %H:%M} UTC failed. See why before you make another: its cloud "
            "may refuse one for a while.",
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
            f"The disk is in the storage pool {pool}, which is paid for as a whole. What this gives back, {saved} a "
            "month, stays in the pool and counts in no total.",
        )


def lately_changed(case: Case, target: VolumeSpec) -> Iterator[Reason]:
    """That limits were raised within the window, and whether an answer with that target takes it back; of lowered ones
    only where it does."""
    when, before = _latest(case)
    was, now, then = (_ceiling(case, spec) for spec in (before, case.volume.spec, target))
    for code, word, changed, back in (
        ("raised-lately", "raised", sorted(find_raised(was, now)), set(find_raised(then, now))),
        ("lowered-lately", "lowered", sorted(find_raised(now, was)), set(find_raised(now, then))),
    ):
        text = f"Somebody {word} its {' and '.join(side.unit for side in changed)} {when}: it was {before}."
        if not back.isdisjoint(changed):
            yield Reason(
                code, f"{text} This answer takes that back, at least in part. Ask why it was done before you follow it."
            )
        elif changed and code == "raised-lately":
            yield Reason(code, text)


def _ceiling(case: Case, spec: VolumeSpec | None) -> Ceiling | None:
    """What it carries, whatever its hosts do; None where that is not known."""
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
                f"Up to {_moment(epoch.window.end_s)} it did more than {epoch.on_record} carries, which is on record "
                "for that time. It was something larger then. The demand of that time counts as it was measured, and "
                "none of it is called throttled.",
            )
        if epoch.doubled_s is not None:
            yield Reason(
                "doubled-point",
                f"The minute of {_moment(epoch.doubled_s)} has twice what the volume can carry, between ordinary ones. "
                "It was counted twice, and is taken to be at the ceiling.",
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
        yield Reason("peer-not-known", f"{whom}, which {peer.unknown}. Until that is known it keeps what it has.")
        return
    yield Reason(
        "takes-over",
        f"{whom}, which by its own answer carries {peer.ceiling.iops:,.0f} IOPS and "
        f"{peer.ceiling.throughput_mib_s:,.0f} MiB/s. With less it would throttle in the place of that one.",
    )


def suspected_takeover_reason(peer: Peer, did: DemandSummary | None) -> Reason:
    """Why only the owner knows if a volume takes over from another, as its name suggests."""
    peak = f", which {peer.unknown}"
    if did is not None:
        peak = f", which did up to {did.least_peak_iops:,.0f} IOPS and {did.least_peak_throughput_mib_s:,.0f} MiB/s"
    return Reason(
        "may-take-over",
        f"Its name suggests that it takes over from {_named(peer.volume)}{peak}. Then a smaller one throttles after a "
        "failover. If so, give both the same value of the tag plimsoll:takeover, and audit again.",
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
