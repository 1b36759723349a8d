"""`plimsoll validate` and `sweep` on the simulated Google projects, whose VMs run the agent itself."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from plimsoll.model.task import ScratchOrder
from tests.builders import a_spec
from tests.contract.google_bench import google_bench
from tests.pipelines.commands import ROOM

pytestmark = pytest.mark.once

FAST = {
    "PLIMSOLL_BENCHMARK_RUNTIME_S": "1",
    "PLIMSOLL_BENCHMARK_RAMP_S": "0",
    "PLIMSOLL_POLL_S": "0.2",
    "PLIMSOLL_SETTING_UP_S": "20",
}
ANY_LATENCY = ("--set", "max_p99_latency_us=60000000", "--set", "latency_slack_pct=10000", "--set", "lookback_days=3")


@pytest.fixture
def here():
    with google_bench() as found:
        yield found


def plimsoll(here, folder, *words):
    command = [sys.executable, "-m", "plimsoll", *words, "--cloud", "google", "--project", here.home.account]
    own = {**os.environ, **here.environment, **FAST}
    return subprocess.run(command, env=own, cwd=folder, capture_output=True, text=True, timeout=200, check=False)


@pytest.mark.needs("fio")
def test_a_target_is_measured_kept_as_googles_and_nothing_is_left(here, tmp_path):
    pair = [one for one in here.cloud.fleet.disks(here.home.account) if one.name in {"shop-db-a", "shop-db-b"}]
    disk, whole_gib = pair[0], sum(one.spec.size_gib for one in pair)  # they are on one VM, and would share a pool
    for attempt in range(ROOM):
        tmp_path = tmp_path / str(attempt)
        tmp_path.mkdir()
        done = plimsoll(here, tmp_path, "validate", disk.id, "--target", "pd-balanced", "--yes", *ANY_LATENCY)
        if "passed  " in done.stdout:
            break
    assert f"passed  pd-balanced {whole_gib} GiB for {disk.id}" in done.stdout, done.stdout + done.stderr
    (campaign,) = (tmp_path / "plimsoll-runs" / "measured").glob("pd-balanced-us-central1-*.yaml")
    assert "provider: google" in campaign.read_text(encoding="utf-8")
    assert here.writes.disks() == []


def test_a_sweep_deletes_what_is_due_and_keeps_the_rest(here, tmp_path):
    now = datetime.now(UTC)
    due, later = (
        here.bench.create(
            ScratchOrder(
                validation_id=f"v-{minutes % 7}",
                account=here.home.account,
                region=here.home.region,
                zone=f"{here.home.region}-a",
                spec=a_spec("pd-ssd", 100),
                deadline=now + timedelta(minutes=minutes),
            )
        )
        for minutes in (-5, 60)
    )
    done = plimsoll(here, tmp_path, "sweep")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"deleted {due} in {here.home}" in done.stdout
    assert f"kept {later} in {here.home}" in done.stdout
    assert [disk.id for disk in here.writes.disks()] == [later]
