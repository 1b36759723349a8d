"""Programs look for garbage seldom; the library leaves that to whoever imports it."""

import subprocess
import sys

import pytest

from plimsoll.garbage import ALLOCATIONS

SHOWN = "import gc; {script}; print(gc.get_threshold()[0])"


@pytest.mark.parametrize(
    ("script", "rarely"), [("import functions", True), ("import plimsoll, plimsoll.api.audits", False)]
)
def test_only_programs_change_how_often_python_looks(script, rarely):
    done = subprocess.run(
        [sys.executable, "-c", SHOWN.format(script=script)], capture_output=True, text=True, check=True
    )
    assert (int(done.stdout) == ALLOCATIONS) == rarely
