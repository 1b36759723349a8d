"""The decisions on EBS volumes of one host are those of the rule when it is done by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cloud_simulator.metrics.sums import Sums
from plimsoll.clouds.common.dated_data import shipped_prices
from plimsoll.decide.answer import Change
from plimsoll.decide.offers import Market
from plimsoll.model.policy import Policy
from plimsoll.model.units import KIB, MIB
from plimsoll.model.volume import ceiling_of_hosts
from plimsoll.reading.window import Window, cut_by_age
from plimsoll.refine.judge import judge
from tests.builders import HOST_FIGURES, NOW, TYPES, a_basis, a_host, a_tariff, ceiling_of
from tests.in_memory.ports import MemoryMetrics
from tests.oracle.naive import POLICY, decide, sibling_of
from tests.profiles import examples
from tests.unit.domain.strategies import volumes

DAYS = 2
WINDOW = Window.before(NOW, days=DAYS)
MINUTES = WINDOW.buckets(60)
MARKET = Market(provider="aws", types=TYPES, book=shipped_prices("aws").book("us-east-1"))
KINDS = ("gp2", "gp3", "io1", "io2", "st1")
HOSTS = ("m5.large", "m5.2xlarge", "r5b.large", "t3.micro", "m5.24xlarge", "m5.24xlarge", "r5b.24xlarge")
STEPS = st.sampled_from([(100, 5), (100, 5), (100, 25), (1000, 10)])
LEVELS = st.sampled_from([0.05, 0.3, 0.6, 0.8, 0.86, 0.9, 0.93, 1.0])
ABSENT = {"burst_balance_pct": None, "iops_exceeded": None, "throughput_exceeded": None}


@st.composite
def loads_on(draw, volume):
    """Operations in two days of minutes that the volume could have done for ever, between half of a level and the
    level, and their size (KiB)."""
    present, hosts = ceiling_of(volume), ceiling_of_hosts(volume)
    io_kib = draw(st.sampled_from([4.0, 16.0, 64.0, 128.0, 256.0, 1024.0]))
    counted = max(1.0, io_kib / present.io_kib) if present.io_kib else 1.0
    by_mib_s = min(present.sustained_throughput_mib_s, hosts.throughput_mib_s) * 1024 / io_kib
    level = draw(LEVELS) * min(present.sustained_iops / counted, hosts.iops / counted, by_mib_s)
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    iops = level * (0.5 + 0.5 * chance.random(MINUTES))
    iops[chance.integers(0, MINUTES, draw(st.sampled_from([0, 1, 20, 300])))] = level
    return iops * 60, io_kib


@st.composite
def policies(draw):
    """What a policy says otherwise than the shipped one, as the rule done by hand takes it as well."""
    keys = {"lookback_days": DAYS, "risk_pct": 100.0}
    keys["target_types"] = draw(
        st.sampled_from([("gp3", "io2"), ("gp3",), ("gp3", "io2", "st1", "sc1"), ("gp3", "io1")])
    )
    keys["headroom_pct"] = draw(st.sampled_from([20.0, 20.0, 0.0, 5.0, 50.0]))
    keys["throttle_budget_min"] = draw(st.sampled_from([0.0, 0.0, 10.0, 500.0]))
    keys["iops_step"], keys["throughput_step_mib_s"] = draw(STEPS)
    return keys


@st.composite
def situations(draw):
    """One to three volumes on one host, whose work together it carries at most, and a policy."""
    host = a_host(draw(st.sampled_from(HOSTS)))
    drawn = draw(st.lists(volumes(KINDS, [host.type]), min_size=1, max_size=3))
    here = [
        replace(volume, id=f"vol-{number}", attachments=(replace(volume.attachments[0], host=host),))
        for number, volume in enumerate(drawn)
    ]
    loads = [draw(loads_on(volume)) for volume in here]
    ops_s = sum(ops for ops, _ in loads) / 60
    mib_s = sum(ops * io_kib for ops, io_kib in loads) * KIB / MIB / 60
    most = host.ceiling
    lets = np.minimum(most.iops / np.maximum(ops_s, 1e-9), most.throughput_mib_s / np.maximum(mib_s, 1e-9))
    share = np.minimum(1.0, lets) * draw(st.sampled_from([1.0, 0.999, 0.9, 0.5]))
    made = {}
    for volume, (ops, io_kib) in zip(here, loads, strict=True):
        done = np.floor(ops * share)
        reads = np.floor(done * draw(st.sampled_from([0.0, 0.4, 1.0])))
        counters = {"read_ops": reads, "write_ops": done - reads}
        counters |= {"read_bytes": reads * io_kib * KIB, "write_bytes": (done - reads) * io_kib * KIB}
        made[volume.id] = counters
    return here, made, draw(policies())


def plain_volume(volume):
    """A volume as the oracle takes it."""
    names = "baseline_iops", "baseline_mb_s", "maximum_iops", "maximum_mb_s"
    return {
        "spec": {name: getattr(volume.spec, name) for name in ("type", "size_gib", "iops", "throughput_mib_s")},
        "region": volume.region,
        "state": "in-use",
        "boot": volume.boot,
        "attachments": 1,
        "hosts": [dict(zip(names, HOST_FIGURES[host.type], strict=True)) | {"nitro": True} for host in volume.hosts],
    }


def judged(here, minutes, keys):
    policy = Policy(**keys)
    sums = {name: Sums(start_s=WINDOW.start_s, period_s=60, **counters) for name, counters in minutes.items()}
    metrics = MemoryMetrics(given=sums)
    judgments = judge(
        {volume.id: a_basis(policy, market=MARKET) for volume in here},
        here,
        metrics.read,
        segments=cut_by_age(WINDOW, policy.resolution_s, metrics.retention_days, NOW.timestamp()),
        resolution_s=policy.resolution_s,
        query_cost=a_tariff(),
    )
    return {name: judgment.recommendation for name, judgment in judgments.items()}


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(situations())
def test_every_answer_is_that_of_the_rule_done_by_hand(situation):
    here, minutes, keys = situation
    answers, policy = judged(here, minutes, keys), {**POLICY, **keys}
    given_minutes = {name: {**counters, **ABSENT} for name, counters in minutes.items()}
    siblings = {volume.id: sibling_of(plain_volume(volume), given_minutes[volume.id], policy) for volume in here}
    for volume in here:
        beside = [work for name, work in siblings.items() if name != volume.id]
        by_hand = decide(plain_volume(volume), given_minutes[volume.id], beside, policy)
        answer = answers[volume.id]
        assert answer.action == by_hand["action"], (volume.id, answer.reasons)
        if isinstance(answer, Change):
            target = answer.target.spec
            assert {name: getattr(target, name) for name in by_hand["target"]} == by_hand["target"], volume.id
            assert answer.usd_month_then == pytest.approx(by_hand["usd_then"])
        assert answer.demand.throttled_minutes == by_hand["throttled_minutes"]
        # In one minute the credits of a host that bursts are spent to a millionth, or nearly.
        assert answer.demand.host_bound_minutes == pytest.approx(by_hand["host_bound_minutes"], abs=1)
