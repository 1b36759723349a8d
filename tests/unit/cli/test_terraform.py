"""`report --format changes --terraform`: from a run and a configuration to patches, as a person calls it."""

import json
import subprocess

import pytest

from plimsoll.reports.record import OwnerRecord
from plimsoll.reports.terraform import BACK_PATCH, NOTES, PATCH
from tests.unit.cli.calls import called
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run

MAIN = """\
resource "aws_ebs_volume" "data" {
  availability_zone = "us-east-1a"
  type              = "gp2" # since 2019
  size              = 500
}

resource "aws_ebs_volume" "logs" {
  availability_zone = "us-east-1a"
  type              = var.kind
  size              = 500
}
"""


@pytest.fixture
def place(tmp_path):
    """A folder with a configuration of two volumes, its state, and a run that recommends a change of both."""
    owner = OwnerRecord(kind="terraform", name=None)
    records = [
        a_record("migrate", "aws ec2 modify-volume", volume_id=f"vol-{name}", owner=owner, cuts=[])
        for name in ("data", "logs")
    ]
    a_run(tmp_path / "run", records)
    (tmp_path / "live").mkdir()
    (tmp_path / "live" / "main.tf").write_text(MAIN)
    (tmp_path / "live" / "terraform.tfvars").write_text('kind = "gp2"\n')
    made = [
        {"address": f"aws_ebs_volume.{name}", "type": "aws_ebs_volume", "values": {"id": f"vol-{name}"}}
        for name in ("data", "logs")
    ]
    (tmp_path / "state.json").write_text(json.dumps({"values": {"root_module": {"resources": made}}}))
    return tmp_path


def report(place, monkeypatch, capsys, *words):
    sources = ("--terraform", place / "live", "--terraform", place / "state.json")
    return called(monkeypatch, capsys, "report", place / "run", *(words or ("--format", "changes")), *sources)


def test_the_command_writes_a_patch_that_applies_its_way_back_and_what_is_left_to_people(place, monkeypatch, capsys):
    code, *_ = report(place, monkeypatch, capsys)
    changes = place / "run" / "changes"
    assert code == 0
    assert {PATCH, BACK_PATCH, NOTES} <= {path.name for path in changes.iterdir()}
    for name, text in ((PATCH, MAIN.replace('"gp2"', '"gp3"')), (BACK_PATCH, MAIN)):
        subprocess.run(["git", "apply", str(changes / name)], check=True, cwd=place / "live")
        assert set(text.splitlines()) <= set((place / "live" / "main.tf").read_text().splitlines())
    assert "`var.kind`, set in terraform.tfvars" in (changes / NOTES).read_text()


def test_the_configuration_goes_with_changes_alone_and_needs_its_state(place, monkeypatch, capsys):
    code, _, complaint = report(place, monkeypatch, capsys, "--format", "csv")
    assert (code, "--terraform is for --format changes" in complaint) == (2, True)
    (place / "state.json").unlink()
    code, _, complaint = report(place, monkeypatch, capsys)
    assert code == 2
    assert "has no state" in complaint
