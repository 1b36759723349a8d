"""Reading a part of the minutes gives the answer that all of them give, to the digit."""

import math
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cloud_simulator.metrics.sums import Sums
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.demand.epochs import Unsettled, find_credited_windows
from plimsoll.demand.trial import TOLERANCE
from plimsoll.learned_table import load_table
from plimsoll.model.ceiling import Resource
from plimsoll.model.errors import CloudError, Throttled
from plimsoll.model.policy import HeadroomFrom, Policy, SizeOn
from plimsoll.model.series import WORK_SERIES
from plimsoll.model.units import KIB
from plimsoll.model.volume import Modification, Seen
from plimsoll.reading.known import Ask, plan_first_looks
from plimsoll.reading.window import Window, cut_by_age
from plimsoll.refine.hosts import make_groups
from plimsoll.refine.judge import judge
from tests.builders import (
    NOW,
    TYPES,
    US_EAST_1,
    a_basis,
    a_host,
    a_market,
    a_refutation,
    a_spec,
    a_tariff,
    a_volume,
    ceiling_of,
    with_rates,
)
from tests.in_memory.ports import MemoryMetrics
from tests.profiles import examples
from tests.unit.domain.answered import decided_on
from tests.unit.domain.lives import arrivals

DAYS = 2
WINDOW = Window.before(NOW, days=DAYS)
MINUTES = WINDOW.buckets(60)
PLAIN = Policy(lookback_days=DAYS)
ENVELOPES = tuple(envelope_library().envelopes.values())

SPECS = st.sampled_from(
    [
        a_spec("gp2", 8),
        a_spec("gp2", 100),
        a_spec("gp2", 171),
        a_spec("gp2", 250),
        a_spec("gp2", 500),
        a_spec("gp2", 1500),
        a_spec("gp2", 5500),
        a_spec("gp3", 200),
        a_spec("gp3", 600, iops=9000, throughput_mib_s=500),
        a_spec("io1", 400, iops=6000),
        a_spec("io2", 800, iops=12_000),
        a_spec("st1", 2000),
        a_spec("sc1", 3000),
        a_spec("standard", 200),
    ]
)
GP2_LARGE, GP3_LARGE = a_spec("gp2", 5500), a_spec("gp3", 600, iops=16_000, throughput_mib_s=125)
HOSTS = st.sampled_from(["m5.24xlarge", "m5.24xlarge", "m5.large", "t3.micro", "m4.large", "t2.micro"])
POLICIES = st.sampled_from(
    [
        Policy(lookback_days=DAYS),
        Policy(lookback_days=DAYS, target_types=("gp3", "io2", "st1", "sc1", "gp2")),
        Policy(lookback_days=DAYS, size_on=SizeOn.BUSY_TIME),
        Policy(lookback_days=DAYS, settle_days=1),
        Policy(lookback_days=DAYS, size_on=SizeOn.AVERAGE, iops_step=1, throughput_step_mib_s=1),
        Policy(lookback_days=DAYS, throttle_budget_min=60, max_wait_s=600),
        Policy(lookback_days=DAYS, headroom_pct=0, upgrade_throttled_share_pct=0),
        Policy(lookback_days=DAYS, headroom_pct=100, saturation_pct=60, min_hours=0),
        Policy(lookback_days=DAYS, risk_pct=20),
        Policy(lookback_days=DAYS, risk_pct=10, headroom_from=HeadroomFrom.LEARNED),
        Policy(lookback_days=DAYS, risk_pct=20, headroom_from=HeadroomFrom.LEARNED),
    ]
)
TABLE = replace(load_table(), bands=tuple(replace(band, memory_days=1.0) for band in load_table().bands[1:]))
"""What ships, as if it promised something after one day."""
TARIFFS = st.sampled_from(
    [a_tariff(), a_tariff(usd_query=0), a_tariff(usd_hour_waited=10), a_tariff(usd_hour_waited=1e9)]
)


