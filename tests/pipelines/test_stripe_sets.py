"""An audit that knows stripe sets: volumes that are one device are answered as one, and the rest as ever."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
import yaml

from plimsoll.auditing.audit import plan_audit, run_audit
from plimsoll.auditing.explain import explain_volume
from plimsoll.decide.answer import Change, Keep, Migrate
from plimsoll.model.errors import AccessDenied
from plimsoll.model.units import MIB
from plimsoll.outcomes import EXCLUDED, Answered, FailedVolume, Notice, Planned, Skipped
from plimsoll.reports.answers import answered_record, record_of
from plimsoll.reports.record import FIRST_PROVIDER
from plimsoll.reports.totals import RunTotals
from tests.builders import LONG_AGO, NOW, a_host, a_policy, a_stripe_set, a_volume, some_sums

from .test_audit import HERE, WatchedMetrics, a_world

DAYS = 4
POLICY = a_policy(lookback_days=DAYS)
START_S = int((NOW - timedelta(days=DAYS)).timestamp())
DENIED = AccessDenied("cannot read metrics of it.")


def work(iops=100.0, throughput_mib_s=5.0, *, shape=1.0):
    """The minutes of some days at a rate, times a shape that is repeated."""
    minutes = np.resize(np.atleast_1d(shape), DAYS * 1440)
    return some_sums(
        start_s=START_S,
        write_ops=list(iops * 60 * minutes),
        write_bytes=list(throughput_mib_s * 60 * MIB * minutes),
    )


def pair(kind="gp2", size_gib=500, **fields):
    return [a_volume(kind, size_gib, id=name, **fields) for name in ("a", "b")]


def project_ports(volumes, sums=None, *, stripes=(), **ports):
    given = {volume.id: work() for volume in volumes} | dict(sums or {})
    metrics = WatchedMetrics(given=given, broken=ports.pop("broken", {}))
    return replace(a_world(volumes, metrics=metrics, **ports), stripes=stripes)


def answers(ports, policy=POLICY, *, done=frozenset()):
    found = list(run_audit(ports, policy, NOW, done=done))
    return {
        one.recommendation.volume.id if isinstance(one, Answered) else one.volume_id: one
        for one in found
        if isinstance(one, Answered | FailedVolume | Skipped)
    }


BUSY = {"b": work(2_000.0, 20.0, shape=[1.0, 0.1])}


def test_volumes_of_a_known_set_get_one_target_and_others_their_own():
    volumes = [*pair("gp3", iops=16_000), a_volume("gp3", 500, iops=16_000, id="alone")]
    ports = project_ports(volumes, {"b": work(5_000.0, 20.0)}, stripes=[a_stripe_set("a", "b")])
    found = {name: one.recommendation for name, one in answers(ports).items()}
    assert found["a"].target.spec == found["b"].target.spec
    assert found["a"].target.spec.iops == 6_000
    assert found["alone"].target.spec.iops == 3_000
    assert found["alone"].stripe_set is None


def test_without_known_sets_each_is_answered_alone_and_hinted_where_it_looks_like_one():
    found = answers(project_ports(pair()))
    for name, other in (("a", "b"), ("b", "a")):
        recommendation = found[name].recommendation
        assert isinstance(recommendation, Migrate)
        assert recommendation.stripe_set is None
        assert recommendation.reasons[-1].startswith(f"it looks like one stripe set with {other}")


def test_a_hint_costs_no_read_and_changes_nothing_but_a_sentence():
    alike, apart = project_ports(pair(), BUSY), project_ports(pair(created=LONG_AGO), BUSY)
    second = replace(apart.inventory.given[1], created=LONG_AGO - timedelta(days=1))
    apart = replace(apart, inventory=replace(apart.inventory, given=[apart.inventory.given[0], second]))
    in_lockstep = project_ports(pair())
    no_hint = replace(in_lockstep, inventory=apart.inventory)
    for one, other in ((alike, apart), (in_lockstep, no_hint)):
        one.metrics.usage.datapoints = other.metrics.usage.datapoints = 0
        told, plain = answers(one), answers(other)
        assert one.metrics.usage.datapoints == other.metrics.usage.datapoints
        for name, found in told.items():
            kept = [reason for reason in found.recommendation.reasons if "looks like one" not in reason]
            assert kept == list(plain[name].recommendation.reasons)
            assert found.recommendation.action == plain[name].recommendation.action


def test_volumes_of_a_known_set_are_not_hinted():
    found = answers(project_ports(pair(), stripes=[a_stripe_set("a", "b")]))
    assert not any("looks like" in reason for one in found.values() for reason in one.recommendation.reasons)


def test_the_answer_is_the_same_whether_the_neighbors_are_read_whole_or_not():
    volumes = [*pair("gp3", iops=16_000), *(a_volume("gp2", 500, id=f"other-{number}") for number in range(3))]
    ports = project_ports(volumes, BUSY, stripes=[a_stripe_set("a", "b")])
    whole, partly = answers(replace(ports, every_minute=True)), answers(ports)
    for name, one in partly.items():
        assert (
            record_of(one.recommendation, provider=FIRST_PROVIDER).target
            == record_of(whole[name].recommendation, provider=FIRST_PROVIDER).target
        )
    for name in ("a", "b"):
        assert partly[name].recommendation == whole[name].recommendation


def test_a_volume_that_could_not_be_read_holds_back_the_others():
    volumes = pair()
    found = answers(project_ports(volumes, stripes=[a_stripe_set("a", "b")], broken={"b": DENIED}))
    assert isinstance(found["b"], FailedVolume)
    kept = found["a"].recommendation
    assert isinstance(kept, Keep)
    assert "held back by b (it could not be read: cannot read metrics of it.)" in kept.reasons[0]


def test_an_excluded_volume_holds_back_the_others_and_stays_skipped():
    volumes = [a_volume(id="a"), a_volume(id="b", tags={"plimsoll:exclude": "true"})]
    found = answers(project_ports(volumes, stripes=[a_stripe_set("a", "b")]))
    assert isinstance(found["b"], Skipped)
    assert isinstance(found["a"].recommendation, Keep)
    assert "held back by b" in found["a"].recommendation.reasons[0]


def test_a_volume_that_somebody_excluded_holds_back_the_others_as_one_that_the_policy_does():
    ports = project_ports([a_volume(id="a"), a_volume(id="b")], stripes=[a_stripe_set("a", "b")])
    found = answers(replace(ports, excluded={"b": "excluded by jo: licence"}))
    assert found["b"] == Skipped(target=HERE, volume_id="b", reason="excluded by jo: licence", kind=EXCLUDED)
    assert "held back by b (it is excluded by jo: licence)" in found["a"].recommendation.reasons[0]


def test_a_resumed_run_answers_the_rest_of_a_set_as_the_whole_run_would():
    volumes = pair("gp3", iops=16_000)
    ports = project_ports(volumes, {"b": work(5_000.0, 20.0)}, stripes=[a_stripe_set("a", "b")])
    whole = answers(ports)
    for name in ("a", "b"):
        resumed = answers(ports, done=frozenset({name}))
        other = "b" if name == "a" else "a"
        assert isinstance(resumed[name], Skipped)
        assert resumed[other].recommendation == whole[other].recommendation


def test_a_set_whose_volume_has_moved_is_told_and_not_used():
    volumes = [a_volume(id="a"), a_volume(id="b", on=a_host(id="i-2"))]
    ports = project_ports(volumes, stripes=[a_stripe_set("a", "b")])
    notices = [one.text for one in run_audit(ports, POLICY, NOW) if isinstance(one, Notice)]
    assert len(notices) == 1
    assert "is void, since b has moved to i-2" in notices[0]
    assert all(one.recommendation.stripe_set is None for one in answers(ports).values())


def test_sums_of_money_are_those_of_the_volumes_and_records_name_the_set():
    ports = project_ports(pair(), stripes=[a_stripe_set("a", "b", mounts=("/data",))])
    found = list(run_audit(ports, POLICY, NOW))
    totals = RunTotals.add_up(found)
    records = [answered_record(one) for one in found if isinstance(one, Answered)]
    assert totals.is_reconciled
    assert totals.usd_saved == pytest.approx(sum(record.monthly_usd_saved for record in records))
    for record in records:
        told = record.stripe_set
        assert (told.name, told.level, told.host, told.members) == ("md0", "raid0", "i-1", ["a", "b"])
        assert told.mounts == ["/data"]
        assert told.held_back_by == {}
        assert told.monthly_usd_saved == pytest.approx(totals.usd_saved, abs=0.011)
        assert json.loads(record.model_dump_json())["stripe_set"]["name"] == "md0"


def test_the_plan_counts_volumes_of_sets_at_every_minute():
    volumes = [*pair(), a_volume(id="alone", on=a_host(id="i-2"))]

    def datapoints(ports):
        (plan,) = [one.plan for one in plan_audit(ports, POLICY, NOW) if isinstance(one, Planned)]
        return plan.expected.datapoints, plan.volumes

    some, count = datapoints(replace(project_ports(volumes, stripes=[a_stripe_set("a", "b")]), by_minutes_s=0.0))
    none, _ = datapoints(replace(project_ports(volumes), by_minutes_s=0.0))
    most, _ = datapoints(replace(project_ports(volumes), every_minute=True))
    assert count == 3
    assert none < some < most


def test_explaining_one_volume_tells_of_the_whole_set():
    ports = project_ports(pair("gp3", iops=16_000), {"b": work(5_000.0, 20.0)}, stripes=[a_stripe_set("a", "b")])
    found = explain_volume(ports, "a", POLICY, NOW).outcome.recommendation
    assert isinstance(found, Change)
    assert found == answers(ports)["a"].recommendation
    assert [one.volume_id for one in found.stripe_set.members] == ["a", "b"]
    assert found.stripe_set.members[1].demand.peak_iops == pytest.approx(5_000)


SEED = yaml.safe_load(
    (Path(__file__).parents[2] / "benchmarks/measured/aws-gp3-io2-2020.yaml").read_text(encoding="utf-8")
)


def test_why_two_volumes_of_1000_mib_s_give_1300():
    """The open question of the seed: it saw 1,317 MiB/s in ten-second runs, which overshoot by 4 to 10 per cent."""
    system = SEED["systems"]["gp3-raid0-2x4000-1000"]
    spec, most = system["spec"], SEED["host"]["maximum_throughput_mb_s"] * 1e6 / MIB
    seen = max(
        one["figures"]["mib_s_precise"] for one in SEED["measurements"] if one["system"] == "gp3-raid0-2x4000-1000"
    )
    assert most < seen < 1.12 * most
    host = a_host(SEED["host"]["type"])
    volumes = pair(
        "gp3",
        spec["size_gib"] // system["volumes"],
        iops=spec["iops"],
        throughput_mib_s=spec["throughput_mib_s"],
        on=host,
    )
    # A few minutes of each day at all that the host gives, and little else: its credits are not spent.
    shape = [1.0] * 5 + [0.02] * 1435
    sums = {name: work(4 * most / 2, most / 2, shape=shape) for name in ("a", "b")}
    found = answers(project_ports(volumes, sums, stripes=[a_stripe_set("a", "b")]))
    for name in ("a", "b"):
        recommendation = found[name].recommendation
        assert (
            "2 volumes of 1,000 MiB/s carry 2,000 MiB/s together. The host r5b.large carries 1,192 for 30 minutes "
            "a day and 149 sustained. That is why the set gives no more. 808 MiB/s are paid for and cannot be used, "
            "unless you replace it by a larger one."
        ) in recommendation.reasons
        assert recommendation.action == "reprovision"
        assert recommendation.target.spec.throughput_mib_s == 600
        assert recommendation.usd_month_saved == pytest.approx(400 * 0.04 + 1000 * 0.005)  # MiB/s and IOPS
