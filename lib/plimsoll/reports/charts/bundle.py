"""The script that draws specs in a browser."""

from importlib.resources import files
from typing import Final

SHIPPED: Final = "vega.js"
"""The script's file in this package, where a distribution brings it: a Lambda does, instead of all of vl-convert."""


def javascript_bundle() -> str:
    """What draws the specs in a browser: a script's text, which sets `window.vegaEmbed`, and nothing else."""
    shipped = files("plimsoll.reports.charts") / SHIPPED
    if shipped.is_file():
        return shipped.read_text(encoding="utf-8")
    from plimsoll.reports.charts.drawing import bundled  # noqa: PLC0415  # 81 MB, absent where the script is shipped

    return bundled()
