"""The roofline picture: demand as points on the plane of I/O size and IOPS, under the ceilings."""

import math
from collections.abc import Sequence
from typing import Any, Final

import altair as alt

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.envelope import Envelope
from plimsoll.domain.units import KIB_PER_MIB
from plimsoll.reports.charts.headlines import rate_text, roofline_title, subject
from plimsoll.reports.charts.picture import SPANS, Picture, Row, span_rows
from plimsoll.reports.charts.theme import Theme
from plimsoll.reports.profile_record import DemandProfileRecord
from plimsoll.reports.record import CeilingRecord, RecommendationRecord

ROOFS: Final = "roofs"
LABELS: Final = "labels"
MEASURED: Final = "measured"
KINDS: Final = ("now", "offered", "hosts")
"""Ceilings in the order in which they are told."""

_LEFT_PX: Final = 56
FRAME_PX: Final = _LEFT_PX + 14
_SMALLEST_KIB, _LARGEST_KIB = 4.0, 1024.0
_SIGNS: Final = ("mean of a span", "busiest bucket of a span", "busiest bucket of a throttled span", "measured")


def roofline_picture(
    record: RecommendationRecord, profile: DemandProfileRecord, envelope: Envelope | None = None
) -> Picture:
    """The picture of a volume's demand under its ceilings, with what was measured of the offer's class."""
    measured = [] if envelope is None else _measured([envelope])
    low, high = _extent([*_sizes(profile), *(row["io_size_kib"] for row in measured)])
    roofs: list[Row] = []
    for kind in KINDS:
        found: CeilingRecord | None = getattr(record.ceilings, kind, None)
        if found is not None:
            roofs += ceiling_roofs(kind, found, low, high)
    told = f" Crosses: measured on {envelope.name}." if envelope is not None and measured else ""
    return Picture(
        kind="roofline",
        subject=subject(record),
        title=roofline_title(record, profile),
        subtitle=f"IOPS over I/O size, both logarithmic; lines are ceilings.{told}",
        datasets={ROOFS: roofs, LABELS: _labels(roofs), MEASURED: measured},
    )


def envelope_picture(
    envelopes: Sequence[Envelope],
    record: RecommendationRecord | None = None,
    profile: DemandProfileRecord | None = None,
) -> Picture:
    """The picture of measured envelopes, and of a volume's demand over them where one is given."""
    measured = _measured(envelopes)
    sizes = [row["io_size_kib"] for row in measured] + ([] if profile is None else _sizes(profile))
    low, high = _extent(sizes)
    roofs: list[Row] = []
    for one in envelopes:
        roof = Ceiling(iops=one.iops or math.inf, throughput_mib_s=one.throughput_mib_s or math.inf)
        roofs += _roof_rows(one.name, _label(one.name, roof), roof, low, high)
    names = ", ".join(one.name for one in envelopes)
    return Picture(
        kind="roofline",
        subject=names if record is None else f"{subject(record)}, over {names}",
        title=f"What {names} carried at each I/O size",
        subtitle="IOPS over I/O size, both logarithmic; lines are fitted roofs, crosses what was measured.",
        datasets={ROOFS: roofs, LABELS: _labels(roofs), MEASURED: measured},
    )


def ceiling_roofs(kind: str, found: CeilingRecord, low: float, high: float) -> list[Row]:
    """A ceiling's roof between two I/O sizes in KiB, and the lower one that it carries for ever where they differ."""
    most = Ceiling(
        iops=_limit(found.iops), throughput_mib_s=_limit(found.throughput_mib_s), io_kib=found.io_kib or None
    )
    ever = Ceiling(
        iops=_limit(found.sustained_iops),
        throughput_mib_s=_limit(found.sustained_throughput_mib_s),
        io_kib=found.io_kib or None,
    )
    rows = _roof_rows(kind, _label(kind, most), most, low, high)
    lasting = _roof_rows(f"{kind}, for ever", _label(f"{kind}, for ever", ever), ever, low, high)
    return rows if [row["iops"] for row in rows] == [row["iops"] for row in lasting] else rows + lasting


def roofline_spec(theme: Theme, width: int = 800) -> dict[str, Any]:
    """The Vega-Lite spec of `roofline_picture` and `envelope_picture`, `width` pixels wide in all."""
    layers = [*_lines(theme), _points(theme), _crosses(theme), _names(theme)]
    chart = alt.layer(*layers).properties(width=width - FRAME_PX, height=340)
    return {**chart.to_dict(), "config": theme.config}


def _limit(figure: float | None) -> float:
    return math.inf if figure is None else figure


def _label(kind: str, roof: Ceiling) -> str:
    sides = {"IOPS": roof.iops, "MiB/s": roof.throughput_mib_s}
    return f"{kind}: " + ", ".join(f"{rate_text(side)} {unit}" for unit, side in sides.items() if math.isfinite(side))


def _roof_rows(kind: str, label: str, roof: Ceiling, low: float, high: float) -> list[Row]:
    if math.isinf(roof.at(low)):
        return []
    knees = [roof.io_kib or math.inf, roof.throughput_mib_s * KIB_PER_MIB / roof.iops]
    sizes = sorted({low, high, *(knee for knee in knees if low < knee < high)})
    return [{"kind": kind, "label": label, "io_size_kib": size, "iops": roof.at(size)} for size in sizes]


