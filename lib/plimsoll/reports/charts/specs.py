"""The drawings of demand over time and of the roofline in Altair's words, and the axes that all pictures share."""

from typing import Any, Final

import altair as alt

from plimsoll.model.units import KIB_PER_MIB
from plimsoll.reports.charts.demand import EPOCHS, FORMER, LEVELS, SIDE_FIELDS
from plimsoll.reports.charts.pictures import AXIS_PX, CEILINGS, SPANS, SideName
from plimsoll.reports.charts.roofline import LABELS, MEASURED, MOST_ENVELOPES, PLANE_PX, POINTS, ROOFS, series
from plimsoll.reports.charts.theme import SHAPES, Theme

FRAME_PX: Final = AXIS_PX + 12
"""What a picture takes beside its panels."""

UPRIGHT: Final[dict[str, Any]] = {"ticks": False, "minExtent": AXIS_PX, "maxExtent": AXIS_PX}
"""What makes upright axes as wide as each other, so that panels line up and pictures are as wide as asked."""

_READS, _WRITES, _BUSIEST = "reads, mean", "writes, mean", "busiest bucket"

_MEAN, _PEAK, _THROTTLED = "mean of a span", "busiest bucket", "busiest bucket, throttled span"
_SPAN_SIGNS: Final = [_MEAN, _PEAK, _THROTTLED]
_ENVELOPES: Final = [series(place) for place in range(MOST_ENVELOPES)]
_SIGNS: Final = [*_SPAN_SIGNS, MEASURED, *_ENVELOPES]
_SHAPES: Final = alt.Scale(domain=_SIGNS, range=["circle", "circle", "triangle-up", "cross", *SHAPES])
_LEAST_NAME_PX: Final = 24
"""Epochs with less room have no name."""

_NARROW_PX: Final = 480
"""Pictures that are less wide have their legend in one column."""


def log_axis(title: str | None) -> alt.Axis:
    """An upright logarithmic axis with lines at 1, 2 and 5 of each decade, and its title above it."""
    is_round = "indexof('125', format(datum.value, '.0e')[0]) >= 0"
    above: dict[str, Any] = (
        {"titleAngle": 0, "titleAnchor": "end", "titleAlign": "left", "titleX": 0, "titleY": -8} if title else {}
    )
    return alt.Axis(
        title=title,
        titleFontWeight="bold",
        labelExpr=f"{is_round} ? format(datum.value, ',~r') : ''",
        gridOpacity={"condition": {"test": is_round, "value": 1}, "value": 0},
        labelOverlap="greedy",
        labelBound=True,
        **UPRIGHT,
        **above,
    )


def demand_spec(theme: Theme, width: int) -> dict[str, Any]:
    """The Vega-Lite spec of `demand_picture`, `width` pixels wide in all: its panels are `FRAME_PX` less."""
    panels = [_panel(theme, side, width - FRAME_PX) for side in SIDE_FIELDS]
    strips = [_epochs(theme, width - FRAME_PX), _strip(theme, width - FRAME_PX)]
    chart = alt.VConcatChart(vconcat=[*panels, *strips], spacing=12)
    return {**chart.resolve_scale(x="shared").to_dict(validate=False), "config": theme.config}


def _spans() -> alt.Chart:
    return alt.Chart(alt.NamedData(name=SPANS))


def _time(field: str, *, labels: bool = False) -> alt.X:
    written = "utchours(datum.value) == 0 ? utcFormat(datum.value, '%d %b') : utcFormat(datum.value, '%H:%M')"
    axis = alt.Axis(title=None, labelExpr=written, tickCount=8, labels=labels, ticks=labels, domain=labels)
    return alt.X(field, type="temporal", scale=alt.Scale(type="utc"), axis=axis)


