"""How envelopes are drawn beside each other: IOPS, MiB/s and latency over I/O size, a row for each kind of I/O."""

from collections.abc import Sequence
from typing import Any, Final

import altair as alt

from plimsoll.reports.charts.comparison import FIGURES, RESULTS, kinds_of_work, some
from plimsoll.reports.charts.picture import AXIS_PX, Row
from plimsoll.reports.charts.specs.shared_axes import UPRIGHT, log_axis
from plimsoll.reports.charts.theme import SHAPES, Theme

_STATISTICS: Final = {
    "p50": [1, 0],
    "mean": [7, 3],
    "p99": [2, 2],
    "p50, at most": [9, 3, 2, 3],
    "p99, at most": [5, 2, 1, 2],
    "at most": [12, 4],
}
_LEGEND: Final = alt.Legend(labelLimit=0, columns=3, symbolOpacity=1)
_FAR_APART: Final = 10
_BETWEEN_PX: Final = 14
_HIGH_PX, _LOW_PX = 250, 150


def comparison_spec(theme: Theme, rows: Sequence[Row], width: int) -> dict[str, Any]:
    """The Vega-Lite spec of `comparison_picture` for its results, `width` pixels wide in all."""
    works = kinds_of_work(rows)
    figures = [figure for figure in FIGURES if any(row["figure"] == figure for row in rows)]
    frame_px = len(figures) * AXIS_PX + (len(figures) - 1) * _BETWEEN_PX + 12
    size = {"width": (width - frame_px) // max(1, len(figures)), "height": _HIGH_PX if len(works) == 1 else _LOW_PX}
    panels = [
        alt.HConcatChart(
            hconcat=[_panel(theme, rows, work, figure).properties(**size) for figure in figures],
            spacing=_BETWEEN_PX + AXIS_PX,
            bounds="flush",
        )
        for work in works
    ]
    return {**alt.VConcatChart(vconcat=panels, spacing=_BETWEEN_PX).to_dict(validate=False), "config": theme.config}


def _panel(theme: Theme, rows: Sequence[Row], work: str, figure: str) -> alt.LayerChart:
    base = (
        alt.Chart(alt.NamedData(name=RESULTS))
        .transform_filter(alt.FieldEqualPredicate(field="work", equal=work))
        .transform_filter(alt.FieldEqualPredicate(field="figure", equal=figure))
        .encode(x=_x(rows), y=_y(rows, work, figure), color=_color(theme, rows), tooltip=_told(figure))
    )
    dash = alt.StrokeDash(
        "statistic:N",
        scale=alt.Scale(domain=list(_STATISTICS), range=list(_STATISTICS.values())),
        legend=alt.Legend(values=[name for name in _STATISTICS if some(rows, statistic=name)], symbolSize=600),
    )
    detail = ["envelope:N", "mode:N", "load:N", "statistic:N"]
    line = base.mark_line(strokeWidth=1.8).encode(detail=detail)
    hollow = alt.condition("slice(datum.statistic, 0, 3) === 'p99'", alt.value(0), alt.value(1))
    point = base.mark_point(filled=True, size=45, opacity=1, strokeWidth=1.2).encode(
        shape=_shape(rows),
        fillOpacity=hollow,
        stroke=alt.Stroke("envelope:N", legend=_LEGEND, scale=_series(theme, rows)),
    )
    title = FIGURES[figure] if len(kinds_of_work(rows)) == 1 else f"{work}, {FIGURES[figure]}"
    layers = [line.encode(strokeDash=dash) if figure == "latency_us" else line, point]
    return alt.LayerChart(layer=layers, title=alt.Title(title, fontSize=12, offset=6))


def _names(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["envelope"] for row in rows))


def _color(theme: Theme, rows: Sequence[Row]) -> alt.Color:
    return alt.Color("envelope:N", legend=_LEGEND, scale=_series(theme, rows))


def _series(theme: Theme, rows: Sequence[Row]) -> alt.Scale:
    return alt.Scale(domain=_names(rows), range=list(theme.series))


def _shape(rows: Sequence[Row]) -> alt.Shape:
    return alt.Shape("envelope:N", legend=_LEGEND, scale=alt.Scale(domain=_names(rows), range=list(SHAPES)))


def _x(rows: Sequence[Row]) -> alt.X:
    sizes = sorted({row["io_size_kib"] for row in rows})
    axis = alt.Axis(title="I/O size, KiB", titleAnchor="end", values=sizes, format=",~r", labelOverlap="greedy")
    domain = [sizes[0] / 2, sizes[-1] * 2] if len(sizes) == 1 else [sizes[0], sizes[-1]]
    scale = alt.Scale(type="log", base=2, nice=False, domain=domain, padding=8)
    return alt.X("io_size_kib", type="quantitative", scale=scale, axis=axis)


def _y(rows: Sequence[Row], work: str, figure: str) -> alt.Y:
    """From zero on, or logarithmic where the figures of the panel are far apart."""
    values = [row["value"] for row in rows if (row["work"], row["figure"]) == (work, figure)]
    if values and max(values) <= _FAR_APART * min(values):
        axis = alt.Axis(title=None, tickCount=4, format=",~r", **UPRIGHT)
        return alt.Y(
            "value", type="quantitative", scale=alt.Scale(domain=[0, max(values) * 1.08], nice=False), axis=axis
        )
    return alt.Y("value", type="quantitative", scale=alt.Scale(type="log", nice=False, padding=10), axis=log_axis(None))


def _told(figure: str) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("envelope:N", title="envelope"),
        alt.Tooltip("mode:N", title="mode"),
        alt.Tooltip("io_size_kib:Q", title="I/O size, KiB", format=",~r"),
        alt.Tooltip("load:N", title="load"),
        alt.Tooltip("value:Q", title=FIGURES[figure], format=",.4~r"),
        *([alt.Tooltip("statistic:N", title="statistic")] if figure == "latency_us" else []),
    ]