@st.composite
def series(draw, spec):
    """Minutes of a volume: a flat load, or one by day, with hot minutes around every line there is, gaps and checks."""
    ceiling = ceiling_of(a_volume(spec.type, spec.size_gib, iops=spec.iops, throughput_mib_s=spec.throughput_mib_s))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    io_kib = draw(st.sampled_from([4.0, 16.0, 41.0, 64.0, 256.0, 1024.0]))
    flat = draw(st.sampled_from([0.0, 0.01, 0.5, 3.0, 20.0, 41.0, 100.0, 1000.0, 2500.0]))
    iops = np.full(MINUTES, flat)
    if draw(st.booleans()):
        iops *= 1 + np.sin(np.arange(MINUTES) / 1440 * 2 * np.pi)
    if draw(st.booleans()):
        iops *= rng.random(MINUTES) < draw(st.sampled_from([0.002, 0.05, 0.5]))
    lines = [3000 / 1.2, 0.95 * ceiling.iops, ceiling.iops, ceiling.sustained_iops, 3600.0, 500.0, 16_000 / 1.2, 2100.0]
    lines += [line * 1024 / io_kib for line in (125 / 1.2, 0.95 * ceiling.throughput_mib_s, ceiling.throughput_mib_s)]
    for _ in range(draw(st.integers(0, 4))):
        hot = draw(st.sampled_from(lines)) * draw(st.sampled_from([0.5, 0.98, 0.999, 1.0, 1.001, 1.02, 1.06, 1.4, 2.0]))
        start = draw(st.integers(0, MINUTES - 1))
        iops[start : start + draw(st.sampled_from([1, 1, 2, 7, 60, 500]))] = hot
    ops = np.round(iops * 60)
    reads = np.round(ops * draw(st.sampled_from([0.0, 0.3, 1.0])))
    sizes = np.where(rng.random(MINUTES) < 0.1, 4.0, io_kib) if draw(st.booleans()) else np.full(MINUTES, io_kib)
    moved = np.round(ops * sizes * KIB)
    read_bytes = np.round(reads * sizes * KIB)
    idle_s = np.round(60 * (1 - np.minimum(1, ops / 60 * draw(st.sampled_from([0.0001, 0.01, 1.0])))), 3)
    made = {
        "read_ops": reads,
        "write_ops": ops - reads,
        "read_bytes": read_bytes,
        "write_bytes": moved - read_bytes,
        "idle_s": idle_s,
        "burst_balance_pct": np.full(MINUTES, 80.0),
        "iops_exceeded": np.zeros(MINUTES),
        "throughput_exceeded": np.zeros(MINUTES),
    }
    for name, value in (("burst_balance_pct", 0.0), ("iops_exceeded", 1.0), ("throughput_exceeded", 1.0)):
        if draw(st.integers(0, 2)) == 0:
            start = draw(st.integers(0, MINUTES - 1))
            made[name][start : start + draw(st.sampled_from([1, 30]))] = value
    if draw(st.booleans()):
        for name in ("read_bytes", "write_bytes"):
            made[name][made[name] == 0] = np.nan
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, MINUTES - 1))
        end = start + draw(st.sampled_from([5, 60, 61, 600, 3000]))
        for values in made.values():
            values[start:end] = np.nan
    if draw(st.booleans()):
        made |= with_rates(
            made["read_ops"] + made["write_ops"], np.nan_to_num(made["read_bytes"] + made["write_bytes"])
        )
    unpublished = draw(
        st.lists(st.sampled_from(sorted(set(made) - set(WORK_SERIES) - set(with_rates(0, 0)))), max_size=3)
    )
    return Sums(start_s=WINDOW.start_s, period_s=60, **{**made, **dict.fromkeys(unpublished)})


def changed(hours_ago, original):
    started = NOW - timedelta(hours=hours_ago)
    return {"modification": Modification(state="completed", started=started, original=original, ended=started)}


PASTS = st.one_of(
    st.just({}),
    st.just({}),
    st.builds(changed, st.sampled_from([1.37, 7.0, 19.5, 30.2, 47.0]), st.one_of(st.none(), SPECS)),
    st.builds(
        lambda hours_ago: {"restored_from": "snap-1", "created": NOW - timedelta(hours=hours_ago)},
        st.sampled_from([26.3, 40.0, 170.0]),
    ),
    st.builds(lambda hours_ago: {"created": NOW - timedelta(hours=hours_ago)}, st.sampled_from([31.0, 100.0, 168.0])),
)
"""What is on record of a volume: usually nothing, else a change of its configuration, its age, or that it was restored
from a snapshot."""


