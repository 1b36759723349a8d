"""No cell of a CSV file is run by a spreadsheet, however it splits the file into cells; a number stays a number."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plimsoll.reports.csv_table import cell, csv_line, inert
from tests.unit.reports.strategies import HOSTILE, names

FORMULAS = "=+-@\uff1d\uff0b\uff0d\uff20"
DROPPED = ' \t\r\n"\u200b\u200e\ufeff\u00a0\u3000\x00'


def runs(text: str) -> bool:
    """Whether a spreadsheet that drops blanks and quotes before it looks would take a cell for a formula."""
    return text.lstrip(DROPPED).startswith(tuple(FORMULAS))


def cells(line: str, separator: str) -> list[str]:
    """The cells as a spreadsheet of another country sees them: quotes only count where a cell begins with one."""
    found, cell, quoted, at = [], "", False, 0
    while at < len(line):
        sign = line[at]
        if quoted and line[at : at + 2] == '""':
            cell += sign
            at += 1
        elif sign == '"' and (quoted or cell == ""):
            quoted = not quoted
        elif not quoted and sign in {separator, "\r", "\n"}:
            found.append(cell)
            cell = ""
        else:
            cell += sign
        at += 1
    return [*found, cell]


@given(st.lists(names, min_size=1, max_size=4))
@example(["=", "\r"])
@example(["a;=cmd()"])
@example(['a;"=cmd()"'])
@example(["a\n=cmd()"])
@example(["  =cmd()"])
@example(["\ufeff=cmd()"])
@example(['"=cmd()'])
def test_no_cell_is_a_formula_at_whatever_sign_the_line_is_split(texts):
    lines = csv_line(["1", *(cell(text) for text in texts)]) + csv_line([cell(text) for text in texts])
    for separator in ",;\t":
        assert not [found for found in cells(lines, separator) if runs(found)], separator


@given(names)
def test_a_text_differs_by_nothing_but_apostrophes(text):
    assert inert(text).replace("'", "") == text.replace("'", "")


@given(names)
def test_a_text_with_no_sign_of_a_formula_stands_as_it_is(text):
    harmless = "".join(sign for sign in text if sign not in FORMULAS).lstrip(DROPPED)
    assert inert(harmless) == harmless


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_stays_a_number(number):
    assert type(number)(cell(number)) == number


@pytest.mark.parametrize("text", [*HOSTILE, "-5", "=1", "+1", "@x"])
def test_text_that_looks_like_a_number_or_worse_is_text(text):
    assert not runs(cell(text))
