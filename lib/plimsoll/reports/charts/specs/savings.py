"""How savings are drawn: a bar for each account, as long as what it can save."""

from collections.abc import Sequence
from typing import Any, Final

import altair as alt

from plimsoll.reports.charts.picture import Row
from plimsoll.reports.charts.savings import ACCOUNTS
from plimsoll.reports.charts.theme import Theme

_NAME_PX: Final = 130
_BAR_PX: Final = 26
_DIGIT_PX: Final = 7
_GAP_PX: Final = 6
_EDGES_PX: Final = 10


def savings_spec(theme: Theme, rows: Sequence[Row], width: int) -> dict[str, Any]:
    """The Vega-Lite spec of `savings_chart` for its rows, `width` pixels wide in all, a line for each of them."""
    most = max((row["usd_month"] for row in rows), default=1.0)
    plane_px = width - _NAME_PX - _EDGES_PX
    amount_px = _GAP_PX + _DIGIT_PX * max((len(row["amount"]) for row in rows), default=0)
    bars_px = max(1, plane_px - amount_px)
    scale = alt.Scale(domain=[0, most * plane_px / bars_px], nice=False)
    base = alt.Chart(alt.NamedData(name=ACCOUNTS)).encode(
        x=alt.X("usd_month", type="quantitative", axis=None, scale=scale),
        y=alt.Y(
            "account",
            type="nominal",
            sort=None,
            scale=alt.Scale(domain=[row["account"] for row in rows], paddingInner=0.25, paddingOuter=0.1),
            axis=_names(theme),
        ),
    )
    bars = base.mark_bar().encode(
        color=alt.condition("datum.other", alt.value(theme.muted), alt.value(theme.offered)),
        tooltip=[alt.Tooltip("account:N", title="account"), alt.Tooltip("amount:N", title="saved a month")],
    )
    amounts = base.mark_text(align="left", dx=_GAP_PX, baseline="middle").encode(
        text=alt.Text("amount", type="nominal")
    )
    chart = alt.LayerChart(layer=[bars, amounts], width=plane_px, height=_BAR_PX * max(1, len(rows)))
    return {**chart.to_dict(validate=False), "config": theme.config}


def _names(theme: Theme) -> alt.Axis:
    return alt.Axis(
        title=None,
        ticks=False,
        domain=False,
        labelColor=theme.text,
        labelFontSize=12,
        labelLimit=_NAME_PX - 10,
        labelPadding=8,
        minExtent=_NAME_PX,
        maxExtent=_NAME_PX,
    )
