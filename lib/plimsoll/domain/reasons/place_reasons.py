"""Reasons that lie in where a volume is: on a host that is stopped, in a pool that pays, of a type that is copied."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, TypeVar

from plimsoll.domain.case import Case
from plimsoll.domain.offers.offer import Offer
from plimsoll.domain.reason import Reason
from plimsoll.domain.recommendation import Comparison, Idleness, Recommendation
from plimsoll.domain.units import dollars
from plimsoll.domain.volume import Volume

Told = TypeVar("Told", bound=Recommendation)

FAILED_LATELY: Final = timedelta(days=1)
"""How long a failed change is worth a word: changes are counted over 24 hours."""


def used_of(case: Case) -> Iterator[Reason]:
    """What is used of what is provisioned, where the rest of the answer is missing."""
    spec, summary = case.volume.spec, case.summary
    parts = (
        (summary.peak_iops, spec.iops, "IOPS"),
        (summary.peak_throughput_mib_s, spec.throughput_mib_s, "MiB/s"),
    )
    used = [f"{peak:,.0f} of the {bought:,} provisioned {unit}" for peak, bought, unit in parts if bought is not None]
    if used and summary.hours_observed:
        yield Reason("used", f"In {summary.hours_observed:,.0f} hours it used at most {' and '.join(used)}.")


def stopped(case: Case) -> Iterator[Reason]:
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


def with_idleness(answered: Told, idle: Idleness | None) -> Told:
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


def not_in_place(case: Case, comparison: Comparison, best: Offer) -> Iterator[Reason]:
    """That a change takes a copy, and what can be had without one."""
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


def of_a_storage_pool(case: Case, best: Offer) -> Iterator[Reason]:
    """That what a disk of a storage pool gives back stays there."""
    pool, paid = case.volume.storage_pool, case.usd_month
    if pool is not None and paid is not None and best.usd_month is not None:
        saved = dollars(paid - best.usd_month)
        yield Reason(
            "in-a-storage-pool",
            f"The disk is in the storage pool {pool}, which is paid for as a whole. What this gives back, {saved} a "
            "month, stays in the pool and counts in no total.",
        )