@st.composite
def measured_hosts(draw):
    """What a cloud measured of a host, which has nothing to do with what its volumes did: checks minute by minute,
    balances every five minutes. Each is now and then absent, and a check may be there only where it is raised."""
    found = {}
    for name, usual, seldom, step in (
        ("host_iops_exceeded_minutes", 0.0, 1.0, 1),
        ("host_throughput_exceeded_minutes", 0.0, 1.0, 1),
        ("host_iops_balance_pct", 80.0, 0.0, 5),
        ("host_throughput_balance_pct", 100.0, 0.5, 5),
    ):
        values = np.full(MINUTES, usual)
        for figure, lengths in ((seldom, [5, 60, 1000, MINUTES]), (np.nan, [5, 15, 60, 300])):
            for _ in range(draw(st.integers(0, 2))):
                start = draw(st.integers(0, MINUTES // step - 1)) * step
                values[start : start + draw(st.sampled_from(lengths))] = figure
        if step == 1 and draw(st.integers(0, 4)) == 0:
            values[values == 0] = np.nan
        if draw(st.integers(0, 3)):
            found[name] = values
    return found


def balanced_while_credited(sums, volume):
    """The same with a balance only while the volume was of a size and type that has one."""
    if sums.burst_balance_pct is None:
        return sums
    balance = np.full(MINUTES, np.nan)
    for span in find_credited_windows(volume, WINDOW, TYPES):
        at = slice((span.start_s - WINDOW.start_s) // 60, (span.end_s - WINDOW.start_s) // 60)
        balance[at] = sums.burst_balance_pct[at]
    return sums.with_series(burst_balance_pct=balance)


def each_five_minutes(sums):
    """The same as it is published once in five minutes, by hosts that publish neither checks nor rates."""
    found = {}
    for name in ("read_ops", "write_ops", "read_bytes", "write_bytes", "idle_s", "burst_balance_pct"):
        values = getattr(sums, name)
        if values is not None:
            five = values.reshape(-1, 5)
            absent = np.isnan(five).all(axis=1)
            least = name == "burst_balance_pct"
            folded = np.nanmin(np.where(absent[:, None], 0.0, five), axis=1) if least else np.nansum(five, axis=1)
            found[name] = np.full(len(values), np.nan)
            found[name][::5] = np.where(absent, np.nan, folded)
    of_each_minute = ("iops_exceeded", "throughput_exceeded", *with_rates(0, 0))
    return sums.with_series(**found, **dict.fromkeys(of_each_minute))


@st.composite
def host_pasts(draw, host):
    """What is on record of the hosts of volumes on one host: of all of them that it was resized, or of one that it came
    from another host, which is known or not."""
    at_s = int(NOW.timestamp() - 3600 * draw(st.sampled_from([1.37, 7.0, 20.0, 30.2, 47.0])))
    earlier_s = draw(st.sampled_from([WINDOW.start_s - 3600, WINDOW.start_s + 7200]))
    before = draw(HOSTS)
    resized = {"seen": (Seen(at_s=earlier_s, hosts=(a_host(before),)), Seen(at_s=at_s, hosts=(host,), made=True))}
    came_from = {"seen": (Seen(at_s=earlier_s, hosts=(a_host(before, id="i-0"),)), *resized["seen"][1:])}
    unknown = {"attached": NOW - timedelta(seconds=NOW.timestamp() - at_s)}
    match draw(st.sampled_from(["none", "none", "resized", "resized", "moved", "unknown"])):
        case "resized":
            return [resized] * 3
        case "moved":
            return [came_from, draw(st.sampled_from([{}, came_from, resized])), {}]
        case "unknown":
            return [unknown, draw(st.sampled_from([{}, resized])), {}]
        case _:
            return [{}] * 3


def attached_since(volume, since):
    """The volume, attached to its host since then."""
    return replace(volume, attachments=tuple(replace(one, since=since) for one in volume.attachments))


@st.composite
def resized_fleets(draw):
    """Two volumes on a host that was resized, quiet but for one minute in which they stood together about its earlier
    limit, of which each had more or less."""
    small, large = a_host(draw(st.sampled_from(["m5.large", "m5.large", "t3.micro"]))), a_host("m5.24xlarge")
    ago_h = draw(st.sampled_from([1.37, 7.0, 20.0, 30.2]))
    seen = (
        Seen(at_s=WINDOW.start_s - 3600, hosts=(small,)),
        Seen(at_s=int(NOW.timestamp() - 3600 * ago_h), hosts=(large,), made=True),
    )
    together = small.limits.maximum_iops * draw(st.sampled_from([0.949, 0.951, 1.0, 1.0]))
    ours, at = draw(st.sampled_from([300.0, 1500.0, 2400.0, 2400.0])), draw(st.integers(0, MINUTES // 2))
    flat = draw(st.sampled_from([0.0, 1.0, 30.0]))
    volumes, sums = [], {}
    for number, part in enumerate((ours, together - ours)):
        spec = draw(st.sampled_from([a_spec("io2", 800, iops=12_000), GP3_LARGE, GP2_LARGE]))
        figures = {"iops": spec.iops, "throughput_mib_s": spec.throughput_mib_s}
        volume = a_volume(spec.type, spec.size_gib, **figures, id=f"vol-{number}", on=large, seen=seen)
        volumes.append(volume)
        sums[volume.id] = minutes_of(one_hot_minute(part, flat=flat, at=at), io_kib=4.0)
    return volumes, sums, draw(POLICIES), draw(TARIFFS)


def fleets():
    """Volumes on one host, or each on its own, with their minutes and the policy."""
    return st.integers(0, 4).flatmap(lambda number: resized_fleets() if number == 4 else any_fleets())


@st.composite
def any_fleets(draw):
    """One to three volumes on one host, or each on its own, with their minutes and the policy."""
    host = draw(HOSTS)
    measured = draw(st.one_of(st.just({}), measured_hosts(), measured_hosts()))
    shared = draw(st.booleans())
    volumes, given_sums = [], {}
    of_hosts = draw(host_pasts(a_host(host)))
    for number in range(draw(st.integers(1, 3 if shared else 1))):
        spec, past = draw(SPECS), {**of_hosts[number], **draw(PASTS)}
        attached = past.pop("attached", None)
        volume = a_volume(
            spec.type,
            spec.size_gib,
            iops=spec.iops,
            throughput_mib_s=spec.throughput_mib_s,
            id=f"vol-{number}",
            on=a_host(host),
            **past,
        )
        volume = volume if attached is None else attached_since(volume, attached)
        volumes.append(draw(arrivals(volume)))
        own = draw(series(spec))
        if draw(st.booleans()):
            own = balanced_while_credited(own, volume)
        if not a_host(host).nitro and draw(st.booleans()):
            own = each_five_minutes(own)
        given_sums[volume.id] = own.with_series(**measured)
    return volumes, given_sums, draw(POLICIES), draw(TARIFFS)


REFUTED = st.lists(
    st.builds(
        a_refutation,
        st.sampled_from(
            [
                a_spec("gp3", 500, iops=3000, throughput_mib_s=125),
                a_spec("gp3", 500, iops=3000, throughput_mib_s=250),
                a_spec("gp3", 500, iops=9000, throughput_mib_s=500),
                a_spec("io2", 500, iops=4000),
                a_spec("gp2", 500),
            ]
        ),
        st.sampled_from([{}, {Resource.IOPS: 1500.0}, {Resource.THROUGHPUT: 60.0}]),
        volume_id=st.sampled_from([None, "vol-0"]),
    ),
    max_size=3,
)
MEASURED = st.fixed_dictionaries({"failed_measurements": REFUTED, "envelopes": st.sampled_from([ENVELOPES, ()])})
KNOWN = st.integers(0, 6).flatmap(lambda number: MEASURED if number == 6 else st.just({}))
"""What is known beside the metrics: in a seventh of the fleets measurements speak against some offers."""


def judged(
    volumes,
    given_sums,
    policy,
    query_cost=None,
    *,
    every_minute=False,
    by_minutes=False,
    shown=frozenset(),
    broken=None,
    now=NOW,
    decided=None,
    failed_measurements=(),
    envelopes=ENVELOPES,
    takeovers=(),
):
    """The answers, and what reading them took."""
    metrics = MemoryMetrics(given=given_sums, broken=broken or {})
    market = replace(a_market(), failed_measurements=tuple(failed_measurements))
    context = replace(a_basis(policy, market=market, envelopes=envelopes), learned=TABLE)
    window = Window.before(now, days=policy.lookback_days)
    found = judge(
        {volume.id: context.of(volume) for volume in volumes if decided is None or volume.id in decided},
        volumes,
        metrics.read,
        segments=cut_by_age(window, policy.resolution_s, metrics.retention_days, now.timestamp()),
        resolution_s=policy.resolution_s,
        query_cost=query_cost or a_tariff(),
        takeovers=takeovers,
        every_minute=every_minute,
        by_minutes=by_minutes,
        shown=shown,
    )
    return found, metrics.usage


def assert_same(part, whole, policy=PLAIN):
    assert part.keys() == whole.keys()
    for name, exact in whole.items():
        assert decided_on(part[name]) == decided_on(exact), name
        found, expected = part[name].recommendation.demand, exact.recommendation.demand
        assert found.mean_iops == pytest.approx(expected.mean_iops, rel=1e-9)
        assert part[name].recommendation.usd_month_now == pytest.approx(exact.recommendation.usd_month_now, rel=1e-12)
        assert found.least_peak_iops <= expected.peak_iops * (1 + 1e-12) <= found.peak_iops * (1 + 1e-9)
        least, most = found.least_peak_throughput_mib_s, found.peak_throughput_mib_s
        assert least <= expected.peak_throughput_mib_s * (1 + 1e-12) <= most * (1 + 1e-9)
        for step in (
            part[name].recommendation.comparison.frontier if exact.recommendation.comparison is not None else ()
        ):
            assert_at_most(step, exact.recommendation, policy)


def assert_at_most(step, exact, policy):
    """A step of the frontier costs no less than the one of every minute for as many minutes, but for the millionth that
    replay allows: a figure may be the step of the policy below it."""
    affordable = [one for one in exact.comparison.frontier if one.budget_min <= step.budget_min]
    above = replace(
        step.spec,
        iops=raised_by_a_millionth(step.spec.iops, policy.iops_step),
        throughput_mib_s=raised_by_a_millionth(step.spec.throughput_mib_s, policy.throughput_step_mib_s),
    )
    allowed = US_EAST_1.usd_month(above) - US_EAST_1.usd_month(step.spec)
    assert not affordable or affordable[-1].usd_month <= step.usd_month + allowed + 1e-9


def raised_by_a_millionth(figure, step):
    return figure and math.ceil(figure * (1 + TOLERANCE) / step) * step


@settings(
    max_examples=examples(2000),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(fleets(), KNOWN)
def test_a_part_of_the_minutes_gives_the_answer_of_all_of_them(fleet, known):
    volumes, given_sums, policy, query_cost = fleet
    part, read = judged(volumes, given_sums, policy, query_cost, **known)
    whole, everything = judged(volumes, given_sums, policy, every_minute=True, **known)
    assert_same(part, whole, policy)
    if not known:
        assert read.datapoints <= 1.5 * everything.datapoints


@settings(
    max_examples=examples(400),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(fleets(), KNOWN)
def test_the_window_by_the_minute_and_the_work_of_what_is_shown_give_the_same_answers(fleet, known):
    volumes, given_sums, policy, query_cost = fleet
    whole, _ = judged(volumes, given_sums, policy, every_minute=True, **known)
    minutes, _ = judged(volumes, given_sums, policy, query_cost, by_minutes=True, **known)
    assert_same(minutes, whole, policy)
    shown = frozenset(volume.id for volume in volumes)
    told, _ = judged(volumes, given_sums, policy, query_cost, shown=shown, **known)
    assert_same(told, whole, policy)
    for answered in told.values():
        demand = answered.recommendation.demand
        if demand is not None:
            assert demand.least_peak_iops == pytest.approx(demand.peak_iops)
            assert demand.least_peak_throughput_mib_s == pytest.approx(demand.peak_throughput_mib_s)


def test_more_demand_can_bring_back_a_type_whose_smaller_offer_was_refuted_and_is_read_for_that():
    small = a_refutation(a_spec("gp3", 500, iops=3000, throughput_mib_s=125), {}, volume_id="vol-0")
    volume = a_volume("gp2", 1500, id="vol-0")
    flat = np.full(MINUTES, 1.0)
    flat[2345] = 3500.0
    given_sums = {"vol-0": minutes_of(flat)}
    policy = PLAIN
    known = {"failed_measurements": [small], "envelopes": ()}
    part, _ = judged([volume], given_sums, policy, **known)
    whole, _ = judged([volume], given_sums, policy, every_minute=True, **known)
    assert whole["vol-0"].recommendation.target.spec.type == "gp3"
    assert_same(part, whole, policy)


def test_a_balance_is_read_where_an_earlier_configuration_had_credits():
    volume = a_volume("gp2", 1500, id="vol-0", **changed(1.37, a_spec("gp2", 8)))
    balance = np.full(MINUTES, 80.0)
    balance[0] = 0.0
    both(volume, minutes_of(np.full(MINUTES, 1.0), burst_balance_pct=balance))


def test_a_balance_is_missed_in_the_epochs_alone_that_have_one():
    grown = a_volume("gp2", 1500, id="vol-0", **changed(30, a_spec("gp2", 300)))
    spent = np.where(np.arange(MINUTES) < 600, 0.0, 80.0)
    found, _ = both(grown, balanced_while_credited(minutes_of(np.full(MINUTES, 900.0), burst_balance_pct=spent), grown))
    assert (found.demand.coverage.disputes, found.demand.throttled_minutes) == ((), 600)
    lost = np.where(np.arange(MINUTES) < 1440, np.nan, 80.0)
    still, _ = both(a_volume("gp2", 300, id="vol-0"), minutes_of(np.full(MINUTES, 100.0), burst_balance_pct=lost))
    assert {doubt.series for doubt in still.demand.coverage.disputes} == {"burst_balance_pct"}


def minutes_of(iops, *, io_kib=16.0, **series):
    """Sums of a volume that wrote at these rates, minute by minute."""
    ops = np.round(np.asarray(iops, dtype=np.float64) * 60)
    nothing = np.zeros(MINUTES)
    made = {"read_ops": nothing, "write_ops": ops, "read_bytes": nothing, "write_bytes": ops * io_kib * KIB}
    return Sums(start_s=WINDOW.start_s, period_s=60, **made, **series)


def one_hot_minute(hot, flat=0.0, at=1234):
    iops = np.full(MINUTES, flat)
    iops[at] = hot
    return iops


def both(volume, sums):
    policy = PLAIN
    part, read = judged([volume], {volume.id: sums}, policy)
    whole, everything = judged([volume], {volume.id: sums}, policy, every_minute=True)
    assert_same(part, whole, policy)
    return part[volume.id].recommendation, read.datapoints / everything.datapoints


def test_an_idle_volume_is_read_by_the_hour():
    idle = minutes_of(np.zeros(MINUTES), idle_s=np.full(MINUTES, 60.0))
    answer, share = both(a_volume("gp2", 500), idle)
    assert answer.action == "migrate"
    assert share <= 1 / 60


def test_relief_goes_in_the_place_of_what_throttles_no_more_at_a_risk_that_is_not_allowed():
    """Twice the MiB/s that it moves at its limit are outgrown three times in ten: that stands beside the relief, which
    lowers them as little."""
    wanted = np.where(np.arange(MINUTES) % 1440 < 15, 16_000.0, 50.0)
    volume, sums = a_volume("gp3", 500, iops=16_000, throughput_mib_s=500, id="vol-0"), minutes_of(wanted, io_kib=4.0)
    part, _ = judged([volume], {"vol-0": sums}, Policy(lookback_days=DAYS, risk_pct=20))
    whole, _ = judged([volume], {"vol-0": sums}, Policy(lookback_days=DAYS, risk_pct=20), every_minute=True)
    assert_same(part, whole)
    answer = part["vol-0"].recommendation
    assert answer.action == "upgrade"
    assert answer.target.spec == a_spec("gp3", 500, iops=24_000, throughput_mib_s=500)
    assert answer.too_risky.offer.spec == a_spec("gp3", 500, iops=16_000, throughput_mib_s=125)
    assert (answer.too_risky.risk.promised_pct, answer.too_risky.saves_enough) == (30.0, True)


def test_one_hot_minute_in_a_flat_time_is_found_and_little_else_is_read():
    answer, share = both(a_volume("io2", 800, iops=12_000), minutes_of(one_hot_minute(7123.0, flat=5.0)))
    assert answer.target.spec.iops == 8600
    assert answer.demand.peak_iops == answer.demand.least_peak_iops == 7123
    assert share < 0.2


@pytest.mark.parametrize("hot", [2499.9, 2500.0, 2500.1, 2849.0, 2850.0, 2851.0, 3050.0])
def test_heat_around_the_lines_decides_as_it_does_with_all_minutes(hot):
    both(a_volume("gp2", 500), minutes_of(one_hot_minute(hot, flat=11.0)))


def test_minutes_a_little_above_the_ceiling_are_no_less_found_than_others():
    answer, _ = both(a_volume("gp3", 500, iops=4000), minutes_of(one_hot_minute(4120.0, flat=3.0)))
    assert answer.demand.censored
    assert answer.demand.throttled_minutes == 1


def test_what_a_host_carries_for_all_is_looked_at_in_all():
    host = a_host("m5.large")
    volumes = [a_volume("gp2", 1000, id=f"vol-{number}", on=host) for number in range(3)]
    sums = {volume.id: minutes_of(one_hot_minute(1250.0, flat=2.0, at=2000)) for volume in volumes}
    policy = PLAIN
    part, _ = judged(volumes, sums, policy, decided={"vol-0", "vol-1"})
    whole, _ = judged(volumes, sums, policy, every_minute=True, decided={"vol-0", "vol-1"})
    assert part.keys() == {"vol-0", "vol-1"}
    assert_same(part, whole, policy)


def with_and_without_a_broken_neighbor(host):
    volumes = [a_volume("gp2", 1000, id=f"vol-{number}", on=host) for number in range(2)]
    sums = {"vol-0": minutes_of(np.full(MINUTES, 50.0)), "vol-1": minutes_of(one_hot_minute(500.0, flat=3.0))}
    policy = PLAIN
    (whole, _), (part, _) = (
        judged(volumes, sums, policy, broken=broken) for broken in ({}, {"vol-1": Throttled("asked too often.")})
    )
    assert isinstance(part["vol-1"], CloudError)
    return whole["vol-0"], part["vol-0"]


def test_a_volume_that_cannot_be_read_fails_its_neighbors_where_the_host_may_be_the_limit():
    _, found = with_and_without_a_broken_neighbor(a_host("m5.large"))
    assert isinstance(found, CloudError)


def test_a_volume_that_cannot_be_read_changes_nothing_where_the_host_is_never_the_limit():
    whole, part = with_and_without_a_broken_neighbor(a_host("m5.24xlarge"))
    assert part.recommendation == whole.recommendation


def test_what_another_volume_did_on_a_host_before_that_was_resized_is_looked_at():
    small, large = a_host("m5.large"), a_host("m5.24xlarge")
    resized = (
        Seen(at_s=WINDOW.start_s - 3600, hosts=(small,)),
        Seen(at_s=int(NOW.timestamp()) - 20 * 3600, hosts=(large,), made=True),
    )
    ours = a_volume("io2", 800, iops=12_000, id="vol-0", on=large, seen=resized)
    other = a_volume("gp2", 5500, id="vol-1", on=large, seen=resized)
    sums = {
        "vol-0": minutes_of(one_hot_minute(2400.0, flat=1.0, at=600), io_kib=4.0),
        "vol-1": minutes_of(one_hot_minute(16_000.0, flat=1.0, at=600), io_kib=4.0),
    }
    policy = PLAIN
    part, read = judged([ours, other], sums, policy)
    whole, everything = judged([ours, other], sums, policy, every_minute=True)
    assert part["vol-0"].recommendation.code == Unsettled.LARGER_HOST
    assert_same(part, whole, policy)
    assert read.datapoints < everything.datapoints / 10


@pytest.mark.parametrize("raised", [0.0, 1.0])
def test_what_a_host_measured_before_it_was_resized_is_asked_for_although_it_carries_everything_now(raised):
    small, large = a_host("m5.large"), a_host("m5.24xlarge")
    resized = (
        Seen(at_s=WINDOW.start_s - 3600, hosts=(small,)),
        Seen(at_s=int(NOW.timestamp()) - 20 * 3600, hosts=(large,), made=True),
    )
    volume = a_volume("gp3", 800, iops=12_000, throughput_mib_s=125, id="vol-0", on=large, seen=resized)
    checks = np.zeros(MINUTES)
    checks[600] = raised
    sums = {"vol-0": minutes_of(np.full(MINUTES, 300.0), host_iops_exceeded_minutes=checks)}
    policy = PLAIN
    part, _ = judged([volume], sums, policy)
    whole, _ = judged([volume], sums, policy, every_minute=True)
    assert_same(part, whole, policy)
    assert whole["vol-0"].recommendation.code == (Unsettled.LARGER_HOST if raised else Unsettled.MOVED)


def test_expired_minutes_are_said_as_a_bound():
    window = Window.before(NOW, days=40)
    sums = Sums(
        start_s=window.start_s,
        period_s=60,
        **dict.fromkeys(("read_ops", "read_bytes", "write_bytes"), np.zeros(window.buckets(60))),
        write_ops=np.full(window.buckets(60), 6.0),
    )
    policy = Policy(lookback_days=40)
    for every_minute in (False, True):
        found, _ = judged([a_volume()], {"vol-1": sums}, policy, every_minute=every_minute)
        demand = found["vol-1"].recommendation.demand
        assert demand.resolution_s == 300
        assert demand.least_peak_iops == pytest.approx(0.1)
        assert demand.peak_iops >= 0.5


def test_reading_is_weighed_by_the_tariff():
    rng = np.random.default_rng(5)
    sums = {"vol-1": minutes_of(np.where(rng.random(MINUTES) < 0.02, 1900.0, 1.0))}
    volume, policy = a_volume("gp2", 500), Policy(lookback_days=DAYS)
    _, patient = judged([volume], sums, policy, a_tariff(usd_hour_waited=0.01))
    _, hurried = judged([volume], sums, policy, a_tariff(usd_hour_waited=1e6))
    assert patient.metrics < hurried.metrics
    assert patient.datapoints > hurried.datapoints


def test_the_rule_holds_for_overrides_of_single_volumes_on_a_shared_host():
    host = a_host("m5.large")
    volumes = [a_volume("gp2", 1000, id=f"vol-{number}", on=host) for number in range(2)]
    sums = {volume.id: minutes_of(one_hot_minute(1700.0, flat=2.0, at=2000)) for volume in volumes}
    lax, strict = Policy(lookback_days=DAYS, saturation_pct=100), Policy(lookback_days=DAYS, saturation_pct=60)
    bases = {"vol-0": a_basis(lax), "vol-1": a_basis(strict)}
    metrics = MemoryMetrics(given=sums)
    parts = cut_by_age(WINDOW, 60, metrics.retention_days, NOW.timestamp())
    answers = [
        judge(
            bases,
            volumes,
            metrics.read,
            segments=parts,
            resolution_s=60,
            query_cost=a_tariff(),
            every_minute=every_minute,
        )
        for every_minute in (False, True)
    ]
    for name in ("vol-0", "vol-1"):
        part, whole = ({name: found[name]} for found in answers)
        assert_same(part, whole)


@pytest.mark.parametrize(("every_minute", "kept"), [(False, True), (True, False)])
def test_what_was_worked_out_is_kept_while_more_is_read_only_where_it_is_little(every_minute, kept):
    volume = a_volume("gp2", 500)
    metrics = MemoryMetrics(given={volume.id: minutes_of(np.full(MINUTES, 100.0))})
    parts = cut_by_age(WINDOW, 60, metrics.retention_days, NOW.timestamp())
    (group,) = make_groups({volume.id: a_basis(Policy(lookback_days=DAYS))}, [volume], parts, (), ())
    for look in plan_first_looks(parts, every_minute=every_minute):
        group.members[0].knowledge.learn(look, metrics.read([Ask(volume=volume, look=look)])[0])
    before = group.traffic(60)
    assert group.traffic(60) is before
    group.forget(but_few=True)
    assert (group.traffic(60) is before) is kept
    group.forget(but_few=False)
    assert group.traffic(60) is not before
