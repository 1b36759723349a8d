"""The simulated organization's recommendations are those of the naive oracle, at full one-minute resolution."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pytest

from cloud_simulator.aws.fleet import Fleet, SimulatedHost, SimulatedVolume, truth
from cloud_simulator.running import running
from plimsoll.domain.policy import Policy
from plimsoll.domain.sums import Window
from tests.oracle.naive import decide, rates
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
EMPTY = dict.fromkeys(SERIES[:4], ()) | dict.fromkeys(SERIES[4:])


@dataclass(frozen=True)
class Audited:
    fleet: Fleet
    window: Window
    run: dict
    recommendations: dict


@pytest.fixture(
    scope="module",
    params=[pytest.param(2, id="two-days"), pytest.param(14, id="two-weeks", marks=pytest.mark.release)],
)
def audited(tmp_path_factory, request):
    """The demo's organization, audited over some days by the ordinary path over HTTP."""
    folder = tmp_path_factory.mktemp("runs") / "truth"
    with running(NOW) as organization:
        run = audited_here(organization, folder, NOW, Policy(lookback_days=request.param))
    found = json.loads((folder / "recommendations.json").read_text(encoding="utf-8"))
    recommendations = {one["volume_id"]: one for one in found}
    return Audited(organization.fleet, Window.before(NOW, days=request.param), run, recommendations)


def plain(volume: SimulatedVolume, window: Window) -> dict[str, object]:
    """The volume's full-resolution truth as plain lists."""
    sums = truth(volume, window)
    if sums is None:
        return EMPTY
    return {
        name: None
        if getattr(sums, name) is None
        else [None if np.isnan(value) else float(value) for value in getattr(sums, name)]
        for name in SERIES
    }


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


def ran_from(fleet: Fleet, volume: SimulatedVolume, window: Window) -> float | None:
    """The minute of the window from which the volume has been attached to a host that ran."""
    if not volume.hosts:
        return None
    there = fleet.at(volume.account, volume.region)
    launched = [fleet.launched([one for one in there if host in one.hosts]) for host in volume.hosts]
    since = max(volume.attached or volume.created, min(launched))
    return (since.timestamp() - window.start_s) / 60


def oracle_answers(fleet: Fleet, window: Window) -> dict[str, dict[str, object]]:
    """The oracle's answer for every volume of a known type that the policy does not exclude."""
    minutes = {volume.id: plain(volume, window) for volume in fleet.volumes}
    on_host: dict[str, list[tuple[list[float], list[float]]]] = {}
    for volume in fleet.volumes:
        if len(volume.hosts) == 1:
            iops, mib_s, _ = rates(minutes[volume.id])
            on_host.setdefault(volume.hosts[0].id, []).append((iops, mib_s))
    answers = {}
    for volume in fleet.volumes:
        spec = volume.spec
        if spec.type == "gp9" or dict(volume.tags).get("plimsoll:exclude") == "true":
            continue
        described = {
            "spec": {
                "type": spec.type,
                "size_gib": spec.size_gib,
                "iops": spec.iops,
                "throughput_mib_s": spec.throughput_mib_s,
            },
            "region": volume.region,
            "state": volume.state,
            "boot": any(volume.device == host.root_device for host in volume.hosts),
            "attachments": len(volume.hosts),
            "hosts": [host_limits(host) for host in volume.hosts],
            "ran_from": ran_from(fleet, volume, window),
        }
        siblings = on_host.get(volume.hosts[0].id, []) if volume.hosts else []
        answers[volume.id] = decide(described, minutes[volume.id], siblings)
    return answers


def test_every_recommendation_is_the_oracles(audited):
    recommendations = audited.recommendations
    answers = oracle_answers(audited.fleet, audited.window)
    assert set(answers) == set(recommendations)
    for volume_id, expected in answers.items():
        found = recommendations[volume_id]
        label = f"{found['name']} {found['current']}"
        assert found["action"] == expected["action"], label
        assert found["target"] == expected["target"], label
        assert found["monthly_usd_now"] == cents(expected["usd_now"]), label
        assert found["monthly_usd_then"] == cents(expected["usd_then"]), label
        if found["demand"] is not None:
            demand = found["demand"]
            assert demand["least_peak_iops"] - 0.006 <= expected["peak_iops"] <= demand["peak_iops"] + 0.006, label
            least, most = demand["least_peak_throughput_mib_s"], demand["peak_throughput_mib_s"]
            assert least - 0.006 <= expected["peak_mib_s"] <= most + 0.006, label
            assert demand["censored"] == expected["censored"], label
            assert demand["throttled_minutes"] == expected["throttled_minutes"], label
            assert demand["host_bound_minutes"] == expected["host_bound_minutes"], label
            assert demand["hours_observed"] == pytest.approx(expected["hours"], abs=0.06), label
        if found["replay"] is not None:
            assert found["replay"]["throttled_minutes_now"] == expected["replay_now"], label
            assert found["replay"]["throttled_minutes_then"] == expected["replay_then"], label
            drop_in = found["drop_in"] and found["drop_in"]["monthly_usd"]
            assert drop_in == cents(expected["drop_in_usd"]), label


def test_the_organization_has_every_answer_and_the_totals_reconcile(audited):
    fleet, run, recommendations = audited.fleet, audited.run, audited.recommendations
    actions = {found["action"] for found in recommendations.values()}
    assert actions == {"migrate", "reprovision", "upgrade", "keep", "detached", "insufficient-data"}
    volumes = run["volumes"]
    assert volumes["seen"] == len(fleet.volumes) >= 120
    assert volumes["reconciled"]
    assert volumes["seen"] == volumes["answered"] + volumes["failed"] + sum(volumes["skipped"].values())


def cents(usd: object) -> object:
    return usd if usd is None else round(usd, 2)
