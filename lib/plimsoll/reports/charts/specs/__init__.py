"""How each kind of picture is drawn, in Altair's words, and the axes that several share."""

from typing import Any, Final

import altair as alt

from plimsoll.reports.charts.picture import AXIS_PX

UPRIGHT: Final[dict[str, Any]] = {"ticks": False, "minExtent": AXIS_PX, "maxExtent": AXIS_PX}
"""What makes upright axes as wide as each other, so that panels line up and pictures are as wide as asked."""


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
