"""Change texts: what the owner edits or runs, and what brings the old type back."""

import shlex
from dataclasses import replace

import pytest
import yaml

from plimsoll.clouds.aws.catalog import AwsCatalog
from plimsoll.clouds.aws.change import command_line
from plimsoll.model.volume import Owner, OwnerKind, VolumeSpec
from tests.builders import a_volume

GP3 = VolumeSpec(type="gp3", size_gib=500, iops=4000, throughput_mib_s=250)
IO2 = VolumeSpec(type="io2", size_gib=500, iops=9000)
ST1 = VolumeSpec(type="st1", size_gib=500)


def change_text(volume, target):
    return AwsCatalog().change(volume, target).how


HOSTILE = ["a; rm -rf /", "$(reboot)", "`id`", "it's", '"quoted"', "-n", "a b\tc", "new\nline", "\uac00"]


def owned(kind, *, boot=False, name="shop", **details):
    return a_volume("gp2", 500, boot=boot, owner=Owner(kind=kind, name=name, details=details))


@pytest.mark.parametrize(
    ("kind", "undone"),
    [
        (OwnerKind.CLOUDFORMATION, ("outside the stack", "would revert it")),
        (OwnerKind.TERRAFORM, ("outside Terraform", "next apply would revert it")),
        (OwnerKind.KUBERNETES, ("New claims still get", "StorageClass")),
        (OwnerKind.AUTO_SCALING, ("next instance of the group would have the old type", "AMI")),
        (OwnerKind.OPERATOR, ("refuses ModifyVolume",)),
        (OwnerKind.HAND, ("template or an AMI", "update that too")),
    ],
)
def test_each_owner_is_told_the_figures_and_what_undoes_the_change(kind, undone):
    text = change_text(owned(kind), GP3)
    for figure in ("gp3", "4000", "250"):
        assert figure in text.replace("4,000", "4000")
    for words in undone:
        assert words in text


@pytest.mark.parametrize("kind", [OwnerKind.KUBERNETES, OwnerKind.AUTO_SCALING])
def test_a_template_is_told_that_new_volumes_get_gp3s_defaults(kind):
    assert "3,000 IOPS and 125 MiB/s" in change_text(owned(kind), GP3)


@pytest.mark.parametrize("kind", list(OwnerKind))
@pytest.mark.parametrize("target", [IO2, ST1])
def test_what_a_type_does_not_provision_is_not_written(kind, target):
    text = change_text(owned(kind), target)
    assert "None" not in text
    assert target.type in text
    assert ("9000" in text.replace("9,000", "9000")) is (target is IO2)


def test_a_stacks_resource_is_named_and_its_properties_are_yaml():
    text = change_text(owned(OwnerKind.CLOUDFORMATION, logical_id="Data"), GP3)
    first, *properties = text.splitlines()[:4]
    assert "resource Data of the CloudFormation stack shop" in first
    assert yaml.safe_load("\n".join(properties)) == {"VolumeType": "gp3", "Iops": 4000, "Throughput": 250}


@pytest.mark.parametrize(
    ("kind", "boot", "block"),
    [
        (OwnerKind.CLOUDFORMATION, True, "BlockDeviceMappings[].Ebs"),
        (OwnerKind.CLOUDFORMATION, False, "AWS::EC2::Volume"),
        (OwnerKind.TERRAFORM, True, "root_block_device"),
        (OwnerKind.TERRAFORM, False, "aws_ebs_volume"),
    ],
)
def test_a_boot_volume_is_changed_where_its_instance_is_written(kind, boot, block):
    assert block in change_text(owned(kind, boot=boot), GP3)


@pytest.mark.parametrize(("boot", "name"), [(True, "volume_type"), (False, "type")])
def test_terraforms_attributes_have_the_names_of_their_block(boot, name):
    lines = change_text(owned(OwnerKind.TERRAFORM, boot=boot), GP3).splitlines()
    assert [line.strip() for line in lines[1:4]] == [f'{name} = "gp3"', "iops = 4000", "throughput = 250"]


