"""Campaigns of the same configuration: beside one another, with the difference between what they carried."""

from collections.abc import Iterable
from dataclasses import dataclass

from plimsoll.domain.ceiling import Resource
from plimsoll.domain.evidence.envelope import Envelope


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Another envelope of the same configuration, and its differences to the one that it stands beside.

    A difference is its figure over the other's, less 1; None if either has none.
    """

    envelope: Envelope
    iops: float | None
    throughput_mib_s: float | None

    def difference(self, side: Resource) -> float | None:
        return self.iops if side is Resource.IOPS else self.throughput_mib_s


def find_same_configuration(envelope: Envelope, others: Iterable[Envelope]) -> list[Beside]:
    """Finds the other envelopes of the same provider, type, number of volumes and published ceiling, by name."""
    same = [
        Beside(
            envelope=other,
            iops=_difference(envelope, other, Resource.IOPS),
            throughput_mib_s=_difference(envelope, other, Resource.THROUGHPUT),
        )
        for other in others
        if other.name != envelope.name
        and envelope.published is not None
        and _configuration(envelope) == _configuration(other)
    ]
    return sorted(same, key=lambda other: other.envelope.name)


def _configuration(envelope: Envelope) -> tuple[object, ...]:
    return envelope.provider, envelope.spec.type, envelope.volumes, envelope.published


def _difference(envelope: Envelope, other: Envelope, side: Resource) -> float | None:
    """The ratio of two envelopes' roofs if both have one, else of the best that each served, less 1."""
    figures = [each.roof(side) for each in (envelope, other)]
    if None in figures:
        figures = [each.best(side) for each in (envelope, other)]
    figure, other_figure = figures
    return None if not figure or other_figure is None else other_figure / figure - 1
