"""Lessons: an account's own past peaks teach the headroom that would have carried the blocks after."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.domain.ceiling import Need
from plimsoll.domain.risk.calibration import LEVELS_PCT, calibrate
from plimsoll.domain.risk.histories import split_into_blocks, usual_share
from plimsoll.domain.risk.lessons import Lessons
from plimsoll.domain.risk.scores import Scores, join_scores
from plimsoll.domain.risk.table import FACTORS
from tests.profiles import examples
from tests.taught import a_past


def lessons(pasts):
    found = Lessons()
    for one in pasts:
        found.add(one)
    return found


def test_what_is_learned_is_what_calibrated_finds_of_the_same_cuts():
    rng = np.random.default_rng(2)
    days = np.sort(rng.lognormal(8, 1, (150, 1, 1)) * rng.lognormal(0, 0.5, (150, 5, 6)), axis=2)[:, :, ::-1]
    (one, two) = lessons(a_past(*row[:, :4].tolist()) for row in days).table("2026-11-23", "audits of a").bands
    for band, memory in ((one, 1), (two, 2)):
        rows = []
        for cut in range(5 - memory):
            known = days[:, cut + 1 : cut + 1 + memory].reshape(150, -1)
            before, after = known.max(axis=1), days[:, cut, 0]
            rows.append(
                Scores(
                    volume=np.arange(150),
                    cut=np.full(150, cut),
                    usual=usual_share(np.stack([known, known / 2], axis=1)),
                    above_free=before / 100,
                    of_present=before / 1e6,
                    score=np.where(after > 100, after / before, 0.0),
                    ratio=after / before,
                )
            )
        expected = calibrate(join_scores(rows))
        assert (band.memory_days, band.cuts) == (30 * memory, 5 - memory)
        assert (dict(band.learned.factors), band.learned.volumes) == (dict(expected.factors), expected.volumes)


@settings(max_examples=examples(100))
@given(
    st.lists(st.lists(st.one_of(st.none(), st.floats(1, 1e5)), min_size=2, max_size=8), max_size=30), st.integers(0, 30)
)
def test_parts_add_up_to_the_whole_in_any_order(rows, at):
    pasts = [a_past(*row) for row in rows]
    whole, parts = lessons(pasts), lessons(pasts[at:])
    parts.merge(lessons(pasts[:at]))
    assert parts == whole


def test_a_constant_demand_needs_no_headroom():
    table = lessons(a_past(*[1000.0] * 5) for _ in range(120)).table("2026-11-23", "audits of a")
    for band in table.bands:
        factors = [band.learned.factors[level] for level in LEVELS_PCT]
        assert factors == [FACTORS[FACTORS >= 1 - 1e-9][0]] * len(LEVELS_PCT)


@pytest.mark.parametrize("pasts", [[], [a_past(5.0, 5.0, 5.0)], [a_past(5.0)] * 200, [a_past(1e6, 1e6, 1e6)] * 200])
def test_one_volume_or_one_block_or_only_what_was_held_back_promises_nothing_worth_it(pasts):
    table = lessons(pasts).table("2026-11-23", "audits of a")
    assert table is None or all(band.learned.factor(20) is None for band in table.bands)


def test_what_came_after_and_stood_at_the_ceiling_was_outgrown_by_every_line():
    held, fine = [a_past(1e6, 500.0, 500.0)] * 31, [a_past(500.0, 500.0, 500.0)] * 120
    (band, *_rest) = lessons(held + fine).table("2026-11-23", "audits of a").bands
    assert band.learned.factors[20.0] is None
    assert band.learned.factors[30.0] == FACTORS[FACTORS >= 1 - 1e-9][0]


def test_a_cut_with_few_volumes_does_not_speak_for_the_fleet():
    old = [a_past(*[500.0] * 8)] * 9
    young = [a_past(*[500.0] * 4)] * 100
    (one, *_rest) = lessons(old + young).table("2026-11-23", "audits of a").bands
    assert (one.cuts, one.learned.volumes) == (3, 109)


def test_blocks_are_the_latest_first_and_need_half_of_their_days():
    days = np.array([[9.0, 1, 2, np.nan, 3, np.nan, np.nan], [9.0, 1, 1, 1, 4, np.nan, 1]])
    two = (Need(iops=2.0, throughput_mib_s=1.0), Need(iops=1.0, throughput_mib_s=1.0))
    assert split_into_blocks(days, 3) == (None, two)
    assert split_into_blocks(days, 30) == ()
    (busiest,) = split_into_blocks(np.array([[1.0, 5, 2, 4, 3], [1.0, 2, 3, 4, 5]]), 5)
    assert [day.iops for day in busiest] == [day.throughput_mib_s for day in busiest] == [5, 4, 3, 2]
