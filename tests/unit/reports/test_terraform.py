"""Changes in Terraform's own files: patches that apply, are as `terraform fmt` writes, and are taken back whole."""

import json
import subprocess
from itertools import combinations

import pytest

from plimsoll.model.errors import BadInput
from plimsoll.reports.record import OwnerRecord, SpecRecord
from plimsoll.reports.terraform import BACK_PATCH, NOTES, PATCH, StatePlace, write_terraform
from tests.unit.reports.recommendations import a_record

MAIN = """\
# The shop's volumes.
variable "kind" { default = "gp2" }

resource "aws_ebs_volume" "data" { # keep
  availability_zone = "us-east-1a"
  type              = "gp2" # since 2019
  size              = 500   # GiB

  tags = { Name = "data" }
}

resource "aws_ebs_volume" "short" {
  size = 500
  type = "io1" // fast
  iops = 12000

  availability_zone = "us-east-1a"
}

resource "aws_ebs_volume" "each" {
  count             = 2
  availability_zone = "us-east-1a"
  type              = "gp2"
  size              = 500
}

resource "aws_ebs_volume" "by_variable" {
  availability_zone = "us-east-1a"
  type              = var.kind
  size              = 500
}

resource "aws_instance" "web" {
  ami           = "ami-1"
  instance_type = "m5.large"

  root_block_device {
    volume_type = "gp2"
    volume_size = 500
  }
  ebs_block_device {
    device_name = "/dev/sdf"
    volume_type = "gp2"
  }
}

module "db" {
  source = "./db"
}

module "far" {
  source = "acme/volumes/aws"
}
"""
MODULE = """\
resource "aws_ebs_volume" "this" {
  availability_zone = "us-east-1a"
  size              = 500
  type              = "gp2"
}

resource "google_compute_disk" "disk" {
  name                   = "d"
  type                   = "hyperdisk-balanced"
  provisioned_iops       = 40000
  provisioned_throughput = 1200
}
"""
GP2 = {"type": "gp2", "size_gib": 500, "iops": None, "throughput_mib_s": None}
GP3 = {"type": "gp3", "size_gib": 500, "iops": 3000, "throughput_mib_s": 125}
HYPERDISK = {"type": "hyperdisk-balanced", "size_gib": 500}
RESOURCES = {
    "vol-data": ("aws_ebs_volume.data", {}),
    "vol-short": ("aws_ebs_volume.short", {}),
    "vol-0": ("aws_ebs_volume.each[0]", {}),
    "vol-1": ("aws_ebs_volume.each[1]", {}),
    "vol-variable": ("aws_ebs_volume.by_variable", {}),
    "vol-db": ("module.db.aws_ebs_volume.this", {}),
    "vol-far": ("module.far.aws_ebs_volume.this", {}),
    "7001": ("module.db.google_compute_disk.disk", {"disk_id": "7001"}),
}


def a_change(volume_id, now=GP2, then=GP3, provider="aws"):
    record = a_record(volume_id=volume_id, owner=OwnerRecord(kind="terraform", name=None))
    specs = {"current": SpecRecord(**now), "target": SpecRecord(**then), "provider": provider}
    return record.model_copy(update=specs)


CHANGES = [
    a_change("vol-data"),
    a_change("vol-short", {**GP2, "type": "io1", "iops": 12000}),
    a_change("vol-0"),
    a_change("vol-1"),
    a_change("vol-db", GP2, {**GP3, "size_gib": 600}),
    a_change("vol-root"),
    a_change(
        "7001",
        {**HYPERDISK, "iops": 40000, "throughput_mib_s": 1200},
        {**HYPERDISK, "iops": 3000, "throughput_mib_s": 140},
        "google",
    ),
]


def resource(address, values, volume):
    kind = StatePlace(address=address).parts[1]
    return {"address": address, "type": kind, "values": {"id": volume, **values}}


