"""Plimsoll goes by a simulated cloud's clock: weeks after a change, an audit sees what came of it."""

import json
from datetime import UTC, datetime, timedelta

import boto3
import pytest

from cloud_simulator.running import running

from .commands import plimsoll

pytestmark = pytest.mark.once
HERE = ("--region", "eu-west-1", "--lookback-days", "2")


def test_an_audit_after_three_simulated_weeks_sees_the_change(tmp_path):
    now = datetime.now(UTC)
    with running(now, volumes=1) as organization:
        keys = {name.lower(): value for name, value in organization.environment.items() if "KEY" in name}
        ec2 = boto3.client("ec2", "eu-west-1", endpoint_url=organization.endpoint, **keys)
        volume = next(one for one in organization.fleet.at("111111111111", "eu-west-1") if one.spec.type == "gp2")
        ec2.modify_volume(VolumeId=volume.id, VolumeType="gp3", Iops=3000, Throughput=250)
        organization.clock.pause(21 * 86_400)
        done = plimsoll(organization, tmp_path, "audit", *HERE, "--out", "run", **organization.clock_environment)
        assert done.returncode == 0, done.stdout + done.stderr
    records = json.loads((tmp_path / "run" / "recommendations.json").read_text(encoding="utf-8"))
    (record,) = [record for record in records if record["volume_id"] == volume.id]
    assert record["current"]["type"] == "gp3"
    run = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert now + timedelta(days=21) <= datetime.fromisoformat(run["now"]) < now + timedelta(days=22)
