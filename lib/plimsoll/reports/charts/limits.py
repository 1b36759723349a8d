"""Limits: what a ceiling carries on each side, and which lines across a series can be drawn."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from plimsoll.domain.units import KIB_PER_MIB
from plimsoll.reports.record import CeilingRecord

Side = Literal["IOPS", "MiB/s"]

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One side of a ceiling: the most that it carries, and what it carries for ever where credits carry more for a
    while (None: it carries the most for ever). Where writes have a limit of their own, `most` is that of reads, and
    `writes` what is carried where nothing is read."""

    most: float
    lasting: float | None
    writes: float | None = None

    @property
    def least(self) -> float:
        """What is carried whatever the mix of reads and writes."""
        return self.most if self.writes is None else min(self.most, self.writes)


def limit_of(ceiling: CeilingRecord | None, side: Side) -> Limit | None:
    """A ceiling's limit on a side, None where there is none.

    That operations count as several from some size on bounds MiB/s for ever, with credits and without: it is no lasting
    limit of its own.
    """
    if ceiling is None:
        return None
    if side == "IOPS":
        most, lasting, reached = ceiling.iops, ceiling.sustained_iops, ceiling.iops
        writes = ceiling.write_iops
    else:
        writes = ceiling.write_throughput_mib_s
        most, lasting, reached = ceiling.throughput_mib_s, ceiling.sustained_throughput_mib_s, ceiling.throughput_mib_s
        if most is not None and ceiling.iops is not None and ceiling.io_kib:
            reached = min(most, ceiling.iops * ceiling.io_kib / KIB_PER_MIB)
    if most is None or reached is None:
        return None
    return Limit(most=most, lasting=lasting if lasting is not None and lasting < reached else None, writes=writes)


def in_sight(levels: Mapping[_Key, float], highest: float) -> tuple[dict[_Key, float], dict[_Key, float]]:
    """The levels to draw beside a series that is `highest` at most, and those so far above that they are only told."""
    near = {label: level for label, level in levels.items() if level <= 2 * highest}
    return near, {label: level for label, level in levels.items() if label not in near}
