"""The roofline picture: demand as points on the plane of I/O size and IOPS, both logarithmic, under the ceilings."""

import math
from collections.abc import Sequence
from typing import Final

from plimsoll.model.ceiling import Ceiling, Resource
from plimsoll.model.envelope import Envelope
from plimsoll.model.units import KIB_PER_MIB
from plimsoll.reports.charts.pictures import (
    CEILINGS,
    Picture,
    Row,
    envelopes_title,
    overlay_title,
    rate_text,
    roofline_title,
    subject,
)
from plimsoll.reports.record import CeilingRecord, DemandProfileRecord, RecommendationRecord

ROOFS: Final = "roofs"
LABELS: Final = "labels"
MEASURED: Final = "measured"

POINTS: Final = (
    ("iops", "throughput_mib_s"),
    ("most_ops_iops", "most_ops_throughput_mib_s"),
    ("most_moved_iops", "most_moved_throughput_mib_s"),
)
"""Three points of each span: its mean where that tells a size of I/O, its busiest times by operations and by MiB."""

MOST_ENVELOPES: Final = 8
"""Envelopes that have a color and a shape of their own; further ones begin again."""

PLANE_PX: Final = 340
_LABEL_SHARE: Final = 17 / PLANE_PX
"""A label's part of the plane's height."""

_FROM_KIB, _TO_KIB = 4.0, 1024.0


def roofline_picture(
    record: RecommendationRecord, profile: DemandProfileRecord, envelope: Envelope | None = None
) -> Picture:
    """The picture of a volume's demand under its ceilings, with what was measured of the offer's class."""
    measured = [] if envelope is None else measured_rows(MEASURED, envelope)
    levels, sizes_kib = _points(profile, measured)
    low_kib, high_kib = _extent(sizes_kib)
    ceilings = {kind: getattr(record.ceilings, kind, None) for kind in CEILINGS}
    roofs = [
        row
        for kind, ceiling in ceilings.items()
        if ceiling is not None
        for row in ceiling_roofs(kind, CEILINGS[kind], ceiling, low_kib, high_kib)
    ]
    crosses = f" Crosses: {envelope.source_names}." if envelope is not None and measured else ""
    return Picture(
        kind="roofline",
        subject=subject(record),
        title=roofline_title(record, profile),
        subtitle=f"Points: demand. Lines: the most that can be carried at each I/O size.{crosses}",
        datasets={ROOFS: roofs, LABELS: labels(roofs, levels), MEASURED: measured},
    )


def envelope_picture(
    envelopes: Sequence[Envelope], asked: tuple[RecommendationRecord, DemandProfileRecord] | None = None
) -> Picture:
    """The picture of measured envelopes, and of what a volume asked for over them where one is given."""
    record, profile = asked or (None, None)
    asked_for = ", and demand" if asked else ""
    measured = [row for place, envelope in enumerate(envelopes) for row in measured_rows(series(place), envelope)]
    levels, sizes_kib = _points(profile, measured)
    low_kib, high_kib = _extent(sizes_kib)
    roofs: list[Row] = []
    for place, envelope in enumerate(envelopes):
        fitted = Ceiling(iops=_limit(envelope.iops), throughput_mib_s=_limit(envelope.throughput_mib_s))
        roofs += roof_rows(series(place), envelope.name, fitted, low_kib, high_kib)
    names = ", ".join(envelope.name for envelope in envelopes)
    best = {
        side: {envelope.name: served for envelope in envelopes if (served := envelope.best(side)) is not None}
        for side in Resource
    }
    return Picture(
        kind="roofline",
        subject=names if record is None else f"{subject(record)}; {names}",
        title=overlay_title(*asked, envelopes) if asked else envelopes_title(best),
        subtitle=f"Marks: measured{asked_for}. Lines: the roofs fitted to them, where one was reached.",
        datasets={ROOFS: roofs, LABELS: labels(roofs, levels, below=True), MEASURED: measured},
    )


def _points(profile: DemandProfileRecord | None, measured: Sequence[Row]) -> tuple[list[float], list[float]]:
    """The IOPS and the I/O sizes in KiB that the plane has to hold.

    They are those of what was measured, and of the spans' points as the spec's own transforms make them.
    """
    levels = [row["iops"] for row in measured]
    sizes_kib = [row["io_size_kib"] for row in measured]
    if profile is None:
        return levels, sizes_kib
    for count, rate in POINTS:
        is_mean = (count, rate) == POINTS[0]
        points = [
            (iops, throughput_mib_s / iops)
            for iops, throughput_mib_s, sized in zip(
                getattr(profile, count), getattr(profile, rate), profile.sized, strict=True
            )
            if iops and throughput_mib_s and (sized or not is_mean)
        ]
        levels += [iops for iops, _ in points]
        sizes_kib += [size_mib * KIB_PER_MIB for _, size_mib in points]
    return levels, sizes_kib


