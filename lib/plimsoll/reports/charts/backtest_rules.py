"""The picture of rules: what each saves against the minutes that it throttles."""

from collections.abc import Sequence
from typing import Any, Final

import altair as alt

from plimsoll.reports.charts.pictures import Row
from plimsoll.reports.charts.theme import SHAPES, Theme

ROWS: Final = "rules"
"""Rows of `rule`, `level` (what is promised, as text), `saving_pct` and `minutes`. `is_curve`: the rule has many
levels, `label` is what is written beside one."""

_HEIGHT_PX: Final = 260
_SPARE_PX: Final = 90


def tradeoff_spec(rows: Sequence[Row], theme: Theme, width: int, *, title: str) -> dict[str, Any]:
    """The complete Vega-Lite spec: a line for each rule that has levels, a point for each that has none."""
    names = list(dict.fromkeys(row["rule"] for row in rows))
    color = alt.Color(
        "rule",
        type="nominal",
        scale=alt.Scale(domain=names, range=list(theme.series[: len(names)])),
        legend=alt.Legend(),
    )
    shape = alt.Shape("rule", type="nominal", scale=alt.Scale(domain=names, range=list(SHAPES[: len(names)])))
    base = alt.Chart(alt.NamedData(name=ROWS)).encode(
        x=alt.X(
            "saving_pct", type="quantitative", title="saving, percent of what is paid", scale=alt.Scale(zero=False)
        ),
        y=alt.Y("minutes", type="quantitative", title="throttled minutes, all volumes", scale=alt.Scale(type="symlog")),
        color=color,
    )
    tooltip = [
        alt.Tooltip("rule:N"),
        alt.Tooltip("level:N", title="promised"),
        alt.Tooltip("saving_pct:Q", title="saving, percent"),
        alt.Tooltip("minutes:Q", title="throttled minutes", format=",.0f"),
    ]
    lines = base.transform_filter("datum.is_curve").mark_line()
    points = base.mark_point(filled=True, size=60).encode(shape=shape, tooltip=tooltip)
    levels = (
        base.transform_filter("datum.is_curve")
        .mark_text(dy=-9, fontSize=9)
        .encode(text=alt.Text("label", type="nominal"))
    )
    chart = alt.LayerChart(layer=[lines, points, levels], width=width - _SPARE_PX, height=_HEIGHT_PX)
    description = f"{title}. A line further right and lower is better."
    return {
        **chart.to_dict(validate=False),
        "config": theme.config,
        "datasets": {ROWS: list(rows)},
        "description": description,
        "title": {"text": title, "subtitle": "further right saves more, lower throttles less"},
    }
