"""Charts of a disk of Google Cloud, read from there by the minute as `explain` reads it."""

from datetime import UTC, datetime

import pytest

from cloud_simulator.running import running_google

from .commands import plimsoll

pytestmark = [pytest.mark.once, pytest.mark.release]


def test_a_disks_demand_and_roofline_are_drawn_from_its_cloud(tmp_path):
    with running_google(datetime.now(UTC), volumes=1) as cloud:
        projects = ("--project", "plimsoll-sim-shop", "--region", "us-central1")
        days = ("--set", "lookback_days=2")
        done = plimsoll(cloud, tmp_path, "audit", "--cloud", "google", *projects, *days, "--out", "run")
        assert done.returncode in {0, 3}, done.stderr  # 3: of a disk whose type is not in the data
        disks = plimsoll(
            cloud,
            tmp_path,
            *("query", "run", "--format", "csv"),
            "select volume_id from recommendations where demand.peak_iops > 0 and len(pool) > 0 order by 1 limit 1",
        )
        disk = disks.stdout.split()[-1]
        for kind in ("demand", "roofline"):
            drawn = plimsoll(cloud, tmp_path, "chart", kind, disk, "--cloud", "google", *projects, *days)
            assert (drawn.returncode, drawn.stdout) == (0, f"{disk}-{kind}.svg\n"), drawn.stderr
            assert (tmp_path / f"{disk}-{kind}.svg").read_text(encoding="utf-8").startswith("<svg")
