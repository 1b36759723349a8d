"""The picture of demand over time: IOPS and MiB/s, with the ceilings across."""

from typing import Any, Final

import altair as alt

from plimsoll.reports.charts.headlines import demand_title, rate_text, subject
from plimsoll.reports.charts.picture import SPANS, Picture, Row
from plimsoll.reports.charts.theme import Theme
from plimsoll.reports.plot import in_sight
from plimsoll.reports.profile_record import DemandProfileRecord
from plimsoll.reports.record import CeilingRecord, RecommendationRecord

LEVELS: Final = "levels"
KINDS: Final = ("now", "offered", "hosts")

_SIDES: Final = {
    "IOPS": ("iops", "read_iops", "peak_iops"),
    "MiB/s": ("throughput_mib_s", "read_throughput_mib_s", "peak_throughput_mib_s"),
}
_LEFT_PX: Final = 56
_SIGNS: Final = ("reads, mean", "writes, mean", "busiest bucket of each span")


def demand_picture(record: RecommendationRecord, profile: DemandProfileRecord) -> Picture:
    """The picture of a volume's demand over time; ceilings far above the demand are told instead of drawn."""
    levels: list[Row] = []
    above: list[str] = []
    for side, (*_, peaks) in _SIDES.items():
        highest = max((rate for rate in getattr(profile, peaks) if rate is not None), default=0.0)
        limits = _limits(record, side)
        shown, hidden = in_sight(limits, highest)
        levels += [
            {"side": side, "kind": kind, "label": f"{kind}: {rate_text(level)} {side}", "level": level}
            for kind, level in shown.items()
        ]
        above += [f"{kind} {rate_text(level)} {side}" for kind, level in hidden.items()]
    told = f" Above the picture: {', '.join(above)}." if above else ""
    return Picture(
        kind="demand",
        subject=subject(record),
        title=demand_title(record, profile),
        subtitle=f"Means of each span, and the busiest bucket that was read in it.{told}",
        datasets={LEVELS: levels},
    )


def demand_spec(theme: Theme, width: int = 800) -> dict[str, Any]:
    """The Vega-Lite spec of `demand_picture`, its panels as wide as makes the whole `width` pixels wide."""
    panels = [_panel(theme, side, width - FRAME_PX) for side in _SIDES]
    chart = alt.vconcat(*panels, _strip(theme, width - FRAME_PX), spacing=14).resolve_scale(x="shared")
    return {**chart.to_dict(), "config": theme.config}


FRAME_PX: Final = _LEFT_PX + 14
"""What a picture takes beside its panels."""


def _limits(record: RecommendationRecord, side: str) -> dict[str, float]:
    if record.ceilings is None:
        return {}
    found = {}
    for kind in KINDS:
        ceiling: CeilingRecord | None = getattr(record.ceilings, kind)
        level = None if ceiling is None else ceiling.iops if side == "IOPS" else ceiling.throughput_mib_s
        if level is not None:
            found[kind] = level
    lower = min((level for kind, level in found.items() if kind != "hosts"), default=None)
    if lower is not None and found.get("hosts", 0) > lower:
        del found["hosts"]
    return found


def _time(field: str = "edge_ms") -> alt.X:
    labels = "utchours(datum.value) == 0 ? utcFormat(datum.value, '%d %b') : utcFormat(datum.value, '%H:%M')"
    axis = alt.Axis(title=None, labelExpr=labels, tickCount=8, grid=False, labelFlush=True)
    return alt.X(field, type="temporal", scale=alt.Scale(type="utc"), axis=axis)


def _edges() -> alt.Chart:
    """Each span as two points, so that lines are steps which end where observation does."""
    return (
        alt.Chart(alt.NamedData(name=SPANS))
        .transform_calculate(edge_ms="[datum.start, datum.end - 1]")
        .transform_flatten(["edge_ms"])
    )


def _panel(theme: Theme, side: str, width: int) -> alt.LayerChart:
    total, reads, peak = _SIDES[side]
    colour = alt.Scale(domain=list(_SIGNS), range=[theme.reads, theme.writes, theme.busiest])
    axis = alt.Axis(title=None, minExtent=_LEFT_PX, maxExtent=_LEFT_PX, tickCount=5, format=",~r")

    def steps(sign: str, field: str) -> alt.Chart:
        named = _edges().transform_calculate(sign=f"'{sign}'")
        y = alt.Y(field, type="quantitative", axis=axis, stack=None)
        return named.encode(x=_time(), y=y, color=alt.Color("sign:N", scale=colour))

    low = steps(_SIGNS[0], reads).mark_area()
    high = steps(_SIGNS[1], total).mark_area().encode(y2=alt.Y2(reads))
    line = steps(_SIGNS[2], peak).mark_line(strokeWidth=1.2, strokeJoin="miter")
    layers = [_gaps(theme), low, high, line, *_levels(theme, side), _hover()]
    return alt.layer(*layers).properties(width=width, height=170, title=alt.Title(side, fontSize=12, offset=4))


