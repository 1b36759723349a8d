"""Whatever the arrangement of the unread work, a trial of it lies between its two bounds."""

from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from plimsoll.demand.demand import Demand, Spread
from plimsoll.demand.trial import Required, trial
from plimsoll.model.ceiling import Ceiling, Resource, TokenBucket
from tests.builders import rates_of
from tests.profiles import examples


def arrangements(total, minutes, most):
    """All ways to do so many units of work in some minutes, none of which has more than so many."""
    if minutes == 1:
        return [(total,)] if total <= most else []
    return [
        (first, *rest)
        for first in range(min(total, most) + 1)
        for rest in arrangements(total - first, minutes - 1, most)
    ]


@st.composite
def known(draw):
    """Buckets of a demand: operations and MiB by minutes, whether either was read finely, and whether the highest
    minute is published."""
    found = []
    for _ in range(draw(st.integers(1, 4))):
        minutes = draw(st.integers(1, 3))
        series = [[draw(st.integers(0, 5)) for _ in range(minutes)] for _ in range(2)]
        read = [minutes == 1 or draw(st.booleans()) for _ in range(2)]
        found.append((*series, *read, draw(st.booleans())))
    return found


@dataclass
class Side:
    """Operations, or MiB, as far as they are known, and the ways in which they may have come."""

    rates: list = field(default_factory=list)
    most: list = field(default_factory=list)
    least: list = field(default_factory=list)
    unread: list = field(default_factory=list)
    begins: list = field(default_factory=list)
    ways: list = field(default_factory=list)

    def add(self, values, *, read, published):
        count, total = len(values), sum(values)
        highest = max(values) if published else total
        self.rates += values if read else [total / count] * count
        self.most += values if read else [highest] * count
        self.least += [highest, *[0] * (count - 1)] if published and not read else [0] * count
        self.unread += [not read] * count
        self.begins += [True] * count if read else [True, *[False] * (count - 1)]
        ways = [tuple(values)] if read else arrangements(total, count, highest)
        self.ways.append([way for way in ways if not published or max(way) == highest])


def partly(buckets):
    """The demand that is known of buckets, and every demand that it may be."""
    operations, moved = Side(), Side()
    for ops, mib, read_ops, read_mib, published in buckets:
        operations.add(ops, read=read_ops, published=published)
        moved.add(mib, read=read_mib, published=published)
    spread = Spread(
        lengths_s=np.full(len(operations.rates), 60),
        most=rates_of(operations.most, moved.most, read_share=1.0),
        least=np.array([operations.least, moved.least], dtype=float),
        begins=np.array([operations.begins, moved.begins]),
        unread=np.array([operations.unread, moved.unread]),
    )
    known = demand_of(np.array(operations.rates, dtype=float), np.array(moved.rates, dtype=float), spread)
    ways = operations.ways + moved.ways
    return known, (demand_of(*each) for each in some_of(ways, len(operations.ways)))


def some_of(ways, apart):
    """At most 150 of all combinations, evenly spaced: there can be billions. The first `apart` parts are operations."""
    count = prod(map(len, ways))
    for at in range(0, count, 1 + count // 150):
        rest, chosen = at, []
        for part in reversed(ways):
            rest, one = divmod(rest, len(part))
            chosen.insert(0, part[one])
        yield [
            np.array([value for part in side for value in part], dtype=float)
            for side in (chosen[:apart], chosen[apart:])
        ]


def demand_of(iops, moved, spread=None):
    return Demand(
        start_s=0,
        resolution_s=60,
        coarsest_s=60,
        rates=rates_of(iops, moved, read_share=1.0),
        observed=np.ones(len(iops), dtype=bool),
        spread=spread,
    )


def required(demand, seconds=()):
    """What is required of a demand, with the buckets whose busiest second was read and was above every ceiling."""
    busy = np.isin(np.arange(len(demand.observed)), list(seconds)) * 9.0
    surely = demand.least_demand or replace(demand, rates=demand.rates * 0)
    return Required(work=demand, short=replace(surely, rates=np.maximum(surely.rates, busy)))


BUCKETS = st.builds(
    TokenBucket,
    resource=st.sampled_from(Resource),
    free_rate=st.sampled_from([0.0, 0.0, 1.0, 2.0]),
    refill_rate=st.sampled_from([0.5, 1.0, 2.0, 3.0]),
    capacity=st.sampled_from([0.0, 60.0, 150.0, 400.0]),
    least_charge_mib=st.sampled_from([0.0, 1.0]),
)
CEILINGS = st.builds(
    Ceiling,
    iops=st.sampled_from([1.0, 2.0, 2.5, 3.0, 5.0, 8.0]),
    throughput_mib_s=st.sampled_from([1.0, 2.0, 3.5, 8.0]),
    io_kib=st.sampled_from([None, 1024.0, 512.0]),
    buckets=st.lists(BUCKETS, max_size=2).map(tuple),
)


def test_work_that_may_come_after_a_backlog_was_carried_throttles_no_minute_for_sure():
    """A minute leaves 120 MiB, which the next one carries. What the two after it did may have come in the last."""
    buckets = [([0], [4], True, True, False), ([0, 0], [0, 1], False, False, False)]
    part, whole = partly(buckets)
    ceiling = Ceiling(iops=1.0, throughput_mib_s=2.0)
    assert {trial(required(one), ceiling).throttled_minutes for one in whole} == {1.0, 2.0}
    assert trial(required(part), ceiling).throttled_minutes == 1.0


@settings(max_examples=examples(600), deadline=None)
@given(known(), CEILINGS, st.just(()) | st.sets(st.integers(0, 11)))
@example(
    [([0], [0], True, True, False), ([0, 0], [0, 1], True, False, False)],
    Ceiling(iops=2.0, throughput_mib_s=2.0),
    {0, 1, 2},
)
def test_every_arrangement_lies_between_the_bounds(buckets, ceiling, seconds):
    part, whole = partly(buckets)
    least, most = trial(required(part, seconds), ceiling), trial(required(part, seconds).as_harmful, ceiling)
    for one in whole:
        true = trial(required(one, seconds), ceiling)
        assert least.throttled_minutes <= true.throttled_minutes + 1e-9
        assert true.throttled_minutes <= most.throttled_minutes + 1e-9
        assert least.longest_wait_s <= true.longest_wait_s + 1e-6
        assert true.longest_wait_s <= most.longest_wait_s + 1e-6