def _panel(theme: Theme, side: SideName, width: int) -> alt.LayerChart:
    total, reads, peak = SIDE_FIELDS[side]
    layers = [
        _gaps(theme),
        _steps(theme, _READS, reads).mark_area(),
        _steps(theme, _WRITES, total).mark_area().encode(y2=alt.Y2(reads)),
        _steps(theme, _BUSIEST, peak).mark_line(strokeWidth=1.2, strokeJoin="miter"),
        *_levels(theme, side),
        _former(theme, side),
        _pane(),
    ]
    title = alt.Title(side, fontSize=12, offset=6)
    return alt.LayerChart(layer=layers, width=width, height=160, title=title)


def _steps(theme: Theme, sign: str, field: str) -> alt.Chart:
    """Each span as two points, so that lines are steps, and end where observation does."""
    scale = alt.Scale(domain=[_READS, _WRITES, _BUSIEST], range=[theme.reads, theme.writes, theme.busiest])
    chart: alt.Chart = (
        _spans()
        .transform_calculate(edge_ms="[datum.start, datum.end - 1]", sign=f"'{sign}'")
        .transform_flatten(["edge_ms"])
        .encode(
            x=_time("edge_ms"),
            y=alt.Y(
                field, type="quantitative", stack=None, axis=alt.Axis(title=None, tickCount=4, format=",~r", **UPRIGHT)
            ),
            color=alt.Color("sign:N", scale=scale),
        )
    )
    return chart


def _gaps(theme: Theme) -> alt.Chart:
    unseen = _spans().transform_filter("datum.iops === null")
    chart: alt.Chart = unseen.mark_rect(color=theme.gap, stroke=theme.gap).encode(x=_time("start"), x2="end:T")
    return chart


def _levels(theme: Theme, side: str) -> list[alt.Chart]:
    """The ceilings as lines, labeled at ends of their own so that equal ones can be read; thin what is carried for
    ever where credits carry more for a while."""
    base = alt.Chart(alt.NamedData(name=LEVELS)).transform_filter(alt.FieldEqualPredicate(field="side", equal=side))
    y = alt.Y("level", type="quantitative")
    room: alt.Chart = base.transform_calculate(level="datum.level * 1.12").mark_point(opacity=0).encode(y=y)
    places = {
        "now": ("right", "width", -4),
        "offered": ("left", "0", 4),
        "hosts": ("center", "width / 2", 0),
    }
    layers = [room]
    for kind, (align, x, dx) in places.items():
        of_kind = base.transform_filter(alt.FieldEqualPredicate(field="kind", equal=kind))
        color = theme.ceilings[kind]
        width = alt.ExprRef("datum.lasting ? 1 : 1.8")
        rule = of_kind.mark_rule(color=color, strokeDash=theme.dashes[kind], strokeWidth=width)
        label: dict[str, Any] = {
            "align": align,
            "baseline": alt.ExprRef("datum.below ? 'top' : 'bottom'"),
            "x": alt.ExprRef(x),
            "dx": dx,
            "dy": alt.ExprRef("datum.below ? 4 : -3"),
        }
        halo = of_kind.mark_text(**label, stroke=theme.background, strokeWidth=3, strokeJoin="round")
        text = of_kind.mark_text(**label, color=color)
        layers += [rule.encode(y=y), halo.encode(y=y, text="label:N"), text.encode(y=y, text="label:N")]
    return layers


def _former(theme: Theme, side: str) -> alt.Chart:
    """The ceilings of earlier epochs, each across its own time."""
    of_side = alt.FieldEqualPredicate(field="side", equal=side)
    base = alt.Chart(alt.NamedData(name=FORMER)).transform_filter(of_side)
    chart: alt.Chart = base.mark_rule(color=theme.now, strokeDash=theme.dashes["now"], strokeWidth=1.8).encode(
        x=_time("start"), x2="end:T", y=alt.Y("level", type="quantitative")
    )
    return chart


