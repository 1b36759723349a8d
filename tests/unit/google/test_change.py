"""Changes of disks: what the owner edits or runs, what it interrupts, and what brings the old configuration back."""

import json
import re
import shlex
from dataclasses import replace
from itertools import pairwise

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.decide.answer import StepKind
from plimsoll.model.ceiling import LatencyClass
from plimsoll.model.market import ChangeLimit, Sized, VolumeType
from plimsoll.model.volume import Attachment, Host, Owner, OwnerKind, VolumeSpec
from plimsoll.reports.answers import steps_text
from plimsoll_google.change import disk_change_steps
from plimsoll_google.change_steps import is_in_place, new_name, snapshot_name
from tests.builders import LONG_AGO, a_volume


def a_type(name, **fields):
    return VolumeType(
        name=name,
        least_size_gib=4,
        most_size_gib=65_536,
        iops=Sized(per_gib=6),
        throughput=Sized(per_gib=0.28),
        io_kib=None,
        latency=LatencyClass.SINGLE_DIGIT_MS,
        durability_pct=99.999,
        boots=True,
        multi_attach=False,
        in_place=False,
        **fields,
    )


TYPES = {
    **{name: a_type(name, pooled=True) for name in ("pd-ssd", "pd-balanced", "regional-pd-ssd")},
    "pd-extreme": a_type("pd-extreme"),
    "hyperdisk-balanced": a_type("hyperdisk-balanced", changes=ChangeLimit(most=1, hours=4)),
}
BALANCED = VolumeSpec(type="hyperdisk-balanced", size_gib=500, iops=4000, throughput_mib_s=250)
SLOWER = VolumeSpec(type="hyperdisk-balanced", size_gib=500, iops=3000, throughput_mib_s=140)
SSD = VolumeSpec(type="pd-ssd", size_gib=500)
HOSTILE = ["a; rm -rf /", "$(reboot)", "`id`", "it's", '"quoted"', "-n", "a b\tc", "new\nline", "\uac00", "${x} %{y}"]


def a_vm(number=1, *, name="vm-1"):
    return Host(id=f"10{number}", type="n2-standard-8", limits=None, tags=(("Name", name),))


def a_disk(spec=SSD, kind=OwnerKind.HAND, *, name="data", boot=False, hosts=None, details=None, **fields):
    hosts = [a_vm()] if hosts is None else hosts
    attached = tuple(Attachment(host=host, device="data-dev", since=LONG_AGO, boot=boot) for host in hosts)
    owner = Owner(kind=kind, name="shop", details=details or {})
    place = {"account": "shop-prod", "region": "us-central1", "zone": "us-central1-a", **fields}
    return a_volume(spec=spec, owner=owner, tags={"Name": name}, attachments=attached, id="7001", **place)


def text_of(disk, target=BALANCED):
    return steps_text(disk_change_steps(disk, target, TYPES).forth)


def commands(text):
    """The command lines that are not commented out, as words."""
    lines = [line.removesuffix(" &&") for line in text.splitlines()]
    return [shlex.split(line) for line in lines if line.startswith(("gcloud ", "kubectl "))]


def flags(words):
    return {flag: value for flag, value in pairwise(words) if flag.startswith("--")}


@pytest.mark.parametrize(
    ("spec", "target", "expected"),
    [
        (SLOWER, BALANCED, True),
        (SSD, BALANCED, False),
        (SSD, VolumeSpec(type="pd-balanced", size_gib=500), False),
        (BALANCED, SSD, False),
        (SSD, replace(SSD, size_gib=600), True),
        (
            VolumeSpec(type="pd-extreme", size_gib=500, iops=20_000),
            VolumeSpec(type="pd-extreme", size_gib=500, iops=10_000),
            False,
        ),
    ],
)
def test_only_hyperdisks_figures_and_sizes_are_changed_in_place(spec, target, expected):
    assert is_in_place(spec, target, TYPES) is expected


def test_a_hyperdisk_is_told_its_figures_in_one_line_and_how_often_that_may_be():
    text = text_of(a_disk(SLOWER))
    (line,) = commands(text)
    assert line[:5] == ["gcloud", "compute", "disks", "update", "data"]
    assert flags(line) == {
        "--zone": "us-central1-a",
        "--provisioned-iops": "4000",
        "--provisioned-throughput": "250",
        "--project": "shop-prod",
    }
    assert "once in 4 hours" in text
    assert "leads back to hyperdisk-balanced 500 GiB 3,000 IOPS 140 MiB/s" in text


