"""A run can be recorded and decided again to the same bytes, and interrupted and resumed to the same answers."""

import json
import signal
import subprocess
import time
from datetime import UTC, datetime

import pytest

from cloud_simulator.running import running

from .commands import IN_PART, TWO_DAYS, command, environment, plimsoll, roles

pytestmark = pytest.mark.once

NOW = datetime.now(UTC)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """An audit that was recorded, and the folder it is in."""
    folder = tmp_path_factory.mktemp("recorded")
    with running(NOW, volumes=1) as organization:
        words = ("audit", "--out", "first", "--record", "answers.zip", *TWO_DAYS, *IN_PART, *roles(organization))
        assert plimsoll(organization, folder, *words).returncode == 0
        yield organization, folder


def test_a_recording_is_decided_again_to_the_same_bytes(recorded):
    organization, folder = recorded
    nowhere = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    done = plimsoll(organization, folder, "audit", "--from", "answers.zip", "--out", "again", *TWO_DAYS, **nowhere)
    assert done.returncode == 0
    for name in ("recommendations.json", "recommendations.csv"):
        assert (folder / "again" / name).read_bytes() == (folder / "first" / name).read_bytes()


def test_one_volume_of_a_recording_can_be_explained_without_a_cloud(recorded):
    organization, folder = recorded
    records = json.loads((folder / "first" / "recommendations.json").read_text(encoding="utf-8"))
    volume = next(found for found in records if found["action"] == "migrate")
    nowhere = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    words = ("explain", volume["volume_id"], "--from", "answers.zip", "--set", "lookback_days=2", "--all")
    done = plimsoll(organization, folder, *words, **nowhere)
    assert done.returncode == 0
    assert f"answer: migrate to {volume['target']['type']}" in done.stdout
    assert "IOPS over time" in done.stdout
    assert "see it in CloudWatch" in done.stdout


def test_one_volume_of_a_recording_can_be_drawn_by_every_minute_without_a_cloud(recorded):
    organization, folder = recorded
    records = json.loads((folder / "first" / "recommendations.json").read_text(encoding="utf-8"))
    volume = next(found for found in records if found["action"] == "migrate")["volume_id"]
    nowhere = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    words = ("chart", "demand", volume, "--from", "answers.zip", "--set", "lookback_days=2")
    done = plimsoll(organization, folder, *words, **nowhere)
    assert (done.returncode, done.stdout) == (0, f"{volume}-demand.svg\n")
    drawn = (folder / f"{volume}-demand.svg").read_text(encoding="utf-8")
    assert "Line: highest minute read." in drawn


def test_another_policy_can_be_tried_on_a_recording(recorded):
    organization, folder = recorded
    words = ("audit", "--from", "answers.zip", "--out", "cautious", *TWO_DAYS, "--headroom-pct", "400")
    assert plimsoll(organization, folder, *words).returncode == 0
    saved = {
        name: json.loads((folder / name / "run.json").read_text(encoding="utf-8"))["monthly_usd"]["saved"]
        for name in ("first", "cautious")
    }
    assert saved["cautious"] < saved["first"]


@pytest.mark.parametrize(
    "sign",
    [signal.SIGINT, *(pytest.param(sign, marks=pytest.mark.release) for sign in (signal.SIGTERM, signal.SIGHUP))],
)
def test_ctrl_c_keeps_what_is_done_and_resume_ends_with_the_same_answers(recorded, tmp_path, sign):
    with running(NOW, volumes=1, latency_ms=150) as organization:
        words = ("audit", "--out", "run", *TWO_DAYS, *IN_PART, *roles(organization))
        process = subprocess.Popen(
            command(*words), cwd=tmp_path, env=environment(organization), stdout=subprocess.PIPE, text=True
        )
        answers, journal = tmp_path / "run" / "recommendations.json", tmp_path / "run" / "journal.jsonl"
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and not (journal.exists() and b'"recommendation":' in journal.read_bytes()):
            time.sleep(0.05)
        process.send_signal(sign)
        said, _ = process.communicate(timeout=300)
        assert process.returncode == 130
        assert "plimsoll audit --resume run" in said
        before = json.loads(answers.read_text(encoding="utf-8"))
        assert (tmp_path / "run" / "report.html").stat().st_size > 10_000
        assert json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["status"] == "interrupted"
        assert before

        resumed = plimsoll(organization, tmp_path, "audit", "--resume", "run")
        assert resumed.returncode == 0
    after = json.loads(answers.read_text(encoding="utf-8"))
    assert after[: len(before)] == before
    expected = json.loads((recorded[1] / "first" / "recommendations.json").read_text(encoding="utf-8"))
    assert {one["volume_id"]: one["action"] for one in after} == {one["volume_id"]: one["action"] for one in expected}
    run = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert run["status"] == "complete"
    assert run["volumes"]["reconciled"]
