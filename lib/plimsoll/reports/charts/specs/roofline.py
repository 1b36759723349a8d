"""How the roofline is drawn: points on the plane of I/O size and IOPS, both logarithmic, under the ceilings."""

from typing import Any, Final

import altair as alt

from plimsoll.domain.units import KIB_PER_MIB
from plimsoll.reports.charts.picture import AXIS_PX, CEILINGS, SPANS
from plimsoll.reports.charts.roofline import LABELS, MEASURED, PLANE_PX, POINTS, ROOFS, SERIES, series
from plimsoll.reports.charts.specs import log_axis
from plimsoll.reports.charts.theme import SHAPES, Theme

FRAME_PX: Final = AXIS_PX + 12
"""What the picture takes beside its plane."""
_MEAN, _BUSIEST, _THROTTLED = "mean of a span", "busiest bucket", "busiest bucket, throttled span"
_SPAN_SIGNS: Final = [_MEAN, _BUSIEST, _THROTTLED]
_ENVELOPES: Final = [series(place) for place in range(SERIES)]
_SIGNS: Final = [*_SPAN_SIGNS, MEASURED, *_ENVELOPES]
_SHAPES: Final = alt.Scale(domain=_SIGNS, range=["circle", "circle", "triangle-up", "cross", *SHAPES])
_NARROW_PX: Final = 480
"""Pictures that are less wide have their legend in one column."""


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


def _x() -> alt.X:
    axis = alt.Axis(title="I/O size, KiB", format=",~r", grid=False, titleAnchor="end")
    return alt.X("io_size_kib", type="quantitative", scale=alt.Scale(type="log", base=2, nice=False), axis=axis)


def _y() -> alt.Y:
    scale = alt.Scale(type="log", nice=False, padding=12)
    return alt.Y("iops", type="quantitative", scale=scale, axis=log_axis("IOPS"))


def _of_kind(theme: Theme) -> alt.Color:
    colors = [*theme.ceilings.values(), theme.text, *theme.series[:SERIES]]
    return alt.Color("kind:N", legend=None, scale=alt.Scale(domain=[*CEILINGS, MEASURED, *_ENVELOPES], range=colors))


def _lines(theme: Theme) -> list[alt.Chart]:
    """The roofs, the present one wide so that others show on it, and thin what is carried when credits are gone."""
    kinds = [*CEILINGS, *_ENVELOPES]
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
            counts=f"[{', '.join(f'datum.{count}' for count, _ in POINTS)}]",
            rates=f"[{', '.join(f'datum.{rate}' for _, rate in POINTS)}]",
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
