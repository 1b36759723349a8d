"""Themes: the colors, the type and the width of the pictures, for white and for dark pages."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

FONT: Final = "Liberation Sans, Arial, Helvetica, sans-serif"
LINE_PX: Final = 12
"""Size of a picture's ordinary text."""

WIDTH_PX: Final = 800
"""Width of a picture where no other is asked for."""


class ThemeName(StrEnum):
    """The themes that there are."""

    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """Colors, as #rrggbb.

    Text has a contrast of at least 4.5:1 with the background, and every mark at least 3:1. Only `grid` and `gap` have
    less: they lie behind. `series` is for any number of things beside each other, each with a shape as well.
    """

    name: ThemeName
    background: str
    text: str
    muted: str
    grid: str
    gap: str
    reads: str
    writes: str
    busiest: str
    now: str
    offered: str
    hosts: str
    throttled: str
    series: tuple[str, ...]

    @property
    def ceilings(self) -> dict[str, str]:
        """Colors of the ceilings by kind."""
        return {"now": self.now, "offered": self.offered, "hosts": self.hosts}

    @property
    def dashes(self) -> dict[str, list[float]]:
        """Strokes of the ceilings by kind."""
        return {"now": [1, 0], "offered": [7, 3], "hosts": [2, 2]}

    @property
    def config(self) -> dict[str, Any]:
        """The Vega-Lite configuration."""
        written = {"labelColor": self.muted, "titleColor": self.text, "labelFontSize": 11, "titleFontSize": LINE_PX}
        return {
            "aria": False,
            "background": self.background,
            "font": FONT,
            "view": {"stroke": None},
            "title": {
                "anchor": "start",
                "frame": "bounds",
                "color": self.text,
                "fontSize": 16,
                "fontWeight": "bold",
                "subtitleColor": self.muted,
                "subtitleFontSize": LINE_PX,
                "subtitlePadding": 4,
                "offset": 10,
            },
            "axis": {
                **written,
                "gridColor": self.grid,
                "domainColor": self.muted,
                "tickColor": self.muted,
                "titleFontWeight": "normal",
            },
            "legend": {**written, "title": None, "orient": "top", "symbolStrokeWidth": 2},
            "text": {"color": self.text, "fontSize": LINE_PX},
        }


SHAPES: Final = ("cross", "circle", "square", "diamond", "triangle-up", "triangle-down", "triangle-right", "stroke")
"""Shapes of the series, so that color is never the only sign."""

LIGHT: Final = Theme(
    name=ThemeName.LIGHT,
    background="#ffffff",
    text="#1b1f24",
    muted="#57606a",
    grid="#e6e9ec",
    gap="#eceff2",
    reads="#4a8fc7",
    writes="#b07a12",
    busiest="#3d444d",
    now="#6b3fa0",
    offered="#0a7150",
    hosts="#57606a",
    throttled="#b3261e",
    series=("#0a5fa5", "#a34a00", "#0a7150", "#8a3a7c", "#6b5900", "#57606a", "#b3261e", "#1d7a8c"),
)
DARK: Final = Theme(
    name=ThemeName.DARK,
    background="#14181d",
    text="#e8ebee",
    muted="#a5aeb8",
    grid="#2a3037",
    gap="#232930",
    reads="#4d94d0",
    writes="#d19a2e",
    busiest="#d5dae0",
    now="#c3a2f2",
    offered="#4ecb9d",
    hosts="#a5aeb8",
    throttled="#ff7b72",
    series=("#6cb4f0", "#f0964d", "#4ecb9d", "#e08fd0", "#d3bd3f", "#a5aeb8", "#ff7b72", "#5fc8da"),
)
THEMES: Final = {theme.name: theme for theme in (LIGHT, DARK)}
