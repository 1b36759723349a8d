"""How demand over time is drawn: IOPS above MiB/s, with the ceilings across, and where they were reached."""

from typing import Any, Final

import altair as alt

from plimsoll.reports.charts.demand import LEVELS, SIDES
from plimsoll.reports.charts.headlines import Side
from plimsoll.reports.charts.picture import AXIS_PX, SPANS
from plimsoll.reports.charts.specs import UPRIGHT
from plimsoll.reports.charts.theme import Theme

FRAME_PX: Final = AXIS_PX + 12
"""What the picture takes beside its panels."""
_READS, _WRITES, _BUSIEST = "reads, mean", "writes, mean", "busiest bucket"


def demand_spec(theme: Theme, width: int) -> dict[str, Any]:
    """The Vega-Lite spec of `demand_picture`, `width` pixels wide in all: its panels are `FRAME_PX` less."""
    panels = [_panel(theme, side, width - FRAME_PX) for side in SIDES]
    chart = alt.VConcatChart(vconcat=[*panels, _strip(theme, width - FRAME_PX)], spacing=12)
    return {**chart.resolve_scale(x="shared").to_dict(validate=False), "config": theme.config}


def _spans() -> alt.Chart:
    return alt.Chart(alt.NamedData(name=SPANS))


def _time(field: str, *, labels: bool = False) -> alt.X:
    written = "utchours(datum.value) == 0 ? utcFormat(datum.value, '%d %b') : utcFormat(datum.value, '%H:%M')"
    axis = alt.Axis(title=None, labelExpr=written, tickCount=8, labels=labels, ticks=labels, domain=labels)
    return alt.X(field, type="temporal", scale=alt.Scale(type="utc"), axis=axis)


def _panel(theme: Theme, side: Side, width: int) -> alt.LayerChart:
    total, reads, peak = SIDES[side]
    layers = [
        _gaps(theme),
        _steps(theme, _READS, reads).mark_area(),
        _steps(theme, _WRITES, total).mark_area().encode(y2=alt.Y2(reads)),
        _steps(theme, _BUSIEST, peak).mark_line(strokeWidth=1.2, strokeJoin="miter"),
        *_levels(theme, side),
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


def _pane() -> alt.Chart:
    """A pane over each span that tells its figures where a pointer rests on it."""
    moment = "'%a %d %b %H:%M'"
    when = f"utcFormat(datum.start, {moment}) + ' to ' + utcFormat(datum.end, {moment}) + ' UTC'"
    told = {
        "read_iops": "reads, mean IOPS",
        "write_iops": "writes, mean IOPS",
        "peak_iops": "busiest bucket, IOPS",
        "read_throughput_mib_s": "reads, mean MiB/s",
        "write_throughput_mib_s": "writes, mean MiB/s",
        "peak_throughput_mib_s": "busiest bucket, MiB/s",
        "throttled_minutes": "minutes throttled by the volume",
        "host_bound_minutes": "minutes throttled by the host",
    }
    figures = [alt.Tooltip(field, type="quantitative", title=title, format=",.4~r") for field, title in told.items()]
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
    """Where the demand stood at a ceiling: the volume's in one row, the host's in another."""
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