def test_a_kubernetes_class_is_yaml_with_text_parameters_and_the_patch_names_it():
    text = change_text(owned(OwnerKind.KUBERNETES, claim="pg-0", namespace="shop", storage_class="fast"), GP3)
    manifest, patch = text.split("kubectl", 1)
    written = yaml.safe_load(manifest)
    assert written["kind"] == "VolumeAttributesClass"
    assert written["parameters"] == {"type": "gp3", "iops": "4000", "throughput": "250"}
    words = shlex.split(f"kubectl{patch.splitlines()[0]}")
    assert words[:6] == ["kubectl", "-n", "shop", "patch", "pvc", "pg-0"]
    assert yaml.safe_load(words[-1]) == {"spec": {"volumeAttributesClassName": written["metadata"]["name"]}}
    assert "StorageClass fast" in text


def test_two_figures_make_two_classes():
    faster = VolumeSpec(type="gp3", size_gib=500, iops=5000, throughput_mib_s=250)
    volume = owned(OwnerKind.KUBERNETES)
    assert change_text(volume, GP3).splitlines()[3] != change_text(volume, faster).splitlines()[3]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_names_stay_single_words_of_the_shell(hostile):
    line = command_line(a_volume("gp2", id=hostile, region="eu-west-1"), GP3)
    assert shlex.split(line)[3:9] == ["--region", "eu-west-1", "--volume-id", hostile, "--volume-type", "gp3"]
    text = change_text(owned(OwnerKind.KUBERNETES, claim=hostile, namespace=hostile), GP3)
    words = shlex.split("kubectl" + text.split("kubectl", 1)[1].rsplit("\nNew claims", 1)[0])
    assert (words[2], words[5]) == (hostile, hostile)


def test_a_group_is_given_the_line_for_the_volume_that_runs_now():
    volume = owned(OwnerKind.AUTO_SCALING, launch_template="lt-1")
    text = change_text(volume, GP3)
    assert "launch template lt-1 of shop" in text
    assert command_line(volume, GP3) in text


@pytest.mark.parametrize("kind", list(OwnerKind))
def test_the_way_back_is_the_change_to_what_the_volume_is_now(kind):
    volume = owned(kind)
    changed = replace(volume, spec=GP3)
    assert AwsCatalog().change(volume, GP3).way_back == change_text(changed, volume.spec)


def test_the_way_back_of_a_command_names_the_old_figures():
    volume = a_volume("io2", 500, iops=9_000)
    line, _ = AwsCatalog().change(volume, GP3).way_back.splitlines()
    assert shlex.split(line)[-4:] == ["--volume-type", "io2", "--iops", "9000"]


LARGER = VolumeSpec(type="gp3", size_gib=520, iops=4000, throughput_mib_s=250)


@pytest.mark.parametrize(
    ("kind", "boot", "named"),
    [
        (OwnerKind.HAND, False, "--size 520"),
        (OwnerKind.AUTO_SCALING, True, "VolumeSize: 520"),
        (OwnerKind.CLOUDFORMATION, True, "VolumeSize: 520"),
        (OwnerKind.CLOUDFORMATION, False, "  Size: 520"),
        (OwnerKind.TERRAFORM, True, "volume_size = 520"),
        (OwnerKind.TERRAFORM, False, "  size = 520"),
        (OwnerKind.KUBERNETES, False, '"requests":{"storage":"520Gi"}'),
        (OwnerKind.OPERATOR, False, "520 GiB"),
    ],
)
def test_a_larger_size_is_named_and_the_way_back_never_makes_it_smaller(kind, boot, named):
    volume = owned(kind, boot=boot)
    found = AwsCatalog().change(volume, LARGER)
    assert named in found.how
    assert "file system" in found.how
    assert named not in change_text(volume, GP3)
    assert "520 GiB: a volume never shrinks" in found.way_back
    for smaller in ("--size", "500Gi", "Size: 500", "size = 500"):
        assert smaller not in found.way_back


def test_a_task_of_ecs_is_given_the_larger_size():
    text = change_text(owned(OwnerKind.OPERATOR, service="ecs"), LARGER)
    assert "sizeInGiB: 520" in text


def test_of_a_volume_that_only_grew_there_is_no_way_back():
    volume = a_volume("gp2", 500)
    (line,) = AwsCatalog().change(volume, VolumeSpec(type="gp2", size_gib=600)).way_back.splitlines()
    assert line.startswith("# The size stays at 600 GiB")