def test_a_size_that_grew_is_said_to_stay():
    text = text_of(a_disk(), replace(SSD, size_gib=600))
    (line,) = commands(text)
    assert (line[3], flags(line)["--size"]) == ("resize", "600GB")
    assert "a disk never shrinks" in text


def test_a_type_changes_by_stopping_a_snapshot_a_new_disk_at_the_same_device_and_starting():
    lines = commands(text_of(a_disk()))
    assert [" ".join(line[2:5]) for line in lines] == [
        "instances stop vm-1",
        "snapshots create data-before-hyperdisk-balanced",
        "disks create data-hyperdisk-balanced",
        "instances detach-disk vm-1",
        "instances attach-disk vm-1",
        "instances start vm-1",
    ]
    _, snapshot, create, detach, attach, _ = map(flags, lines)
    assert (snapshot["--source-disk"], snapshot["--source-disk-zone"]) == ("data", "us-central1-a")
    assert create["--source-snapshot"] == "data-before-hyperdisk-balanced"
    assert (create["--type"], create["--size"]) == ("hyperdisk-balanced", "500GB")
    assert (create["--provisioned-iops"], create["--provisioned-throughput"]) == ("4000", "250")
    assert detach["--disk"] == "data"
    assert (attach["--disk"], attach["--device-name"]) == ("data-hyperdisk-balanced", "data-dev")
    assert all(line["--project"] == "shop-prod" for line in map(flags, lines))


def test_a_step_that_fails_stops_those_behind_it_and_nothing_is_deleted_with_them():
    lines = text_of(a_disk()).splitlines()
    steps = [line for line in lines if line.startswith("gcloud")]
    assert [line.endswith(" &&") for line in steps] == [True] * 5 + [False]
    assert [line.split()[3:5] for line in lines if line.startswith("#   gcloud ")] == [
        ["disks", "delete"],
        ["snapshots", "delete"],
    ]


def test_what_can_be_undone_is_said_and_what_a_copy_lacks():
    text = text_of(a_disk())
    for words in ("The old disk is the way back", "only such a copy leads back", "labels", "--kms-key", "Local SSDs"):
        assert words in text


@pytest.mark.parametrize("boot", [True, False])
def test_a_boot_disk_stops_its_vm_and_is_attached_as_one(boot):
    text = text_of(a_disk(boot=boot))
    assert ("--boot" in text) is boot
    assert ("has to be stopped" in text) is boot
    assert ("Instead of stopping its VMs, you may unmount it everywhere" in text) is not boot


def test_a_regional_disk_names_its_region_its_zones_and_asks_where_its_vm_is():
    disk = a_disk(VolumeSpec(type="regional-pd-ssd", size_gib=500), zone="us-central1-a+us-central1-b")
    text = text_of(disk, VolumeSpec(type="regional-pd-balanced", size_gib=500))
    stop, snapshot, create, detach, attach, _ = map(flags, commands(text))
    assert (snapshot["--source-disk-region"], create["--region"]) == ("us-central1", "us-central1")
    assert (create["--replica-zones"], create["--type"]) == ("us-central1-a,us-central1-b", "pd-balanced")
    assert detach["--disk-scope"] == attach["--disk-scope"] == "regional"
    assert stop["--zone"] == "$zone"
    assert "zone=$(gcloud compute instances list --filter id=101 " in text
    assert "disks convert" not in text


def test_all_vms_of_a_shared_disk_are_stopped_before_the_snapshot_and_started_after():
    verbs = [line[2:5] for line in commands(text_of(a_disk(hosts=[a_vm(), a_vm(2, name="vm-2")], multi_attach=True)))]
    assert [verb[1:] for verb in verbs if verb[1] in {"stop", "start"}] == [
        ["stop", "vm-1"],
        ["stop", "vm-2"],
        ["start", "vm-1"],
        ["start", "vm-2"],
    ]


def test_a_vm_that_cannot_be_seen_is_not_forgotten():
    assert "cannot be seen from here" in text_of(a_disk(hosts=[a_vm(), None]))


def test_a_detached_disk_stops_nothing():
    assert [line[3] for line in commands(text_of(a_disk(hosts=[])))] == ["create", "create"]


