"""The buckets of volumes that are held against each other: none is cut by what any of them was read in."""

import numpy as np
import pytest

from cloud_simulator.metrics.sums import Sums
from plimsoll.demand.demand import IOPS
from plimsoll.demand.from_metrics import demand_of, make_grid
from plimsoll.model.series import OPERATIONS, WORK_SERIES
from plimsoll.model.units import DAY_S, HOUR_S
from plimsoll.reading.known import Knowledge, Look, plan_first_looks
from plimsoll.reading.window import Window, cut_by_age
from tests.builders import NOW
from tests.in_memory.ports import cut

WINDOW = Window.before(NOW, days=3)
PARTS = cut_by_age(WINDOW, 60, {60: 15}, NOW.timestamp())
FIRST_DAY_S = -(-WINDOW.start_s // DAY_S) * DAY_S


def known(seed, *more):
    """What the first looks, and some more, say of a volume that worked at random, by the minute."""
    values = np.random.default_rng(seed).uniform(60.0, 6_000.0, WINDOW.buckets(60))
    sums = Sums(start_s=WINDOW.start_s, period_s=60, **dict.fromkeys(WORK_SERIES, values))
    knowledge = Knowledge(PARTS)
    for look in (*plan_first_looks(PARTS), *more):
        found = cut(sums, look.window, look.period_s, look.series)
        knowledge.learn(look, {name: values for name in look.series if (values := getattr(found, name)) is not None})
    return knowledge


def minutes_of(hour):
    start_s = FIRST_DAY_S + hour * HOUR_S
    return Look(window=Window(start_s=start_s, end_s=start_s + HOUR_S), period_s=60, groups=(OPERATIONS,))


def hours_of(day):
    start_s = FIRST_DAY_S + day * DAY_S
    return Look(window=Window(start_s=start_s, end_s=start_s + DAY_S), period_s=HOUR_S, groups=(OPERATIONS,))


@pytest.fixture
def volumes():
    return [known(1), known(2, hours_of(0), minutes_of(5)), known(3, hours_of(1), minutes_of(30))]


def test_a_bucket_begins_with_each_five_minutes_that_may_be_told_as_one():
    """Else a longer bucket counts for one block of five minutes, and lies in two."""
    knowledge, start_s = known(1, hours_of(0)), FIRST_DAY_S + 3 * HOUR_S
    span = Window(start_s=start_s, end_s=start_s + HOUR_S)
    before = make_grid([knowledge], resolution_s=60)
    knowledge.publishes(span, None)
    added = set(make_grid([knowledge], resolution_s=60).starts_s.tolist()) - set(before.starts_s.tolist())
    assert added == set(range(start_s + 300, span.end_s, 300))


def test_a_bucket_begins_where_one_of_any_volume_or_an_edge_does(volumes):
    edge_s = FIRST_DAY_S + 40 * HOUR_S + 7 * 60
    grid = make_grid(volumes, resolution_s=60, edges=[np.array([edge_s])])
    wanted = {edge_s, *(int(at) for one in volumes for track in one.tracks.values() for at in track.starts_s)}
    assert grid.starts_s.tolist() == sorted(wanted)
    assert (grid.starts_s + grid.lengths_s).tolist() == [*grid.starts_s[1:].tolist(), WINDOW.end_s]


def test_every_run_of_buckets_is_found_on_the_grid(volumes):
    grid = make_grid(volumes, resolution_s=60)
    for track in (track for one in volumes for track in one.tracks.values()):
        starts, buckets = track.starts_s.tolist(), grid.starts_s.tolist()
        assert grid.places_in(track.starts_s).tolist() == [sum(one <= at for one in starts) - 1 for at in buckets]
        assert grid.mark_beginnings(track.starts_s).tolist() == [at in starts for at in buckets]
        assert [buckets[at] for at in grid.firsts(track.starts_s)] == starts


def test_a_volume_did_as_much_on_a_grid_with_others_as_on_its_own(volumes):
    shared = make_grid(volumes, resolution_s=60)
    for one in volumes:
        alone, beside = demand_of(one, resolution_s=60), demand_of(one, resolution_s=60, grid=shared)
        assert beside.window_s == alone.window_s
        assert beside.total(beside.iops) == pytest.approx(alone.total(alone.iops), rel=1e-12)
        assert beside.most[IOPS].max() == alone.most[IOPS].max()
