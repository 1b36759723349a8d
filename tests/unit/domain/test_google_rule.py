"""What is decided of disks on Google's machines, together and alone, is what the rule says when it is done by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.clouds.common.dated_data import shipped_prices, volume_types
from plimsoll.decide.answer import Change
from plimsoll.decide.offers import Market
from plimsoll.model.market import Provisioned
from plimsoll.model.policy import Policy
from plimsoll.model.volume import Host, VolumeSpec
from plimsoll.reading.window import Window, cut_by_age
from plimsoll.refine.judge import judge
from plimsoll_google.machines import machine
from tests.builders import NOW, a_basis, a_tariff, a_volume
from tests.in_memory.ports import MemoryMetrics
from tests.oracle.google import decide
from tests.oracle.google_ports import plain_disk
from tests.profiles import examples
from tests.unit.domain.pooled_market import sums_of

DAYS = 2
WINDOW = Window.before(NOW, days=DAYS)
MINUTES = WINDOW.buckets(60)
TYPES = volume_types("google")
MARKET = Market(provider="google", types=TYPES, book=shipped_prices("google").book("us-central1"))
MACHINES = ("n1-standard-4", "n2-standard-16", "e2-standard-8", "c2-standard-16", "c3-standard-8", "x9-standard-4")
KINDS = ("pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced", "pd-balanced", "pd-ssd")


def a_vm(type_name):
    found = machine(type_name)
    limits, caps = (None, ()) if found is None else (found.limits, found.caps)
    return Host(id="1234", type=type_name, limits=limits, caps=caps)


def spec_of(name, size_gib, more):
    """A disk of a type; what it sells is at its least, or `more` times that, which may be between two steps."""
    kind = TYPES[name]
    iops = throughput = None
    if isinstance(kind.iops, Provisioned):
        iops = int(min(kind.iops.least_at(size_gib) * more, kind.iops.most_at(size_gib)))
    if isinstance(kind.throughput, Provisioned):
        least = kind.throughput.least_at(size_gib, iops or 0)
        throughput = int(min(least * more, kind.throughput.most_at(size_gib, iops or 0)))
    return VolumeSpec(type=name, size_gib=size_gib, iops=iops, throughput_mib_s=throughput)


@st.composite
def machines(draw):
    """One to four disks of a virtual machine, their minutes, and which of them are excluded. In most machines no minute
    is above what is published of it: in the others that is refuted as soon as three are."""
    vm = a_vm(draw(st.sampled_from(MACHINES)))
    volumes, made, excluded = [], {}, set()
    for number in range(draw(st.integers(1, 4))):
        spec = spec_of(
            draw(st.sampled_from(KINDS)),
            draw(st.sampled_from([10, 200, 1000, 4000])),
            draw(st.sampled_from([1, 1.21, 2, 2.73, 3])),
        )
        volume = replace(a_volume(id=str(number), on=vm, boot=not number, region="us-central1"), spec=spec)
        volumes.append(volume)
        rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        base = draw(st.sampled_from([0.0, 2.0, 200.0, 1500.0, 6000.0]))
        iops = base * (0.5 + 0.5 * rng.random(MINUTES))
        iops[rng.integers(0, MINUTES, 20)] = base * draw(st.sampled_from([1.0, 2.0]))
        if draw(st.integers(0, 9)) == 0:
            iops[: draw(st.sampled_from([200, MINUTES - 600]))] = np.nan
        shape = {
            "read_share": draw(st.sampled_from([0.0, 0.4, 1.0])),
            "io_kib": draw(st.sampled_from([4.0, 16.0, 256.0])),
        }
        made[volume.id] = iops, {"burst": draw(st.sampled_from([1.0, 1.5])), **shape}
        if draw(st.integers(0, 5)) == 0:
            excluded.add(volume.id)
    times = held_to(vm, made.values(), draw(st.sampled_from([1.0, 1.0, 1.0, 1.04, 1.06, np.inf])))
    given_sums = {name: sums_of(WINDOW.start_s, iops * times, **shape) for name, (iops, shape) in made.items()}
    return volumes, given_sums, excluded


def held_to(vm, loads, most):
    """What is left of each minute where all disks of a machine do no more than `most` times what is published of it."""
    reach, ceiling = np.zeros((2, MINUTES)), vm.ceiling
    for iops, shape in loads:
        reads, mib = shape["read_share"], shape["io_kib"] / 1024
        costs = reads + (1 - reads) * np.array([ceiling.write_iops_cost, ceiling.write_throughput_cost])
        reach += np.nan_to_num(iops) * np.array(
            [[costs[0] / ceiling.iops], [mib * costs[1] / ceiling.throughput_mib_s]]
        )
    return np.minimum(1.0, most / np.maximum(reach.max(axis=0), 1e-9))


def judged(volumes, given_sums, excluded):
    policy = Policy(lookback_days=DAYS)
    metrics = MemoryMetrics(given=given_sums)
    found = judge(
        {one.id: a_basis(policy, market=MARKET) for one in volumes if one.id not in excluded},
        volumes,
        metrics.read,
        segments=cut_by_age(WINDOW, policy.resolution_s, metrics.retention_days, NOW.timestamp()),
        resolution_s=policy.resolution_s,
        query_cost=a_tariff(),
    )
    return {name: one.recommendation for name, one in found.items()}


def plain_spec(spec):
    figures = {"iops": spec.iops, "throughput_mib_s": spec.throughput_mib_s}
    return {"type": spec.type, "size_gib": spec.size_gib, **figures}


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(machines())
def test_every_answer_is_that_of_the_rule_done_by_hand(fleet):
    volumes, given_sums, excluded = fleet
    if len(excluded) == len(volumes):
        return
    expected = decide([plain_disk(one, given_sums[one.id], excluded=one.id in excluded) for one in volumes])
    found = judged(volumes, given_sums, excluded)
    assert found.keys() == expected.keys()
    for name, by_hand in expected.items():
        one = found[name]
        assert one.action == by_hand["action"], (name, one.reasons)
        if isinstance(one, Change):
            assert plain_spec(one.target.spec) == by_hand["target"], name
            assert one.usd_month_then == pytest.approx(by_hand["usd_then"])
        assert one.demand.throttled_minutes == by_hand["throttled_minutes"], name
        assert one.demand.host_bound_minutes == by_hand["host_bound_minutes"], name


@pytest.mark.parametrize(("times", "minutes", "bound"), [(1.04, 20, 20), (1.06, 2, 2), (1.06, 3, 0)])
def test_what_a_machine_was_measured_to_carry_refutes_its_cap(times, minutes, bound):
    vm = a_vm("c3-standard-8")
    disk = replace(a_volume(id="0", on=vm, region="us-central1"), spec=spec_of("hyperdisk-balanced", 4000, 100))
    iops = np.full(MINUTES, 1000.0)
    iops[600 : 600 + minutes] = times * vm.ceiling.iops
    given_sums = {"0": sums_of(WINDOW.start_s, iops, burst=1.0, read_share=1.0, io_kib=4.0)}
    expected = decide([plain_disk(disk, given_sums["0"])])["0"]
    found = judged([disk], given_sums, set())["0"]
    assert (found.action, found.demand.host_bound_minutes) == (expected["action"], expected["host_bound_minutes"])
    assert found.demand.host_bound_minutes == bound


def test_what_a_host_held_back_of_a_pool_is_parted_as_its_demand_was():
    """A neighbor takes all that the machine carries for 20 minutes. The quiet one of two disks may have wanted as many
    times more as both did, and not all that both could carry."""
    vm = a_vm("c3-standard-8")
    volumes, given_sums = [], {}
    for number, (kind, size_gib, base, io_kib, hot) in enumerate(
        [
            ("pd-balanced", 10, 200.0, 256.0, 1.0),
            ("pd-balanced", 200, 2.0, 4.0, 1.0),
            ("pd-standard", 10, 1500.0, 256.0, 2.0),
        ]
    ):
        volume = replace(
            a_volume(id=str(number), on=vm, boot=not number, region="us-central1"), spec=spec_of(kind, size_gib, 1)
        )
        rng = np.random.default_rng(0)
        iops = base * (0.5 + 0.5 * rng.random(MINUTES))
        iops[rng.integers(0, MINUTES, 20)] = base * hot
        volumes.append(volume)
        given_sums[volume.id] = sums_of(WINDOW.start_s, iops, burst=1.0, read_share=0.0, io_kib=io_kib)
    found = judged(volumes, given_sums, {"2"})
    assert [found[name].demand.host_bound_minutes for name in ("0", "1")] == [20, 20]
    assert [found[name].target.spec.throughput_mib_s for name in ("0", "1")] == [200, 140]


@pytest.mark.parametrize("idle", [{"0"}, set()])
def test_a_pool_that_its_machine_holds_at_its_limit_asks_for_no_more_beside_an_idle_disk(idle):
    """What single seconds of several disks ask for together is cut where the machine cuts their sum."""
    vm = a_vm("n1-standard-4")
    kinds = [("pd-balanced", 10, 0.0), ("pd-ssd", 10, 6000.0), ("pd-ssd", 1000, 1500.0)]
    volumes, made = [], {}
    for number, (kind, size_gib, base) in enumerate(kinds):
        at = a_volume(id=str(number), on=vm, boot=not number, region="us-central1")
        volumes.append(replace(at, spec=spec_of(kind, size_gib, 1)))
        share = 0.5 + 0.5 * np.random.default_rng(number).random(MINUTES)
        made[str(number)] = base * share, {"burst": 1.0, "read_share": 0.4, "io_kib": 256.0}
    times = held_to(vm, made.values(), 1.0)
    given_sums = {name: sums_of(WINDOW.start_s, iops * times, **shape) for name, (iops, shape) in made.items()}
    expected = decide([plain_disk(one, given_sums[one.id], excluded=one.id in idle) for one in volumes])
    found = judged(volumes, given_sums, idle)
    assert {name: one.action for name, one in found.items()} == {name: one["action"] for name, one in expected.items()}
    assert [found[name].target.spec.type for name in ("1", "2")] == ["pd-balanced", "pd-balanced"]
