"""The page's colors can be read on both of its grounds, and its files are in what is shipped."""

import re

import pytest

from plimsoll.reports.html.page import first_script, script, style

_PAIR = re.compile(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)")
COLORS = {name: (light, dark) for name, light, dark in _PAIR.findall(style())}
GROUNDS = ("paper", "panel", "calm", "alert")


def luminance(color):
    channels = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return sum(weight * one for weight, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("ink", ["ink", "soft", "link", "drop-in", "warn", "alarm"])
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_stands_out_from_every_ground(ground, ink, theme):
    assert contrast(COLORS[ground][theme], COLORS[ink][theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_the_two_parts_of_a_bar_can_be_told_apart(theme):
    assert contrast(COLORS["drop-in"][theme], COLORS["proof"][theme]) >= 2


def test_what_is_shown_is_never_read_as_html_or_code():
    for text in (script(), first_script()):
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text)
        assert "http:" not in text
        assert "</script" not in text
