"""The examples of a push are the same whatever else its process has loaded."""

import importlib.util
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import profiles


def drawn() -> list[int]:
    """200 whole numbers as a property of this profile gets them."""
    numbers = []

    @settings(max_examples=200, database=None)
    @given(st.integers())
    def draws(number):
        numbers.append(number)

    draws()
    return numbers


@pytest.mark.skipif(profiles.PROFILE == "all", reason="a release draws new examples in each run")
def test_a_push_draws_the_same_whatever_modules_are_loaded(tmp_path, monkeypatch):
    before = drawn()
    written = tmp_path / "of_many_constants.py"
    written.write_text(f"NUMBERS = {list(range(7_000_001, 7_000_900))}")
    spec = importlib.util.spec_from_file_location("of_many_constants", written)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert drawn() == before
