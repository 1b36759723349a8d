"""`plimsoll simulate` serves any AWS client until Ctrl-C, and `plimsoll demo` ends well from nothing."""

import json
import signal
import subprocess
import sys
from datetime import UTC, datetime

import boto3
import jsonschema
import pytest

from cloud_simulator.aws.organization import LEAST_VOLUMES
from cloud_simulator.running import running
from plimsoll_google.clients import Clients
from tests.needs import missing

from .commands import ROOM, command, environment, plimsoll

pytestmark = pytest.mark.once


def test_simulate_prints_what_points_any_client_at_it_and_ends_on_ctrl_c():
    with subprocess.Popen(command("simulate", "--volumes", "1"), stdout=subprocess.PIPE, text=True) as process:
        exported = {}
        for line in process.stdout:
            if line.startswith("export "):
                name, value = line.removeprefix("export ").strip().split("=", 1)
                exported[name] = value
            if line.startswith("# Ctrl-C"):
                break
        session = boto3.Session(
            aws_access_key_id=exported["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=exported["AWS_SECRET_ACCESS_KEY"],
            region_name=exported["AWS_REGION"],
        )
        ec2 = session.client("ec2", endpoint_url=exported["AWS_ENDPOINT_URL"])
        assert len(ec2.describe_volumes()["Volumes"]) > 10
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 0


@pytest.mark.release
def test_simulate_prints_what_points_plimsoll_at_the_projects_and_how_to_audit_them():
    words = command("simulate", "--cloud", "google", "--volumes", "1")
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        lines = []
        for line in process.stdout:
            lines.append(line.strip())
            if line.startswith("# Ctrl-C"):
                break
        exported = dict(line.removeprefix("export ").split("=", 1) for line in lines if line.startswith("export "))
        url, monitoring = exported["PLIMSOLL_GOOGLE_URL"], exported["PLIMSOLL_GOOGLE_MONITORING"]
        clients = Clients(url=url, monitoring=monitoring, attempts=1)
        found = clients.disks.aggregated_list(project="plimsoll-sim-shop")
        assert sum(len(part.disks) for _, part in found) > 10
        clients.close()
        named = "--project plimsoll-sim-shop --project plimsoll-sim-data --project plimsoll-sim-lab"
        assert f"# all of them: plimsoll audit --cloud google {named}" in lines
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 0


def test_one_command_starts_both_clouds_and_says_where_each_is():
    words = [sys.executable, "-m", "cloud_simulator", "--cloud", "both", "--volumes", "1"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, **pipes, text=True) as process:
        places = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert [(one["cloud"], one["volumes"] > 50) for one in places] == [("aws", True), ("google", True)]
        assert places[1]["monitoring_port"] > 0
        process.stdin.close()
        assert process.wait(timeout=120) == 0


DEMO = """
import json
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from plimsoll.cli import simulated_clouds
from plimsoll.cli.main import main

start = simulated_clouds.running

@contextmanager
def running(*words, **named):
    with start(*words, **named) as organization:
        yield organization
        Path("modified.json").write_text(json.dumps([asdict(each) for each in organization.modifications()]))

simulated_clouds.running = running
main()
"""
"""The program, which says in the end what was modified of the simulated organization."""


def verdicts_of(output):
    return [line.split()[0] for line in output.splitlines() if line.startswith(("passed  ", "failed  "))]


def test_the_demo_runs_from_an_empty_folder_and_its_files_fit_the_schema(tmp_path):
    with running(datetime.now(UTC), volumes=1) as unused:
        env = {key: value for key, value in environment(unused).items() if not key.startswith("AWS_")}
    words = [sys.executable, "-c", DEMO, "demo", "--volumes", str(LEAST_VOLUMES)]
    for _ in range(ROOM):
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        if missing(("fio",)) or (verdicts := verdicts_of(done.stdout))[0] == verdicts[-1] == "passed":
            break
    assert "can be saved" in done.stdout
    if not missing(("fio",)):
        assert verdicts[:2] == ["passed", "failed"], done.stdout
        assert verdicts[-1] == "passed", "what is recommended in the place of the flip carries the workload"
    folder = tmp_path / "plimsoll-runs" / "demo"
    files = [
        "changes",
        "checksums.json",
        "demand.jsonl",
        "journal.jsonl",
        "measured",
        "recommendations.csv",
        "recommendations.json",
    ]
    files += ["report.html", "run.json", "unanswered.jsonl"]
    assert sorted(path.name for path in folder.iterdir()) == files
    recommendations = json.loads((folder / "recommendations.json").read_text(encoding="utf-8"))
    schema = json.loads(plimsoll(unused, tmp_path, "schema").stdout)
    jsonschema.Draft202012Validator(schema).validate(recommendations)
    assert len(recommendations) > 100
    check_changes(unused, folder, json.loads((tmp_path / "modified.json").read_text(encoding="utf-8")))


def check_changes(unused, folder, modified):
    """A canary and a wave were judged, and one change was taken back: by the ledger, and by what was modified."""
    status = json.loads(status_of(unused, folder, "--json"))
    facts = status_of(unused, folder, "--facts").splitlines()
    assert sum(" judged go: " in line for line in facts) == 2
    assert [line.split()[4] for line in facts if " opened " in line][:2] == ["canary", "drawn"]
    (back,) = (line for line in status["lines"] if line["reversed_usd_month"])
    assert back["state"] == "restored, watched"
    assert back["verdict"].startswith("Stopped in ")
    assert back["hours_until_back"] <= 1
    changes = {line["volume_id"]: [] for line in status["lines"]}
    for each in sorted(modified, key=lambda each: each["started_s"]):
        changes[each["volume_id"]].append((each["before"], each["after"]))
    (before, after), way_back = changes.pop(back["volume_id"])
    assert (before["type"], after["type"], way_back) == ("io1", "gp3", (after, before))
    changed = [line["volume_id"] for line in status["lines"] if line["changed_usd_month"]]
    assert len(changed) >= 2
    assert all(len(changes[volume_id]) == 1 for volume_id in changed)
    assert all(len(made) <= 1 for made in changes.values())


def status_of(unused, folder, option):
    return plimsoll(unused, folder, "change", "status", option, PLIMSOLL_RUNS_DIR=str(folder)).stdout