@pytest.fixture
def folder(tmp_path):
    """A configuration, with its state as `terraform show -json` prints it."""
    place = tmp_path / "live"
    (place / "db").mkdir(parents=True)
    (place / "main.tf").write_text(MAIN)
    (place / "db" / "main.tf").write_text(MODULE)
    instance = {
        "address": "aws_instance.web",
        "type": "aws_instance",
        "values": {
            "root_block_device": [{"volume_id": "vol-root"}],
            "ebs_block_device": [{"volume_id": "vol-block"}],
        },
    }
    made = [resource(address, values, volume) for volume, (address, values) in RESOURCES.items()]
    root = [one for one in made if not one["address"].startswith("module")]
    children = [one for one in made if one["address"].startswith("module")]
    shown = {"values": {"root_module": {"resources": [*root, instance], "child_modules": [{"resources": children}]}}}
    (tmp_path / "state.json").write_text(json.dumps(shown))
    return place


def written(folder, records):
    out = folder.parent / "out"
    out.mkdir(exist_ok=True)
    paths = write_terraform(records, [folder, folder.parent / "state.json"], out)
    return {path.name: path.read_text() for path in paths}


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.tf")}


def apply(folder, patch):
    subprocess.run(["git", "apply", str(folder.parent / "out" / patch)], check=True, cwd=folder)


def test_a_patch_sets_the_figures_keeps_comments_and_is_as_fmt_writes_it(folder):
    before = contents(folder)
    files = written(folder, CHANGES)
    apply(folder, PATCH)
    after = {name: text.decode() for name, text in contents(folder).items()}
    assert """\
  availability_zone = "us-east-1a"
  type              = "gp3" # since 2019
  size              = 500   # GiB
  iops              = 3000
  throughput        = 125
""" in after["main.tf"]
    assert (
        '  size       = 500\n  type       = "gp3" // fast\n  iops       = 3000\n  throughput = 125\n'
        in after["main.tf"]
    )
    assert '    volume_type = "gp3"\n    volume_size = 500\n    iops        = 3000\n' in after["main.tf"]
    assert "size              = 600" in after["db/main.tf"]
    assert "provisioned_iops       = 3000\n  provisioned_throughput = 140\n" in after["db/main.tf"]
    for text in after.values():
        formatted = subprocess.run(["terraform", "fmt", "-"], input=text, text=True, check=True, capture_output=True)
        assert formatted.stdout == text
    assert "check the volume afterwards" in files[NOTES]
    apply(folder, BACK_PATCH)
    assert contents(folder) == before


@pytest.mark.parametrize("chosen", list(combinations(range(len(CHANGES)), 2))[::3])
def test_every_choice_of_changes_applies_and_is_taken_back_byte_for_byte(folder, chosen):
    before = contents(folder)
    files = written(folder, [CHANGES[at] for at in chosen])
    if PATCH in files:
        apply(folder, PATCH)
        assert contents(folder) != before
        apply(folder, BACK_PATCH)
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (a_change("vol-variable"), 'type in main.tf is `var.kind`, set in main.tf as `"gp2"`'),
        (a_change("vol-block"), "ebs_block_device"),
        (a_change("vol-0"), "the same block makes 2 volumes"),
        (a_change("vol-far"), "change the inputs of its call in main.tf"),
        (a_change("7001", {**HYPERDISK, "iops": 1, "throughput_mib_s": 1}, GP3, "google"), "would delete the disk"),
    ],
)
def test_what_no_patch_can_do_is_named_and_nothing_is_edited(folder, change, words):
    files = written(folder, [change])
    assert set(files) == {NOTES}
    assert change.volume_id in files[NOTES]
    assert words in files[NOTES]


def test_what_the_target_does_not_provision_is_removed(folder):
    written(folder, [a_change("vol-short", {**GP2, "type": "io1", "iops": 12000}, {**GP2, "type": "st1"})])
    apply(folder, PATCH)
    assert 'type = "st1" // fast\n\n  availability_zone' in (folder / "main.tf").read_text()


def test_a_state_file_names_the_same_places(folder):
    instance = {"index_key": 0, "attributes": {"id": "vol-data"}}
    state = {
        "version": 4,
        "resources": [{"mode": "managed", "type": "aws_ebs_volume", "name": "data", "instances": [instance]}],
    }
    (folder / "terraform.tfstate").write_text(json.dumps(state))
    out = folder.parent / "out"
    out.mkdir()
    assert {path.name for path in write_terraform([a_change("vol-data")], [folder], out)} == {PATCH, BACK_PATCH, NOTES}