@pytest.mark.parametrize(
    ("spec", "target", "named"),
    [
        (SSD, BALANCED, True),
        (SSD, VolumeSpec(type="pd-balanced", size_gib=500), False),
        (SSD, VolumeSpec(type="hyperdisk-ml", size_gib=500, throughput_mib_s=500), False),
        (BALANCED, SSD, False),
    ],
)
def test_convert_is_named_for_what_it_does_where_it_does_anything(spec, target, named):
    text = text_of(a_disk(spec), target)
    assert ("disks convert data" in text) is named
    assert ("nothing is left to go back to" in text) is named


@pytest.mark.parametrize(("spec", "together"), [(SSD, True), (replace(BALANCED, type="hyperdisk-extreme"), False)])
def test_disks_that_share_a_ceiling_are_changed_together(spec, together):
    assert ("change those of this VM together" in text_of(a_disk(spec))) is together


@pytest.mark.parametrize("kind", [kind for kind in OwnerKind if kind is not OwnerKind.CLOUDFORMATION])
@pytest.mark.parametrize("spec", [SLOWER, SSD])
def test_each_owner_is_told_the_target_and_nothing_that_is_not_known(kind, spec):
    text = text_of(a_disk(spec, kind))
    assert "None" not in text
    assert "4000" in text.replace("4,000", "4000")


@pytest.mark.parametrize("kind", list(OwnerKind))
def test_what_a_type_does_not_provision_is_not_written(kind):
    text = text_of(a_disk(kind=kind), VolumeSpec(type="pd-balanced", size_gib=500))
    assert "provisioned" not in text
    assert "None" not in text
    assert "pd-balanced" in text


def terraform_edits(spec, target):
    found = disk_change_steps(a_disk(spec, OwnerKind.TERRAFORM), target, TYPES)
    edits = [[step.text for step in steps if step.kind is StepKind.EDIT] for steps in (found.forth, found.back)]
    return [[dict(re.findall(r"^  (\w+) += (.*)$", text, re.MULTILINE)) for text in texts] for texts in edits]


def test_terraform_changes_one_figure_after_the_other_so_that_both_are_valid_at_every_step():
    forth, back = terraform_edits(replace(BALANCED, iops=40_000, throughput_mib_s=1_200), SLOWER)
    assert forth == [{"provisioned_throughput": "140"}, {"provisioned_iops": "3000"}]
    assert back == [{"provisioned_iops": "40000"}, {"provisioned_throughput": "1200"}]


FIGURES = st.tuples(st.integers(750, 40_000), st.integers(140, 2_400)).filter(lambda pair: pair[0] >= 4 * pair[1])


@given(now=FIGURES, then=FIGURES)
def test_no_step_of_terraform_asks_for_more_throughput_than_its_iops_allow_and_all_make_the_target(now, then):
    specs = [replace(BALANCED, iops=iops, throughput_mib_s=mib_s) for iops, mib_s in (now, then)]
    if now == then:
        return
    for begin, end, edits in zip((now, then), (then, now), terraform_edits(*specs), strict=True):
        state = {"provisioned_iops": begin[0], "provisioned_throughput": begin[1]}
        for figures in edits:
            state |= {name: int(figure) for name, figure in figures.items()}
            assert state["provisioned_iops"] >= 4 * state["provisioned_throughput"]
        assert tuple(state.values()) == end


def test_terraform_names_its_resource_and_who_would_revert_another_change():
    lines = text_of(a_disk(SLOWER, OwnerKind.TERRAFORM)).splitlines()
    assert "google_compute_disk of data" in lines[0]
    assert "would revert it" in lines[-1]


def test_terraform_is_never_told_to_change_a_type():
    text = text_of(a_disk(kind=OwnerKind.TERRAFORM))
    assert text.startswith("Do not change `type` of data")
    assert [line[3] for line in commands(text)] == ["stop", "create"]
    attributes = dict(re.findall(r"^  (\w+) += (.*)$", text, re.MULTILINE))
    assert json.loads(attributes["snapshot"]) == "data-before-hyperdisk-balanced"
    assert json.loads(attributes["type"]) == "hyperdisk-balanced"
    assert json.loads(attributes["name"]) == "data-hyperdisk-balanced"
    assert "prevent_destroy" in text


