"""The simulated organization's recommendations are those of the naive oracle, at full one-minute resolution."""

import json
import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from cloud_simulator.aws import signals
from cloud_simulator.aws.fleet import Fleet, SimulatedHost, SimulatedVolume, served_minutes, volume_truth
from cloud_simulator.running import running
from plimsoll.model.policy import Policy
from plimsoll.model.volume import VolumeSpec
from plimsoll.reading.window import Window
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.steps import Step, step_of
from plimsoll.reports.wording import risk_level
from tests.oracle.compare import differences
from tests.oracle.days import busy_of, days_of
from tests.oracle.given_up import gives_up
from tests.oracle.naive import POLICY, decide, sibling_of
from tests.oracle.past import buckets_of
from tests.oracle.received import observed_minutes, work_of
from tests.oracle.risk import highest_of
from tests.pipelines.in_process import audited as audited_here

pytestmark = pytest.mark.once

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
SERIES = (
    "read_ops",
    "write_ops",
    "read_bytes",
    "write_bytes",
    "idle_s",
    "burst_balance_pct",
    "iops_exceeded",
    "throughput_exceeded",
)


@dataclass(frozen=True)
class Audited:
    fleet: Fleet
    window: Window
    memory_days: int
    run: dict
    recommendations: dict


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((2, 30), id="two-days"),
        pytest.param((14, 455), id="two-weeks", marks=pytest.mark.release),
    ],
)
def audited(tmp_path_factory, request):
    """The demo's organization, audited over some days by the ordinary path over HTTP, with some days of memory."""
    days, memory_days = request.param
    folder = tmp_path_factory.mktemp("runs") / "truth"
    with running(NOW) as organization:
        run = audited_here(organization, folder, NOW, Policy(lookback_days=days, memory_days=memory_days))
    found = json.loads((folder / "recommendations.json").read_text(encoding="utf-8"))
    recommendations = {one["volume_id"]: one for one in found}
    return Audited(organization.fleet, Window.before(NOW, days=days), memory_days, run, recommendations)


def plain(volume: SimulatedVolume, window: Window) -> dict[str, object]:
    """The volume's full-resolution truth as plain arrays."""
    sums = volume_truth(volume, window)
    if sums is None:
        return dict.fromkeys(SERIES[:4], np.full(window.buckets(60), np.nan))
    return {name: getattr(sums, name) for name in SERIES if getattr(sums, name) is not None}


