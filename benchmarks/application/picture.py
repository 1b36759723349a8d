"""The picture of predicted and measured transactions: rooflines, what was measured on them, and what is left over."""

import textwrap
from collections.abc import Sequence
from typing import Any, Final

import altair as alt

from benchmarks.application.roofline import Prediction, load, predictions, typical_pct
from plimsoll.reports.charts.pictures import AXIS_PX, Row
from plimsoll.reports.charts.render import to_svg
from plimsoll.reports.charts.specs import UPRIGHT, log_axis
from plimsoll.reports.charts.theme import LIGHT, SHAPES, WIDTH_PX

RUNS: Final = "runs"
_SUBTITLE: Final = (
    "Lines are predicted and marks are measured. InnoDB under sysbench-tpcc for an hour, Percona 2018. Filled marks "
    "are the two runs that the prediction was fitted to."
)
_SUBTITLE_PX: Final = 6.3
_HIGH_PX, _LOW_PX = 280, 120
_LEGEND: Final = alt.Legend(labelLimit=0, symbolOpacity=1)
_IOPS: Final = (2000, 5000, 10_000, 20_000)


def spec() -> dict[str, Any]:
    """The Vega-Lite spec of the campaign's picture."""
    found = predictions(load())
    names = list(dict.fromkeys(one.sweep.name for one in found))
    width = WIDTH_PX - AXIS_PX - 12
    chart = alt.VConcatChart(
        vconcat=[_rooflines(names).properties(width=width, height=_HIGH_PX), _residuals(names, width)], spacing=18
    )
    title, lines = _title(found, names), textwrap.wrap(_SUBTITLE, int(WIDTH_PX / _SUBTITLE_PX))
    return {
        **chart.to_dict(validate=False),
        "config": LIGHT.config,
        "title": {"text": title, "subtitle": lines},
        "description": f"{title}. {_SUBTITLE}",
        "datasets": {RUNS: [_row(one) for one in found]},
    }


def draw() -> str:
    """The picture as SVG."""
    return to_svg(spec())


def _title(found: Sequence[Prediction], names: Sequence[str]) -> str:
    off = ", ".join(f"{typical_pct(found, name):.0f} % on {name}" for name in names)
    return f"Half of the predictions are within {off}"


def _row(one: Prediction) -> Row:
    return {
        "sweep": one.sweep.name,
        "figure": f"{one.sweep.figure(one.run):,} {one.sweep.by}",
        "iops": one.ceiling.iops,
        "predicted": one.tps,
        "measured": one.run.tps,
        "residual_pct": one.residual_pct,
        "fitted": one.fitted,
    }


def _base(names: Sequence[str]) -> alt.Chart:
    return alt.Chart(alt.NamedData(name=RUNS)).encode(
        color=alt.Color("sweep", type="nominal", legend=_LEGEND, scale=_scale(names, LIGHT.series)),
        tooltip=[
            alt.Tooltip("sweep", type="nominal", title="sweep"),
            alt.Tooltip("figure", type="nominal", title="each volume"),
            alt.Tooltip("predicted", type="quantitative", format=",.0f"),
            alt.Tooltip("measured", type="quantitative", format=",.0f"),
            alt.Tooltip("residual_pct", type="quantitative", title="residual, %", format="+.1f"),
        ],
    )


def _scale(names: Sequence[str], signs: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=list(names), range=list(signs[: len(names)]))


def _x(title: str | None) -> alt.X:
    axis = alt.Axis(title=title, titleAnchor="end", values=list(_IOPS), format=",~r", labels=title is not None)
    return alt.X("iops", type="quantitative", scale=alt.Scale(type="log", nice=False, padding=10), axis=axis)


def _marks(base: alt.Chart, names: Sequence[str]) -> alt.Chart:
    marks: alt.Chart = base.mark_point(filled=True, size=55, opacity=1, strokeWidth=1.6).encode(
        shape=alt.Shape("sweep", type="nominal", legend=_LEGEND, scale=_scale(names, SHAPES[1:])),
        stroke=alt.Stroke("sweep", type="nominal", legend=_LEGEND, scale=_scale(names, LIGHT.series)),
        fillOpacity=alt.condition("datum.fitted", alt.value(1), alt.value(0)),
    )
    return marks


def _rooflines(names: Sequence[str]) -> alt.LayerChart:
    base = _base(names)
    scale = alt.Scale(type="log", nice=False, padding=10)
    axis = log_axis("transactions a second")
    y = {field: alt.Y(field, type="quantitative", scale=scale, axis=axis) for field in ("predicted", "measured")}
    line = base.mark_line(strokeWidth=1.8).encode(x=_x(None), y=y["predicted"])
    return alt.LayerChart(layer=[line, _marks(base, names).encode(x=_x(None), y=y["measured"])])


def _residuals(names: Sequence[str], width: int) -> alt.LayerChart:
    base = _base(names)
    axis = alt.Axis(title=None, tickCount=5, format="+d", **UPRIGHT)
    marks = _marks(base, names).encode(
        x=_x("IOPS of the volumes, as published"), y=alt.Y("residual_pct", type="quantitative", axis=axis)
    )
    zero = (
        alt.Chart(alt.InlineData(values=[{"zero": 0}]))
        .mark_rule(color=LIGHT.muted)
        .encode(y=alt.Y("zero", type="quantitative"))
    )
    title = alt.Title("residual, % of what was measured (above zero: predicted too much)", fontSize=12, offset=6)
    return alt.LayerChart(layer=[zero, marks], title=title, width=width, height=_LOW_PX)
