"""Roofs: ceilings as lines on the plane of I/O size and IOPS, with their labels, and what was measured as points."""

import math
from collections.abc import Sequence
from typing import Final

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.envelope import Envelope
from plimsoll.domain.units import KIB_PER_MIB
from plimsoll.reports.charts.headlines import rate_text
from plimsoll.reports.charts.picture import Row
from plimsoll.reports.record import CeilingRecord

SERIES: Final = 8
"""Envelopes that have a color and a shape of their own; further ones begin again."""

PLANE_PX: Final = 340
_LABEL_SHARE: Final = 17 / PLANE_PX
"""A label's part of the plane's height."""


def series(place: int) -> str:
    """The kind of an envelope's roof and measurements, by its place among the envelopes."""
    return f"envelope {place % SERIES + 1}"


def ceiling_roofs(kind: str, word: str, found: CeilingRecord, low_kib: float, high_kib: float) -> list[Row]:
    """A ceiling's roof between two I/O sizes, and beside it the lower one that it carries for ever, and that of writes
    alone, where they differ."""
    io_kib = found.io_kib or None
    most = Ceiling(iops=_limit(found.iops), throughput_mib_s=_limit(found.throughput_mib_s), io_kib=io_kib)
    lasting = Ceiling(
        iops=_limit(found.sustained_iops),
        throughput_mib_s=_limit(found.sustained_throughput_mib_s),
        io_kib=io_kib,
    )
    rows = roof_rows(kind, word, most, low_kib, high_kib)
    lower = roof_rows(kind, f"{word} for ever", lasting, low_kib, high_kib, lasting=True)
    sizes = {row["io_size_kib"] for row in (*rows, *lower)}
    # A limit that is never reached, as the MiB/s of an io2 volume of few IOPS, makes no other line.
    same = all(math.isclose(most.at(size_kib), lasting.at(size_kib)) for size_kib in sizes)
    return (rows if same else rows + lower) + _writes_roof(kind, word, found, low_kib, high_kib)


def _writes_roof(kind: str, word: str, found: CeilingRecord, low_kib: float, high_kib: float) -> list[Row]:
    if found.write_iops is None and found.write_throughput_mib_s is None:
        return []
    alone = Ceiling(
        iops=_limit(found.iops if found.write_iops is None else found.write_iops),
        throughput_mib_s=_limit(
            found.throughput_mib_s if found.write_throughput_mib_s is None else found.write_throughput_mib_s
        ),
        io_kib=found.io_kib or None,
    )
    return roof_rows(kind, f"{word}, writes alone", alone, low_kib, high_kib, lasting=True)


def envelope_roofs(place: int, found: Envelope, low_kib: float, high_kib: float) -> list[Row]:
    """An envelope's fitted roof; none of a side that was never reached."""
    roof = Ceiling(iops=_limit(found.iops), throughput_mib_s=_limit(found.throughput_mib_s))
    return roof_rows(series(place), found.name, roof, low_kib, high_kib)


def roof_rows(
    kind: str, word: str, roof: Ceiling, low_kib: float, high_kib: float, *, lasting: bool = False
) -> list[Row]:
    """A roof as the corners of its line, by `Ceiling.at`; none where it limits nothing."""
    if math.isinf(roof.iops) and math.isinf(roof.throughput_mib_s):
        return []
    corners = [roof.io_kib or math.inf, roof.throughput_mib_s * KIB_PER_MIB / roof.iops if roof.iops else math.inf]
    sizes = sorted({low_kib, high_kib, *(corner for corner in corners if low_kib < corner < high_kib)})
    points = [(size_kib, roof.at(size_kib)) for size_kib in sizes]
    label = _label(word, roof)
    return [
        {"kind": kind, "label": label, "lasting": lasting, "io_size_kib": size_kib, "iops": iops}
        for size_kib, iops in points
        if iops > 0
    ]


def labels(roofs: Sequence[Row], points: Sequence[float], *, below: bool = False) -> list[Row]:
    """Where the label of each roof stands: at its left end, above or `below` it, moved on where another is in the way.

    `points` are the IOPS of what else is on the plane, which has to hold all of them.
    """
    levels = [*(row["iops"] for row in roofs), *points]
    apart = (max(levels) / min(levels)) ** _LABEL_SHARE if levels else 1.0
    firsts: dict[str, Row] = {}
    for row in roofs:
        firsts.setdefault(row["label"], {**row, "below": below})
    placed: list[Row] = []
    for row in sorted(firsts.values(), key=lambda row: row["iops"], reverse=below):
        if placed and below:
            row["iops"] = min(row["iops"], placed[-1]["iops"] / apart)
        elif placed:
            row["iops"] = max(row["iops"], placed[-1]["iops"] * apart)
        placed.append(row)
    return placed


def measured_rows(kind: str, found: Envelope) -> list[Row]:
    """What an envelope's device served, a row a measurement; rejected figures are left out."""
    return [
        {
            "kind": kind,
            "label": found.name,
            "mode": one.job.mode,
            "io_size_kib": one.job.block_kib,
            "iops": served,
            "throughput_mib_s": one.served(Resource.THROUGHPUT),
            "p99_latency_us": one.latency.at(99.0),
        }
        for one in found.measurements
        if (served := one.served(Resource.IOPS))
    ]


def _limit(figure: float | None) -> float:
    return math.inf if figure is None else figure


def _label(word: str, roof: Ceiling) -> str:
    sides = {"IOPS": roof.iops, "MiB/s": roof.throughput_mib_s}
    return f"{word}: " + ", ".join(f"{rate_text(side)} {unit}" for unit, side in sides.items() if math.isfinite(side))
