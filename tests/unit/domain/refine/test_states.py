"""In whatever state of reading an answer is called proved, it is that of every minute: by the certificate, and by both
ends, which guard it."""

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from plimsoll.model.policy import SizeOn
from plimsoll.model.series import BYTES, OPERATIONS
from plimsoll.model.units import DAY_S, HOUR_S
from plimsoll.reading.known import Look, plan_first_looks
from plimsoll.reading.window import Window, cut_by_age
from plimsoll.refine.hosts import make_groups
from plimsoll.refine.judge import judge_group, read_looks
from tests.builders import NOW, a_basis, a_market
from tests.in_memory.ports import MemoryMetrics
from tests.profiles import examples
from tests.unit.domain.answered import decided_on
from tests.unit.domain.refine.both_ends import proved
from tests.unit.domain.refine.test_branch_and_bound import ENVELOPES, TABLE, WINDOW, fleets, judged

MOST_STATES = 12
"""As many states are looked at on the way; then all that is asked for is read."""


def states(volumes, given_sums, policy, query_cost, rng):
    """Each group of volumes with what is to be read next of it, again and again, until that is nothing.

    Of what is asked for a part is read by chance, and beside it whole days more finely than anybody asked.
    """
    metrics = MemoryMetrics(given=given_sums)
    context = replace(a_basis(policy, market=a_market(), envelopes=ENVELOPES), learned=TABLE)
    parts = cut_by_age(WINDOW, policy.resolution_s, metrics.retention_days, NOW.timestamp())
    for group in make_groups({volume.id: context.of(volume) for volume in volumes}, volumes, parts, (), ()):
        members = group.members
        asks = [
            (member, look)
            for member in members
            for look in plan_first_looks(parts, every_minute=member.whole, host=member.asks_host)
        ]
        for number in range(1000):
            read_looks(asks, metrics.read)
            asks = judge_group(group, policy.resolution_s, query_cost)
            yield group, asks
            if not asks:
                break
            if number < MOST_STATES:
                asks = [ask for ask in asks if rng.random() < 0.5] or asks[:1]
                asks += unasked(members, asks, rng)


def unasked(members, asks, rng):
    """Whole days of a volume of which nothing is asked, by the hour or by the minute."""
    member = members[rng.integers(len(members))]
    days = [start_s for start_s in range(WINDOW.start_s, WINDOW.end_s, DAY_S) if start_s % DAY_S == 0]
    if any(asked is member for asked, _ in asks) or member.whole or not days:
        return []
    start_s, period_s = days[rng.integers(len(days))], (HOUR_S, 60)[rng.integers(2)]
    window = Window(start_s=start_s, end_s=min(start_s + DAY_S, WINDOW.end_s))
    groups = [
        group
        for group in (OPERATIONS, BYTES)
        if (member.knowledge.tracks[group].lengths_s[member.knowledge.tracks[group].slice_in(window)] > period_s).all()
    ]
    return [(member, Look(window=window, period_s=period_s, groups=(group,))) for group in groups]


@settings(
    max_examples=examples(600),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(fleets(), st.integers(0, 2**32))
def test_what_is_proved_in_any_state_of_reading_is_the_answer_of_every_minute(fleet, seed):
    volumes, given_sums, policy, query_cost = fleet
    whole, _ = judged(volumes, given_sums, policy, every_minute=True)
    for number, (group, asks) in enumerate(
        states(volumes, given_sums, policy, query_cost, np.random.default_rng(seed))
    ):
        note(f"state {number}, {len(asks)} to read")
        if not asks:
            for member in group.members:
                assert decided_on(member.judged) == decided_on(whole[member.volume.id])
        if policy.size_on is SizeOn.BUSY_TIME or any(member.knowledge.disputes for member in group.members):
            continue
        for name, answer in (proved(group, query_cost) or {}).items():
            assert decided_on(answer) == decided_on(whole[name]), name
