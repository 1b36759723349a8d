"""Drawing: from a picture to a complete spec, and from that to SVG and PNG, without any network."""

import textwrap
from collections.abc import Callable, Mapping
from typing import Any, Final

import altair as alt
import vl_convert

from plimsoll.reports.charts.comparison import comparison_spec
from plimsoll.reports.charts.demand import demand_spec
from plimsoll.reports.charts.picture import SPANS, Kind, Picture, span_rows
from plimsoll.reports.charts.roofline import roofline_spec
from plimsoll.reports.charts.theme import Theme
from plimsoll.reports.profile_record import DemandProfileRecord

WIDTH_PX: Final = 800

_VEGA_LITE: Final = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
"""The version of Vega-Lite that specs are of, and that draws them everywhere."""

_TITLE_PX, _SUBTITLE_PX = 8.5, 6.2
"""Mean widths of a character."""

_SPECS: Final[Mapping[Kind, Callable[[Theme, int], dict[str, Any]]]] = {
    "demand": demand_spec,
    "roofline": roofline_spec,
    "comparison": comparison_spec,
}


def spec_of(
    picture: Picture, profile: DemandProfileRecord | None, theme: Theme, width: int = WIDTH_PX
) -> dict[str, Any]:
    """The complete Vega-Lite spec of a picture, `width` pixels wide, with its data and its title."""
    subtitle = [picture.subject, *picture.subtitle.splitlines()]
    title = {
        "text": textwrap.wrap(picture.title, int(width / _TITLE_PX)),
        "subtitle": [line for one in subtitle for line in textwrap.wrap(one, int(width / _SUBTITLE_PX))],
    }
    datasets = {SPANS: span_rows(profile), **picture.datasets}
    return {**_SPECS[picture.kind](theme, width), "title": title, "datasets": datasets}


def to_svg(spec: Mapping[str, Any]) -> str:
    """The spec drawn as an SVG image."""
    return str(vl_convert.vegalite_to_svg(dict(spec), vl_version=_VEGA_LITE, allowed_base_urls=[]))


def to_png(spec: Mapping[str, Any], scale: float = 1) -> bytes:
    """The spec drawn as a PNG image of `scale` pixels for each of its own."""
    return bytes(vl_convert.vegalite_to_png(dict(spec), vl_version=_VEGA_LITE, scale=scale, allowed_base_urls=[]))


def javascript_bundle() -> str:
    """What draws the specs in a browser: a module's text that sets `window.vegaEmbed`, `.vega` and `.vegaLite`."""
    return str(vl_convert.javascript_bundle(None, vl_version=_VEGA_LITE))