def _gaps(theme: Theme) -> alt.Chart:
    return (
        alt.Chart(alt.NamedData(name=SPANS))
        .transform_filter("datum.iops === null")
        .mark_rect(color=theme.gap)
        .encode(x=_time("start"), x2="end:T")
    )


def _levels(theme: Theme, side: str) -> list[alt.Chart]:
    base = alt.Chart(alt.NamedData(name=LEVELS)).transform_filter(alt.FieldEqualPredicate(field="side", equal=side))
    level = alt.Y("level", type="quantitative")
    colours = {"now": theme.now, "offered": theme.offered, "hosts": theme.hosts}
    dashes = {"now": [1, 0], "offered": [6, 3], "hosts": [2, 2]}
    places = {"now": ("right", "width", -4), "offered": ("left", 0, 4), "hosts": ("center", "width / 2", 0)}
    layers = []
    for kind, (align, x, dx) in places.items():
        of_kind = base.transform_filter(alt.FieldEqualPredicate(field="kind", equal=kind))
        layers += [
            of_kind.mark_rule(color=colours[kind], strokeDash=dashes[kind], strokeWidth=1.5).encode(y=level),
            of_kind.mark_text(
                align=align, baseline="bottom", dx=dx, dy=-3, color=colours[kind], x=alt.ExprRef(str(x))
            ).encode(y=level, text="label:N"),
        ]
    return layers


def _hover() -> alt.Chart:
    """A pane over each span that tells its figures where a pointer rests on it."""
    when = "utcFormat(datum.start, '%a %d %b %H:%M') + ' to ' + utcFormat(datum.end, '%H:%M') + ' UTC'"
    told = {
        "read_iops": "reads, mean IOPS",
        "write_iops": "writes, mean IOPS",
        "peak_iops": "busiest bucket, IOPS",
        "read_throughput_mib_s": "reads, mean MiB/s",
        "write_throughput_mib_s": "writes, mean MiB/s",
        "peak_throughput_mib_s": "busiest bucket, MiB/s",
        "throttled_minutes": "minutes at the volume's ceiling",
        "host_bound_minutes": "minutes at the host's ceiling",
    }
    figures = [alt.Tooltip(field, type="quantitative", title=title, format=",.4~r") for field, title in told.items()]
    return (
        alt.Chart(alt.NamedData(name=SPANS))
        .transform_calculate(
            when=when,
            write_iops="datum.iops === null ? null : datum.iops - datum.read_iops",
            write_throughput_mib_s="datum.iops === null ? null : datum.throughput_mib_s - datum.read_throughput_mib_s",
        )
        .mark_rect(opacity=0)
        .encode(x=_time("start"), x2="end:T", tooltip=[alt.Tooltip("when:N", title="time"), *figures])
    )


def _strip(theme: Theme, width: int) -> alt.LayerChart:
    """Where the demand stood at a ceiling: the volume's in one row, the host's in another."""
    rows = {"volume": ("throttled_minutes", theme.throttled), "host": ("host_bound_minutes", theme.hosts)}
    axis = alt.Axis(title=None, minExtent=_LEFT_PX, maxExtent=_LEFT_PX, ticks=False, domain=False)
    layers = []
    for row, (field, colour) in rows.items():
        base = alt.Chart(alt.NamedData(name=SPANS))
        place = alt.Y("row:N", scale=alt.Scale(domain=list(rows)), axis=axis)
        layers += [
            base.transform_filter(f"datum.{field} > 0")
            .transform_calculate(row=f"'{row}'")
            .mark_rect(color=colour, height=9)
            .encode(x=_time("start"), x2="end:T", y=place, tooltip=[f"{field}:Q"]),
            base.transform_aggregate(minutes=f"sum({field})")
            .transform_calculate(row=f"'{row}'", told="datum.minutes > 0 ? '' : 'in no minute'")
            .mark_text(align="left", x=4, color=theme.muted, fontSize=11)
            .encode(y=place, text="told:N"),
        ]
    title = alt.Title("At the ceiling of the ...", fontSize=12, offset=4)
    return alt.layer(*layers).properties(width=width, height=32, title=title)
