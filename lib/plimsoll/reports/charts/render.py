"""Drawing: from a picture to a complete spec, and from that to SVG and PNG, without any network."""

import html
import json
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal

import altair as alt
import vl_convert

from plimsoll.reports.charts.comparison import RESULTS, comparison_spec
from plimsoll.reports.charts.pictures import SPANS, Picture, Row, span_rows
from plimsoll.reports.charts.savings import ACCOUNTS
from plimsoll.reports.charts.specs import demand_spec, roofline_spec
from plimsoll.reports.charts.theme import WIDTH_PX, Theme
from plimsoll.reports.record import DemandProfileRecord

VEGA_LITE: Final = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
"""The version of Vega-Lite that specs are of, and that draws them everywhere."""

_TITLE_PX, _SUBTITLE_PX = 8.9, 6.3
"""Mean widths of a character."""

_NO_NETWORK: Final[list[str]] = []

_NAME_PX: Final = 130
_BAR_PX: Final = 26
_DIGIT_PX: Final = 7
_GAP_PX: Final = 6
_EDGES_PX: Final = 10
"""Of the picture of savings."""


def vega_spec(
    picture: Picture, profile: DemandProfileRecord | None, theme: Theme, width: int = WIDTH_PX
) -> dict[str, Any]:
    """The complete Vega-Lite spec of a picture, `width` pixels wide, with its data and its title.

    Specs are not validated again for every picture, which takes longer than to draw it: the tests validate them.
    """
    subtitle = [picture.subject, *picture.subtitle.splitlines()]
    title = {
        "text": textwrap.wrap(picture.title, int(width / _TITLE_PX)),
        "subtitle": [line for text in subtitle for line in textwrap.wrap(text, int(width / _SUBTITLE_PX))],
    }
    spec = _bare(picture, theme, width, demand=profile is not None)
    spans = {} if profile is None else {SPANS: span_rows(profile)}
    description = f"{picture.title}. {' '.join(filter(None, subtitle))}"
    return {**spec, "description": description, "title": title, "datasets": {**spans, **picture.datasets}}


def to_svg(spec: Mapping[str, Any]) -> str:
    """The spec drawn as an SVG image, with its description for those who cannot see it."""
    drawn = str(vl_convert.vegalite_to_svg(dict(spec), vl_version=VEGA_LITE, allowed_base_urls=_NO_NETWORK))
    description = html.escape(str(spec.get("description", "")))
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{description}" ', 1)


def to_png(spec: Mapping[str, Any], scale: float = 1) -> bytes:
    """The spec drawn as a PNG image of `scale` pixels for each of its own."""
    return bytes(
        vl_convert.vegalite_to_png(dict(spec), vl_version=VEGA_LITE, scale=scale, allowed_base_urls=_NO_NETWORK)
    )


def _bare(picture: Picture, theme: Theme, width: int, *, demand: bool) -> dict[str, Any]:
    if picture.kind == "comparison":
        return comparison_spec(theme, picture.datasets[RESULTS], width)
    if picture.kind == "savings":
        return _savings_spec(theme, picture.datasets[ACCOUNTS], width)
    return {**json.loads(_volume_spec(picture.kind, theme, width, demand=demand))}


@cache
def _volume_spec(kind: Literal["demand", "roofline"], theme: Theme, width: int, *, demand: bool) -> str:
    """The same for every picture of a kind, so built once: as text, which nobody can change."""
    return json.dumps(demand_spec(theme, width) if kind == "demand" else roofline_spec(theme, width, demand=demand))


def _savings_spec(theme: Theme, rows: Sequence[Row], width: int) -> dict[str, Any]:
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
            axis=alt.Axis(
                title=None,
                ticks=False,
                domain=False,
                labelColor=theme.text,
                labelFontSize=12,
                labelLimit=_NAME_PX - 10,
                labelPadding=8,
                minExtent=_NAME_PX,
                maxExtent=_NAME_PX,
            ),
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
