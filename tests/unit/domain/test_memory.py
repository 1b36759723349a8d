"""What was before the window speaks against reductions, and what is left unread of it changes nothing."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.domain.branch_and_bound import judge
from plimsoll.domain.knowledge import BYTES, OPERATIONS, PAST_RATES
from plimsoll.domain.memory import Past, begun_s, memory_of, memory_segments
from plimsoll.domain.memory_reasons import rhythm
from plimsoll.domain.past_looks import look_at_days, look_at_everything, look_at_highest, looks
from plimsoll.domain.policy import Policy
from plimsoll.domain.recommendation import Change, InsufficientData, Keep, Upgrade, Wait
from plimsoll.domain.remembered import limits_of
from plimsoll.domain.sums import COUNTER_SERIES, Sums, Window, segments, series
from plimsoll.domain.together import Unit
from plimsoll.domain.units import DAY_S, HOUR_S, KIB
from plimsoll.domain.volume import Owner, OwnerKind, Seen
from tests.builders import NOW, a_basis, a_host, a_spec, a_stripe_set, a_tariff, a_volume, ceiling_of, with_rates
from tests.in_memory.ports import MemoryMetrics, cut
from tests.oracle.past import buckets_of, required_by
from tests.profiles import examples
from tests.unit.domain.answered import decided_on

DAYS = 3
DAY = 1440
WINDOW = Window.before(NOW, days=DAYS)
RETENTION = {60: 15, 300: 63, 3600: 455}
OLDEST_S = WINDOW.start_s - 80 * DAY_S
MINUTES = (WINDOW.end_s - OLDEST_S) // 60
PAST_MINUTES = (WINDOW.start_s - OLDEST_S) // 60
SEGMENTS = memory_segments(WINDOW.start_s, 455, RETENTION, NOW.timestamp())
A_LIFE_AGO = datetime.fromtimestamp(OLDEST_S, UTC) - timedelta(days=7)
PLAIN = Policy(lookback_days=DAYS)


def a_life(iops, *, io_kib=16.0, rates=True, unrated_days=(), absent=()):
    """What a volume did minute by minute over 80 days and the window; rates may be missing of some days."""
    ops = np.round(np.asarray(iops, dtype=np.float64) * 60)
    nothing = np.zeros(MINUTES)
    made = {"read_ops": nothing, "write_ops": ops, "read_bytes": nothing, "write_bytes": np.round(ops * io_kib * KIB)}
    if rates:
        made |= with_rates(made["write_ops"], made["write_bytes"])
        for day in unrated_days:
            for name in made.keys() - set(COUNTER_SERIES):
                made[name] = made[name].copy()
                made[name][day * 1440 : (day + 1) * 1440] = np.nan
    for first, last in absent:
        made = {name: values.copy() for name, values in made.items()}
        for values in made.values():
            values[first:last] = np.nan
    return Sums(start_s=OLDEST_S, period_s=60, **made)


def flat_with(rate, *events):
    """A flat life with events: (minutes before the window, how many minutes, IOPS)."""
    iops = np.full(MINUTES, float(rate))
    for before, lasting, hot in events:
        iops[PAST_MINUTES - before : PAST_MINUTES - before + lasting] = hot
    return iops


def judged(volumes, lives, policy=PLAIN, *, every_minute=False, memory=SEGMENTS, query_cost=None, metrics=None):
    metrics = metrics or MemoryMetrics(given=lives)
    found = judge(
        {volume.id: a_basis(policy) for volume in volumes},
        volumes,
        metrics.read,
        segments=segments(WINDOW, 60, RETENTION, NOW.timestamp()),
        resolution_s=60,
        query_cost=query_cost or a_tariff(),
        memory=memory,
        every_minute=every_minute,
    )
    return found, metrics.usage


def answer_to(volume, iops, policy=PLAIN, **how):
    found, _ = judged([volume], {volume.id: a_life(iops, **how)}, policy)
    return found[volume.id].recommendation


def a_large(**fields):
    return a_volume("gp3", 500, iops=16_000, throughput_mib_s=125, created=A_LIFE_AGO, **fields)


def test_an_hour_before_the_window_speaks_against_less_and_is_named_by_its_day():
    found = answer_to(a_large(), flat_with(900, (20 * DAY, 120, 9000)), io_kib=8)
    assert (found.target.spec.iops, found.target.spec.throughput_mib_s) == (10_800, 125)
    assert found.memory.instead_of.iops == 3000
    day = datetime.fromtimestamp(WINDOW.start_s - 20 * DAY_S, UTC)
    assert found.memory.event.start_s == day.timestamp()
    assert f"{day.day} {day:%B %Y}" in " ".join(found.reasons)


def test_without_such_an_hour_the_window_decides_alone():
    calm = answer_to(a_large(), flat_with(900))
    alone, _ = judged([a_large()], {"vol-1": a_life(flat_with(900))}, memory=())
    assert calm.target == alone["vol-1"].recommendation.target
    assert calm.memory.event is None
    assert calm.memory.days == 80


def test_where_nothing_cheaper_carries_the_past_the_volume_stays():
    found = answer_to(a_large(), flat_with(900, (70 * DAY, 60, 15_000)), io_kib=8)
    assert isinstance(found, Keep)
    assert found.memory.event.rate == pytest.approx(15_000)


@pytest.mark.parametrize("rates", [True, False])
def test_five_minutes_count_as_long_as_they_are_kept_and_then_only_their_hour(rates):
    late, early = (flat_with(900, (days * DAY, 5, 9000)) for days in (40, 75))
    assert answer_to(a_large(), late, io_kib=8, rates=rates).target.spec.iops == 10_800
    assert answer_to(a_large(), early, io_kib=8, rates=rates).target.spec.iops == 3000


def test_a_single_minute_whose_neighbors_have_expired_is_said_and_refuses_nothing():
    minute = flat_with(900, (75 * DAY, 1, 9000))
    known, guessed = (answer_to(a_large(), minute, io_kib=8, rates=rates) for rates in (True, False))
    assert known.target.spec.iops == guessed.target.spec.iops == 3000
    assert "9,000 IOPS" in " ".join(known.reasons)
    assert "9,000 IOPS" not in " ".join(guessed.reasons)


def test_a_likely_minute_is_estimated_by_the_windows_own_ratio_and_said_as_such():
    iops = flat_with(100, (75 * DAY, 60, 5500))
    iops[PAST_MINUTES + 100] = 6000  # in an hour of 100: a minute of 30 times its mean
    found = answer_to(a_large(), iops, io_kib=8, rates=False)
    assert isinstance(found, Change)
    assert "likely" in " ".join(found.reasons)


def test_a_first_load_and_the_day_of_a_move_are_no_history():
    made = datetime.fromtimestamp(OLDEST_S, UTC)
    iops = flat_with(900)
    iops[: 6 * DAY] = 15_000
    filled = replace(a_large(), created=made)
    assert answer_to(filled, iops, io_kib=8).target.spec.iops == 3000
    assert isinstance(answer_to(filled, iops, replace(PLAIN, settle_days=0), io_kib=8), Keep)
    moved = datetime.fromtimestamp(WINDOW.start_s - 30 * DAY_S + 7 * HOUR_S, UTC)
    volume = a_large()
    volume = replace(volume, attachments=tuple(replace(one, since=moved) for one in volume.attachments))
    assert answer_to(volume, flat_with(900, (30 * DAY, 600, 15_000)), io_kib=8).target.spec.iops == 3000


def test_what_a_volume_may_forget_by_its_policy_speaks_against_nothing():
    iops = flat_with(900, (20 * DAY, 120, 9000))
    for days, right in ((0, 3000), (DAYS + 20, 3000), (DAYS + 22, 10_800), (455, 10_800)):
        assert answer_to(a_large(), iops, replace(PLAIN, memory_days=days), io_kib=8).target.spec.iops == right, days


def test_minutes_that_a_policy_tolerates_are_tolerated_in_every_30_days():
    iops = flat_with(900, (20 * DAY, 120, 9000), (50 * DAY, 180, 4000), (75 * DAY, 60, 8000))
    for budget, right in ((0, 10_800), (119, 10_800), (120, 4800), (180, 3000)):
        policy = replace(PLAIN, throttle_budget_min=budget, max_wait_s=86_400)
        assert answer_to(a_large(), iops, policy, io_kib=8).target.spec.iops == right, budget


def test_no_more_is_required_than_the_present_host_carries():
    found = answer_to(a_large(on=a_host("m4.large")), flat_with(900, (20 * DAY, 120, 9000)), io_kib=8)
    assert found.target.spec.iops == 3600


def test_a_keep_and_a_drop_in_replacement_ask_nothing_of_the_past():
    busy = a_life(flat_with(14_000), io_kib=4)
    keeps, few = judged([a_large()], {"vol-1": busy})
    alone, same = judged([a_large()], {"vol-1": busy}, memory=())
    assert keeps["vol-1"].recommendation == alone["vol-1"].recommendation
    assert few.datapoints == same.datapoints
    spare = a_volume("io1", 1000, iops=3000, created=A_LIFE_AGO, on=a_host("m5.24xlarge"))
    assert answer_to(spare, flat_with(2400, (20 * DAY, 120, 2900)), io_kib=8).memory is None


def test_a_quiet_past_is_six_datapoints_a_day():
    lives = {"vol-1": a_life(flat_with(100))}
    (_, with_memory), (_, alone) = judged([a_large()], lives), judged([a_large()], lives, memory=())
    assert with_memory.datapoints - alone.datapoints == 6 * 80
    assert with_memory.calls == alone.calls + 1


def test_relief_asks_only_what_was_done_on_the_days_of_the_last_weeks():
    lives = {"vol-1": a_life(flat_with(3000), io_kib=8)}
    small = a_volume("gp3", 500, iops=3000, throughput_mib_s=125, created=A_LIFE_AGO)
    (found, with_memory), (_, alone) = judged([small], lives), judged([small], lives, memory=())
    assert isinstance(found["vol-1"].recommendation, Upgrade)
    assert with_memory.datapoints - alone.datapoints == 4 * (56 - DAYS)


def test_the_past_of_one_member_is_that_of_its_whole_set():
    volumes = [a_large(id=name, on=a_host()) for name in ("vol-a", "vol-b")]
    lives = {
        "vol-a": a_life(flat_with(900), io_kib=8),
        "vol-b": a_life(flat_with(900, (20 * DAY, 120, 9000)), io_kib=8),
    }
    stripes = a_stripe_set("vol-a", "vol-b")
    metrics = MemoryMetrics(given=lives)
    found = judge(
        {volume.id: a_basis(PLAIN) for volume in volumes},
        volumes,
        metrics.read,
        segments=segments(WINDOW, 60, RETENTION, NOW.timestamp()),
        resolution_s=60,
        query_cost=a_tariff(),
        memory=SEGMENTS,
        units=[Unit(stripes=stripes, volumes=volumes, held={})],
    )
    assert {one.recommendation.target.spec.iops for one in found.values()} == {10_800}


def risen_to(rate, share_a_day):
    """A level that has risen by that share of what it is now on each day."""
    return rate * (1 - share_a_day * (MINUTES - np.arange(MINUTES)) / DAY)


def test_an_answer_says_how_fast_demand_grows_and_what_room_that_takes():
    found = answer_to(a_large(), risen_to(4000, 0.005), io_kib=8)
    told = " ".join(found.reasons)
    assert found.growth.usual_headroom_pct == 20
    assert f"{found.growth.iops_pct_a_day:.2g} % more operations" in told
    assert f"{found.growth.headroom_pct:g} % instead of 20 %" in told
    assert f"{found.growth.headroom_pct:g} % headroom included" in told
    assert found.target.spec.iops == pytest.approx((1 + found.growth.headroom_pct / 100) * 4000, abs=100)


def test_what_one_member_of_a_set_grows_by_all_have_room_for():
    volumes = [a_large(id=name, on=a_host()) for name in ("vol-a", "vol-b")]
    given_lives = {
        "vol-a": a_life(flat_with(4000), io_kib=8),
        "vol-b": a_life(risen_to(4000, 0.005), io_kib=8),
    }
    metrics = MemoryMetrics(given=given_lives)
    found = judge(
        {volume.id: a_basis(PLAIN) for volume in volumes},
        volumes,
        metrics.read,
        segments=segments(WINDOW, 60, RETENTION, NOW.timestamp()),
        resolution_s=60,
        query_cost=a_tariff(),
        memory=SEGMENTS,
        units=[Unit(stripes=a_stripe_set("vol-a", "vol-b"), volumes=volumes, held={})],
    )
    assert all(one.recommendation.growth.headroom_pct == pytest.approx(76, abs=2) for one in found.values())
    assert len({one.recommendation.target.spec.iops for one in found.values()}) == 1
    assert found["vol-a"].recommendation.target.spec.iops >= 1.7 * 4000


def test_relief_is_not_given_up_where_nothing_has_room_for_the_growth():
    """1,800 MiB/s end what 1,200 throttle. With room for three months it would take more than any gp3 has."""
    policy = replace(PLAIN, target_types=("gp3",))
    volume = a_volume("gp3", 500, iops=16_000, throughput_mib_s=1200, created=A_LIFE_AGO)
    outgrown = np.minimum(4800, risen_to(5500, 0.009))
    found, alone = (answer_to(volume, outgrown, replace(policy, growth_days=days), io_kib=256) for days in (90, 0))
    assert isinstance(found, Upgrade)
    assert found.target == alone.target
    assert found.growth is None


def test_rates_that_are_under_the_means_are_asked_twice_and_then_nothing_is_recommended():
    life = a_life(flat_with(900, (20 * DAY, 120, 9000), (30 * DAY, 120, 12_000)), io_kib=8)
    wrong = life.highest_iops.copy()
    wrong[: PAST_MINUTES - 25 * DAY] = 10.0
    (found, usage) = judged([a_large()], {"vol-1": replace(life, highest_iops=wrong, summed_iops=wrong)})
    (_, alone) = judged([a_large()], {"vol-1": life}, memory=())
    assert isinstance(found["vol-1"].recommendation, InsufficientData)
    assert {one.series for one in found["vol-1"].recommendation.demand.coverage.disputes} == {"highest_iops"}
    assert usage.datapoints - alone.datapoints == 2 * 6 * 80


SPECS = st.sampled_from(
    [
        a_spec("gp2", 500),
        a_spec("gp2", 5500),
        a_spec("gp3", 600, iops=9000, throughput_mib_s=500),
        a_spec("gp3", 600, iops=16_000, throughput_mib_s=1000),
        a_spec("io1", 400, iops=12_000),
        a_spec("io2", 800, iops=32_000),
    ]
)
POLICIES = st.sampled_from(
    [
        PLAIN,
        PLAIN,
        replace(PLAIN, headroom_pct=0, drop_in_share_pct=100, growth_days=365),
        replace(PLAIN, headroom_pct=100, settle_days=0, growth_days=0),
        replace(PLAIN, throttle_budget_min=60, max_wait_s=3600),
        replace(PLAIN, throttle_budget_min=300, max_wait_s=3600, iops_step=1, throughput_step_mib_s=1),
        replace(PLAIN, target_types=("gp3", "io2", "gp2", "st1"), memory_days=70),
    ]
)
LINES = (3000 / 1.2, 3600.0, 9000 / 1.2, 9000.0, 12_000.0, 16_000 / 1.2, 5000.0)


@st.composite
def lives(draw, spec, lower_until, lower):
    """80 days and a window: a level by day or by night, growth or an end, and hot times around every line there is.

    Up to a minute its ceiling may have been lower, that many times.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    io_kib = draw(st.sampled_from([4.0, 16.0, 64.0, 256.0]))
    minutes = np.arange(MINUTES)
    iops = np.full(MINUTES, draw(st.sampled_from([0.0, 1.0, 50.0, 300.0, 1000.0])))
    ceiling = ceiling_of(a_volume(spec.type, spec.size_gib, iops=spec.iops, throughput_mib_s=spec.throughput_mib_s))
    match draw(st.sampled_from(["flat", "growing", "outgrown", "job", "turned off", "weekly", "month end", "bursty"])):
        case "growing":
            iops *= draw(st.sampled_from([0.2, 0.7])) + 0.8 * minutes / MINUTES
        case "outgrown":
            iops = np.minimum(ceiling.iops, ceiling.iops * (0.3 + 0.75 * minutes / MINUTES))
        case "job":
            lasts = np.where(minutes < lower_until, 180 / lower, draw(st.sampled_from([180, 180 / lower])))
            held = np.where(minutes < lower_until, lower * ceiling.iops, ceiling.iops)
            iops = np.where(minutes % 1440 < lasts, held, iops)
        case "turned off":
            iops[: draw(st.integers(0, PAST_MINUTES))] *= draw(st.sampled_from([2.0, 9.0, 40.0]))
        case "weekly":
            iops[(minutes // 1440 % 7 == 2) & (minutes % 1440 < 90)] *= draw(st.sampled_from([3.0, 12.0, 60.0]))
        case "month end":
            iops[(minutes // 1440 % 30 == 11) & (minutes % 1440 < 200)] *= draw(st.sampled_from([5.0, 20.0]))
        case "bursty":
            iops[rng.random(MINUTES) < draw(st.sampled_from([0.0001, 0.01]))] = draw(st.sampled_from(LINES))
    lines = [*LINES, ceiling.iops, *(line * 1024 / io_kib for line in (125 / 1.2, 250.0, ceiling.throughput_mib_s))]
    for _ in range(draw(st.integers(0, 4))):
        hot = draw(st.sampled_from(lines)) * draw(st.sampled_from([0.5, 0.99, 1.0, 1.01, 1.3]))
        start = draw(st.integers(0, MINUTES - 1))
        iops[start : start + draw(st.sampled_from([1, 5, 9, 60, 121, 3000]))] = hot
    absent = [
        (start, start + draw(st.sampled_from([5, 61, 3000])))
        for start in draw(st.lists(st.integers(0, PAST_MINUTES - 3001), max_size=2))
    ]
    return a_life(
        iops,
        io_kib=io_kib,
        rates=draw(st.booleans()),
        unrated_days=draw(st.lists(st.integers(0, 79), max_size=6)),
        absent=absent,
    )


@st.composite
def fleets(draw):
    volumes, given_lives = [], {}
    for number in range(draw(st.sampled_from([1, 1, 2]))):
        spec = draw(SPECS)
        created = draw(st.sampled_from([A_LIFE_AGO, datetime.fromtimestamp(OLDEST_S + 9 * DAY_S + 777, UTC)]))
        sizes = {"iops": spec.iops, "throughput_mib_s": spec.throughput_mib_s}
        lower, until = draw(st.sampled_from([0.4, 0.7])), draw(st.sampled_from([0, 0, 33, 50, 70])) * DAY
        seen = ()
        if until and spec.iops:
            at_s, small = OLDEST_S + 60 * until, replace(spec, iops=int(lower * spec.iops))
            seen = (Seen(at_s=at_s, spec=small), Seen(at_s=at_s, spec=spec, made=True))
        volume = a_volume(
            spec.type, spec.size_gib, **sizes, id=f"vol-{number}", created=created, on=a_host(), seen=seen
        )
        volumes.append(volume)
        given_lives[volume.id] = draw(lives(spec, until, lower))
    tariff = draw(st.sampled_from([a_tariff(), a_tariff(usd_query=0), a_tariff(usd_hour_waited=1e9)]))
    return volumes, given_lives, draw(POLICIES), tariff


SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)


@settings(max_examples=examples(400), deadline=None, suppress_health_check=SLOW)
@given(fleets())
def test_whatever_is_left_unread_of_the_past_the_answer_is_that_of_all_of_it(fleet):
    volumes, given_lives, policy, query_cost = fleet
    part, _ = judged(volumes, given_lives, policy, query_cost=query_cost)
    whole, _ = judged(volumes, given_lives, policy, every_minute=True)
    for name, exact in whole.items():
        assert decided_on(part[name]) == decided_on(exact), name
        found, expected = part[name].recommendation.memory, exact.recommendation.memory
        assert part[name].recommendation.growth == exact.recommendation.growth
        assert (found is None) == (expected is None)
        assert found is None or found.instead_of == expected.instead_of


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


PUBLISHED = (*COUNTER_SERIES, "highest_iops", "highest_throughput_mib_s")
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
        if twice and isinstance(one.recommendation, InsufficientData):
            assert one.recommendation.demand.coverage.disputes
        elif not absent_anyway(given_lives[name], names):
            assert decided_on(one) == decided_on(expected[name]), name


def absent_anyway(life, lost):
    """Whether nothing is left where some series are lost: the life has no rates, and its counts are gone."""
    return life.highest_iops is None and {"read_ops", "write_ops"} <= set(lost)


@settings(max_examples=examples(300), deadline=None, suppress_health_check=SLOW)
@given(fleets())
def test_an_answer_carries_what_every_bucket_of_the_past_requires(fleet):
    volumes, given_lives, policy, _ = fleet
    found, _ = judged(volumes, given_lives, policy)
    for volume in volumes:
        past = naive_past(volume, given_lives[volume.id], policy)
        one = found[volume.id].recommendation
        offer = one.target if isinstance(one, Change) else one.expected if isinstance(one, Wait) else None
        if one.memory is None or offer is None:
            continue
        needs = required_by(past, oracle_policy(policy), {"iops": 80_000, "mib_s": 2375 * 1e6 / 2**20})
        present = one.comparison.present
        drop_in = offer.ceiling.iops >= present.iops and offer.ceiling.throughput_mib_s >= present.throughput_mib_s
        assert drop_in or offer.ceiling.iops >= needs["iops"] - 1e-3
        assert drop_in or offer.ceiling.throughput_mib_s >= needs["mib_s"] - 1e-3


def oracle_policy(policy):
    names = ("headroom_pct", "settle_days", "memory_days", "throttle_budget_min")
    return {name: getattr(policy, name) for name in names}


def naive_past(volume, life, policy):
    ops, moved = life.write_ops[:PAST_MINUTES], life.write_bytes[:PAST_MINUTES]
    moved_on = [one.since.timestamp() for one in volume.attachments]
    rules = oracle_policy(policy)
    return buckets_of(ops, moved, OLDEST_S // 60, NOW.timestamp(), volume.created.timestamp(), moved_on, rules)


@settings(max_examples=examples(200), deadline=None, suppress_health_check=SLOW)
@given(fleets())
def test_what_the_past_requires_is_what_the_oracle_finds_hour_by_hour(fleet):
    volumes, given_lives, policy, _ = fleet
    for volume in volumes:
        past = whole_past(volume, given_lives[volume.id], policy)
        hosts = ceiling_of(a_volume("io2", 60_000, iops=256_000))
        least, most = past.needs(policy, hosts)
        needs = required_by(
            naive_past(volume, given_lives[volume.id], policy),
            oracle_policy(policy),
            {"iops": hosts.iops, "mib_s": hosts.throughput_mib_s},
        )
        assert least == most
        assert (least.iops, least.throughput_mib_s) == pytest.approx((needs["iops"], needs["mib_s"]), rel=1e-9)


def whole_past(volume, life, policy):
    past = Past(memory_of(volume, SEGMENTS), begun_s(volume, policy, NOW.timestamp()))
    for look in look_at_everything(past):
        learn(past, look, dict(series(cut(life, look.window, look.period_s, look.series))))
    return past


def learn(past, look, found):
    """Answers a look, and once more with the same where it is in doubt."""
    past.learn(look, found)
    if past.in_doubt(look):
        past.learn(look, found)


@settings(max_examples=examples(200), deadline=None, suppress_health_check=SLOW)
@given(fleets(), st.lists(st.sampled_from([0.0, 5.0, 30.0, 90.0, 365.0]), min_size=2, max_size=2))
def test_room_for_more_growth_never_makes_a_target_smaller(fleet, days):
    volumes, given_lives, policy, _ = fleet
    policy = replace(policy, target_types=("gp3",), throttle_budget_min=0.0)
    less, more = (judged(volumes, given_lives, replace(policy, growth_days=one))[0] for one in (min(days), max(days)))
    for name in less:
        small, large = target_of(less[name].recommendation), target_of(more[name].recommendation)
        if small.spec.type == large.spec.type:
            assert small.ceiling.iops <= large.ceiling.iops + 1e-6
            assert small.ceiling.throughput_mib_s <= large.ceiling.throughput_mib_s + 1e-6
        assert cost_then(less[name].recommendation) <= cost_then(more[name].recommendation) + 1e-9


class _AsItIs:
    def __init__(self, found):
        self.spec, self.ceiling = found.volume.spec, found.comparison.present


def target_of(found):
    """What a volume will be by its answer."""
    if isinstance(found, Change):
        return found.target
    return found.expected if isinstance(found, Wait) else _AsItIs(found)


@settings(max_examples=examples(200), deadline=None, suppress_health_check=SLOW)
@given(fleets(), st.lists(st.integers(0, 455), min_size=2, max_size=2))
def test_a_wider_memory_never_loosens_a_veto(fleet, days):
    volumes, given_lives, policy, _ = fleet
    policy = replace(policy, growth_days=0)  # Weeks of which more are known may tell of less growth.
    short, long = (judged(volumes, given_lives, replace(policy, memory_days=one))[0] for one in (min(days), max(days)))
    for name in short:
        assert cost_then(short[name].recommendation) <= cost_then(long[name].recommendation) + 1e-9


def cost_then(one):
    """What a volume will cost a month by its answer."""
    if isinstance(one, Change):
        return one.usd_month_then
    return one.expected.usd_month if isinstance(one, Wait) else one.usd_month_now


@settings(max_examples=examples(200), deadline=None, suppress_health_check=SLOW)
@given(fleets(), st.lists(st.floats(0.5, 20_000), min_size=2, max_size=2), st.integers(0, 80))
def test_what_is_known_of_the_past_lies_around_all_of_it_at_every_step(fleet, limits, first_day):
    volumes, given_lives, policy, query_cost = fleet
    volume, life = volumes[0], given_lives["vol-0"]
    whole = whole_past(volume, life, policy)
    hosts = ceiling_of(a_volume("io2", 60_000, iops=256_000))
    (exact, _), past = (
        whole.needs(policy, hosts),
        Past(memory_of(volume, SEGMENTS), begun_s(volume, policy, NOW.timestamp())),
    )
    asked, rounds = [*look_at_highest(past), *look_at_days(some_days(past, first_day))], 0
    while asked:
        for look in asked:
            learn(past, look, dict(series(cut(life, look.window, look.period_s, look.series))))
        least, most = past.needs(policy, hosts)
        assert least.iops <= exact.iops * (1 + 1e-9) <= most.iops * (1 + 1e-6) + 1e-6
        assert least.throughput_mib_s <= exact.throughput_mib_s * (1 + 1e-9)
        assert exact.throughput_mib_s <= most.throughput_mib_s * (1 + 1e-6) + 1e-6
        asked, rounds = looks(past, limits, query_cost), rounds + 1
        assert rounds < 10


def some_days(past, first_day):
    start_s = min(past.asked.start_s + first_day * DAY_S, past.window.end_s)
    return Window(start_s=start_s, end_s=past.window.end_s)


def test_days_are_read_of_a_whole_memory_and_no_more_than_is_kept():
    window = Window.before(NOW, days=14)
    found = memory_segments(window.start_s, 455, RETENTION, NOW.timestamp())
    assert [one.period_s for one in found] == [3600, 300]
    assert found[0].window.end_s == found[1].window.start_s
    assert found[1].window.end_s == window.start_s
    assert all(one.window.start_s % DAY_S == 0 for one in found)
    for one in found:
        assert NOW.timestamp() - one.window.start_s <= RETENTION[one.period_s] * DAY_S
    assert memory_segments(window.start_s, 0, RETENTION, NOW.timestamp()) == ()


def test_455_days_of_one_volume_are_bounded_however_much_is_read():
    volume = replace(a_large(), created=NOW - timedelta(days=900))
    past = Past(memory_of(volume, SEGMENTS), begun_s(volume, PLAIN, NOW.timestamp()))
    rates = np.full(past.window.buckets(DAY_S), 1e5)
    (look,) = look_at_highest(past)
    assert look.groups == (PAST_RATES, OPERATIONS, BYTES)
    learn(past, look, {"highest_iops": rates, "highest_throughput_mib_s": rates})
    while asked := looks(past, (1.0, 1.0), a_tariff()):
        for look in asked:
            full = np.full(look.window.buckets(look.period_s), 10.0 * look.period_s)
            learn(past, look, dict.fromkeys(COUNTER_SERIES, full))
    assert past.least.shape[1] <= 455 * 24 + 63 * 288


def test_limits_leave_out_what_the_hosts_cannot_carry():
    offer = answer_to(a_large(), flat_with(900)).target
    small = ceiling_of(a_volume("gp3", 500, iops=3000))
    assert limits_of(offer, PLAIN, small) == (np.inf, np.inf)


def days_of(*texts):
    return [int(datetime.fromisoformat(f"{text}T00:00:00+00:00").timestamp()) for text in texts]


@pytest.mark.parametrize(
    ("days", "right"),
    [
        (("2026-10-31",), "at the end of a month"),
        (("2026-10-31", "2026-11-01", "2026-08-31"), "at the end of a month"),
        (("2026-09-30", "2026-07-01"), "at the end of a quarter"),
        (("2026-10-14",), None),
        (("2026-10-02", "2026-10-09", "2026-10-23"), "a Friday"),
        (("2026-10-02", "2026-10-09"), None),
    ],
)
def test_what_days_have_in_common(days, right):
    assert rhythm(days_of(*days)) == right


class TestOfATemplate:
    """What saves too little alone may be changed with all that its template makes: the past is asked for that, too."""

    def part(self, *events, owner):
        host = a_host()
        boot = replace(a_volume(on=host, boot=True).attachments[0], device="/dev/xvda")
        volume = replace(a_volume("gp2", 40, created=A_LIFE_AGO, owner=owner), attachments=(boot,))
        found, _ = judged([volume], {volume.id: a_life(flat_with(100, *events))})
        answer = found[volume.id].recommendation
        assert isinstance(answer, Keep)
        return answer.part

    def test_an_event_of_the_past_refuses_it(self):
        owner = Owner(kind=OwnerKind.AUTO_SCALING, name="web")
        calm, busy = self.part(owner=owner), self.part((20 * DAY, 120, 2800), owner=owner)
        assert calm.offer.spec == a_spec("gp3", 40)
        assert busy.offer is None
        assert busy.held

    def test_nothing_is_brought_where_no_template_is_known(self):
        assert self.part((20 * DAY, 120, 2800), owner=Owner(kind=OwnerKind.HAND)) is None

    @settings(max_examples=examples(60), deadline=None)
    @given(
        st.lists(st.tuples(st.integers(1, PAST_MINUTES), st.integers(1, 300), st.integers(100, 3000)), max_size=3),
        st.integers(20, 49),
        st.integers(20, 3000),
    )
    def test_what_it_brings_is_what_every_minute_would_give(self, events, size_gib, rate):
        host = a_host()
        boot = replace(a_volume(on=host, boot=True).attachments[0], device="/dev/xvda")
        owner = Owner(kind=OwnerKind.AUTO_SCALING, name="web")
        volume = replace(a_volume("gp2", size_gib, created=A_LIFE_AGO, owner=owner), attachments=(boot,))
        lives = {volume.id: a_life(flat_with(rate, *events))}
        least, most = (judged([volume], lives, every_minute=whole)[0] for whole in (False, True))
        assert least[volume.id].recommendation.part == most[volume.id].recommendation.part
