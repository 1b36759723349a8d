"""Relief that hosts carry in part, or take back, is that of every minute, however little was read."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.model.policy import Policy
from tests.builders import a_host, a_spec, a_volume, ceiling_of
from tests.profiles import examples
from tests.unit.domain.refine.test_branch_and_bound import (
    DAYS,
    MINUTES,
    TARIFFS,
    assert_same,
    judged,
    measured_hosts,
    minutes_of,
)

SPECS = st.sampled_from(
    [
        a_spec("gp3", 500),
        a_spec("gp3", 500, iops=3300, throughput_mib_s=125),
        a_spec("gp3", 500, iops=6000, throughput_mib_s=125),
        a_spec("gp2", 500),
        a_spec("io2", 500, iops=2000),
    ]
)
POLICIES = st.sampled_from([Policy(lookback_days=DAYS), Policy(lookback_days=DAYS, headroom_pct=60)])


@st.composite
def work(draw, volume):
    """Long spans at the ceiling of a volume, some just under it, above a low load with single busy minutes."""
    io_kib = draw(st.sampled_from([4.0, 64.0, 256.0]))
    ceiling = ceiling_of(volume)
    most = min(ceiling.iops, ceiling.throughput_mib_s * 1024 / io_kib)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    iops = np.full(MINUTES, draw(st.sampled_from([0.0, 20.0, 700.0])))
    busy = rng.random(MINUTES) < draw(st.sampled_from([0.0, 0.002, 0.1]))
    iops[busy] = most * draw(st.sampled_from([0.3, 0.6, 0.9]))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, MINUTES - 1))
        lasting = draw(st.sampled_from([20, 45, 400, 1500, MINUTES]))
        iops[start : start + lasting] = most * draw(st.sampled_from([0.5, 0.94, 0.96, 1.0]))
    return minutes_of(iops, io_kib=io_kib)


@st.composite
def fleets(draw):
    """One to three volumes on a small host, of which some are left out."""
    host = a_host(draw(st.sampled_from(["m5.large", "m5.large", "t3.micro", "m4.large", "r5b.large"])))
    measured = draw(st.one_of(st.just({}), measured_hosts()))
    volumes, given_sums = [], {}
    for number in range(draw(st.integers(1, 3))):
        spec = draw(SPECS)
        figures = {"iops": spec.iops, "throughput_mib_s": spec.throughput_mib_s}
        volume = a_volume(spec.type, spec.size_gib, **figures, id=f"vol-{number}", on=host)
        volumes.append(volume)
        given_sums[volume.id] = draw(work(volume)).with_series(**measured)
    decided = {volume.id for volume in volumes if draw(st.integers(0, 4))} or {volumes[0].id}
    return volumes, given_sums, draw(POLICIES), draw(TARIFFS), decided


def told_of_host(judged_one):
    """What an answer says of its host."""
    codes = {reason.code for reason in judged_one.recommendation.reasons}
    return codes & {"host-takes-back", "host-is-the-limit", "host-bound"}


@settings(
    max_examples=examples(600),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(fleets())
def test_a_part_of_the_minutes_gives_the_relief_of_all_of_them(fleet):
    volumes, given_sums, policy, query_cost, decided = fleet
    part, _ = judged(volumes, given_sums, policy, query_cost, decided=decided)
    whole, _ = judged(volumes, given_sums, policy, decided=decided, every_minute=True)
    assert_same(part, whole, policy)
    for name, exact in whole.items():
        assert told_of_host(part[name]) == told_of_host(exact), name
