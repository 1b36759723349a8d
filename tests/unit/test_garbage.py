"""Programs look for garbage seldom, and not as they end; the library leaves that to whoever imports it."""

import subprocess
import sys

import pytest

from plimsoll.garbage import ALLOCATIONS

SHOWN = "import gc; {script}; print(gc.get_threshold()[0])"
CYCLE = """
class Cycle:
    def __del__(self):
        print("collected")
one = Cycle()
one.itself = one
{script}
"""
RARELY = "from plimsoll.garbage import collect_rarely; collect_rarely()"


def printed(script):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


@pytest.mark.parametrize(
    ("script", "rarely"), [("import functions", True), ("import plimsoll, plimsoll.api.audits", False)]
)
def test_only_programs_change_how_often_python_looks(script, rarely):
    assert (int(printed(SHOWN.format(script=script))[0]) == ALLOCATIONS) == rarely


def test_a_program_that_ends_looks_for_no_cycle():
    assert printed(CYCLE.format(script="")) == ("collected\n", "")
    assert printed(CYCLE.format(script=RARELY)) == ("", "")


def test_a_library_that_counts_what_is_left_finds_nothing_left():
    assert printed(f"{RARELY}\nimport duckdb\nduckdb.connect().execute('select 1').fetchall()") == ("", "")
