"""The simulated projects' recommendations are those of the naive oracle, at full one-minute resolution."""

import json
from datetime import UTC, datetime

import numpy as np
import pytest

from plimsoll.clouds.gcp.machines import machine
from plimsoll.domain.host import Host
from plimsoll.domain.sums import COUNTER_SERIES, Window
from plimsoll.simulator.gcp.fleet import GcpFleet, SimulatedDisk, SimulatedVm
from plimsoll.simulator.gcp.measured import truth
from plimsoll.simulator.gcp.running import running_gcp
from tests.oracle.google import DISKS, decide
from tests.oracle.google_world import PEAKS, minutes_of, plain_host
from tests.pipelines.in_process import audited_projects

pytestmark = pytest.mark.once

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
WINDOW = Window.before(NOW, days=14)
EXCLUDED = ("plimsoll-exclude", "true")
SILENT = dict.fromkeys((*COUNTER_SERIES, *PEAKS), np.full(WINDOW.buckets(60), np.nan))


@pytest.fixture(scope="module", params=[1, 2])
def audited(tmp_path_factory, request):
    """The projects of a seed, audited by the ordinary path: their fleet, run.json and recommendations by volume."""
    folder = tmp_path_factory.mktemp("runs") / "google-truth"
    with running_gcp(NOW, seed=request.param) as projects:
        run = audited_projects(projects, folder, NOW)
    recommendations = json.loads((folder / "recommendations.json").read_text(encoding="utf-8"))
    return projects.fleet, run, {found["volume_id"]: found for found in recommendations}


def host_of(vm: SimulatedVm) -> Host:
    known = machine(vm.type)
    return Host(id=vm.id, type=vm.type, limits=known and known.limits, caps=known.caps if known else ())


def plain(disk: SimulatedDisk) -> dict[str, object]:
    """What the oracle wants to know of a disk, from the fleet alone."""
    spec, sums = disk.spec, truth(disk, WINDOW)
    return {
        "id": disk.id,
        "spec": {
            "type": spec.type,
            "size_gib": spec.size_gib,
            "iops": spec.iops,
            "throughput_mib_s": spec.throughput_mib_s,
        },
        "region": disk.region,
        "boot": any(seat.boot for seat in disk.attached),
        "excluded": EXCLUDED in disk.labels,
        "detached": disk.status == "READY" and not disk.attached,
        "hosts": [plain_host(host_of(vm)) for vm in disk.hosts],
        "minutes": SILENT if sums is None else minutes_of(sums),
    }


def oracle_answers(fleet: GcpFleet) -> dict[str, dict[str, object]]:
    return decide([plain(disk) for disk in fleet.volumes])


def test_every_recommendation_is_the_oracles(audited):
    fleet, _run, recommendations = audited
    answers = oracle_answers(fleet)
    assert set(answers) == set(recommendations)
    for volume_id, expected in answers.items():
        found = recommendations[volume_id]
        label = f"{found['name']} {found['current']}"
        assert found["action"] == expected["action"], label
        assert found["target"] == expected["target"], label
        assert found["monthly_usd_now"] == cents(expected["now"]), label
        assert found["monthly_usd_then"] == cents(expected["then"]), label
        assert (found["demand"] is None) == (expected["action"] == "detached"), label
        if found["demand"] is not None:
            demand = found["demand"]
            assert demand["least_peak_iops"] - 0.006 <= expected["peak_iops"] <= demand["peak_iops"] + 0.006, label
            least, most = demand["least_peak_throughput_mib_s"], demand["peak_throughput_mib_s"]
            assert least - 0.006 <= expected["peak_mib_s"] <= most + 0.006, label
            assert demand["censored"] == expected["censored"], label
            assert demand["throttled_minutes"] == expected["throttled_minutes"], label
            assert demand["host_bound_minutes"] == expected["host_bound_minutes"], label
            assert demand["hours_observed"] == pytest.approx(expected["hours"], abs=0.06), label


def test_the_projects_have_every_answer_and_the_totals_reconcile(audited):
    fleet, run, recommendations = audited
    actions = {found["action"] for found in recommendations.values()}
    assert actions == {"migrate", "reprovision", "upgrade", "keep", "detached", "insufficient-data"}
    volumes = run["volumes"]
    assert volumes["seen"] == len(fleet.volumes) >= 100
    assert volumes["reconciled"]
    unknown = [disk.id for disk in fleet.volumes if disk.spec.type not in DISKS]
    excluded = [disk.id for disk in fleet.volumes if EXCLUDED in disk.labels]
    assert volumes["failed"] == len(unknown) > 0
    assert sum(volumes["skipped"].values()) == len(excluded) > 0
    assert not recommendations.keys() & {*unknown, *excluded}


def cents(usd: object) -> object:
    return usd if usd is None else round(usd, 2)
