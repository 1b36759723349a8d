"""Reasons of stripe sets: its volumes are answered as one, and their host may limit them."""

from collections.abc import Iterator, Mapping
from typing import Final

from plimsoll.domain.groups.group import StripeSet
from plimsoll.domain.groups.stripes import LINEAR
from plimsoll.domain.host import Host
from plimsoll.domain.prices import PriceBook, unusable
from plimsoll.domain.reason import Reason
from plimsoll.domain.recommendation import SetAnswer
from plimsoll.domain.units import MINUTE_S, dollars

SET_LACKING: Final = "too little is known of it (its metrics, or a price)"
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
    """The reason that no volume of a set is changed, from the reasons that hold some of them back by id."""
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