def _epochs(theme: Theme, width: int) -> alt.LayerChart:
    """The volume's configurations over time, side by side; a name is cut to its room."""
    base = alt.Chart(alt.NamedData(name=EPOCHS)).encode(
        x=_time("start"), y=alt.Y("row:N", axis=alt.Axis(title=None, domain=False, **UPRIGHT))
    )
    tooltip = [
        alt.Tooltip("label:N", title="the volume was"),
        alt.Tooltip("throttled_minutes:Q", title="minutes throttled", format=",.4~r"),
    ]
    fill = alt.condition("datum.even", alt.value(theme.gap), alt.value(theme.grid))
    room = "scale('x', datum.end) - scale('x', datum.start) - 6"
    named = base.transform_calculate(row="'was'")
    shade = named.mark_rect(height=18, stroke=theme.background, strokeWidth=2).encode(
        x2="end:T", color=fill, tooltip=tooltip
    )
    name = named.mark_text(
        align="left",
        dx=3,
        limit=alt.ExprRef(f"max(1, {room})"),
        opacity=alt.ExprRef(f"{room} < {_LEAST_NAME_PX} ? 0 : 1"),
        color=theme.text,
    ).encode(text="label:N")
    return alt.LayerChart(layer=[shade, name], width=width, height=20)


def _pane() -> alt.Chart:
    """A pane over each span that tells its figures where a pointer rests on it."""
    moment = "'%a %d %b %H:%M'"
    when = f"utcFormat(datum.start, {moment}) + ' to ' + utcFormat(datum.end, {moment}) + ' UTC'"
    titles = {
        "read_iops": "reads, mean IOPS",
        "write_iops": "writes, mean IOPS",
        "peak_iops": "busiest bucket, IOPS",
        "read_throughput_mib_s": "reads, mean MiB/s",
        "write_throughput_mib_s": "writes, mean MiB/s",
        "peak_throughput_mib_s": "busiest bucket, MiB/s",
        "throttled_minutes": "minutes throttled by the volume",
        "host_bound_minutes": "minutes throttled by the host",
    }
    figures = [alt.Tooltip(field, type="quantitative", title=title, format=",.4~r") for field, title in titles.items()]
    chart: alt.Chart = (
        _spans()
        .transform_calculate(
            when=when,
            write_iops="datum.iops === null ? null : datum.iops - datum.read_iops",
            write_throughput_mib_s="datum.iops === null ? null : datum.throughput_mib_s - datum.read_throughput_mib_s",
        )
        .mark_rect(opacity=0)
        .encode(x=_time("start"), x2="end:T", tooltip=[alt.Tooltip("when:N", title="time"), *figures])
    )
    return chart


def _strip(theme: Theme, width: int) -> alt.LayerChart:
    """The time in which the demand stood at a ceiling: the volume's in one row, the host's in another."""
    rows = {"volume": ("throttled_minutes", theme.throttled), "host": ("host_bound_minutes", theme.hosts)}
    layers: list[alt.Chart] = []
    for row, (field, color) in rows.items():
        named = f"'{row}'"
        place = alt.Y("row:N", scale=alt.Scale(domain=list(rows)), axis=alt.Axis(title=None, domain=False, **UPRIGHT))
        minutes = alt.Tooltip(field, type="quantitative", title=f"minutes throttled by the {row}", format=",.4~r")
        reached = _spans().transform_filter(f"datum.{field} > 0").transform_calculate(row=named)
        layers.append(
            reached.mark_rect(color=color, height=10).encode(
                x=_time("start", labels=True), x2="end:T", y=place, tooltip=[minutes]
            )
        )
        total = f"all_{field}"  # a name of its own: Vega-Lite merges aggregates of one name
        summed = alt.AggregatedFieldDef.from_dict({"op": "sum", "field": field, "as": total})
        never = _spans().transform_aggregate([summed]).transform_filter(f"datum.{total} == 0")
        text = never.transform_calculate(row=named, told="'never'").mark_text(align="left", x=4, color=theme.muted)
        layers.append(text.encode(y=place, text="told:N"))
    title = alt.Title("Throttled by the", fontSize=12, offset=4)
    return alt.LayerChart(layer=layers, width=width, height=34, title=title)


