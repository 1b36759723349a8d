"""What a picture says of a volume is true: shares are never told too small, and bounds are told as bounds."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.ceiling import Resource
from plimsoll.reports.charts.pictures import (
    demand_title,
    envelopes_title,
    peaks_of,
    roofline_title,
    subject,
    time_text,
    used_share,
)
from tests.unit.reports.charts.profiles import a_ceiling, a_volume, ceilings, demand_of, limits, profiles
from tests.unit.reports.recommendations import a_profile, a_record


def test_the_title_of_demand_sets_the_peaks_against_the_present_ceiling():
    profile = a_profile([100.0, 300.0])
    assert demand_title(a_volume(profile), profile) == "Peaks at 600 of 3,000 IOPS and 9.38 of 125 MiB/s"


def test_a_peak_that_was_not_read_is_told_with_what_it_is_at_most():
    profile = a_profile([100.0, 300.0])
    record = a_volume(profile, demand=demand_of(profile, peak_iops=1_700.0))
    assert demand_title(record, profile) == "Peaks at no more than 1,700 of 3,000 IOPS and 9.38 of 125 MiB/s"
    assert roofline_title(record, profile) == "Peaks at 57 % of the present ceiling at most (3,000 IOPS)"


def test_what_is_drawn_above_the_policys_quantile_is_told():
    profile = a_profile([100.0, 300.0])
    record = a_volume(profile, demand=demand_of(profile, peak_iops=250.0, least_peak_iops=250.0))
    assert demand_title(record, profile).startswith("Peaks at 600 of 3,000 IOPS")


def test_a_throttled_volume_may_want_more_than_was_seen():
    profile = a_profile([1500.0], throttled=[59.0])
    title = "Throttled for 59 minutes: peaks at 3,000 of 3,000 IOPS and 46.9 of 125 MiB/s, and may want more"
    assert demand_title(a_volume(profile), profile) == title


def test_a_volume_whose_host_holds_it_back_says_so():
    profile = a_profile([500.0], host_bound=[30.0])
    assert roofline_title(a_volume(profile), profile) == (
        "Held back by its host for 30 minutes: peaks at 34 % of the present ceiling (3,000 IOPS), and may want more"
    )


BURSTS = a_ceiling(3000, 128, sustained_iops=300, sustained_throughput_mib_s=75, io_kib=256)


@pytest.mark.parametrize(
    ("rate", "throttled", "told"),
    [
        (151.0, [59.0], "peaks at 302 of 300 IOPS sustained (3,000 while credits last) and 4.72 of 75 MiB/s sustained"),
        (1000.0, [], "Peaks at 2,000 of 300 IOPS sustained (3,000 while credits last) and 31.2 of 128 MiB/s"),
        (100.0, [], "Peaks at 200 of 3,000 IOPS and 3.12 of 128 MiB/s"),
    ],
)
def test_where_credits_ran_out_or_are_spent_the_limit_is_what_is_carried_for_ever(rate, throttled, told):
    profile = a_profile([rate], throttled=throttled)
    assert told in demand_title(a_volume(profile, ceilings=ceilings(BURSTS)), profile)


def test_where_writes_have_a_limit_of_their_own_it_is_told_and_no_share_is_told_smaller_than_it_may_be():
    profile = a_profile([5000.0])
    now = a_ceiling(60_000, 1200, write_iops=15_000.0)
    record = a_volume(profile, ceilings=ceilings(now))
    assert (
        demand_title(record, profile)
        == "Peaks at 10,000 of 60,000 IOPS (15,000 of writes alone) and 156 of 1,200 MiB/s"
    )
    assert (
        roofline_title(record, profile) == "Peaks at 67 % of the present ceiling at most (15,000 IOPS of writes alone)"
    )
    slow = a_volume(profile, ceilings=ceilings(a_ceiling(7_500, 1200, write_iops=15_000.0)))
    assert (
        roofline_title(slow, profile) == "Peaks at 1.33 times the present ceiling at most (7,500 IOPS of reads alone)"
    )


def test_a_share_tells_what_it_is_of():
    profile = a_profile([1000.0])
    large = a_profile([4.0], moved=[100.0])
    slow = a_ceiling(500, 800, io_kib=256)
    assert roofline_title(a_volume(profile, ceilings=ceilings(BURSTS)), profile) == (
        "Peaks at 67 % of the present ceiling (3,000 IOPS while credits last, 300 sustained)"
    )
    assert roofline_title(a_volume(large, ceilings=ceilings(slow)), large).endswith("(500 IOPS of 256 KiB)")


@pytest.mark.parametrize(
    ("rates", "title"), [([None, None], "Nothing was observed"), ([0.0, None], "No reads and no writes")]
)
def test_nothing_and_no_work_are_told_apart(rates, title):
    profile = a_profile(rates)
    assert demand_title(a_volume(profile), profile) == title
    assert roofline_title(a_volume(profile), profile) == title


def test_a_run_of_before_ceilings_were_kept_tells_the_peaks_alone():
    profile = a_profile([300.0])
    assert roofline_title(a_volume(profile, ceilings=None), profile) == "Peaks at 600 IOPS and 9.38 MiB/s"


@given(profiles(), limits(), st.one_of(st.none(), limits()))
def test_no_share_is_told_smaller_than_any_bucket_that_is_drawn(profile, now, offered):
    record = a_volume(profile, ceilings=ceilings(now, offered))
    told = re.search(r"(\d+) % of the|([\d.]+) times the", roofline_title(record, profile))
    used = used_share(peaks_of(None, profile).iops, peaks_of(None, profile).throughput_mib_s, offered or now)
    if told is None:
        assert not used or not peaks_of(None, profile).iops
    else:
        share = int(told[1]) / 100 if told[1] else float(told[2]) + 0.005
        assert share >= used * (1 - 1e-9)


@given(profiles(), st.floats(1, 10), st.floats(1, 10))
def test_at_most_is_said_exactly_where_the_share_was_not_read(profile, iops, moved):
    found = demand_of(profile)
    bounds = {
        "peak_iops": found.peak_iops * iops,
        "peak_throughput_mib_s": found.peak_throughput_mib_s * moved,
    }
    record = a_volume(profile, demand=demand_of(profile, **bounds), ceilings=ceilings(a_ceiling(1000, 100)))
    peaks = peaks_of(record.demand, profile)
    seen = used_share(peaks.least_iops, peaks.least_throughput_mib_s, record.ceilings.now)
    most = used_share(peaks.iops, peaks.throughput_mib_s, record.ceilings.now)
    title = roofline_title(record, profile)
    assert ("at most" in title) == (seen != most and "ceiling" in title)


def test_large_operations_that_count_as_several_are_a_share_of_the_iops():
    assert used_share(100.0, 100.0, a_ceiling(500, 500, io_kib=256)) == pytest.approx(0.8)
    assert used_share(100.0, 10.0, a_ceiling(None, None)) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (30, "1 minute"),
        (60, "1 minute"),
        (5400, "90 minutes"),
        (3600, "1 hour"),
        (10_800, "3 hours"),
        (432_000, "120 hours"),
    ],
)
def test_times_are_minutes_until_they_are_many(seconds, text):
    assert time_text(seconds) == text


def test_envelopes_that_did_alike_are_named_together():
    best = {Resource.IOPS: {"a": 16_000, "b": 15_900, "c": 4_000}, Resource.THROUGHPUT: {"a": 100, "c": 1_000}}
    assert envelopes_title(best) == "a and b served the most: 16,000 IOPS; c served the most: 1,000 MiB/s"
    assert envelopes_title({Resource.IOPS: {"a": 1.0}}) == "Measurements at each I/O size"


def test_a_name_of_anybody_is_one_short_line():
    hostile = "<script>\n\x00\x1b\u202e" + "long " * 500
    told = subject(a_record(name=hostile))
    assert "(<script>" in told
    assert len(told) < 200
    assert told.isprintable()
