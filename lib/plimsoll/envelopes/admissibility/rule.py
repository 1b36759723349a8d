"""A rule of admissibility: it sees a measurement and the known limits of the measured system."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from plimsoll.model.ceiling import Ceiling, Resource
from plimsoll.model.envelope import BOTH_SIDES, Admission, Measurement, Ruling


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemLimits:
    """The known limits of a system: its volumes as published, with buckets, and its host's maximum and baseline.

    `pooled` volumes may have used the share of others of their type on the host.
    """

    volume: Ceiling
    host: Ceiling
    host_baseline: Ceiling
    pooled: bool = False

    @property
    def joint_ceiling(self) -> Ceiling:
        """The volumes on the host."""
        return self.volume & self.host

    @property
    def most(self) -> Ceiling:
        """The most that the device can have served, with what other volumes lent it."""
        return self.host if self.pooled else self.joint_ceiling


def side_of(ceiling: Ceiling, side: Resource, *, writes: bool | None = False) -> float:
    """One side of a ceiling: of reads, of writes, or (None) the higher of both."""
    reading, writing = (
        (ceiling.iops, ceiling.write_iops)
        if side is Resource.IOPS
        else (ceiling.throughput_mib_s, ceiling.write_throughput_mib_s)
    )
    return max(reading, writing) if writes is None else writing if writes else reading


def describe_shape(measurement: Measurement) -> str:
    """A measurement's mode and I/O size in words."""
    return f"{measurement.job.mode} of {measurement.job.block_kib:,g} KiB"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A ruling without the rule's name and source."""

    admission: Admission
    text: str
    sides: frozenset[Resource] = BOTH_SIDES
    lasting_most: float = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule: its name, its law in a sentence, the law's source, and the function that finds violations.

    Rules `of_a_volume` hold only for volumes of a cloud. A disk of this machine may be as fast as it likes, and a
    simulated volume keeps its limits from the first second.
    """

    name: str
    law: str
    source: str
    find: Callable[[Measurement, SystemLimits], Iterator[Finding]]
    of_a_volume: bool = False

    def rulings(self, measurement: Measurement, limits: SystemLimits) -> Iterator[Ruling]:
        """The rule's findings about a measurement, with its name and source."""
        for finding in self.find(measurement, limits):
            yield Ruling(
                rule=self.name,
                admission=finding.admission,
                text=finding.text,
                source=self.source,
                sides=finding.sides,
                lasting_most=finding.lasting_most,
            )