def roofline_spec(theme: Theme, width: int, *, demand: bool = True) -> dict[str, Any]:
    """The Vega-Lite spec of `roofline_picture` and `envelope_picture`, `width` pixels wide in all: its plane is
    `FRAME_PX` less. Without `demand` it has no spans, for envelopes alone."""
    columns = 1 if width < _NARROW_PX else len(_SPAN_SIGNS) + 1
    # One spec is for every volume: the sign of what was measured is told where the datasets have such a row.
    has_crosses = f"length(data('{MEASURED}')) > 0 && data('{MEASURED}')[0].kind === '{MEASURED}'"
    signs = alt.ExprRef(f"{has_crosses} ? {[*_SPAN_SIGNS, MEASURED]} : {_SPAN_SIGNS}")
    legend = alt.Legend(values=signs, labelLimit=0, symbolSize=50, symbolOpacity=1, offset=30, columns=columns)
    points = _demand(theme, legend) if demand else []
    layers = [*_lines(theme), *_names(theme), *points, _measurement_points(theme, legend if demand else None)]
    chart = alt.LayerChart(layer=layers, width=width - FRAME_PX, height=PLANE_PX)
    return {**chart.to_dict(validate=False), "config": theme.config}


def _x() -> alt.X:
    axis = alt.Axis(title="I/O size, KiB", format=",~r", grid=False, titleAnchor="end")
    return alt.X("io_size_kib", type="quantitative", scale=alt.Scale(type="log", base=2, nice=False), axis=axis)


def _y() -> alt.Y:
    scale = alt.Scale(type="log", nice=False, padding=12)
    return alt.Y("iops", type="quantitative", scale=scale, axis=log_axis("IOPS"))


def _kind_color(theme: Theme) -> alt.Color:
    colors = [*theme.ceilings.values(), theme.text, *theme.series[:MOST_ENVELOPES]]
    return alt.Color("kind:N", legend=None, scale=alt.Scale(domain=[*CEILINGS, MEASURED, *_ENVELOPES], range=colors))


def _lines(theme: Theme) -> list[alt.Chart]:
    """The roofs: the present one wide so that others show on it, the sustained ones thin."""
    kinds = [*CEILINGS, *_ENVELOPES]
    further: list[list[float]] = [[1, 0], [7, 3], [2, 2], [9, 3, 2, 3]]
    dashes = [*theme.dashes.values(), *further * (MOST_ENVELOPES // len(further))]
    widths = [4, 2, 2, *[2] * MOST_ENVELOPES]
    stroke = alt.StrokeDash("kind:N", legend=None, scale=alt.Scale(domain=kinds, range=dashes))
    lines: list[alt.Chart] = []
    for lasting in ("true", "false"):
        roofs = alt.Chart(alt.NamedData(name=ROOFS)).transform_filter(f"datum.lasting === {lasting}")
        line = roofs.mark_line(clip=True).encode(x=_x(), y=_y(), color=_kind_color(theme), detail="label:N")
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
        layers += [halo, base.mark_text(**label).encode(color=_kind_color(theme))]
    return layers


def _demand(theme: Theme, legend: alt.Legend) -> list[alt.Chart]:
    """The three points of each span, the means first so that the busiest lie above them."""
    busiest = f"datum.throttled_minutes > 0 ? '{_THROTTLED}' : '{_PEAK}'"
    tooltip = [
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
        domain=_SIGNS, range=[theme.muted, theme.busiest, theme.throttled, theme.text, *theme.series[:MOST_ENVELOPES]]
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
                tooltip=tooltip,
            )
        )
    return layers


def _measurement_points(theme: Theme, legend: alt.Legend | None) -> alt.Chart:
    """The measurements; their shapes share a scale with the spans' points, and so its legend."""
    tooltip = [
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
            color=_kind_color(theme),
            shape=alt.Shape("kind:N", legend=legend, scale=_SHAPES),
            tooltip=tooltip,
        )
    )
    return chart