def past_of(volume: SimulatedVolume, window: Window, memory_days: int) -> dict[str, object]:
    """What CloudWatch still has of the time before the window, and what was done on each day; nothing of a volume that
    is attached to nothing."""
    forgotten_s = max(volume.created.timestamp(), NOW.timestamp() - memory_days * 86_400)
    first = min(int(forgotten_s) // 86_400 * 1440, window.start_s // 60)
    sums = volume_truth(volume, Window(start_s=first * 60, end_s=window.end_s))
    if sums is None or volume.attached is None:
        return {}
    absent = np.isnan(sums.read_bytes) & np.isnan(sums.write_bytes) & np.isnan(sums.read_ops)
    moved = np.where(absent, np.nan, np.nansum([sums.read_bytes, sums.write_bytes], axis=0))
    work = sums.read_ops + sums.write_ops, moved
    policy = policy_of(window, memory_days)
    when = NOW.timestamp(), volume.created.timestamp(), [volume.attached.timestamp()], policy
    before = [values[: window.start_s // 60 - first] for values in work]
    highest = highest_of(*work, first, window.start_s // 60, *when) if sums.iops_exceeded is not None else None
    return {
        "highest": highest,
        "past": buckets_of(*before, first, *when),
        "days": days_of(*work, first, window.start_s // 60, *when),
        "busy": busy_of(*work, first, window.start_s // 60, *when),
    }


def policy_of(window: Window, memory_days: int, risk_pct: float = 5) -> dict[str, object]:
    """The policy of the run, as the oracle takes it."""
    lookback_days = (window.end_s - window.start_s + 3600) // 86_400
    return POLICY | {"memory_days": memory_days, "risk_pct": risk_pct, "lookback_days": lookback_days}


MEASURED = {
    "iops_check": "InstanceEBSIOPSExceededCheck",
    "mib_s_check": "InstanceEBSThroughputExceededCheck",
    "iops_balance": "EBSIOBalance%",
    "mib_s_balance": "EBSByteBalance%",
}


def measured_on_host(fleet: Fleet, volume: SimulatedVolume, window: Window) -> dict[str, object]:
    """What CloudWatch measured of a volume's only host, minute by minute; balances hold for five minutes each."""
    if len(volume.hosts) != 1:
        return {}
    (host,) = volume.hosts
    there = [one for one in fleet.at(volume.account, volume.region) if host in one.hosts and one.workload is not None]
    first, count = window.start_s // 60, window.buckets(60)
    made = {one.id: served_minutes(one, first, count) for one in there}
    found = {}
    for name, metric in MEASURED.items():
        values = signals.of_host(metric, host, there, lambda one, series: made[one.id][series])
        if values is not None:
            found[name] = np.repeat(values[::5], 5) if name.endswith("balance") else values
    return found


def host_limits(host: SimulatedHost) -> dict[str, object]:
    limits = HOSTS[host.type]
    names = ("baseline_mb_s", "maximum_mb_s", "baseline_iops", "maximum_iops")
    return dict(zip(names, limits, strict=True)) | {"nitro": host.nitro}


# MB/s and IOPS, baseline and maximum, as AWS's DescribeInstanceTypes gives them for the demo's hosts.
HOSTS = {
    "m5.4xlarge": (593.75, 593.75, 18750, 18750),
    "m5.8xlarge": (850.0, 850.0, 30000, 30000),
    "m5.large": (81.25, 593.75, 3600, 18750),
    "m4.4xlarge": (250.0, 250.0, 16000, 16000),
    "t3.medium": (43.375, 260.625, 2000, 11800),
}


def minute_of(window: Window, moment: datetime) -> int:
    """The minute of the window in which something happened; before it begins below zero."""
    return math.ceil((moment.timestamp() - window.start_s) / 60)


def ran_from(fleet: Fleet, volume: SimulatedVolume, window: Window) -> float | None:
    """The minute of the window from which the volume has been attached to a host that ran."""
    if not volume.hosts:
        return None
    there = fleet.at(volume.account, volume.region)
    launched = [fleet.launch_time([one for one in there if host in one.hosts]) for host in volume.hosts]
    since = max(volume.attached or volume.created, min(launched))
    return (since.timestamp() - window.start_s) / 60


def spec_of(spec: VolumeSpec) -> dict[str, object]:
    """A spec as a dictionary."""
    return {name: getattr(spec, name) for name in ("type", "size_gib", "iops", "throughput_mib_s")}


def epochs_of(volume: SimulatedVolume, window: Window) -> list[dict[str, object]]:
    """What the volume was from which minute on: a change counts from when it began."""
    change = volume.modification
    if change is None:
        return [{"first": 0, "spec": spec_of(volume.spec)}]
    before = change.original or replace(volume.spec, size_gib=max(1, volume.spec.size_gib // 2))
    now = {"first": minute_of(window, change.started), "spec": spec_of(volume.spec)}
    return [{"first": 0, "spec": spec_of(before)}, now]


def oracle_answers(
    fleet: Fleet, window: Window, memory_days: int = 455, risk_pct: float = 5
) -> dict[str, dict[str, object]]:
    """The oracle's answer for every volume of a known type that the policy does not exclude."""
    minutes = {volume.id: plain(volume, window) for volume in fleet.volumes}
    on_host: dict[str, list[str]] = {}
    for volume in fleet.volumes:
        if len(volume.hosts) == 1:
            on_host.setdefault(volume.hosts[0].id, []).append(volume.id)
    described, siblings = {}, {}
    for volume in fleet.volumes:
        if volume.spec.type == "gp9" or dict(volume.tags).get("plimsoll:exclude") == "true":
            siblings[volume.id] = work_of(minutes[volume.id], observed_minutes(minutes[volume.id]))
            continue
        attached = volume.attached or volume.created
        described[volume.id] = {
            "spec": spec_of(volume.spec),
            "region": volume.region,
            "state": volume.state,
            "boot": any(volume.device == host.root_device for host in volume.hosts),
            "attachments": len(volume.hosts),
            "hosts": [host_limits(host) for host in volume.hosts],
            "epochs": epochs_of(volume, window),
            "on_host_from": minute_of(window, attached),
            "made": minute_of(window, volume.created),
            "replaced": attached > volume.created + timedelta(hours=1),
            "modifying": volume.modification is not None and volume.modification.ended is None,
            "ran_from": ran_from(fleet, volume, window),
            "measured": measured_on_host(fleet, volume, window),
        }
        siblings[volume.id] = sibling_of(described[volume.id], minutes[volume.id])
    answers = {}
    for volume in (one for one in fleet.volumes if one.id in described):
        beside = on_host.get(volume.hosts[0].id, []) if len(volume.hosts) == 1 else []
        answers[volume.id] = decide(
            described[volume.id],
            minutes[volume.id],
            [siblings[one] for one in beside if one != volume.id],
            policy_of(window, memory_days, risk_pct),
            **past_of(volume, window, memory_days),
        )
    return answers


def test_every_recommendation_is_the_oracles(audited):
    recommendations = audited.recommendations
    answers = oracle_answers(audited.fleet, audited.window, audited.memory_days)
    assert set(answers) == set(recommendations)
    others = [
        f"{recommendations[name]['name']}: {difference}"
        for name, expected in answers.items()
        for difference in differences(recommendations[name], expected)
    ]
    assert not others, "\n".join(others)


def test_the_organization_has_every_answer_and_the_totals_reconcile(audited):
    fleet, run, recommendations = audited.fleet, audited.run, audited.recommendations
    actions = {found["action"] for found in recommendations.values()}
    left_out = {"reprovision"} if any(found["too_risky"] for found in recommendations.values()) else set()
    assert actions | left_out == {
        *("migrate", "reprovision", "upgrade", "keep", "wait", "detached", "insufficient-data")
    }
    volumes = run["volumes"]
    assert volumes["seen"] == len(fleet.volumes) >= 120
    assert volumes["reconciled"]
    assert volumes["seen"] == volumes["answered"] + volumes["failed"] + sum(volumes["skipped"].values())


def test_the_first_step_is_what_gives_nothing_up_and_nothing_else(audited):
    volumes = {one.id: one for one in audited.fleet.volumes}
    records = map(RecommendationRecord.model_validate, audited.recommendations.values())
    first, truth = {}, {}
    for record in records:
        if step_of(record) is Step.SAFE:
            first[record.volume_id] = record.monthly_usd_saved
        if record.action not in {"migrate", "reprovision"} or record.blockers:
            continue
        volume = volumes[record.volume_id]
        lost, cut = gives_up(
            {"type": volume.spec.type, "size_gib": volume.spec.size_gib, **bought(volume.spec)},
            record.target.model_dump(),
            older_host=any(not host.nitro for host in volume.hosts),
        )
        if not lost and not cut:
            truth[record.volume_id] = record.monthly_usd_saved
    assert first == truth
    assert len(first) > 0
    told = audited.run["steps"]["safe"]
    assert (told["volumes"], told["monthly_usd"]["saved"]) == (
        len(truth),
        pytest.approx(sum(truth.values())),
    )


def bought(spec: VolumeSpec) -> dict[str, int | None]:
    """The figures that are provisioned."""
    return {"iops": spec.iops, "throughput_mib_s": spec.throughput_mib_s}


def test_no_recommended_reduction_has_a_risk_above_the_policy(audited):
    records = [RecommendationRecord.model_validate(one) for one in audited.recommendations.values()]
    reductions = [record for record in records if record.action in {"migrate", "reprovision"} and record.cuts]
    assert {risk_level(record) for record in reductions} == {"allowed"}