def _extent(sizes_kib: Sequence[float]) -> tuple[float, float]:
    """The I/O sizes that the plane spans, with room at the left for the labels."""
    return min([_FROM_KIB, *sizes_kib]) / 2, max([_TO_KIB, *sizes_kib])


def series(place: int) -> str:
    """The kind of an envelope's roof and measurements, by its place among the envelopes."""
    return f"envelope {place % MOST_ENVELOPES + 1}"


def ceiling_roofs(kind: str, word: str, ceiling: CeilingRecord, low_kib: float, high_kib: float) -> list[Row]:
    """A ceiling's roof between two I/O sizes; beside it, where they differ, the sustained roof and that of writes."""

    def roof(iops: float | None, throughput_mib_s: float | None) -> Ceiling:
        return Ceiling(iops=_limit(iops), throughput_mib_s=_limit(throughput_mib_s), io_kib=ceiling.io_kib or None)

    most = roof(ceiling.iops, ceiling.throughput_mib_s)
    lasting = roof(ceiling.sustained_iops, ceiling.sustained_throughput_mib_s)
    rows = roof_rows(kind, word, most, low_kib, high_kib)
    lower = roof_rows(kind, f"{word} sustained", lasting, low_kib, high_kib, lasting=True)
    sizes = {row["io_size_kib"] for row in (*rows, *lower)}
    # A limit that is never reached, as the MiB/s of an io2 volume of few IOPS, makes no other line.
    if not all(math.isclose(most.iops_at(size_kib), lasting.iops_at(size_kib)) for size_kib in sizes):
        rows += lower
    if ceiling.write_iops is None and ceiling.write_throughput_mib_s is None:
        return rows
    writes = roof(
        ceiling.iops if ceiling.write_iops is None else ceiling.write_iops,
        ceiling.throughput_mib_s if ceiling.write_throughput_mib_s is None else ceiling.write_throughput_mib_s,
    )
    return rows + roof_rows(kind, f"{word}, writes alone", writes, low_kib, high_kib, lasting=True)


def roof_rows(
    kind: str, word: str, roof: Ceiling, low_kib: float, high_kib: float, *, lasting: bool = False
) -> list[Row]:
    """A roof as the corners of its line, by `Ceiling.at`; none where it limits nothing."""
    if math.isinf(roof.iops) and math.isinf(roof.throughput_mib_s):
        return []
    corners = [roof.io_kib or math.inf, roof.throughput_mib_s * KIB_PER_MIB / roof.iops if roof.iops else math.inf]
    sizes = sorted({low_kib, high_kib, *(corner for corner in corners if low_kib < corner < high_kib)})
    points = [(size_kib, roof.iops_at(size_kib)) for size_kib in sizes]
    label = _label(word, roof)
    return [
        {"kind": kind, "label": label, "lasting": lasting, "io_size_kib": size_kib, "iops": iops}
        for size_kib, iops in points
        if iops > 0
    ]


def labels(roofs: Sequence[Row], points: Sequence[float], *, below: bool = False) -> list[Row]:
    """The place of each roof's label: at its left end, above or `below` it, or further right if that is taken.

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


def measured_rows(kind: str, envelope: Envelope) -> list[Row]:
    """The figures of an envelope's device, a row a measurement; rejected figures are left out."""
    return [
        {
            "kind": kind,
            "label": envelope.name,
            "mode": measurement.job.mode,
            "io_size_kib": measurement.job.block_kib,
            "iops": served,
            "throughput_mib_s": measurement.served_figure(Resource.THROUGHPUT),
            "p99_latency_us": measurement.latency.percentile_us(99.0),
        }
        for measurement in envelope.measurements
        if (served := measurement.served_figure(Resource.IOPS))
    ]


def _limit(figure: float | None) -> float:
    return math.inf if figure is None else figure


def _label(word: str, roof: Ceiling) -> str:
    sides = {"IOPS": roof.iops, "MiB/s": roof.throughput_mib_s}
    return f"{word}: " + ", ".join(f"{rate_text(side)} {unit}" for unit, side in sides.items() if math.isfinite(side))