def _labels(roofs: Sequence[Row]) -> list[Row]:
    """Where each roof's label stands: at its left end, moved up where another is in the way."""
    firsts: dict[str, Row] = {}
    for row in roofs:
        firsts.setdefault(row["kind"], dict(row))
    placed: list[Row] = []
    for row in sorted(firsts.values(), key=lambda row: row["iops"]):
        if placed and row["iops"] < placed[-1]["iops"] * 1.5:
            row["iops"] = placed[-1]["iops"] * 1.5
        placed.append(row)
    return placed


def _measured(envelopes: Sequence[Envelope]) -> list[Row]:
    return [
        {
            "label": envelope.name,
            "io_size_kib": one.job.block_kib,
            "iops": served,
            "throughput_mib_s": one.served(Resource.THROUGHPUT),
            "mode": one.job.mode,
            "p99_latency_us": one.latency.at(99.0),
        }
        for envelope in envelopes
        for one in envelope.measurements
        if (served := one.served(Resource.IOPS))
    ]


def _sizes(profile: DemandProfileRecord) -> list[float]:
    pairs = [
        ("iops", "throughput_mib_s"),
        ("peak_iops", "throughput_mib_s_at_peak_iops"),
        ("iops_at_peak_throughput", "peak_throughput_mib_s"),
    ]
    return [
        row[rate] * KIB_PER_MIB / row[count]
        for row in span_rows(profile)
        for count, rate in pairs
        if row[count] and row[rate]
    ]


def _extent(sizes: Sequence[float]) -> tuple[float, float]:
    return min([_SMALLEST_KIB, *sizes]), max([_LARGEST_KIB, *sizes])


def _x() -> alt.X:
    axis = alt.Axis(title="I/O size, KiB", format=",~r", grid=False)
    return alt.X("io_size_kib", type="quantitative", scale=alt.Scale(type="log", base=2, nice=False), axis=axis)


def _y() -> alt.Y:
    axis = alt.Axis(title="IOPS", titleAngle=0, titleAlign="left", titleAnchor="end", format=",~r", minExtent=_LEFT_PX)
    return alt.Y("iops", type="quantitative", scale=alt.Scale(type="log", nice=False, padding=10), axis=axis)


def _ceiling_colour(theme: Theme) -> alt.Color:
    scale = alt.Scale(domain=list(KINDS), range=[theme.now, theme.offered, theme.hosts])
    return alt.Color("kind:N", scale=scale, legend=None)


def _lines(theme: Theme) -> list[alt.Chart]:
    line = alt.Chart(alt.NamedData(name=ROOFS)).mark_line(strokeWidth=2)
    return [line.encode(x=_x(), y=_y(), color=_ceiling_colour(theme), strokeDash=alt.StrokeDash("kind:N", legend=None))]


def _names(theme: Theme) -> alt.Chart:
    text = alt.Chart(alt.NamedData(name=LABELS)).mark_text(align="left", baseline="bottom", dx=4, dy=-3)
    return text.encode(x=_x(), y=_y(), text="label:N", color=_ceiling_colour(theme))


def _points(theme: Theme) -> alt.Chart:
    busiest = f"datum.throttled_minutes > 0 ? '{_SIGNS[2]}' : '{_SIGNS[1]}'"
    return (
        alt.Chart(alt.NamedData(name=SPANS))
        .transform_calculate(
            counts="[datum.iops, datum.peak_iops, datum.iops_at_peak_throughput]",
            rates="[datum.throughput_mib_s, datum.throughput_mib_s_at_peak_iops, datum.peak_throughput_mib_s]",
            signs=f"['{_SIGNS[0]}', {busiest}, {busiest}]",
        )
        .transform_flatten(["counts", "rates", "signs"], ["iops", "throughput_mib_s", "sign"])
        .transform_filter("datum.iops > 0 && datum.throughput_mib_s > 0")
        .transform_calculate(io_size_kib=f"datum.throughput_mib_s * {KIB_PER_MIB} / datum.iops")
        .mark_point(filled=True, size=26)
        .encode(x=_x(), y=_y(), fill=_sign_colour(theme), shape=_sign_shape())
    )


def _crosses(theme: Theme) -> alt.Chart:
    return (
        alt.Chart(alt.NamedData(name=MEASURED))
        .transform_calculate(sign=f"'{_SIGNS[3]}'")
        .mark_point(size=50)
        .encode(x=_x(), y=_y(), fill=_sign_colour(theme), shape=_sign_shape())
    )


def _sign_colour(theme: Theme) -> alt.Fill:
    colours = [theme.grid, theme.busiest, theme.throttled, theme.text]
    return alt.Fill("sign:N", scale=alt.Scale(domain=list(_SIGNS), range=colours))


def _sign_shape() -> alt.Shape:
    return alt.Shape("sign:N", scale=alt.Scale(domain=list(_SIGNS), range=["circle", "circle", "triangle-up", "cross"]))
