"""Watching promises: each day counts once, of the time in which a volume was what was recommended, and no other."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.domain.risk.promise_review import Review, Stay, Throttling, review_promises
from plimsoll.domain.risk.watch import PROMISE_KEPT_DAYS, Promise
from plimsoll.domain.units import DAY_S, HOUR_S
from plimsoll.domain.volume import VolumeSpec
from tests.profiles import examples

DAY0 = 20_000 * DAY_S


def gp3(iops, size_gib=500):
    return VolumeSpec(type="gp3", size_gib=size_gib, iops=iops, throughput_mib_s=125)


WAS, IS = gp3(16_000), gp3(5_000)


def a_promise(made_day=0.0):
    return Promise(before=WAS, target=IS, promised_pct=5.0, minutes=15.0, days=30.0, made_s=_at(made_day))


def _at(day):
    return DAY0 + round(day * DAY_S)


def a_review(day, spec=IS, *, changed_day=1.0, throttled=(), unseen=(), **fields):
    """What a run on a day sees: two weeks by two hours. The volume was `WAS` before the change, and throttled then all
    the time; since then in each of the `throttled` spans, by the number of hours since day 0, for ten minutes."""
    start_s, end_s = _at(int(day) - 14), _at(day)
    starts_s = np.arange(start_s, end_s, 2 * HOUR_S)
    hours = (starts_s - DAY0) // HOUR_S
    minutes = np.where(starts_s < _at(changed_day), 120.0, np.where(np.isin(hours, throttled), 10.0, 0.0))
    stays = [
        Stay(start_s=start_s, end_s=_at(changed_day), spec=WAS),
        Stay(start_s=max(start_s, _at(changed_day)), end_s=end_s, spec=spec),
    ]
    return Review(
        **{
            "at_s": end_s,
            "spec": spec,
            "offered": None,
            "silent": False,
            "stays": [one for one in stays if one.start_s < one.end_s],
            "throttling": Throttling(
                starts_s=starts_s,
                lengths_s=np.minimum(2 * HOUR_S, end_s - starts_s),
                minutes=minutes,
                observed=~np.isin(hours, unseen),
            ),
            **fields,
        }
    )


def promised(day=0.0):
    return review_promises(None, a_review(day, WAS, offered=a_promise(day)))


def after(*reviews, prior=None):
    found = promised() if prior is None else prior
    for review in reviews:
        found = review_promises(found, review)
    return found


def test_of_a_volume_of_which_nothing_was_promised_nothing_is_kept():
    assert review_promises(None, a_review(0, WAS)) is None


@settings(max_examples=examples(100))
@given(
    runs=st.lists(st.integers(min_value=2, max_value=60), min_size=1, max_size=8, unique=True).map(sorted),
    throttled=st.sets(st.integers(min_value=12, max_value=700).map(lambda hour: hour * 2), max_size=6),
)
def test_however_many_runs_see_a_day_it_counts_once(runs, throttled):
    """Held against the plain account: all spans from the change on that lie in a whole day that some run saw."""
    found = after(*(a_review(day, changed_day=1.5, throttled=tuple(throttled)) for day in runs))
    last = 31 if runs[0] - 14 < 1.5 else 30  # else nobody saw the change, and the promise is the earliest that it was
    seen = {hour for day in runs for hour in range(max(36, 24 * (day - 14)), min(24 * day, last * 24), 2)}
    assert found.watch.observed_s == len(seen) * 2 * HOUR_S
    assert found.watch.throttled_minutes == 10.0 * len(throttled & seen)


def test_the_same_run_twice_and_an_earlier_one_change_nothing():
    once = after(a_review(8.4, throttled=(48,)))
    assert review_promises(once, a_review(8.4, throttled=(48, 72))) == once
    assert review_promises(once, a_review(5.0, throttled=(72,))) == once


def test_what_was_not_observed_is_not_counted_as_quiet():
    found = after(a_review(8, unseen=range(48, 96)))
    assert found.watch.observed_s == 5 * DAY_S


def test_a_run_that_could_not_judge_adds_nothing_and_a_later_one_may():
    found = after(a_review(8, throttling=None, silent=True))
    assert (found.watch.observed_s, found.watch.until_s) == (0, _at(1))
    assert review_promises(found, a_review(9)).watch.observed_s == 8 * DAY_S


def test_a_volume_that_is_changed_again_is_not_watched_on():
    found = after(a_review(8, throttled=(48,)))
    bigger = gp3(9_000)
    stays = [Stay(start_s=_at(1), end_s=_at(9), spec=IS), Stay(start_s=_at(9), end_s=_at(15), spec=bigger)]
    later = review_promises(found, a_review(15, bigger, stays=stays, throttled=(200, 300)))
    assert later.watch.spec == IS
    assert later.watch.throttled_minutes == 20.0
    assert later.watch.is_broken
    assert later.watch.observed_s == 8 * DAY_S


def test_less_than_was_recommended_was_not_promised_and_more_was():
    assert after(a_review(8, gp3(4_500))) is None
    assert after(a_review(8, gp3(5_500))).watch.spec == gp3(5_500)
    assert after(a_review(8, gp3(5_000, size_gib=600))).watch is not None


def test_a_promise_that_is_taken_back_is_not_waited_for_and_one_that_nobody_could_judge_is():
    still = replace(a_review(3, WAS), silent=True)
    assert after(still).made == a_promise()
    assert after(a_review(3, WAS)) is None


def test_the_promise_is_that_of_the_run_before_the_change():
    again = replace(a_promise(7), promised_pct=10.0)
    found = after(a_review(7, WAS, changed_day=9, offered=again), a_review(14, changed_day=9))
    assert found.watch.promise == again


def test_a_change_that_no_window_shows_began_with_the_promise():
    (stay,) = [Stay(start_s=_at(-4), end_s=_at(10), spec=IS)]
    found = after(a_review(10, stays=[stay]))
    assert found.watch.changed_s == _at(0)


def test_what_was_changed_long_ago_is_forgotten():
    found = after(a_review(8, throttled=(48, 50)))
    assert found.watch.is_broken
    assert review_promises(found, a_review(PROMISE_KEPT_DAYS)).watch.is_broken
    assert review_promises(found, a_review(PROMISE_KEPT_DAYS + 2)) is None
