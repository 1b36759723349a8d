"""A budget in parts is the whole, and every part covers its own run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.domain.validation import Budget, PlannedRun, runs_for
from plimsoll.domain.volume import VolumeSpec
from plimsoll.service.validating.choosing import shares
from plimsoll.validation.proposal import want_of
from tests.builders import a_volume

SPEC = VolumeSpec(type="gp3", size_gib=100, iops=3000, throughput_mib_s=125)
(RUN,) = runs_for([want_of(a_volume("gp2", 100), SPEC, volume_types("aws")["gp3"].ceiling(SPEC), 1.0)])
USD = st.floats(0, 100, allow_nan=False)


def planned(costs):
    return [PlannedRun(run=RUN, usd=usd, seconds=1.0) for usd in costs]


@given(st.lists(USD, min_size=1, max_size=20), USD, st.integers(0, 50))
def test_the_parts_of_a_budget_are_the_whole_and_each_covers_its_run(costs, usd_left, runs_left):
    whole = Budget(max_usd=sum(costs) + usd_left, max_runs=len(costs) + runs_left)
    parts = shares(planned(costs), whole)
    assert sum(part.max_runs for part in parts) == whole.max_runs
    assert sum(part.max_usd for part in parts) == pytest.approx(whole.max_usd)
    for part, usd in zip(parts, costs, strict=True):
        assert part.max_usd >= usd - 1e-9
        assert part.max_runs >= 1


def test_what_cannot_be_parted_goes_to_the_first():
    assert [part.max_runs for part in shares(planned([1.0, 1.0, 1.0]), Budget(max_runs=5))] == [2, 2, 1]


def test_nothing_chosen_has_no_parts_and_no_limit_has_none_in_any_part():
    assert shares([], Budget(max_usd=1.0, max_runs=1)) == ()
    assert shares(planned([None, 2.0]), Budget()) == (Budget(), Budget())
