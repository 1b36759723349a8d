"""The record of a ceiling, held against what was carried."""

import numpy as np
import pytest

from plimsoll.decide.case_maker import clip_to_record, find_epochs_on_record, hold_against_record
from plimsoll.demand.demand import Demand
from plimsoll.model.ceiling import Ceiling
from tests.builders import rates_of

CEILING = Ceiling(iops=3000.0, throughput_mib_s=125.0, io_kib=256.0)
WHOLE = slice(None)


def a_demand(iops, io_kib=16.0, **more):
    rate = np.asarray(iops, dtype=np.float64)
    return Demand(
        start_s=0,
        resolution_s=60,
        coarsest_s=60,
        rates=rates_of(rate, rate * io_kib / 1024),
        observed=more.pop("observed", np.ones(len(rate), dtype=bool)),
        **more,
    )


def minutes(**at):
    """A hundred minutes of 500 IOPS, but for some."""
    rates = np.full(100, 500.0)
    for name, rate in at.items():
        rates[int(name[1:])] = rate
    return rates


@pytest.mark.parametrize(
    ("rates", "known_from", "doubled"),
    [
        pytest.param(minutes(), 0, None, id="never above it"),
        pytest.param(minutes(m10=3017, m11=3150), 0, None, id="slightly above it"),
        pytest.param(minutes(m10=3151), 11, None, id="more than slightly"),
        pytest.param(minutes(m10=4000), 11, None, id="one minute, not twice the ceiling"),
        pytest.param(minutes(m10=6000), 0, 10, id="one minute of twice the ceiling"),
        pytest.param(minutes(m9=3000, m10=6000, m11=3017), 0, 10, id="between minutes at the ceiling"),
        pytest.param(minutes(m10=6000, m11=6000), 12, None, id="two such minutes on end"),
        pytest.param(minutes(m10=6000, m50=6000), 51, None, id="two such minutes apart"),
        pytest.param(minutes(m10=6400), 11, None, id="more than twice"),
        pytest.param(minutes(m0=6000), 1, None, id="nothing before it"),
        pytest.param(minutes(m99=6000), 100, None, id="nothing after it"),
        pytest.param(minutes(m10=9000, m11=9000, m60=3020), 12, None, id="slightly above it since"),
    ],
)
def test_from_when_on_a_record_holds(rates, known_from, doubled):
    assert hold_against_record(a_demand(rates), WHOLE, CEILING) == (known_from, doubled)


def test_bytes_disprove_a_record_as_well():
    assert hold_against_record(a_demand(minutes(m10=1000), io_kib=256), WHOLE, CEILING) == (0, 10)
    assert hold_against_record(a_demand(minutes(m10=800), io_kib=256), WHOLE, CEILING) == (11, None)


def test_a_minute_beside_what_was_not_observed_is_not_between_ordinary_ones():
    there = np.ones(100, dtype=bool)
    there[11] = False
    rates = minutes(m10=6000, m11=0)
    assert hold_against_record(a_demand(rates, observed=there), WHOLE, CEILING) == (11, None)


def test_points_of_an_unknown_step_say_nothing_of_a_record():
    demand = a_demand(minutes(m10=9000, m11=9000), undecided=np.ones(100, dtype=bool))
    assert hold_against_record(demand, WHOLE, CEILING) == (0, None)
    assert clip_to_record(demand, find_epochs_on_record(demand, CEILING)) == 1.0


def test_an_epoch_is_held_against_its_own_buckets():
    demand = a_demand(minutes(m10=9000, m60=9000))
    assert hold_against_record(demand, slice(20, 50), CEILING) == (20, None)
    assert hold_against_record(demand, slice(0, 50), CEILING) == (11, None)


def test_what_is_above_a_ceiling_is_clipped_to_it_at_its_size():
    demand = a_demand(minutes(m10=9000, m11=9000, m60=3060))
    spans = find_epochs_on_record(demand, CEILING)
    assert [(span.buckets, span.ceiling) for span in spans] == [(slice(0, 12), None), (slice(12, 100), CEILING)]
    clip = clip_to_record(demand, spans)
    assert clip[10] == clip[50] == 1
    assert clip[60] == pytest.approx(3000 / 3060)
