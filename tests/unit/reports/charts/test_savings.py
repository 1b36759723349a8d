"""Savings by account as a picture: every dollar is in a bar, and the title says where most of them are."""

import xml.etree.ElementTree as ET

import pytest
import vl_convert

from plimsoll.reports.charts.render import to_png, to_svg, vega_spec
from plimsoll.reports.charts.savings import ACCOUNTS, SHOWN_ACCOUNTS, savings_chart
from plimsoll.reports.charts.theme import DARK, LIGHT
from tests.unit.reports.charts.valid import check

pytestmark = pytest.mark.once

FEW = {"111111111111": 10.5, "222222222222": 200.25, "333333333333": 0.0}
MANY = {f"{number:012d}": float(number) for number in range(60)}
HOSTILE = {'<script>alert("x")</script>&\x00': 3.0, "\u202e" + "x" * 5000: 1e12}


def texts(spec) -> list[str]:
    root = ET.fromstring(to_svg(spec))
    return ["".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")]


def test_the_title_says_where_most_can_be_saved():
    assert savings_chart(FEW).title == "Account 222222222222 can save the most: $200 of $211 a month"
    assert savings_chart({"111111111111": 7.0}).title == "Account 111111111111 can save $7.00 a month"
    assert savings_chart({"111111111111": 0.0}).title == savings_chart({}).title
    assert savings_chart({}).title == "There is nothing to save in any account"


def test_the_largest_is_first_and_accounts_with_nothing_to_save_are_counted():
    picture = savings_chart(FEW)
    assert [row["account"] for row in picture.datasets[ACCOUNTS]] == ["222222222222", "111111111111"]
    assert picture.subtitle == "1 account has nothing to save."


def test_the_long_tail_is_one_bar_and_nothing_is_lost():
    rows = savings_chart(MANY).datasets[ACCOUNTS]
    assert len(rows) == SHOWN_ACCOUNTS + 1
    assert [row["other"] for row in rows] == [False] * SHOWN_ACCOUNTS + [True]
    assert rows[-1]["account"] == "47 other accounts"
    assert sum(row["usd_month"] for row in rows) == sum(MANY.values())


def test_every_bar_has_its_account_and_its_amount_beside_it():
    shown = texts(vega_spec(savings_chart(FEW), None, LIGHT))
    assert {"222222222222", "$200", "111111111111", "$10.50"} <= set(shown)


@pytest.mark.parametrize("savings", [{}, FEW, MANY, HOSTILE], ids=["none", "few", "many", "hostile"])
@pytest.mark.parametrize(("theme", "width"), [(LIGHT, 640), (DARK, 800)])
def test_whatever_can_be_saved_is_drawn_as_wide_as_asked_and_without_a_warning(savings, theme, width, capfd):
    spec = vega_spec(savings_chart(savings), None, theme, width)
    check(spec)
    vl_convert.vegalite_to_vega(spec, vl_version="6.4", show_warnings=True)
    assert capfd.readouterr().err == ""
    drawn = to_png(spec, 2)
    assert drawn.startswith(b"\x89PNG")
    assert abs(int.from_bytes(drawn[16:20], "big") - 2 * width) <= 4
