"""The rule about a sweep: the best at its edge, while figures still climb, is no maximum.

PerfKit Benchmarker refuses a maximum that it finds at the edge of its sweep; here it stays a lower bound.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from plimsoll.model.ceiling import Resource
from plimsoll.model.envelope import Admission, BoundBy, Measurement, Ruling

PLATEAU: Final = 0.9
"""A measurement is on a plateau from this share of the best."""

SWEEP_EDGE: Final = "sweep-edge"
_SOURCE: Final = "PerfKit Benchmarker's sweeps: a maximum at the edge is refused while figures climb"
_LEAST_SIZES: Final = 2


def with_edges(measurements: Sequence[Measurement], roofs: Mapping[Resource, float | None]) -> tuple[Measurement, ...]:
    """The measurements, with a ruling on each best of its mode that still climbs at the last size.

    A side with a roof gets no ruling. If the other side's roof explains the figure, it is a lower bound and counts.
    Otherwise its limit is unknown.
    """
    edges: dict[int, list[Ruling]] = {}
    for side in Resource:
        if roofs[side] is not None:
            continue
        for seen in _indexes_by_mode(measurements, side).values():
            at = _edge(measurements, seen, side)
            if at is not None:
                edges.setdefault(at, []).append(_ruling(measurements[at], side, roofs))
    return tuple(
        replace(measurement, rulings=(*measurement.rulings, *edges[at])) if at in edges else measurement
        for at, measurement in enumerate(measurements)
    )


def climbing(measurements: Sequence[Measurement]) -> Iterator[str]:
    """A sentence for each measurement at an edge."""
    for measurement in measurements:
        yield from (ruling.text for ruling in measurement.rulings if ruling.rule == SWEEP_EDGE)


def _indexes_by_mode(measurements: Sequence[Measurement], side: Resource) -> dict[str, list[int]]:
    """The indexes of the measurements that have a figure on a side, by mode."""
    modes: dict[str, list[int]] = {}
    for at, measurement in enumerate(measurements):
        if measurement.served_figure(side) is not None and measurement.bound_by is not BoundBy.LOAD:
            modes.setdefault(measurement.job.mode, []).append(at)
    return modes


def _edge(measurements: Sequence[Measurement], seen: Sequence[int], side: Resource) -> int | None:
    """The index of the measurement at the outermost size, if it alone is the best of its mode."""
    ordered = sorted(seen, key=lambda at: measurements[at].job.block_kib, reverse=side is Resource.IOPS)
    figures = [measurements[at].served_figure(side) or 0.0 for at in ordered]
    sizes = {measurements[at].job.block_kib for at in ordered}
    if len(sizes) < _LEAST_SIZES or max(figures[:-1]) >= PLATEAU * figures[-1]:
        return None
    return ordered[-1]


def _ruling(measurement: Measurement, side: Resource, roofs: Mapping[Resource, float | None]) -> Ruling:
    """The ruling on the last size of a sweep whose figure still climbs: bounded by the other side's roof, or
    unknown."""
    other = Resource.THROUGHPUT if side is Resource.IOPS else Resource.IOPS
    roof, beside, size_kib = roofs[other], measurement.served_figure(other), measurement.job.block_kib
    best = f"{measurement.figure(side) or 0:,.0f}"
    explained = roof is not None and beside is not None and beside >= PLATEAU * roof
    return Ruling(
        rule=SWEEP_EDGE,
        admission=Admission.BOUNDED if explained else Admission.UNKNOWN,
        text=f"{measurement.job.mode}: {side.unit} still climbing at {size_kib:,.0f} KiB ({best}), the last "
        "size: that is no maximum, so measure beyond it",
        source=_SOURCE,
        sides=frozenset({side}),
    )
