"""What commands leave is their user's alone, whatever the umask: folders 0700, files 0600."""

import os
import stat
import subprocess
from datetime import UTC, datetime

import pytest

from cloud_simulator.running import running
from plimsoll.reports.run_files import RUN
from plimsoll.reports.run_folder import JOURNAL
from tests.unit.backtest.fleets import bursty, write_fleet

from .commands import IN_PART, TWO_DAYS, command, environment

AUDIT = ("audit", *IN_PART, *TWO_DAYS, "--out", "runs/one")


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    """A folder with all that some commands left."""
    folder = tmp_path_factory.mktemp("left")
    write_fleet(folder / "fleet.npz", bursty(12, 20, period_s=3600), period_s=3600).chmod(0o600)
    with running(datetime.now(UTC), volumes=2) as organization:

        def carry_out(*words):
            given = environment(organization)
            done = subprocess.run(
                command(*words), cwd=folder, env=given, capture_output=True, text=True, check=False, umask=0
            )
            assert done.returncode in {0, 3}, done.stderr

        carry_out(*AUDIT, "--record", "recordings/one.zip")
        carry_out("report", "runs/one", "--format", "md", "--out", "shared/one.md")
        carry_out("report", "runs/one", "--format", "changes", "--out", "changes")
        carry_out(
            "query", "runs/one", "select * from recommendations", "--format", "parquet", "--out", "shared/q.parquet"
        )
        carry_out("backtest", "fleet.npz", "--memory", "7", "--days", "3", "--every", "3", "--out", "backtests/one")
        carry_out(
            "learn", "fleet.npz", "--memory", "7", "--days", "3", "--every", "3", "--table", "tables/learned.json"
        )
        for place in (folder / "runs/one", *(folder / "runs/one").iterdir()):
            place.chmod(0o777 if place.is_dir() else 0o666)
        carry_out("audit", "--resume", "runs/one")
    return folder


def modes_of(folder):
    return {
        path.relative_to(folder).as_posix(): stat.S_IMODE(path.lstat().st_mode)
        for parent, folders, files in os.walk(folder)
        for name in (*folders, *files)
        for path in [folder.__class__(parent) / name]
    }


def test_every_file_and_folder_is_its_owners_alone(left):
    found = modes_of(left)
    assert {
        "runs/one",
        f"runs/one/{RUN}",
        f"runs/one/{JOURNAL}",
        "recordings/one.zip",
        "shared/q.parquet",
    } <= found.keys()
    assert {"backtests/one", "tables/learned.json"} <= found.keys()
    wrong = {name: oct(mode) for name, mode in found.items() if mode != (0o700 if (left / name).is_dir() else 0o600)}
    assert not wrong


def test_a_folder_in_which_somebody_keeps_other_things_stays_as_it_is(tmp_path):
    (tmp_path / "mine").write_text("x", encoding="utf-8")
    (tmp_path / "mine").chmod(0o644)
    tmp_path.chmod(0o755)
    with running(datetime.now(UTC), volumes=1) as organization:
        words = ("audit", *IN_PART, *TWO_DAYS, "--out", ".")
        subprocess.run(command(*words), cwd=tmp_path, env=environment(organization), capture_output=True, check=False)
    found = modes_of(tmp_path)
    assert found.pop("mine") == 0o644
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert found
    assert not {name: oct(mode) for name, mode in found.items() if mode & 0o077}
