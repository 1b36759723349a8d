"""The states of a small simulated account equal what was laid out, and what is denied is named and said nothing of."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from cloud_simulator.aws.bills import Charge, charges_of, hours_of, write_bill
from cloud_simulator.aws.organization import Mix, fleet_of
from cloud_simulator.faults import Fault
from plimsoll.cli.main import app
from plimsoll.clouds.aws.permissions import STATES
from plimsoll_bill.api import read_bill
from tests.oracle import states as oracle
from tests.pipelines.organization_here import served_here

pytestmark = pytest.mark.once

NOT_VOLUMES = {"fast-restore-without-use", "cheaper-in-the-archive", "dearer-in-the-archive"}


def run(*words):
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


@pytest.fixture(scope="module")
def fleet():
    return fleet_of(0, datetime.now(UTC), mix=Mix.STATES)


@pytest.fixture(scope="module")
def folder(fleet, tmp_path_factory):
    place = tmp_path_factory.mktemp("states") / "own"
    with served_here(fleet):
        assert run("audit", "--out", str(place), "--region", "us-east-1").exit_code in {0, 3}
    return place


def states_of(folder, fleet, *faults):
    """The report as data, and the exit code."""
    with served_here(fleet, *faults):
        done = run("states", str(folder), "--format", "json")
    return json.loads((folder / "states.json").read_text()), done.exit_code


@pytest.fixture(scope="module")
def report(folder, fleet):
    data, code = states_of(folder, fleet)
    assert code == 0, data["unread"]
    return data


def codes(state):
    return {lack["code"] for lack in state["lacks"]}


def of_volume(report, fleet, name):
    (volume,) = [volume for volume in fleet.volumes if dict(volume.tags)["Name"] == name]
    return next((state for state in report["states"] if state["ids"] == [volume.id]), None)


def test_volumes_are_in_the_state_that_was_laid_out(report, fleet):
    said = {
        state["ids"][0]: (state["state"], state["action"], codes(state))
        for state in report["states"]
        if state["ids"][0].startswith("vol-") and state["state"] != "cold-on-a-fast-disk"
    }
    assert said == oracle.volume_states(fleet)


def test_snapshots_are_in_the_state_that_was_laid_out(report, fleet):
    deletable = [state for state in report["states"] if state["ids"][0].startswith("snap-")]
    said = {
        name: (state["state"], codes(state))
        for state in deletable
        if state["state"] not in NOT_VOLUMES
        for name in state["ids"]
    }
    assert said == oracle.snapshot_states(fleet)


def test_a_delete_frees_no_more_than_it_says_and_no_less(report, fleet):
    keeping = fleet.keeping[fleet.accounts[0], fleet.regions[0]]
    deletes = [state for state in report["states"] if state["state"].startswith("snapshot-")]
    assert deletes
    for state in deletes:
        freed = oracle.freed_gib(keeping, set(state["ids"])) if state["action"] == "delete" else 0
        assert state["freed_gib_least"] <= freed <= state["freed_gib_most"]
        assert bool(state["commands"]) == (not state["lacks"])


def test_nothing_is_deleted_by_command_without_a_snapshot_and_a_rule_or_the_owners_word(report, fleet):
    commands = {command.split()[2]: state for state in report["states"] for command in state["commands"]}
    assert "delete-volume" in commands
    for state in report["states"]:
        if any("delete-volume" in command for command in state["commands"]):
            (volume,) = [volume for volume in fleet.volumes if volume.id == state["ids"][0]]
            assert oracle.volume_states(fleet)[volume.id][2] == set()


def test_the_iops_of_a_stopped_host_are_its_money(report, fleet):
    state = of_volume(report, fleet, "stopped-for-40-days")
    assert (state["action"], state["target"]) == ("reprovision", "gp3 1,000 GiB 3,000 IOPS 125 MiB/s")
    assert state["monthly_usd"] == 1425.0
    assert state["monthly_usd_saved_least"] == state["monthly_usd_saved_most"] == 1345.0
    assert "--volume-type io2 --iops 20000" in state["way_back"]
    assert state["way_back_hours"] == 5.9
    assert of_volume(report, fleet, "stopped-since-night") is None


def test_a_slower_disk_is_shown_with_what_it_saves_and_gives_up(report, fleet):
    state = of_volume(report, fleet, "nightly-reads")
    assert (state["state"], state["target"]) == ("cold-on-a-fast-disk", "sc1 8,192 GiB")
    assert len(state["gives_up"]) >= 3
    assert any("st1" in text for text in state["evidence"])


def test_what_is_silent_is_never_idle(report, fleet):
    assert of_volume(report, fleet, "silent-for-weeks") is None
    assert of_volume(report, fleet, "idle")["state"] == "idle"


def test_the_parts_of_the_picture_are_what_is_paid(report, folder):
    records = json.loads((folder / "recommendations.json").read_text())
    volumes = [row for row in report["picture"] if row["type"] != "snapshots"]
    assert sum(row["paid"] for row in volumes) == pytest.approx(sum(one["monthly_usd_now"] or 0 for one in records))
    for row in report["picture"]:
        parts = ("used", "now", "proof", "owner", "unknown")
        assert sum(row[part] for part in parts) == pytest.approx(row["paid"])
        assert min(row[part] for part in parts) >= 0


def test_the_table_has_a_line_for_each_state(report, folder):
    lines = (folder / "states.csv").read_text(encoding="utf-8-sig").splitlines()
    assert len(lines) == 1 + len(report["states"])


def test_with_a_bill_the_sum_of_the_picture_is_the_bill_and_chains_have_their_bounds(folder, fleet, tmp_path):
    now, (account, region) = fleet.now, next(iter(fleet.keeping))
    month = (now.replace(day=1) - timedelta(days=1)).date().replace(day=1)
    keeping = fleet.keeping[account, region]
    snapshots = [
        Charge(
            account=account,
            region=region,
            resource=f"arn:aws:ec2:{region}:{account}:snapshot/{name}",
            usage_type="EBS:SnapshotUsage",
            unit="GB-Mo",
            monthly=float(gib),
            price=0.05,
            to_hour=hours_of(month),
        )
        for name, gib in keeping.billed_gib().items()
    ]
    gone = replace(snapshots[0], resource="vol-0dead000000000009", usage_type="EBS:VolumeUsage.gp3", price=0.08)
    charges = [*charges_of(fleet.volumes, month), *snapshots, gone]
    write_bill(charges, month, tmp_path / "bill.parquet")
    with served_here(fleet):
        done = run("states", str(folder), "--bill", str(tmp_path / "bill.parquet"), "--format", "json")
    assert done.exit_code == 0
    billed = json.loads((folder / "states.json").read_text())
    with read_bill([str(tmp_path / "bill.parquet")]) as bill:
        paid = sum(money.total for _, money in bill.sums("currency"))
    assert sum(row["paid"] for row in billed["picture"]) == pytest.approx(paid, abs=0.006)
    assert {row["type"] for row in billed["picture"]} >= {"snapshots", "not in this run", "gp2"}
    for state in billed["states"]:
        if state["state"].startswith("snapshot-") and state["action"] == "delete":
            freed = oracle.freed_gib(keeping, set(state["ids"]))
            assert state["freed_gib_least"] - 1e-6 <= freed <= state["freed_gib_most"] + 1e-6


def deletes_in(report):
    return {line for state in report["states"] for line in state["commands"] if "delete" in line}


def denial(operation):
    return Fault(code="UnauthorizedOperation", operation=operation, status=403)


@pytest.mark.parametrize(
    "operation",
    ["DescribeImages", "DescribeLaunchTemplateVersions", "DescribeSnapshotAttribute", "GetRule", "LookupEvents"],
)
def test_what_is_denied_is_named_and_nothing_more_is_allowed_for_it(operation, report, folder, fleet):
    denied, code = states_of(folder, fleet, denial(operation))
    assert code == 3
    (name,) = denied["unread"]
    assert name.endswith({"GetRule": "rbin:ListRules"}.get(operation, f":{operation}"))
    assert deletes_in(denied) < deletes_in(report)


def test_where_everything_is_denied_each_is_named_and_nothing_is_deleted(folder, fleet):
    denied, code = states_of(folder, fleet, *(denial(action.partition(":")[2]) for action in STATES))
    assert code == 3
    asked = {name.partition(": ")[2] for name in denied["unread"]}
    # What a snapshot is shared with is asked for only where there are snapshots, and a rule after the list of rules.
    assert asked == STATES - {"ec2:DescribeSnapshotAttribute", "ec2:DescribeImageAttribute", "rbin:GetRule"}
    assert not deletes_in(denied)
    assert not any(state["ids"][0].startswith("snap-") for state in denied["states"])


def test_without_the_list_of_volumes_no_snapshot_is_of_a_deleted_one(folder, fleet):
    denied, _ = states_of(folder, fleet, denial("DescribeVolumes"))
    assert not [state for state in denied["states"] if state["state"] == "snapshot-of-a-deleted-volume"]
    assert not [line for state in denied["states"] for line in state["commands"] if "delete-volume" in line]