def test_terraforms_regional_disk_has_a_resource_of_its_own():
    disk = a_disk(
        VolumeSpec(type="regional-pd-ssd", size_gib=500), OwnerKind.TERRAFORM, zone="us-central1-a+us-central1-b"
    )
    text = text_of(disk, VolumeSpec(type="regional-pd-balanced", size_gib=500))
    assert 'resource "google_compute_region_disk"' in text
    assert 'replica_zones = ["us-central1-a", "us-central1-b"]' in text


@pytest.mark.parametrize("spec", [SLOWER, SSD])
def test_terraforms_boot_disk_is_its_instances(spec):
    assert "boot_disk" in text_of(a_disk(spec, OwnerKind.TERRAFORM, boot=True))


CLAIM = {"claim": "pg-0", "namespace": "shop", "persistent_volume": "pvc-1"}


def test_a_claims_figures_change_by_a_class_that_the_driver_understands():
    found = disk_change_steps(a_disk(SLOWER, OwnerKind.KUBERNETES, details=CLAIM), BALANCED, TYPES)
    before, then = (yaml.safe_load(step.text) for step in found.forth if step.kind is StepKind.FILE)
    assert {before["kind"], then["kind"]} == {"VolumeAttributesClass"}
    assert then["parameters"] == {"iops": "4000", "throughput": "250Mi"}
    assert before["parameters"] == {"iops": "3000", "throughput": "140Mi"}
    for steps, named in ((found.forth, then), (found.back, before)):
        check, patch = [shlex.split(step.text) for step in steps if step.kind is StepKind.COMMAND]
        assert check[-1] == "pvc-1"
        assert patch[:6] == ["kubectl", "-n", "shop", "patch", "pvc", "pg-0"]
        assert json.loads(patch[-1]) == {"spec": {"volumeAttributesClassName": named["metadata"]["name"]}}
    assert "Kubernetes 1.34" in steps_text(found.forth)


def test_a_claims_type_changes_by_a_snapshot_and_a_claim_of_a_new_class():
    text = text_of(a_disk(kind=OwnerKind.KUBERNETES, details=CLAIM))
    written = text[text.index("apiVersion") : text.index("EOF\nThen have it")]
    storage_class, snapshot, claim = yaml.safe_load_all(written)
    assert storage_class["parameters"] == {
        "type": "hyperdisk-balanced",
        "provisioned-iops-on-create": "4000",
        "provisioned-throughput-on-create": "250Mi",
    }
    assert snapshot["spec"]["source"] == {"persistentVolumeClaimName": "pg-0"}
    assert claim["spec"]["dataSource"]["name"] == snapshot["metadata"]["name"]
    assert claim["spec"]["storageClassName"] == storage_class["metadata"]["name"]
    assert claim["spec"]["resources"]["requests"]["storage"] == "500Gi"
    apply, keep = commands(text)
    assert apply[:2] == ["kubectl", "apply"]
    assert keep[:4] == ["kubectl", "patch", "pv", "pvc-1"]


def test_a_regional_claim_is_asked_for_by_its_replication():
    text = text_of(a_disk(kind=OwnerKind.KUBERNETES), VolumeSpec(type="regional-pd-balanced", size_gib=500))
    assert "type: pd-balanced\n  replication-type: regional-pd" in text


def test_a_node_pools_boot_disk_is_its_pools():
    details = {"service": "gke", "cluster": "prod", "node_pool": "workers", "location": "us-central1"}
    (create,) = commands(text_of(a_disk(kind=OwnerKind.AUTO_SCALING, details=details, boot=True)))
    assert create[1:4] == ["container", "node-pools", "create"]
    assert (flags(create)["--disk-type"], flags(create)["--cluster"]) == ("hyperdisk-balanced", "prod")
    assert flags(create)["--boot-disk-provisioned-iops"] == "4000"


@pytest.mark.parametrize(
    ("boot", "location", "place", "flag"),
    [(True, "us-central1-a", "--zone", "--boot-disk-type"), (False, "us-central1", "--region", "--create-disk")],
)
def test_a_groups_disk_is_its_templates(boot, location, place, flag):
    details = {"group": "web", "location": location, "template": "web-7"}
    text = text_of(a_disk(kind=OwnerKind.AUTO_SCALING, details=details, boot=boot))
    (update,) = commands(text)
    assert update[3:7] == ["managed", "rolling-action", "start-update", "web"]
    assert flags(update)[place] == location
    assert "another instance template like web-7" in text
    assert flag in text


