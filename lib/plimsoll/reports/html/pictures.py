"""The pictures in the page: each volume has its figures, and how they are drawn is in the page once."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from plimsoll.domain.envelope import Envelope
from plimsoll.reports.charts.demand import demand_picture
from plimsoll.reports.charts.picture import Picture
from plimsoll.reports.charts.roofline import roofline_picture
from plimsoll.reports.html.assets import vega
from plimsoll.reports.summary.matched import Matched


def pictures_of(volume: Matched, envelopes: Mapping[str, Envelope]) -> dict[str, Any]:
    """A volume's pictures by kind, without the spans, which all of them share; none where there is no profile."""
    record, profile = volume
    if profile is None:
        return {}
    found = {"demand": _figures(demand_picture(record, profile))}
    if record.ceilings is not None:
        envelope = envelopes.get(record.evidence.envelope or "") if record.evidence else None
        found["roofline"] = _figures(roofline_picture(record, profile, envelope))
    return found


@cache
def specs() -> dict[str, dict[str, Any]]:
    """The Vega-Lite specs of every picture by kind and theme, without data, title and background.

    They are made for `WIDTH_PX`; in the reader's browser they become as wide as there is room.
    """
    found: dict[str, dict[str, Any]] = json.loads(vega("specs.json"))
    return found


@cache
def drawing_script() -> str:
    """What draws specs in a browser; its own names stay inside."""
    return f"(() => {{\n{vega('vega.js')}\n}})();\n"


def _figures(picture: Picture) -> dict[str, Any]:
    return {"title": picture.title, "subtitle": picture.subtitle, "datasets": picture.datasets}
