"""`plimsoll stripes` and what follows from it: volumes that are one device are found, and judged as one."""

import json
from datetime import UTC, datetime

import pytest

from cloud_simulator.aws.managed_instances import ping_of
from cloud_simulator.aws.organization import Mix
from cloud_simulator.running import running

from .commands import plimsoll

pytestmark = pytest.mark.once

REGION = ("--region", "us-east-1")
TWO_DAYS = ("--set", "lookback_days=2", "--set", "risk_pct=100")
DAYS_ENOUGH = ("--set", "lookback_days=4")
QUICK = {"PLIMSOLL_POLL_S": "0.1"}
NOWHERE = "i-00000000000000000"


@pytest.fixture(scope="module")
def organization():
    with running(datetime.now(UTC), volumes=120, mix=Mix.STRIPED, plain_files=True, pace_s=0.1) as found:
        yield found


@pytest.fixture(scope="module")
def members(organization):
    return [volume for volume in organization.fleet.volumes if volume.stripe is not None]


def test_the_volumes_of_a_set_are_found_decided_together_and_explained_by_their_host(organization, members, tmp_path):
    (host,) = {host.id for volume in members for host in volume.hosts}
    found = plimsoll(organization, tmp_path, "stripes", host, *REGION, **QUICK)
    assert found.returncode == 0
    assert f"/dev/md0 (raid0, 2 volumes) on {host}: {members[0].id}, {members[1].id}" in found.stdout

    plimsoll(organization, tmp_path, "audit", "--out", "run", *REGION, *TWO_DAYS)
    records = json.loads((tmp_path / "run" / "recommendations.json").read_text(encoding="utf-8"))
    of_set = [one for one in records if one["volume_id"] in {volume.id for volume in members}]
    assert len(of_set) == 2
    assert of_set[0]["target"] == of_set[1]["target"]
    for one in of_set:
        assert one["action"] == "reprovision"
        assert one["stripe_set"]["members"] == sorted(volume.id for volume in members)
        assert one["target"]["throughput_mib_s"] < 1000
    assert all(one["stripe_set"] is None for one in records if one not in of_set)

    told = " ".join(
        plimsoll(organization, tmp_path, "explain", members[0].id, "--all", *REGION, *TWO_DAYS).stdout.split()
    )
    assert f"stripe set /dev/md0 (raid0, 2 volumes) on {host}" in told
    assert "2 volumes of 1,000 MiB/s carry 2,000 MiB/s together. The host r5b.large carries 1,192" in told
    assert "That is why the set gives no more" in told


def test_without_having_asked_the_host_a_set_is_only_hinted(organization, members, tmp_path):
    told = " ".join(plimsoll(organization, tmp_path, "explain", members[0].id, *REGION, *DAYS_ENOUGH).stdout.split())
    assert "stripe set /dev/md0" not in told
    assert f"it looks like one stripe set with {members[1].id}" in told


def test_a_host_with_single_volumes_says_so(organization, tmp_path):
    volumes = organization.fleet.at("111111111111", "us-east-1")
    host = next(host.id for one in volumes if not one.stripe for host in one.hosts if ping_of(host) == "Online")
    done = plimsoll(organization, tmp_path, "stripes", host, *REGION, **QUICK)
    assert done.returncode == 0
    assert f"{host} in 111111111111/us-east-1: no volumes are joined to one device" in done.stdout


def test_one_host_that_cannot_tell_does_not_stop_the_others(organization, members, tmp_path):
    volumes = organization.fleet.at("111111111111", "us-east-1")
    unmanaged = next(host.id for one in volumes for host in one.hosts if ping_of(host) is None)
    done = plimsoll(organization, tmp_path, "stripes", NOWHERE, unmanaged, members[0].hosts[0].id, *REGION, **QUICK)
    assert done.returncode == 3
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith(f"failed {NOWHERE}: there is no running instance {NOWHERE}")]
    assert [line for line in lines if line.startswith(f"failed {unmanaged}: ") and "is not managed by SSM" in line]
    assert any("/dev/md0 (raid0, 2 volumes)" in line for line in lines)
