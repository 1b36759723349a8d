"""What the service holds does not grow with what it audits."""

from importlib import import_module
from pathlib import Path

import pytest

pytestmark = [pytest.mark.once, pytest.mark.release]

SPEED = Path(__file__).parents[2] / "benchmarks" / "speed"


def test_ten_times_the_accounts_take_no_more_memory_to_plan(monkeypatch):
    monkeypatch.syspath_prepend(str(SPEED))
    (row,) = import_module("plan_memory").measure((20, 200))
    assert row.target == 1.2
    assert row.met, row.measured
