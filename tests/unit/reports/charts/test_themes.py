"""Both themes can be read: by contrast, and without telling colors apart."""

import pytest

from plimsoll.reports.charts.roofline import MOST_ENVELOPES
from plimsoll.reports.charts.theme import DARK, LIGHT, SHAPES, THEMES, ThemeName

BOTH = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)


def luminance(color: str) -> float:
    """Relative luminance of #rrggbb, as WCAG 2.2 defines it."""
    shares = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_black_on_white_has_the_most_contrast():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@BOTH
def test_what_is_written_stands_out_from_the_background(theme):
    for color in (theme.text, theme.muted, *theme.ceilings.values(), *theme.series):
        assert contrast(color, theme.background) >= 4.5, color


@BOTH
def test_what_is_drawn_stands_out_from_the_background(theme):
    for color in (theme.reads, theme.writes, theme.busiest, theme.throttled):
        assert contrast(color, theme.background) >= 3, color


@BOTH
def test_what_is_told_apart_by_color_is_told_apart_by_another_sign(theme):
    assert len({tuple(dash) for dash in theme.dashes.values()}) == len(theme.ceilings) == 3
    assert len(set(SHAPES)) == len(set(theme.series)) == len(SHAPES) == MOST_ENVELOPES


def test_themes_are_found_by_name():
    assert {name: theme.name for name, theme in THEMES.items()} == {name: name for name in ThemeName}
