"""Volumes that share what the sum of their sizes gives are decided on together, so that no change of some hurts."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.decide.answer import Change, InsufficientData, Keep
from plimsoll.decide.hosting import find_pools
from plimsoll.model.ceiling import Ceiling
from plimsoll.model.errors import CloudError, Unexpected
from plimsoll.model.policy import Policy
from plimsoll.model.volume import VolumeSpec
from plimsoll.reading.window import Window, cut_by_age
from plimsoll.refine.judge import judge
from tests.builders import NOW, a_basis, a_tariff, a_volume
from tests.in_memory.ports import MemoryMetrics
from tests.profiles import examples
from tests.unit.domain.pooled_market import MARKET, TYPES, a_capped_host, spec_of, sums_of

DAYS = 2
WINDOW = Window.before(NOW, days=DAYS)
MINUTES = WINDOW.buckets(60)
POLICY = Policy(lookback_days=DAYS, min_saving_usd_month=0)
SMALL_CAP = ("bought", Ceiling(iops=4000.0, throughput_mib_s=240.0))


def a_disk(name, type_name, size_gib, *, host=None, boot=False):
    volume = a_volume(id=name, on=host or a_capped_host(), boot=boot)
    return replace(volume, spec=spec_of(type_name, size_gib))


def judged(volumes, given_sums, *, policy=POLICY, decided=None, broken=None):
    metrics = MemoryMetrics(given=given_sums, broken=broken or {})
    found = judge(
        {one.id: a_basis(policy, market=MARKET) for one in volumes if decided is None or one.id in decided},
        volumes,
        metrics.read,
        segments=cut_by_age(WINDOW, policy.resolution_s, metrics.retention_days, NOW.timestamp()),
        resolution_s=policy.resolution_s,
        query_cost=a_tariff(),
    )
    return {name: getattr(one, "recommendation", one) for name, one in found.items()}


def flat(iops, **more):
    return sums_of(WINDOW.start_s, np.full(MINUTES, float(iops)), burst=1.0, **more)


def test_siblings_lend_each_other_their_size():
    volumes = [a_disk("boot", "fast", 50, boot=True), a_disk("data", "fast", 1000)]
    found = judged(volumes, {"boot": flat(3000, read_share=1.0), "data": flat(10, read_share=1.0)})
    assert found["boot"].demand.throttled_minutes == found["data"].demand.throttled_minutes == 0
    assert found["boot"].comparison.present.iops == 15_000  # 6,000 + 30 * 1,050, and no more than the host lets through
    assert any("with data: all are judged together" in reason for reason in found["boot"].reasons)


def test_all_of_a_pool_become_one_type_at_their_own_sizes():
    volumes = [a_disk("boot", "fast", 50), a_disk("data", "fast", 1000)]
    found = judged(volumes, {"boot": flat(20), "data": flat(1200)})
    assert {name: (one.target.spec.type, one.target.spec.size_gib) for name, one in found.items()} == {
        "boot": ("bought", 50),
        "data": ("bought", 1000),
    }


def test_a_pool_throttled_by_all_is_throttled_for_each():
    volumes = [a_disk("a", "slow", 1000), a_disk("b", "slow", 1000)]  # 1,500 reads a second together
    found = judged(volumes, {"a": flat(800, read_share=1.0), "b": flat(650, read_share=1.0)})
    for one in found.values():
        assert one.action == "upgrade"
        assert one.demand.throttled_minutes == MINUTES


def test_what_joins_a_pool_must_be_carried_with_those_that_are_there():
    busy = flat(7000, read_share=1.0, io_kib=4.0)
    beside = [a_disk("there", "middle", 1000), a_disk("new", "fast", 200)]
    policy = replace(POLICY, target_types=("middle",))
    alone = judged(beside[1:], {"new": flat(2000, read_share=1.0)}, policy=policy)
    assert alone["new"].target.spec.type == "middle"
    together = judged(beside, {"there": busy, "new": flat(2000, read_share=1.0)}, policy=policy)
    assert isinstance(together["new"], Keep)  # 9,000 and 20 % are more than what 1,200 GiB bring
    (offer,) = [offer for offer in together["new"].comparison.offers if offer.spec.type == "middle"]
    assert "middle 1,200 GiB in 2 volumes of i-1 carries 10,200 IOPS, needed are 10,800.0" in offer.refused[0]


def test_what_joins_a_cap_that_others_fill_is_no_drop_in():
    """A disk of 3,000 IOPS could do all of today on `slow`, were the 3,000 of its host not asked for by another."""
    beside = [a_disk("there", "slow", 5000), a_disk("new", "bought", 5000)]
    busy = flat(2000, read_share=1.0, io_kib=4.0)
    light = judged(beside, {"there": busy, "new": flat(20, read_share=1.0)})["new"]
    assert light.target.spec.type == "slow"
    heavy = judged(beside, {"there": busy, "new": flat(900, read_share=1.0, io_kib=4.0)})["new"]
    assert isinstance(heavy, Keep)
    assert heavy.comparison.drop_in is None or heavy.comparison.drop_in.spec.type != "slow"


def test_an_excluded_volume_stays_only_where_what_is_left_carries_it():
    volumes = [a_disk("kept", "slow", 100), a_disk("free", "slow", 4000)]
    light = {"kept": flat(20, read_share=1.0), "free": flat(600, read_share=1.0)}
    heavy = {"kept": flat(900, read_share=1.0), "free": flat(600, read_share=1.0)}
    policy = replace(POLICY, target_types=("bought",))
    assert judged(volumes, light, decided={"free"}, policy=policy).keys() == {"free"}
    refused = judged(volumes, heavy, decided={"free"}, policy=policy)["free"].comparison.offers
    (offer,) = [offer for offer in refused if offer.spec.type == "bought"]
    assert any(text.startswith("slow 100 GiB carries 75 IOPS") for text in offer.refused)


def test_an_answer_names_those_that_change_with_it_and_tells_of_those_that_stay():
    volumes = [a_disk("kept", "slow", 100), a_disk("free", "slow", 4000), a_disk("more", "slow", 2000)]
    light = {"kept": flat(20, read_share=1.0), "free": flat(600, read_share=1.0), "more": flat(5, read_share=1.0)}
    found = judged(volumes, light, decided={"free", "more"})
    assert {name: one.pool for name, one in found.items()} == {"free": ("more",), "more": ("free",)}
    assert any("with more: all are judged together" in reason for reason in found["free"].reasons)
    assert any("with kept too, which are left out of the audit" in reason for reason in found["free"].reasons)
    alone = judged(volumes[:2], light, decided={"free"})["free"]
    assert alone.pool == ()
    assert not any("change together" in reason for reason in alone.reasons)


def test_a_pool_of_which_one_could_not_be_read_is_unread():
    volumes = [a_disk("boot", "fast", 50), a_disk("data", "fast", 1000)]
    found = judged(volumes, {"boot": flat(20), "data": flat(8)}, broken={"boot": Unexpected("no answer.")})
    assert isinstance(found["boot"], Unexpected)
    assert isinstance(found["data"], CloudError)
    assert "shares a host with boot" in str(found["data"])


def test_a_pool_of_which_too_little_is_known_stays_as_it_is():
    young = sums_of(WINDOW.start_s, np.where(np.arange(MINUTES) < MINUTES - 60, np.nan, 5.0))
    volumes = [a_disk("young", "fast", 50), a_disk("data", "fast", 1000)]
    found = judged(volumes, {"young": young, "data": flat(8)})
    assert isinstance(found["young"], InsufficientData)
    assert isinstance(found["data"], Keep)


def test_pools_that_would_share_one_all_change_where_it_carries_them():
    volumes = [a_disk("a", "fast", 3000), a_disk("b", "middle", 1000), a_disk("c", "middle", 10)]
    policy = replace(POLICY, target_types=("slow",))
    quiet = judged(volumes, {one.id: flat(5) for one in volumes}, policy=policy)
    assert {one.target.spec.type for one in quiet.values()} == {"slow"}
    assert quiet["b"].pool == ("c",)


def test_pools_that_become_one_type_are_carried_by_what_their_host_lets_through_of_it():
    host = a_capped_host()
    host = replace(host, caps=(*(one for one in host.caps if one[0] != "bought"), SMALL_CAP))
    volumes = [a_disk("a", "fast", 400, host=host), a_disk("b", "middle", 400, host=host)]
    policy = replace(POLICY, target_types=("bought",))
    light = judged(volumes, {"a": flat(1500, read_share=1.0), "b": flat(800, read_share=1.0)}, policy=policy)
    assert {one.target.spec.type for one in light.values()} == {"bought"}
    heavy = judged(volumes, {"a": flat(2400, read_share=1.0), "b": flat(1900, read_share=1.0)}, policy=policy)
    assert heavy["a"].target.spec.type == "bought"
    assert "the pool of a on the same host changes first" in heavy["b"].reasons[0]


def test_what_the_same_cap_carries_now_does_not_speak_against_less_of_its_type():
    host = a_capped_host(read_iops=4000.0)
    dear = VolumeSpec(type="bought", size_gib=400, iops=6000, throughput_mib_s=140)
    volumes = [replace(a_disk(name, "bought", 400, host=host), spec=dear) for name in ("a", "b")]
    given_sums = {name: flat(1700, read_share=1.0, io_kib=4.0) for name in ("a", "b")}  # with 20 % more: 4,080
    found = judged(volumes, given_sums)
    assert {one.action for one in found.values()} == {"reprovision"}
    assert {one.target.spec.iops for one in found.values()} == {3000}
    joining = [replace(volumes[0], spec=spec_of("fast", 400)), volumes[1]]
    found = judged(joining, given_sums, policy=replace(POLICY, target_types=("bought",)))
    assert isinstance(found["a"], Keep)
    assert found["b"].target.spec.iops == 3000


def test_where_nothing_is_pooled_nothing_is_shared():
    assert find_pools([a_volume(id="a"), a_volume(id="b")], {"gp2": replace(TYPES["bought"], name="gp2")}) == []


@st.composite
def hosts(draw):
    """Two to four volumes on one host, with their minutes."""
    host = a_capped_host(
        write_iops=draw(st.sampled_from([15_000.0, 4000.0])), throughput_mib_s=draw(st.sampled_from([240.0, 1200.0]))
    )
    volumes, given_sums = [], {}
    for number in range(draw(st.integers(2, 4))):
        kind = draw(st.sampled_from(sorted(TYPES)))
        volumes.append(a_disk(f"disk-{number}", kind, draw(st.sampled_from([10, 200, 1000, 5000])), host=host))
        rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        base = draw(st.sampled_from([0.0, 5.0, 300.0, 2000.0]))
        iops = base * (0.5 + 0.5 * rng.random(MINUTES))
        iops[rng.integers(0, MINUTES, 5)] = base * draw(st.sampled_from([1.0, 3.0]))
        shape = {"read_share": draw(st.sampled_from([0.0, 0.5, 1.0])), "io_kib": draw(st.sampled_from([4.0, 64.0]))}
        given_sums[volumes[-1].id] = sums_of(WINDOW.start_s, iops, burst=1.0, **shape)
    return volumes, given_sums


def peaks(given_sums, names, ceiling):
    """The highest minute of some volumes together, as a ceiling counts it."""
    reads, writes, read_bytes, write_bytes = (
        sum(np.nan_to_num(getattr(given_sums[name], counter)) for name in names) / 60
        for counter in ("read_ops", "write_ops", "read_bytes", "write_bytes")
    )
    mib_s = (read_bytes + ceiling.write_throughput_cost * write_bytes) / 2**20
    return (reads + ceiling.write_iops_cost * writes).max(), mib_s.max()


def limits_of(kind, volumes):
    """What the volumes of a type on their host carry, together where it is pooled and else each, and what the host lets
    through of all: the volumes and their limit."""
    size_gib = sum(one.spec.size_gib for one in volumes)
    if kind.pooled:
        yield volumes, kind.ceiling(replace(volumes[0].spec, type=kind.name, size_gib=size_gib))
    else:
        yield from (([one], kind.ceiling(one.spec)) for one in volumes)
    yield volumes, volumes[0].hosts[0].cap(kind.name)


def overloaded(volumes, given_sums):
    """The types of which volumes ask for more than they carry, alone or together."""
    found = set()
    for kind in TYPES.values():
        inside = [one for one in volumes if one.spec.type == kind.name]
        for some, limit in limits_of(kind, inside) if inside else ():
            iops, mib_s = peaks(given_sums, [one.id for one in some], limit)
            if iops > 0.95 * limit.iops or mib_s > 0.95 * limit.throughput_mib_s:
                found.add(kind.name)
    return found


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hosts())
def test_whichever_pools_are_changed_none_is_asked_for_more_than_it_carries(fleet):
    volumes, given_sums = fleet
    found = judged(volumes, given_sums)
    before = overloaded(volumes, given_sums)
    pools = [pool.volumes for pool in find_pools(volumes, TYPES)]
    changing = [pool for pool in pools if any(isinstance(found[one.id], Change) for one in pool)]
    for count in range(1, len(changing) + 1):
        for some in itertools.combinations(changing, count):
            changes = [found[one.id] for pool in some for one in pool if isinstance(found[one.id], Change)]
            targets = {one.volume.id: one.target.spec for one in changes}
            after = [replace(one, spec=targets.get(one.id, one.spec)) for one in volumes]
            taken_over = {one.target.spec.type for one in changes if one.volume.spec.type in before}
            assert overloaded(after, given_sums) <= before | taken_over


@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hosts())
def test_a_pool_changes_as_one(fleet):
    volumes, given_sums = fleet
    found = judged(volumes, given_sums)
    for pool in find_pools(volumes, TYPES):
        types = {found[one.id].target.spec.type for one in pool.volumes if isinstance(found[one.id], Change)}
        assert len(types) <= 1
        if types and types != {pool.kind.name}:
            assert all(isinstance(found[one.id], Change) for one in pool.volumes)


def test_a_disk_alone_is_a_pool_of_one():
    alone = a_disk("data", "fast", 500)
    found = judged([alone], {"data": flat(100)})
    assert found["data"].comparison.present.iops == pytest.approx(15_000)
    assert find_pools([alone], TYPES) == []
