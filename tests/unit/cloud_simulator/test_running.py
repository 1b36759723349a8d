"""The organization in a process of its own: reachable while it runs, gone with whoever started it."""

import os
import signal
import socket
import subprocess
import sys
import time

import boto3
import pytest

from cloud_simulator.faults import Fault
from cloud_simulator.running import running
from plimsoll.bootstrap.clocks import SIMULATED_CLOCK, clock
from plimsoll.model.errors import BadInput

from .served import NOW, ONCE, query

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def _started_as_users_start_it(monkeypatch):
    """Other tests fork it."""
    monkeypatch.setattr("cloud_simulator.running.subprocess", subprocess)


HOLDER = """
import sys, time
from datetime import UTC, datetime
from cloud_simulator.aws.organization import Mix
from cloud_simulator.running import running
from plimsoll.bootstrap.clocks import SIMULATED_CLOCK, clock
from plimsoll.model.errors import BadInput
with running(datetime.now(UTC), volumes=1) as organization:
    print(organization.endpoint, flush=True)
    time.sleep(600)
"""


def listens(endpoint: str) -> bool:
    host, port = endpoint.removeprefix("http://").split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def gone(endpoint: str, within_s: float = 120) -> bool:
    end = time.monotonic() + within_s
    while listens(endpoint):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_its_environment_points_any_client_at_it_and_faults_and_seeds_reach_it():
    broken = Fault(code="InternalError", metric="VolumeReadOps", times=1)
    fault = Fault(code="AccessDenied", operation="DescribeRegions")
    with running(NOW, seed=5, faults=[fault, broken]) as organization:
        settings = organization.environment
        session = boto3.Session(
            aws_access_key_id=settings["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=settings["AWS_SECRET_ACCESS_KEY"],
            region_name=settings["AWS_REGION"],
        )
        ec2 = session.client("ec2", endpoint_url=settings["AWS_ENDPOINT_URL"], config=ONCE)
        found = {volume["VolumeId"] for volume in ec2.describe_volumes()["Volumes"]}
        assert found == {volume.id for volume in organization.fleet.at("111111111111", "us-east-1")}
        with pytest.raises(ec2.exceptions.ClientError, match="AccessDenied"):
            ec2.describe_regions()
        volume = next(one for one in organization.fleet.at("111111111111", "us-east-1") if one.hosts)
        cloudwatch = session.client("cloudwatch", endpoint_url=settings["AWS_ENDPOINT_URL"], config=ONCE)
        answer = cloudwatch.get_metric_data(
            MetricDataQueries=[query(volume, "VolumeReadOps")],
            StartTime="2026-11-20T08:00Z",
            EndTime="2026-11-20T09:00Z",
        )
        assert answer["MetricDataResults"][0]["StatusCode"] == "InternalError"
        assert len(organization.role_arns) == 2
    assert gone(settings["AWS_ENDPOINT_URL"])


@pytest.mark.parametrize(
    "ending",
    [signal.SIGKILL, *(pytest.param(sign, marks=pytest.mark.release) for sign in (signal.SIGTERM, signal.SIGINT))],
)
def test_it_ends_when_its_starter_does(ending):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as holder:
        endpoint = holder.stdout.readline().strip()
        assert listens(endpoint)
        os.kill(holder.pid, ending)
        holder.wait()
    assert gone(endpoint)


def test_alone_it_says_where_it_is_and_ends_quietly_on_ctrl_c():
    command = [sys.executable, "-m", "cloud_simulator", "--volumes", "1"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True) as process:
        assert '"port"' in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=120)
    assert process.returncode == 0
    assert complaint == ""


def test_its_clock_is_moved_by_a_pause_and_faults_reach_it_while_it_runs(monkeypatch):
    with running(NOW, volumes=1) as organization:
        monkeypatch.setenv(SIMULATED_CLOCK, organization.clock_environment[SIMULATED_CLOCK])
        clock().pause(86_400)
        for told in (clock().now(), organization.clock.now()):
            assert 0 <= (told - NOW).total_seconds() - 86_400 < 600
        with pytest.raises(BadInput, match="unset PLIMSOLL_SIMULATED_CLOCK"):
            clock().pause(-1)
        volume = next(one for one in organization.fleet.at("111111111111", "us-east-1") if one.spec.type == "gp2")
        ec2 = boto3.client(
            "ec2",
            endpoint_url=organization.endpoint,
            region_name="us-east-1",
            aws_access_key_id=organization.environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key="simulated",
            config=ONCE,
        )
        organization.break_next(Fault(operation="ModifyVolume", code="RequestLimitExceeded", times=1))
        with pytest.raises(ec2.exceptions.ClientError, match="RequestLimitExceeded"):
            ec2.modify_volume(VolumeId=volume.id, VolumeType="gp3")
        ec2.modify_volume(VolumeId=volume.id, VolumeType="gp3")
        (begun,) = organization.modifications()
        assert (begun.volume_id, begun.before, begun.after.type) == (volume.id, volume.spec, "gp3")
    with pytest.raises(BadInput, match="plimsoll simulate"):
        clock().now()
