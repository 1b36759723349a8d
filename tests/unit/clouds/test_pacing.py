"""The pacer: over no window is more let through than its rate allows, beyond one second's worth."""

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.clouds.common.calls import Pacer


def spent(rate, takes):
    """When each take was let through on a fake clock: (seconds, units). `takes` are (pause before it, units)."""
    now = [1000.0]

    def sleep(seconds):
        now[0] += seconds

    pacer = Pacer(rate, burst_s=1.0, clock=lambda: now[0], sleep=sleep)
    through = []
    for pause, units in takes:
        now[0] += pause
        pacer.take(units)
        through.append((now[0], units))
    return through


RATES = st.floats(0.5, 1e6)
PAUSES = st.one_of(st.just(0.0), st.floats(0, 5))


@given(RATES, st.lists(st.tuples(PAUSES, st.floats(0.001, 1)), min_size=1, max_size=40))
def test_no_window_holds_more_than_its_rate_and_one_seconds_worth(rate, takes):
    through = spent(rate, [(pause, share * rate) for pause, share in takes])
    for first, (start, _) in enumerate(through):
        units = 0.0
        for end, taken in through[first:]:
            units += taken
            assert units <= rate * (end - start + 1) * (1 + 1e-9) + 1e-6


@given(RATES, st.integers(2, 60))
def test_what_is_asked_without_pause_takes_as_long_as_the_rate_says(rate, seconds):
    through = spent(rate, [(0.0, rate)] * seconds)
    assert abs((through[-1][0] - 1000) - (seconds - 1)) < 1e-6


def test_one_seconds_worth_is_let_through_at_once():
    assert spent(10, [(0.0, 1)] * 10)[-1][0] - 1000 < 1e-9


def test_a_long_rest_earns_no_more_than_one_seconds_worth():
    through = spent(10, [(3600.0, 10), (0.0, 10)])
    assert through[1][0] - through[0][0] >= 1 - 1e-9


def test_more_than_a_second_holds_is_waited_for():
    ((time, _),) = spent(10, [(0.0, 35)])
    assert abs(time - 1002.5) < 1e-9
