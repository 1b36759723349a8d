"""The roofline picture: demand as points on the plane of I/O size and IOPS, both logarithmic, under the ceilings."""

from collections.abc import Sequence
from typing import Any, Final

import altair as alt

from plimsoll.domain.ceiling import Resource
from plimsoll.domain.envelope import Envelope
from plimsoll.domain.units import KIB_PER_MIB
from plimsoll.reports.charts.axes import log_axis
from plimsoll.reports.charts.headlines import envelopes_title, over_title, roofline_title, subject
from plimsoll.reports.charts.picture import AXIS_PX, SPANS, Picture, Row
from plimsoll.reports.charts.roofs import (
    PLANE_PX,
    SERIES,
    ceiling_roofs,
    envelope_roofs,
    labels,
    measured_rows,
    series,
)
from plimsoll.reports.charts.theme import SHAPES, Theme
from plimsoll.reports.profile_record import DemandProfileRecord
from plimsoll.reports.record import RecommendationRecord

ROOFS: Final = "roofs"
LABELS: Final = "labels"
MEASURED: Final = "measured"
FRAME_PX: Final = AXIS_PX + 12
"""What the picture takes beside its plane."""

_WORDS: Final = {"now": "now", "offered": "offered", "hosts": "host"}
_MEAN, _BUSIEST, _THROTTLED = "mean of a span", "busiest bucket", "busiest bucket, throttled span"
_SPAN_SIGNS: Final = [_MEAN, _BUSIEST, _THROTTLED]
_ENVELOPES: Final = [series(place) for place in range(SERIES)]
_POINTS: Final = (
    ("iops", "throughput_mib_s"),
    ("most_ops_iops", "most_ops_throughput_mib_s"),
    ("most_moved_iops", "most_moved_throughput_mib_s"),
)
"""Three points of each span: its mean where that tells a size of I/O, its busiest times by operations and by MiB."""
_SIGNS: Final = [*_SPAN_SIGNS, MEASURED, *_ENVELOPES]
_SHAPES: Final = alt.Scale(domain=_SIGNS, range=["circle", "circle", "triangle-up", "cross", *SHAPES])
_NARROW_PX: Final = 480
"""Pictures that are less wide have their legend in one column."""

_FROM_KIB, _TO_KIB = 4.0, 1024.0


