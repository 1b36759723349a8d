"""What is lost of the past, or disagrees in it, never changes an answer to another."""

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.decide.answer import Change, InsufficientData, Keep, Upgrade
from plimsoll.model.series import WORK_SERIES
from plimsoll.model.units import DAY_S
from tests.in_memory.ports import MemoryMetrics
from tests.profiles import examples
from tests.unit.domain.answered import decided_on
from tests.unit.domain.lives import (
    DAY,
    OLDEST_S,
    PAST_MINUTES,
    WINDOW,
    a_large,
    a_life,
    flat_with,
    fleets,
    judged,
)


def test_rates_that_are_under_the_means_are_asked_twice_and_then_nothing_is_recommended():
    life = a_life(flat_with(900, (20 * DAY, 120, 9000), (30 * DAY, 120, 12_000)), io_kib=8)
    wrong = life.highest_iops.copy()
    wrong[: PAST_MINUTES - 25 * DAY] = 10.0
    (found, usage) = judged([a_large()], {"vol-1": life.with_series(highest_iops=wrong, summed_iops=wrong)})
    (_, alone) = judged([a_large()], {"vol-1": life}, memory=())
    assert isinstance(found["vol-1"].recommendation, InsufficientData)
    assert {one.series for one in found["vol-1"].recommendation.demand.coverage.disputes} == {"highest_iops"}
    assert usage.datapoints - alone.datapoints == 2 * 6 * 80


SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)


class Losing(MemoryMetrics):
    """Loses some series of what was before the window in some of its days; the second time as well, if `twice`."""

    def losing(self, names, days, *, twice):
        self.names, self.days, self.twice, self.asked = names, days, twice, set()
        return self

    def _found(self, ask):
        found, look = super()._found(ask), ask.look
        again = (ask.volume.id, look) in self.asked
        self.asked.add((ask.volume.id, look))
        if look.window.end_s > WINDOW.start_s or (again and not self.twice):
            return found
        starts_s = look.window.start_s + look.period_s * np.arange(look.window.buckets(look.period_s))
        lost = np.isin((starts_s - OLDEST_S) // DAY_S, self.days)
        return {name: np.where(lost & (name in self.names), np.nan, values) for name, values in found.items()}


PUBLISHED = (*WORK_SERIES, "highest_iops", "highest_throughput_mib_s")
LOSSES = st.tuples(
    st.sets(st.sampled_from(PUBLISHED), min_size=1, max_size=5), st.sets(st.integers(0, 85), min_size=1, max_size=40)
)


@settings(max_examples=examples(400), deadline=None, suppress_health_check=SLOW)
@given(fleets(), LOSSES, st.booleans())
def test_whatever_is_lost_of_the_past_the_answer_is_the_same_or_there_is_none(fleet, losses, twice):
    volumes, given_lives, policy, _ = fleet
    names, days = losses
    expected, _ = judged(volumes, given_lives, policy)
    metrics = Losing(given=given_lives).losing(names, sorted(days), twice=twice)
    found, _ = judged(volumes, given_lives, policy, metrics=metrics)
    for name, one in found.items():
        if twice and is_unmeasured(one.recommendation):
            assert one.recommendation.demand.coverage.disputes
        elif isinstance(expected[name].recommendation, Upgrade) and names >= OPERATIONS:
            assert isinstance(one.recommendation, Upgrade)  # Its size alone rests on counts, and no rates are read.
        elif not absent_anyway(given_lives[name], names, days):
            pair = [one, expected[name]]
            if twice and names >= RATES:
                check_days(*(each.recommendation for each in pair))
                pair = [replace(each, recommendation=without_days(each.recommendation)) for each in pair]
            assert decided_on(pair[0]) == decided_on(pair[1]), name


OPERATIONS = {"read_ops", "write_ops"}
RATES = {"highest_iops", "highest_throughput_mib_s"}


def check_days(found, expected):
    """A day without its highest minute is known only if its counts were read: a promise never rests on more days."""
    if isinstance(expected, Change) and isinstance(found, Change) and expected.risk is not None:
        assert found.risk.history_days <= expected.risk.history_days
        assert found.risk.promised_pct == expected.risk.promised_pct


def without_days(answer):
    """The answer without the days that its promises rest on."""
    if isinstance(answer, Change) and answer.risk is not None:
        answer = replace(answer, risk=replace(answer.risk, history_days=0.0))
    if isinstance(answer, Change | Keep) and answer.too_risky is not None:
        risk = answer.too_risky.risk
        answer = replace(answer, too_risky=replace(answer.too_risky, risk=risk and replace(risk, history_days=0.0)))
    return answer


def is_unmeasured(answer):
    """Whether too little is known of a volume's demand: no answer, or one that needs none of it."""
    return isinstance(answer, InsufficientData) or (isinstance(answer, Change) and not answer.measured)


def absent_anyway(life, lost, days):
    """Whether nothing is left of a day in which some series are lost: its counts are gone, and it has no rates."""
    if not set(lost) >= OPERATIONS:
        return False
    starts_s = life.start_s + life.period_s * np.arange(len(life.read_ops))
    hit = np.isin((starts_s - OLDEST_S) // DAY_S, sorted(days))
    return life.highest_iops is None or bool(np.isnan(life.highest_iops[hit]).any())
