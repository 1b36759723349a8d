"""Campaigns of the same configuration: beside one another, with the difference between what they carried."""

from collections.abc import Iterable
from dataclasses import dataclass

from plimsoll.domain.ceiling import Resource
from plimsoll.domain.evidence.envelope import Envelope


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Another envelope of the same configuration. The differences are its figure over that of the one that it stands
    beside, less 1; None where either has none."""

    envelope: Envelope
    iops: float | None
    throughput_mib_s: float | None

    def difference(self, side: Resource) -> float | None:
        """The difference on that side."""
        return self.iops if side is Resource.IOPS else self.throughput_mib_s


def beside(one: Envelope, others: Iterable[Envelope]) -> list[Beside]:
    """The other envelopes of the same provider, type, number of volumes and published ceiling, by name."""
    found = [
        Beside(
            envelope=other,
            iops=_difference(one, other, Resource.IOPS),
            throughput_mib_s=_difference(one, other, Resource.THROUGHPUT),
        )
        for other in others
        if other.name != one.name and one.published is not None and _configuration(one) == _configuration(other)
    ]
    return sorted(found, key=lambda other: other.envelope.name)


def _configuration(one: Envelope) -> tuple[object, ...]:
    return one.provider, one.spec.type, one.volumes, one.published


def _difference(one: Envelope, other: Envelope, side: Resource) -> float | None:
    """By their roofs where both have one, else by the best that each was seen to serve."""
    figures = [found.roof(side) for found in (one, other)]
    if None in figures:
        figures = [found.best(side) for found in (one, other)]
    own, its = figures
    return None if not own or its is None else its / own - 1