def test_a_group_is_given_the_line_for_the_hyperdisk_that_runs_now():
    lines = commands(text_of(a_disk(SLOWER, OwnerKind.AUTO_SCALING, boot=True)))
    assert lines[-1][2:5] == ["disks", "update", "data"]


@pytest.mark.parametrize(
    ("service", "words"), [("dataproc", "make the cluster anew"), ("deployment-manager", "in its configuration")]
)
def test_a_service_is_told_in_its_own_words(service, words):
    assert words in text_of(a_disk(kind=OwnerKind.OPERATOR, details={"service": service}))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_names_stay_single_words_of_the_shell(hostile):
    disk = a_disk(name=hostile, hosts=[a_vm(name=hostile)])
    words = shlex.split(text_of(disk).split("\n# Nothing may write")[0])
    assert words.count(hostile) == 6
    claim = {"claim": hostile, "namespace": hostile}
    text = text_of(a_disk(kind=OwnerKind.KUBERNETES, details=claim))
    written = list(yaml.safe_load_all(text[text.index("apiVersion") : text.index("EOF\nThen have it")]))
    assert written[1]["metadata"]["namespace"] == hostile
    assert written[1]["spec"]["source"]["persistentVolumeClaimName"] == hostile


def test_a_text_that_looks_like_a_template_stays_a_text_in_terraform():
    text = text_of(a_disk(kind=OwnerKind.TERRAFORM, name="${x}"))
    assert re.search(r'name += "\$\$\{x\}', text)


@pytest.mark.parametrize("length", [1, 40, 63])
def test_names_of_copies_and_snapshots_fit(length):
    disk = a_disk(name="d" * length)
    for name in (new_name(disk, BALANCED), snapshot_name(disk, BALANCED)):
        assert len(name) <= 63
        assert name.startswith("d")


def test_a_copy_of_a_copy_is_called_after_its_own_type_alone_and_never_as_the_disk_itself():
    assert new_name(a_disk(BALANCED, name="data-hyperdisk-balanced"), SSD) == "data-pd-ssd"
    extreme = VolumeSpec(type="pd-extreme", size_gib=500, iops=10_000)
    assert new_name(a_disk(extreme, name="data-pd-extreme"), extreme) == "data-pd-extreme-2"


@pytest.mark.parametrize("target", [BALANCED, replace(SSD, size_gib=600)])
def test_what_nobody_owns_is_changed_by_a_script_whose_other_lines_are_comments(target):
    lines = text_of(a_disk(), target).splitlines()
    assert all(line.startswith(("gcloud ", "# ")) or line in {"(", ")"} for line in lines)
    assert any(line.startswith("gcloud ") for line in lines)


def back_of(disk, target=BALANCED):
    return steps_text(disk_change_steps(disk, target, TYPES).back)


def test_what_is_changed_in_place_is_taken_back_in_place():
    (line,) = commands(back_of(a_disk(SLOWER)))
    assert line[3] == "update"
    assert (flags(line)["--provisioned-iops"], flags(line)["--provisioned-throughput"]) == ("3000", "140")


@pytest.mark.parametrize("target", [replace(BALANCED, size_gib=600), replace(SLOWER, size_gib=600)])
def test_no_way_back_makes_a_disk_smaller(target):
    text = back_of(a_disk(SLOWER), target)
    assert "--size" not in text
    assert all(line[3] == "update" for line in commands(text))
    assert bool(commands(text)) is (target.iops != SLOWER.iops)


def test_a_copy_is_taken_back_by_the_old_disk_in_its_place():
    disk = a_disk(SSD, boot=True)
    stop, detach, attach, start = commands(back_of(disk))
    assert [stop[3], detach[3], attach[3], start[3]] == ["stop", "detach-disk", "attach-disk", "start"]
    assert flags(detach)["--disk"] == new_name(disk, BALANCED)
    assert flags(attach)["--disk"] == "data"
    assert "--boot" in attach


@pytest.mark.parametrize("kind", list(OwnerKind))
@pytest.mark.parametrize("target", [BALANCED, replace(SSD, size_gib=600), VolumeSpec(type="pd-balanced", size_gib=500)])
def test_every_owner_is_told_a_way_back(kind, target):
    assert back_of(a_disk(SSD, kind), target).strip()
