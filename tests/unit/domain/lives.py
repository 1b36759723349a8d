"""Volumes with a past of 80 days and a window, minute by minute, and their answers."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import strategies as st

from cloud_simulator.metrics.sums import Sums
from plimsoll.domain.demand.days import days_of_moves
from plimsoll.domain.memory.memory import Past, clip_memory, memory_segments, memory_start_s
from plimsoll.domain.metrics.series import WORK_SERIES
from plimsoll.domain.metrics.sums import Window, cut_by_age
from plimsoll.domain.policy import HeadroomFrom, Policy
from plimsoll.domain.recommendation import Change, Wait
from plimsoll.domain.refine.judge import judge
from plimsoll.domain.refine.past import look_at_everything
from plimsoll.domain.units import DAY_S, KIB
from plimsoll.domain.volume import Seen
from plimsoll.learned_table import load_table
from tests.builders import NOW, a_basis, a_host, a_spec, a_tariff, a_volume, ceiling_of, with_rates
from tests.in_memory.ports import MemoryMetrics, cut

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
            for name in made.keys() - set(WORK_SERIES):
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


def judged(
    volumes,
    lives,
    policy=PLAIN,
    *,
    every_minute=False,
    memory=SEGMENTS,
    query_cost=None,
    metrics=None,
    units=(),
    learned=None,
):
    metrics = metrics or MemoryMetrics(given=lives)
    found = judge(
        {volume.id: replace(a_basis(policy), learned=learned or load_table()).of(volume) for volume in volumes},
        volumes,
        metrics.read,
        segments=cut_by_age(WINDOW, 60, RETENTION, NOW.timestamp()),
        resolution_s=60,
        query_cost=query_cost or a_tariff(),
        memory=memory,
        units=units,
        every_minute=every_minute,
    )
    return found, metrics.usage


def answer_to(volume, iops, policy=PLAIN, **how):
    found, _ = judged([volume], {volume.id: a_life(iops, **how)}, policy)
    return found[volume.id].recommendation


def a_large(**fields):
    return a_volume("gp3", 500, iops=16_000, throughput_mib_s=125, created=A_LIFE_AGO, **fields)


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
        replace(PLAIN, headroom_from=HeadroomFrom.LEARNED, risk_pct=20),
        replace(PLAIN, headroom_from=HeadroomFrom.LEARNED, risk_pct=50, growth_days=0),
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
    if draw(st.integers(0, 4)) == 0:  # a pause before it was attached
        absent.append((PAST_MINUTES - draw(st.sampled_from([0, 3000])), MINUTES - draw(st.sampled_from([2000, 2400]))))
    return a_life(
        iops,
        io_kib=io_kib,
        rates=draw(st.booleans()),
        unrated_days=draw(st.lists(st.integers(0, 79), max_size=6)),
        absent=absent,
    )


@st.composite
def arrivals(draw, volume):
    """A volume that is where it always was, or was attached lately: to a host like one it was seen on, or another."""
    hours_ago = draw(st.sampled_from([None, None, None, 3.3, 20.0, 40.0, 100.0, 300.0]))
    if hours_ago is None:
        return volume
    came = NOW - timedelta(hours=hours_ago)
    was = draw(st.sampled_from([None, volume.hosts[0].type, "m5.large"]))
    sights = () if was is None else (Seen(at_s=int(came.timestamp()) - 86_400, hosts=(a_host(was, id="i-0"),)),)
    attached = tuple(replace(one, since=came) for one in volume.attachments)
    seen = tuple(sorted((*volume.seen, *sights), key=lambda one: one.at_s))
    return replace(volume, attachments=attached, seen=seen)


@st.composite
def fleets(draw, *, young=True):
    """One or two volumes with their lives, the policy and what a query costs; all have a past unless some are young."""
    volumes, given_lives = [], {}
    for number in range(draw(st.sampled_from([1, 1, 2]))):
        spec = draw(SPECS)
        grown_up = datetime.fromtimestamp(OLDEST_S + 9 * DAY_S + 777, UTC)
        ages = [NOW - timedelta(days=5), NOW - timedelta(days=12)] if young else []
        created = draw(st.sampled_from([A_LIFE_AGO, A_LIFE_AGO, grown_up, *ages]))
        sizes = {"iops": spec.iops, "throughput_mib_s": spec.throughput_mib_s}
        lower, until = draw(st.sampled_from([0.4, 0.7])), draw(st.sampled_from([0, 0, 33, 50, 70])) * DAY
        seen = ()
        if until and spec.iops:
            at_s, small = OLDEST_S + 60 * until, replace(spec, iops=int(lower * spec.iops))
            seen = (Seen(at_s=at_s, spec=small), Seen(at_s=at_s, spec=spec, made=True))
        volume = a_volume(
            spec.type, spec.size_gib, **sizes, id=f"vol-{number}", created=created, on=a_host(), seen=seen
        )
        volumes.append(draw(arrivals(volume)))
        given_lives[volume.id] = draw(lives(spec, until, lower))
    tariff = draw(st.sampled_from([a_tariff(), a_tariff(usd_query=0), a_tariff(usd_hour_waited=1e9)]))
    return volumes, given_lives, draw(POLICIES), tariff


class AsItIs:
    def __init__(self, found):
        self.spec, self.ceiling = found.volume.spec, found.comparison.present


def target_of(found):
    """What a volume will be by its answer."""
    if isinstance(found, Change):
        return found.target
    return found.expected if isinstance(found, Wait) else AsItIs(found)


def cost_then(one):
    """What a volume will cost a month by its answer."""
    if isinstance(one, Change):
        return one.usd_month_then
    return one.expected.usd_month if isinstance(one, Wait) else one.usd_month_now


def whole_past(volume, life, policy):
    past = Past(clip_memory(volume, SEGMENTS), memory_start_s(volume, policy, NOW.timestamp()), days_of_moves(volume))
    for look in look_at_everything(past):
        learn(past, look, dict(cut(life, look.window, look.period_s, look.series).series.items()))
    return past


def learn(past, look, found):
    """Answers a look, and once more with the same where it is in doubt."""
    past.learn(look, found)
    if past.is_in_doubt(look):
        past.learn(look, found)
