"""Lifted demand: along the line of constant I/O size, up to the ceiling or beyond it, and never beyond both limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.demand.demand import IOPS, Demand
from plimsoll.demand.epochs import Epoch
from plimsoll.demand.load import lift
from plimsoll.model.ceiling import Ceiling, Resource, TokenBucket
from plimsoll.model.policy import Policy
from plimsoll.reading.window import Window
from tests.builders import fields_of, rates_of
from tests.profiles import examples

POLICY = Policy()
CEILING = Ceiling(iops=3000.0, throughput_mib_s=125.0, io_kib=256.0)


def a_demand(iops, io_kib, **flags):
    rate = np.asarray(iops, dtype=np.float64)
    moved = rate * np.asarray(io_kib) / 1024
    return Demand(
        start_s=0,
        resolution_s=60,
        coarsest_s=60,
        rates=rates_of(rate, moved),
        observed=np.ones(len(rate), dtype=bool),
        **fields_of(flags),
    )


def an_epoch(**fields):
    return Epoch(window=Window(start_s=0, end_s=60_000), spec=None, **fields)


def flagged(count, *at):
    found = np.zeros(count, dtype=bool)
    found[list(at)] = True
    return found


def whole(ceiling=CEILING, raised=frozenset()):
    return [an_epoch(buckets=slice(None), ceiling=ceiling, raised=raised)]


def test_what_was_never_held_back_is_not_lifted():
    demand = a_demand(np.full(100, 1000.0), 16)
    lifted = lift(demand, whole(), POLICY)
    assert not lifted.any.any()
    assert (lifted.demand.iops == demand.iops).all()


def test_rare_saturation_is_lifted_to_the_ceiling_and_frequent_by_half():
    rare = lift(a_demand([2900.0] * 10 + [100.0] * 1000, 16), whole(), POLICY)
    often = lift(a_demand([2900.0] * 40 + [100.0] * 1000, 16), whole(), POLICY)
    assert rare.demand.iops.max() == pytest.approx(3000)
    assert rare.frequent == frozenset()
    assert often.demand.iops.max() == pytest.approx(4500)
    assert often.frequent == {Resource.IOPS}


def test_a_raised_flag_holds_iops_and_throughput_follows_the_size():
    demand = a_demand(np.full(1000, 1280.0), 16, iops_exceeded=flagged(1000, 7))
    lifted = lift(demand, whole(Ceiling(iops=16_000.0, throughput_mib_s=1000.0, io_kib=256.0)), POLICY).demand
    assert (lifted.iops[7], lifted.throughput_mib_s[7]) == pytest.approx((16_000, 250))


def test_a_hundred_large_operations_in_a_flagged_minute_are_not_more_than_the_volume_could_do():
    demand = a_demand(np.full(1000, 100.0), 256, iops_exceeded=flagged(1000, 7))
    lifted = lift(demand, whole(Ceiling(iops=16_000.0, throughput_mib_s=1000.0, io_kib=256.0)), POLICY).demand
    assert lifted.throughput_mib_s[7] == pytest.approx(1000)


def test_spent_credits_lift_large_operations_no_further_than_their_throughput():
    gp2 = Ceiling(
        iops=3000.0,
        throughput_mib_s=128.0,
        buckets=(TokenBucket(resource=Resource.IOPS, free_rate=0.0, refill_rate=300.0, capacity=5.4e6),),
        io_kib=256.0,
    )
    demand = a_demand(np.full(1000, 300.0), 256, burst_balance_pct=np.zeros(1000))
    lifted = lift(demand, whole(gp2), POLICY).demand
    assert (lifted.iops[7], lifted.throughput_mib_s[7]) == pytest.approx((768, 192))


@pytest.mark.parametrize(
    ("io_kib", "moved"),
    [
        pytest.param(16, 250.0, id="within the other ceiling its line holds"),
        pytest.param(256, 25.0, id="a line beyond it is of another mix"),
    ],
)
def test_the_other_resource_is_lifted_no_further_than_its_own_check_allows(io_kib, moved):
    demand = a_demand(np.full(1000, 100.0), io_kib, iops_exceeded=flagged(1000, 7), throughput_exceeded=flagged(1000))
    lifted = lift(demand, whole(Ceiling(iops=16_000.0, throughput_mib_s=1000.0, io_kib=256.0)), POLICY).demand
    assert (lifted.iops[7], lifted.throughput_mib_s[7]) == pytest.approx((16_000, moved))


def test_a_check_that_was_raised_once_in_the_epoch_does_not_hold_the_other_back():
    demand = a_demand(np.full(1000, 100.0), 256, iops_exceeded=flagged(1000, 7), throughput_exceeded=flagged(1000, 900))
    lifted = lift(demand, whole(), POLICY).demand
    assert (lifted.iops[7], lifted.throughput_mib_s[7]) == pytest.approx((3000, 125))


def test_an_epoch_that_was_raised_since_is_not_lifted_but_counts_as_saturated():
    demand = a_demand([2950.0] * 500 + [1000.0] * 500, 16)
    later = Ceiling(iops=16_000.0, throughput_mib_s=125.0, io_kib=256.0)
    spans = [
        an_epoch(buckets=slice(0, 500), ceiling=CEILING, raised=frozenset({Resource.IOPS})),
        an_epoch(buckets=slice(500, 1000), ceiling=later),
    ]
    lifted = lift(demand, spans, POLICY)
    assert lifted.saturated[IOPS].sum() == 500
    assert (lifted.demand.iops == demand.iops).all()
    assert lifted.frequent == frozenset()


def test_nothing_in_an_epoch_of_an_unknown_ceiling_is_called_saturated():
    demand = a_demand([2950.0] * 500 + [1000.0] * 500, 16)
    spans = [an_epoch(buckets=slice(0, 500), ceiling=None), an_epoch(buckets=slice(500, 1000), ceiling=CEILING)]
    assert not lift(demand, spans, POLICY).any.any()


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(st.floats(0, 3000), min_size=1, max_size=60),
    st.sampled_from([4.0, 16.0, 42.0, 64.0, 300.0]),
    st.integers(0, 2**32),
)
def test_lifting_never_lowers_never_leaves_the_line_and_never_passes_both_limits(iops, io_kib, seed):
    rng = np.random.default_rng(seed)
    carried = np.minimum(iops, 125 * 1024 / io_kib)
    demand = a_demand(carried, io_kib, iops_exceeded=rng.random(len(iops)) < 0.1)
    lifted = lift(demand, whole(), POLICY).demand
    assert (lifted.iops >= demand.iops - 1e-9).all()
    assert (lifted.throughput_mib_s >= demand.throughput_mib_s - 1e-9).all()
    assert (lifted.count(CEILING.accounting)[IOPS] <= 4500 + 1e-6).all()
    assert (lifted.throughput_mib_s <= 187.5 + 1e-6).all()
    clipped = (lifted.iops >= 3000 - 1e-6) | (lifted.throughput_mib_s >= 125 - 1e-6)
    free = (demand.iops > 0) & ~clipped
    assert lifted.throughput_mib_s[free] == pytest.approx(lifted.iops[free] * io_kib / 1024)
