"""Replay from Python: what a configuration throttles of a demand, against queues gone through minute by minute."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plimsoll
from plimsoll import VolumeSpec
from tests.profiles import examples

GP3 = VolumeSpec(type="gp3", size_gib=500, iops=3000, throughput_mib_s=125)


def by_queues(iops, throughput_mib_s, period_s):
    """Throttled minutes and the longest wait of GP3, without credits: operations are of 256 KiB at most."""
    waiting = {"iops": 0.0, "throughput": 0.0}
    throttled, longest_s = 0, 0.0
    for operations, moved in zip(iops, throughput_mib_s, strict=True):
        asked = {"iops": max(operations, moved * 4), "throughput": moved}
        for name, limit in (("iops", 3000), ("throughput", 125)):
            waiting[name] = max(0.0, waiting[name] + (asked[name] - limit) * period_s)
            longest_s = max(longest_s, waiting[name] / limit)
        throttled += any(waiting[name] > 1e-3 for name in waiting)
    return throttled * period_s / 60, longest_s


rates = st.lists(st.tuples(st.integers(0, 9000), st.integers(0, 300)), min_size=1, max_size=60)


@settings(max_examples=examples(300))
@given(rates, st.sampled_from([60, 300]))
def test_it_is_what_queues_show(demand, period_s):
    iops, throughput_mib_s = zip(*demand, strict=True)
    minutes, longest_s = by_queues(iops, throughput_mib_s, period_s)
    found = plimsoll.replay(GP3, iops, throughput_mib_s, period_s=period_s)
    assert found.throttled_minutes == minutes
    assert math.isclose(found.longest_wait_s, longest_s, abs_tol=1e-6)
    assert found.hours_observed == len(demand) * period_s / 3600


def test_what_is_not_known_counts_for_nothing():
    found = plimsoll.replay(GP3, [1000, np.nan, 1000], [10, 10, np.nan])
    assert found.throttled_minutes == 0
    assert math.isclose(found.hours_observed, 1 / 60)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"iops": [1, 2], "throughput_mib_s": [1]}, "2 buckets and throughput_mib_s has 1"),
        ({"iops": [[1]], "throughput_mib_s": [1]}, "iops must be one row"),
        ({"iops": [1], "throughput_mib_s": [-1]}, "throughput_mib_s must be one row"),
        ({"iops": ["fast"], "throughput_mib_s": [1]}, "iops must be numbers"),
        ({"iops": [1], "throughput_mib_s": [1], "period_s": 0}, "period_s is 0"),
        ({"iops": [1], "throughput_mib_s": [1], "read_share": 2}, "read_share is 2"),
        ({"spec": VolumeSpec(type="gp9", size_gib=1), "iops": [1], "throughput_mib_s": [1]}, "gp9"),
    ],
)
def test_what_is_no_demand_is_said(asked, words):
    with pytest.raises(plimsoll.PlimsollError, match=words):
        plimsoll.replay(**{"spec": GP3, **asked})
