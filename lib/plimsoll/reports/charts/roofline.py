"""The roofline picture: demand as points on the plane of I/O size and IOPS, both logarithmic, under the ceilings."""

from collections.abc import Sequence
from typing import Final

from plimsoll.domain.ceiling import Resource
from plimsoll.domain.envelope import Envelope
from plimsoll.domain.units import KIB_PER_MIB
from plimsoll.reports.charts.headlines import envelopes_title, over_title, roofline_title, subject
from plimsoll.reports.charts.picture import Picture, Row
from plimsoll.reports.charts.roofs import (
    ceiling_roofs,
    envelope_roofs,
    labels,
    measured_rows,
    series,
)
from plimsoll.reports.profile_record import DemandProfileRecord
from plimsoll.reports.record import RecommendationRecord

ROOFS: Final = "roofs"
LABELS: Final = "labels"
MEASURED: Final = "measured"

CEILINGS: Final = {"now": "now", "offered": "offered", "hosts": "host"}
POINTS: Final = (
    ("iops", "throughput_mib_s"),
    ("most_ops_iops", "most_ops_throughput_mib_s"),
    ("most_moved_iops", "most_moved_throughput_mib_s"),
)
"""Three points of each span: its mean where that tells a size of I/O, its busiest times by operations and by MiB."""

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
        for kind, found in ceilings.items()
        if found is not None
        for row in ceiling_roofs(kind, CEILINGS[kind], found, low_kib, high_kib)
    ]
    crosses = f" Crosses: measured on {envelope.name}." if envelope is not None and measured else ""
    return Picture(
        kind="roofline",
        subject=subject(record),
        title=roofline_title(record, profile),
        subtitle=f"Points: what was asked for. Lines: what can be carried at each I/O size.{crosses}",
        datasets={ROOFS: roofs, LABELS: labels(roofs, levels), MEASURED: measured},
    )


def envelope_picture(
    envelopes: Sequence[Envelope], asked: tuple[RecommendationRecord, DemandProfileRecord] | None = None
) -> Picture:
    """The picture of measured envelopes, and of what a volume asked for over them where one is given."""
    record, profile = asked or (None, None)
    asked_for = ", and what was asked for" if asked else ""
    measured = [row for place, one in enumerate(envelopes) for row in measured_rows(series(place), one)]
    levels, sizes_kib = _points(profile, measured)
    low_kib, high_kib = _extent(sizes_kib)
    roofs = [row for place, one in enumerate(envelopes) for row in envelope_roofs(place, one, low_kib, high_kib)]
    names = ", ".join(one.name for one in envelopes)
    best = {
        side: {one.name: served for one in envelopes if (served := one.best(side)) is not None} for side in Resource
    }
    return Picture(
        kind="roofline",
        subject=names if record is None else f"{subject(record)}; {names}",
        title=over_title(*asked, envelopes) if asked else envelopes_title(best),
        subtitle=f"Marks: measured{asked_for}. Lines: the roofs fitted to them, where one was reached.",
        datasets={ROOFS: roofs, LABELS: labels(roofs, levels, below=True), MEASURED: measured},
    )


def _points(profile: DemandProfileRecord | None, measured: Sequence[Row]) -> tuple[list[float], list[float]]:
    """The IOPS and the I/O sizes in KiB that the plane has to hold: of what was measured, and of the spans' points as
    the spec's own transforms make them."""
    levels = [row["iops"] for row in measured]
    sizes_kib = [row["io_size_kib"] for row in measured]
    if profile is None:
        return levels, sizes_kib
    for count, rate in POINTS:
        is_mean = (count, rate) == POINTS[0]
        found = [
            (iops, throughput_mib_s / iops)
            for iops, throughput_mib_s, sized in zip(
                getattr(profile, count), getattr(profile, rate), profile.sized, strict=True
            )
            if iops and throughput_mib_s and (sized or not is_mean)
        ]
        levels += [iops for iops, _ in found]
        sizes_kib += [size_mib * KIB_PER_MIB for _, size_mib in found]
    return levels, sizes_kib


def _extent(sizes_kib: Sequence[float]) -> tuple[float, float]:
    """The I/O sizes that the plane spans, with room at the left for the labels."""
    return min([_FROM_KIB, *sizes_kib]) / 2, max([_TO_KIB, *sizes_kib])
