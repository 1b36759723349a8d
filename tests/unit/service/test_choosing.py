"""A budget in parts is the whole, and every part covers its own run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll_service.choosing import split_budget
from plimsoll_service.config import ValidationBudget

USD = st.floats(0, 100, allow_nan=False)


@given(st.lists(USD, min_size=1, max_size=20), USD, st.integers(0, 50))
def test_the_parts_of_a_budget_are_the_whole_and_each_covers_its_run(costs, usd_left, runs_left):
    whole = ValidationBudget(max_usd=sum(costs) + usd_left, max_runs=len(costs) + runs_left)
    parts = split_budget(costs, whole)
    assert sum(part.max_runs for part in parts) == whole.max_runs
    assert sum(part.max_usd for part in parts) == pytest.approx(whole.max_usd)
    for part, usd in zip(parts, costs, strict=True):
        assert part.max_usd >= usd - 1e-9
        assert part.max_runs >= 1


def test_what_cannot_be_parted_goes_to_the_first():
    assert [part.max_runs for part in split_budget([1.0, 1.0, 1.0], ValidationBudget(max_runs=5))] == [2, 2, 1]


def test_nothing_chosen_has_no_parts():
    assert split_budget([], ValidationBudget()) == []