@pytest.mark.parametrize("text", [None, "", "[]", '{"resources": 1}'])
def test_what_is_no_state_is_named(folder, text):
    if text is not None:
        (folder / "terraform.tfstate").write_text(text)
    with pytest.raises(BadInput, match="state"):
        write_terraform([], [folder], folder.parent)


@pytest.mark.parametrize(
    ("files", "traced"),
    [
        ({"main.tf": 'variable "size" {}'}, "`var.size`: change"),
        ({"main.tf": 'variable "size" {\n  default = 500\n}'}, "`var.size`, set in main.tf as `500`: change"),
        ({"terraform.tfvars": "size = 400"}, "`var.size`, set in terraform.tfvars as `400`: change"),
        (
            {"terraform.tfvars": "size = 400", "prod.auto.tfvars": "size = 300", "variables.tf": 'variable "size" {}'},
            "`var.size`, set in prod.auto.tfvars as `300`: change",
        ),
        (
            {"terraform.tfvars": "size = 400", "terraform.tfvars.json": '{"size": 350, "kind": "gp2"}'},
            "`var.size`, set in terraform.tfvars.json as `350`: change",
        ),
        (
            {"b.auto.tfvars.json": '{"size": 250}', "a.auto.tfvars": "size = 1", "terraform.tfvars.json": "{}"},
            "`var.size`, set in b.auto.tfvars.json as `250`: change",
        ),
        (
            {"b.auto.tfvars": "size = 200", "a.auto.tfvars.json": '{"size": 1}', "c.auto.tfvars.json": '{"kind": "x"}'},
            "`var.size`, set in b.auto.tfvars as `200`: change",
        ),
    ],
)
def test_a_variable_is_named_with_the_file_that_sets_it(tmp_path, files, traced):
    text = 'resource "aws_ebs_volume" "a" {\n  type = "gp2"\n  size = var.size\n}\n'
    assert traced in noted(tmp_path, {**files, "volume.tf": text}, "aws_ebs_volume.a")


@pytest.mark.parametrize("text", ["", "[1]", '{"size": '])
def test_a_damaged_file_of_variables_is_named(tmp_path, text):
    files = {"volume.tf": 'resource "aws_ebs_volume" "a" {\n  size = var.size\n}\n', "terraform.tfvars.json": text}
    with pytest.raises(BadInput, match=r"terraform\.tfvars\.json is not a JSON object"):
        noted(tmp_path, files, "aws_ebs_volume.a")


@pytest.mark.parametrize(
    ("call", "files", "traced"),
    [
        ("size = 600", {}, "size in db/main.tf is `var.size`, set in main.tf as `600`: change"),
        (
            "size = local.size",
            {"locals.tf": "locals {\n  size = var.db_size\n}", "terraform.tfvars": "db_size = 700"},
            "as `local.size`, set in locals.tf as `var.db_size`, set in terraform.tfvars as `700`: change",
        ),
        ("", {"terraform.tfvars": "size = 1"}, "`var.size`, set in db/variables.tf as `100`: change"),
    ],
)
def test_an_input_of_a_module_is_followed_to_the_file_that_sets_it(tmp_path, call, files, traced):
    module = 'resource "aws_ebs_volume" "a" {\n  type = "gp2"\n  size = var.size\n}\n'
    written_files = {
        "main.tf": f'module "db" {{\n  source = "./db"\n  {call}\n}}\n',
        "db/main.tf": module,
        "db/variables.tf": 'variable "size" {\n  default = 100\n}\n',
        **files,
    }
    assert traced in noted(tmp_path, written_files, "module.db.aws_ebs_volume.a")


def noted(tmp_path, files, address):
    """The notes on a volume of those files that is to be larger."""
    folder, out = tmp_path / "live", tmp_path / "out"
    out.mkdir()
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    shown = {"values": {"root_module": {"resources": [resource(address, {}, "vol-a")]}}}
    (tmp_path / "state.json").write_text(json.dumps(shown))
    write_terraform([a_change("vol-a", GP2, {**GP3, "size_gib": 800})], [folder, tmp_path / "state.json"], out)
    assert not (out / PATCH).exists()
    return (out / NOTES).read_text()
