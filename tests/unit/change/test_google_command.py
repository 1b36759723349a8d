"""`plimsoll change` from the shell on simulated projects: Hyperdisks are changed in place, all else stays text."""

import os
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from cloud_simulator.clock import CLOCK_PATH
from cloud_simulator.faults import Effect, Fault
from cloud_simulator.google.disk_updates import UPDATING_S
from cloud_simulator.google.serving import Cloud, serve
from plimsoll.api.runs import run_folder
from plimsoll.model.errors import BadInput
from plimsoll.model.volume import VolumeSpec
from plimsoll.settings import Settings
from plimsoll_change.google.changer import GoogleChanger
from plimsoll_change.opening import find_plan
from plimsoll_change.plan import hours_until_back
from plimsoll_change.planning import plan_volumes
from plimsoll_change.rules import ChangeRules
from plimsoll_google.clients import Clients
from tests.unit.change.test_change_command import say, status
from tests.unit.change.test_google_changer import IS
from tests.unit.cloud_simulator.google.hyperdisks import CACHE, HERE, a_fleet, id_of

QUIET = {**CACHE, "does": "diurnal", "low": 5, "high": 60}
PARTS = {"vm": "parts", "type": "c3-standard-8"}
STEPS = [
    QUIET,
    PARTS,
    {**QUIET, "disk": "parts-data", "vm": "parts"},
    {"vm": "shop", "type": "n2-standard-8"},
    {**QUIET, "disk": "made-data", "vm": "parts", "labels": {"goog-terraform-provisioned": "true"}},
    {"disk": "shop-data", "spec": ["pd-ssd", 500], "vm": "shop", "does": "diurnal", "low": 5, "high": 60},
]


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """A project with a run and a plan of it."""
    cloud = Cloud(a_fleet(*STEPS))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with serve(cloud) as (port, monitoring):
        here = f"http://127.0.0.1:{port}"
        monkeypatch.setenv("PLIMSOLL_GOOGLE_URL", here)
        monkeypatch.setenv("PLIMSOLL_GOOGLE_MONITORING", f"127.0.0.1:{monitoring}")
        monkeypatch.setenv("PLIMSOLL_SIMULATED_CLOCK", here + CLOCK_PATH)
        monkeypatch.setenv("PLIMSOLL_RUNS_DIR", str(tmp_path))
        say("audit", "--cloud", "google", "--project", HERE.account, "--quiet")
        say("change", "plan")
        yield cloud


def updates(cloud):
    """The name, the figures and the time of each update."""
    return [(each.disk.name, each.change.after, each.change.started) for each in cloud.updates.made]


def states():
    return {line["name"]: line["state"] for line in status()["lines"]}


def test_hyperdisks_change_in_place_and_a_persistent_disk_is_left_out_by_name(planned):
    plan = find_plan(None, Settings.from_environment())
    assert {line.name for line in plan.lines} == {"cache-data", "parts-data"}
    text = "such changes of this cloud are text for the owner: plimsoll report --format changes"
    assert plan.left_out == dict.fromkeys((id_of(planned, name) for name in ("made-data", "shop-data")), text)
    assert plan.late_back == ()
    assert {hours_until_back(line, plan.rules) for line in plan.lines} == {4.0}
    page = say("change", "show")
    assert "A volume takes 1 modification in 4 hours" in page
    assert page.count("gcloud compute disks update") == 4

    say("change", "approve", "--by", "ada")
    say("change", "apply", "--once")
    ((canary, after, begun),) = updates(planned)
    assert (after.iops, after.throughput_mib_s) == (3000, 140)
    assert states()[canary] == "modifying"
    planned.time.pause(UPDATING_S)
    say("change", "apply", "--once")
    assert states() == {canary: "watched", ({"cache-data", "parts-data"} - {canary}).pop(): "planned"}

    say("change", "back", "--volume", id_of(planned, canary), "--by", "ada")
    _, (again, back, asked) = updates(planned)
    assert (again, back) == (canary, IS)
    assert timedelta(hours=4) <= asked - begun <= timedelta(hours=4, minutes=10)
    assert planned.front.calls["disks.update"] == 2, "no refusal was risked"
    assert status()["usd"]["reversed_usd_month"] > 0
    assert states()[canary] == "restored, watched"


def test_a_lost_answer_spends_no_second_change(planned, monkeypatch):
    monkeypatch.setenv("PLIMSOLL_MAX_ATTEMPTS", "1")
    planned.faults.add(Fault(operation="disks.update", effect=Effect.LOST, times=1))
    say("change", "approve", "--by", "ada")
    for _ in range(3):
        say("change", "apply", "--once")
        planned.time.pause(600)
    assert planned.front.calls["disks.update"] == len(updates(planned)) == 1
    assert "requested seen" in say("change", "status", "--facts")


def test_a_refused_rate_waits_until_four_hours_are_over(planned):
    planned.faults.add(Fault(operation="disks.update", code="RESOURCE_OPERATION_RATE_EXCEEDED", times=1))
    say("change", "approve", "--by", "ada")
    say("change", "apply", "--once")
    asked = planned.time.now()
    (line,) = (line for line in status()["lines"] if line["state"] != "planned")
    assert line["state"] == "waits (RESOURCE_OPERATION_RATE_EXCEEDED)"
    until = datetime.fromisoformat(line["waits_until"])
    assert abs(until - asked - timedelta(hours=4)) < timedelta(minutes=1)
    for _ in range(30):
        planned.time.pause(600)
        say("change", "apply", "--once")
    ((_, _, begun),) = updates(planned)
    assert until <= begun < until + timedelta(minutes=11)


def test_what_others_update_after_the_plan_is_left_alone(planned):
    say("change", "approve", "--by", "ada")
    clients = Clients(url=os.environ["PLIMSOLL_GOOGLE_URL"], attempts=1)
    other = VolumeSpec(type=IS.type, size_gib=IS.size_gib, iops=5000, throughput_mib_s=200)
    changer = GoogleChanger(clients=clients, now=planned.time.now)
    for number, disk in enumerate(("cache-data", "parts-data")):
        changer.modify(HERE, id_of(planned, disk), IS, other, str(UUID(int=number + 1)))
    clients.close()
    say("change", "apply", "--once")
    assert "dropped (being-changed)" in states().values()
    assert len(updates(planned)) == 2


def test_who_changes_no_disks_plans_none_and_looks_at_none(planned):
    def look(target, _ids):
        raise AssertionError(target)

    with pytest.raises(BadInput, match="text for the owner"):
        plan_volumes(run_folder(None), ChangeRules(), look, scope={}, now=planned.time.now(), clouds=("aws",))


@pytest.mark.release
def test_a_plan_is_carried_out_to_its_end_and_its_disks_are_judged(planned):
    say("change", "approve", "--by", "ada")
    say("change", "apply")
    assert set(states().values()) == {"no slower"}
    assert len(updates(planned)) == 2