def roofline_picture(
    record: RecommendationRecord, profile: DemandProfileRecord, envelope: Envelope | None = None
) -> Picture:
    """The picture of a volume's demand under its ceilings, with what was measured of the offer's class."""
    measured = [] if envelope is None else measured_rows(MEASURED, envelope)
    levels, sizes_kib = _points(profile, measured)
    low_kib, high_kib = _extent(sizes_kib)
    ceilings = {kind: getattr(record.ceilings, kind, None) for kind in _WORDS}
    roofs = [
        row
        for kind, found in ceilings.items()
        if found is not None
        for row in ceiling_roofs(kind, _WORDS[kind], found, low_kib, high_kib)
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


def roofline_spec(theme: Theme, width: int, *, demand: bool = True) -> dict[str, Any]:
    """The Vega-Lite spec of `roofline_picture` and `envelope_picture`, `width` pixels wide in all: its plane is
    `FRAME_PX` less. Without `demand` it has no spans, for envelopes alone."""
    columns = 1 if width < _NARROW_PX else len(_SPAN_SIGNS) + 1
    # One spec is for every volume: the sign of what was measured is told where the datasets have such a row.
    has_crosses = f"length(data('{MEASURED}')) > 0 && data('{MEASURED}')[0].kind === '{MEASURED}'"
    signs = alt.ExprRef(f"{has_crosses} ? {[*_SPAN_SIGNS, MEASURED]} : {_SPAN_SIGNS}")
    legend = alt.Legend(values=signs, labelLimit=0, symbolSize=50, symbolOpacity=1, offset=30, columns=columns)
    points = _demand(theme, legend) if demand else []
    layers = [*_lines(theme), *_names(theme), *points, _measured(theme, legend if demand else None)]
    chart = alt.LayerChart(layer=layers, width=width - FRAME_PX, height=PLANE_PX)
    return {**chart.to_dict(validate=False), "config": theme.config}


def _points(profile: DemandProfileRecord | None, measured: Sequence[Row]) -> tuple[list[float], list[float]]:
    """The IOPS and the I/O sizes in KiB that the plane has to hold: of what was measured, and of the spans' points as
    the spec's own transforms make them."""
    levels = [row["iops"] for row in measured]
    sizes_kib = [row["io_size_kib"] for row in measured]
    if profile is None:
        return levels, sizes_kib
    for count, rate in _POINTS:
        is_mean = (count, rate) == _POINTS[0]
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


def _x() -> alt.X:
    axis = alt.Axis(title="I/O size, KiB", format=",~r", grid=False, titleAnchor="end")
    return alt.X("io_size_kib", type="quantitative", scale=alt.Scale(type="log", base=2, nice=False), axis=axis)


def _y() -> alt.Y:
    scale = alt.Scale(type="log", nice=False, padding=12)
    return alt.Y("iops", type="quantitative", scale=scale, axis=log_axis("IOPS"))


def _of_kind(theme: Theme) -> alt.Color:
    colors = [*theme.ceilings.values(), theme.text, *theme.series[:SERIES]]
    return alt.Color("kind:N", legend=None, scale=alt.Scale(domain=[*_WORDS, MEASURED, *_ENVELOPES], range=colors))


def _lines(theme: Theme) -> list[alt.Chart]:
    """The roofs, the present one wide so that others show on it, and thin what is carried when credits are gone."""
    kinds = [*_WORDS, *_ENVELOPES]
    further: list[list[float]] = [[1, 0], [7, 3], [2, 2], [9, 3, 2, 3]]
    dashes = [*theme.dashes.values(), *further * (SERIES // len(further))]
    widths = [4, 2, 2, *[2] * SERIES]
    stroke = alt.StrokeDash("kind:N", legend=None, scale=alt.Scale(domain=kinds, range=dashes))
    lines: list[alt.Chart] = []
    for lasting in ("true", "false"):
        roofs = alt.Chart(alt.NamedData(name=ROOFS)).transform_filter(f"datum.lasting === {lasting}")
        line = roofs.mark_line(clip=True).encode(x=_x(), y=_y(), color=_of_kind(theme), detail="label:N")
        width = alt.StrokeWidth("kind:O", legend=None, scale=alt.Scale(domain=kinds, range=widths))
        thin = alt.StrokeWidthValue(1)
        lines.append(line.encode(strokeDash=stroke, strokeWidth=width if lasting == "false" else thin))
    return lines


def _names(theme: Theme) -> list[alt.Chart]:
    layers: list[alt.Chart] = []
    for below, baseline, dy in (("false", "bottom", -4), ("true", "top", 5)):
        labels_ = alt.Chart(alt.NamedData(name=LABELS)).transform_filter(f"datum.below === {below}")
        base = labels_.encode(x=_x(), y=_y(), text="label:N")
        label: dict[str, Any] = {"align": "left", "baseline": baseline, "dx": 4, "dy": dy}
        halo: alt.Chart = base.mark_text(**label, stroke=theme.background, strokeWidth=3, strokeJoin="round")
        layers += [halo, base.mark_text(**label).encode(color=_of_kind(theme))]
    return layers


def _demand(theme: Theme, legend: alt.Legend) -> list[alt.Chart]:
    """The three points of each span, the means first so that the busiest lie above them."""
    busiest = f"datum.throttled_minutes > 0 ? '{_THROTTLED}' : '{_BUSIEST}'"
    told = [
        alt.Tooltip("when:N", title="span from"),
        alt.Tooltip("sign:N", title="point"),
        alt.Tooltip("iops:Q", title="IOPS", format=",.4~r"),
        alt.Tooltip("throughput_mib_s:Q", title="MiB/s", format=",.4~r"),
        alt.Tooltip("io_size_kib:Q", title="I/O size, KiB", format=",.3~r"),
        alt.Tooltip("throttled_minutes:Q", title="minutes throttled in the span", format=",.4~r"),
    ]
    points = (
        alt.Chart(alt.NamedData(name=SPANS))
        .transform_calculate(
            when="utcFormat(datum.start, '%a %d %b %H:%M') + ' UTC'",
            counts=f"[{', '.join(f'datum.{count}' for count, _ in _POINTS)}]",
            rates=f"[{', '.join(f'datum.{rate}' for _, rate in _POINTS)}]",
            signs=f"['{_MEAN}', {busiest}, {busiest}]",
        )
        .transform_flatten(["counts", "rates", "signs"], ["iops", "throughput_mib_s", "sign"])
        .transform_filter(f"datum.iops > 0 && datum.throughput_mib_s > 0 && (datum.sized || datum.sign !== '{_MEAN}')")
        .transform_calculate(io_size_kib=f"datum.throughput_mib_s * {KIB_PER_MIB} / datum.iops")
    )
    colors = alt.Scale(
        domain=_SIGNS, range=[theme.muted, theme.busiest, theme.throttled, theme.text, *theme.series[:SERIES]]
    )
    layers: list[alt.Chart] = []
    for mean, size, opacity in ((True, 10, 0.45), (False, 24, 0.8)):
        of_sign = points.transform_filter(f"(datum.sign === '{_MEAN}') === {str(mean).lower()}")
        layers.append(
            of_sign.mark_point(filled=True, size=size, opacity=opacity).encode(
                x=_x(),
                y=_y(),
                fill=alt.Fill("sign:N", legend=legend, scale=colors),
                shape=alt.Shape("sign:N", legend=legend, scale=_SHAPES),
                tooltip=told,
            )
        )
    return layers


def _measured(theme: Theme, legend: alt.Legend | None) -> alt.Chart:
    """The measurements; their shapes share a scale with the spans' points, and so its legend."""
    told = [
        alt.Tooltip("label:N", title="measured on"),
        alt.Tooltip("mode:N", title="mode"),
        alt.Tooltip("io_size_kib:Q", title="I/O size, KiB", format=",~r"),
        alt.Tooltip("iops:Q", title="IOPS", format=",.4~r"),
        alt.Tooltip("throughput_mib_s:Q", title="MiB/s", format=",.4~r"),
        alt.Tooltip("p99_latency_us:Q", title="p99 latency, us", format=",.4~r"),
    ]
    chart: alt.Chart = (
        alt.Chart(alt.NamedData(name=MEASURED))
        .mark_point(size=60, strokeWidth=1.6)
        .encode(
            x=_x(),
            y=_y(),
            color=_of_kind(theme),
            shape=alt.Shape("kind:N", legend=legend, scale=_SHAPES),
            tooltip=told,
        )
    )
    return chart
