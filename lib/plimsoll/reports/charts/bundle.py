"""The script that draws specs in a browser."""

from importlib.resources import files
from typing import Final

from plimsoll.reports.charts.kept import kept

SHIPPED: Final = "vega.js"
"""The script's file in this package, where a distribution brings it: a Lambda does, instead of all of vl-convert."""


def javascript_bundle() -> str:
    """What draws the specs in a browser: a script's text, which sets `window.vegaEmbed`, and nothing else.

    It takes more than two seconds to make, and so is kept for the reports that follow.
    """
    shipped = files("plimsoll.reports.charts") / SHIPPED
    if shipped.is_file():
        return shipped.read_text(encoding="utf-8")
    # vl-convert has 81 MB, and is absent where the script is shipped.
    from plimsoll.reports.charts.drawing import BUNDLED_BY, bundled  # noqa: PLC0415

    return kept(f"vega-{BUNDLED_BY}.js", bundled)
