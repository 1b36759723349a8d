"""Lines of a validation on a narrow terminal: no id is broken, and a program gets each on one line."""

import io
import re

import pytest
from rich.console import Console

from plimsoll_measure.terminal.validation import show_lines
from tests.unit.reports.test_printable import EVIL, obeyed, printed

LINE = "making a scratch volume of gp3 400 GiB 3,000 IOPS 125 MiB/s in us-east-1a, on i-6576c650f0dcb8656 (m5.24xlarge)"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_line_is_broken_between_words_on_a_terminal_alone(terminal):
    out = io.StringIO()
    show_lines(Console(file=out, width=80, force_terminal=terminal, color_system=None), [LINE])
    lines = out.getvalue().splitlines()
    assert len(lines) == (2 if terminal else 1)
    assert max(map(len, lines)) <= (80 if terminal else len(LINE))
    assert re.findall(r"\S+", out.getvalue()) == LINE.split()


def test_a_line_that_is_told_is_harmless():
    text = printed(lambda console: show_lines(console, [EVIL]))
    assert "a\\x1b[2J" in text
    assert not obeyed(text)
