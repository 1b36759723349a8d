"""Drawing: from a picture to a complete spec, and from that to SVG and PNG, without any network."""

import html
import json
import textwrap
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, Literal

import altair as alt
import vl_convert

from plimsoll.reports.charts.comparison import RESULTS
from plimsoll.reports.charts.picture import SPANS, Picture, span_rows
from plimsoll.reports.charts.savings import ACCOUNTS
from plimsoll.reports.charts.specs.comparison import comparison_spec
from plimsoll.reports.charts.specs.demand import demand_spec
from plimsoll.reports.charts.specs.roofline import roofline_spec
from plimsoll.reports.charts.specs.savings import savings_spec
from plimsoll.reports.charts.theme import WIDTH_PX, Theme
from plimsoll.reports.profile_record import DemandProfileRecord

VEGA_LITE: Final = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
"""The version of Vega-Lite that specs are of, and that draws them everywhere."""

_TITLE_PX, _SUBTITLE_PX = 8.9, 6.3
"""Mean widths of a character."""

_NO_NETWORK: Final[list[str]] = []


def spec_of(
    picture: Picture, profile: DemandProfileRecord | None, theme: Theme, width: int = WIDTH_PX
) -> dict[str, Any]:
    """The complete Vega-Lite spec of a picture, `width` pixels wide, with its data and its title.

    Specs are not validated again for every picture, which takes longer than to draw it: the tests validate them.
    """
    subtitle = [picture.subject, *picture.subtitle.splitlines()]
    title = {
        "text": textwrap.wrap(picture.title, int(width / _TITLE_PX)),
        "subtitle": [line for one in subtitle for line in textwrap.wrap(one, int(width / _SUBTITLE_PX))],
    }
    spec = _bare(picture, theme, width, demand=profile is not None)
    spans = {} if profile is None else {SPANS: span_rows(profile)}
    told = f"{picture.title}. {' '.join(filter(None, subtitle))}"
    return {**spec, "description": told, "title": title, "datasets": {**spans, **picture.datasets}}


def to_svg(spec: Mapping[str, Any]) -> str:
    """The spec drawn as an SVG image, with its description for those who cannot see it."""
    drawn = str(vl_convert.vegalite_to_svg(dict(spec), vl_version=VEGA_LITE, allowed_base_urls=_NO_NETWORK))
    told = html.escape(str(spec.get("description", "")))
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{told}" ', 1)


def to_png(spec: Mapping[str, Any], scale: float = 1) -> bytes:
    """The spec drawn as a PNG image of `scale` pixels for each of its own."""
    return bytes(
        vl_convert.vegalite_to_png(dict(spec), vl_version=VEGA_LITE, scale=scale, allowed_base_urls=_NO_NETWORK)
    )


def _bare(picture: Picture, theme: Theme, width: int, *, demand: bool) -> dict[str, Any]:
    if picture.kind == "comparison":
        return comparison_spec(theme, picture.datasets[RESULTS], width)
    if picture.kind == "savings":
        return savings_spec(theme, picture.datasets[ACCOUNTS], width)
    return {**json.loads(_of_volumes(picture.kind, theme, width, demand=demand))}


@cache
def _of_volumes(kind: Literal["demand", "roofline"], theme: Theme, width: int, *, demand: bool) -> str:
    """The same for every picture of a kind, so built once: as text, which nobody can change."""
    return json.dumps(demand_spec(theme, width) if kind == "demand" else roofline_spec(theme, width, demand=demand))
