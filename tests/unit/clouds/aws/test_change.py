"""Changes of EBS volumes: what the owner edits or runs, and what brings the old type back."""

import re
import shlex
from dataclasses import replace

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.clouds.aws.catalog import AwsCatalog
from plimsoll.clouds.aws.change import command_line
from plimsoll.clouds.aws.owners import IN_TREE
from plimsoll.decide.answer import StepKind
from plimsoll.model.volume import Modification, Owner, OwnerKind, VolumeSpec
from plimsoll.reports.answers import steps_text
from tests.builders import LONG_AGO, a_volume

GP3 = VolumeSpec(type="gp3", size_gib=500, iops=4000, throughput_mib_s=250)
IO2 = VolumeSpec(type="io2", size_gib=500, iops=9000)
ST1 = VolumeSpec(type="st1", size_gib=500)


def change_text(volume, target):
    return steps_text(AwsCatalog().change(volume, target).forth)


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
def test_terraforms_attributes_have_the_names_of_their_block_and_are_aligned(boot, name):
    lines = change_text(owned(OwnerKind.TERRAFORM, boot=boot), GP3).splitlines()[1:4]
    assert [line.split() for line in lines] == [[name, "=", '"gp3"'], ["iops", "=", "4000"], ["throughput", "=", "250"]]
    assert len({line.index("=") for line in lines}) == 1


CLAIM = {"claim": "pg-0", "namespace": "shop", "persistent_volume": "pvc-1", "storage_class": "fast"}


def of_kind(steps, kind):
    return [step for step in steps if step.kind is kind]


def test_a_claim_is_patched_to_its_class_and_the_one_that_leads_back_is_declared_before():
    found = AwsCatalog().change(owned(OwnerKind.KUBERNETES, **CLAIM), GP3)
    classes = [yaml.safe_load(step.text) for step in of_kind(found.forth, StepKind.FILE)]
    assert [one["kind"] for one in classes] == ["VolumeAttributesClass"] * 2
    assert [one["parameters"] for one in classes] == [
        {"type": "gp2"},
        {"type": "gp3", "iops": "4000", "throughput": "250"},
    ]
    before, then = (one["metadata"]["name"] for one in classes)
    for steps, named in ((found.forth, then), (found.back, before)):
        check, patch = of_kind(steps, StepKind.COMMAND)
        assert (check.namespace, patch.namespace) == ("shop", "shop")
        words = shlex.split(patch.text)
        assert words[:6] == ["kubectl", "-n", "shop", "patch", "pvc", "pg-0"]
        assert yaml.safe_load(words[-1]) == {"spec": {"volumeAttributesClassName": named}}
        assert "pv pvc-1 " in check.text
        assert check.text.endswith(" = vol-1")
    assert "StorageClass fast" in steps_text(found.forth)


def test_a_claim_that_no_tag_names_is_found_by_the_volume():
    text = change_text(owned(OwnerKind.KUBERNETES, cluster="prod"), GP3)
    assert 'volumeHandle=="vol-1"' in text


@pytest.mark.parametrize("target", [GP3, VolumeSpec(type="gp3", size_gib=520, iops=4000, throughput_mib_s=250)])
def test_an_in_tree_volume_is_changed_by_the_api(target):
    volume = owned(OwnerKind.KUBERNETES, **CLAIM, provisioner=IN_TREE)
    found = AwsCatalog().change(volume, target)
    assert not of_kind(found.forth, StepKind.FILE)
    lines = [step.text for step in of_kind(found.forth, StepKind.COMMAND)]
    assert lines[0] == command_line(volume, target)
    assert [shlex.split(line)[-1] for line in lines[1:]] == (
        [] if target is GP3 else ['{"spec":{"resources":{"requests":{"storage":"520Gi"}}}}']
    )
    assert "volumeAttributesClassName" not in steps_text(found.forth)
    assert [step.text for step in of_kind(found.back, StepKind.COMMAND)] == [
        command_line(replace(volume, spec=target), replace(volume.spec, size_gib=target.size_gib))
    ]


def test_two_figures_make_two_classes():
    faster = VolumeSpec(type="gp3", size_gib=500, iops=5000, throughput_mib_s=250)
    volume = owned(OwnerKind.KUBERNETES)
    paths = [of_kind(AwsCatalog().change(volume, spec).forth, StepKind.FILE)[-1].path for spec in (GP3, faster)]
    assert paths == ["plimsoll-gp3-4000-250.yaml", "plimsoll-gp3-5000-250.yaml"]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_names_stay_single_words_of_the_shell(hostile):
    line = command_line(a_volume("gp2", id=hostile, region="eu-west-1"), GP3)
    assert shlex.split(line)[3:9] == ["--region", "eu-west-1", "--volume-id", hostile, "--volume-type", "gp3"]
    volume = owned(OwnerKind.KUBERNETES, claim=hostile, namespace=hostile, persistent_volume=hostile)
    check, patch = of_kind(AwsCatalog().change(volume, GP3).forth, StepKind.COMMAND)
    words = shlex.split(patch.text)
    assert (words[2], words[5]) == (hostile, hostile)
    asked = check.text.removeprefix('test "$(').rpartition(')" = ')[0]
    assert shlex.split(asked)[:4] == ["kubectl", "get", "pv", hostile]


def test_a_group_is_given_the_line_for_the_volume_that_runs_now():
    volume = owned(OwnerKind.AUTO_SCALING, launch_template="lt-1")
    text = change_text(volume, GP3)
    assert "launch template lt-1 of shop" in text
    assert command_line(volume, GP3) in text


@pytest.mark.parametrize("kind", list(OwnerKind))
def test_the_way_back_is_the_change_to_what_the_volume_is_now(kind):
    volume = owned(kind)
    changed = replace(volume, spec=GP3)
    assert AwsCatalog().change(volume, GP3).back == AwsCatalog().change(changed, volume.spec).forth


def test_the_way_back_of_a_command_names_the_old_figures():
    volume = a_volume("io2", 500, iops=9_000)
    line, _ = steps_text(AwsCatalog().change(volume, GP3).back).splitlines()
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
    forth, back = steps_text(found.forth), steps_text(found.back)
    assert named in re.sub(r" += ", " = ", forth)
    assert "file system" in forth
    assert named not in change_text(volume, GP3)
    assert "520 GiB: a volume never shrinks" in back
    for smaller in ("--size", "500Gi", "Size: 500", "size = 500"):
        assert smaller not in back


def test_a_task_of_ecs_is_given_the_larger_size():
    text = change_text(owned(OwnerKind.OPERATOR, service="ecs"), LARGER)
    assert "sizeInGiB: 520" in text


def test_of_a_volume_that_only_grew_there_is_no_way_back():
    volume = a_volume("gp2", 500)
    (line,) = steps_text(AwsCatalog().change(volume, VolumeSpec(type="gp2", size_gib=600)).back).splitlines()
    assert line.startswith("# The size stays at 600 GiB")


UNITS = {
    "eks": (OwnerKind.AUTO_SCALING, {"node_group": "blue", "cluster": "prod"}, "EKS node group blue"),
    "karpenter": (OwnerKind.AUTO_SCALING, {"node_class": "default"}, "EC2NodeClass default"),
    "elasticbeanstalk": (OwnerKind.AUTO_SCALING, {"environment": "shop-env"}, "--environment-name shop-env"),
    "ecs": (OwnerKind.OPERATOR, {"resource": "arn:task"}, "volumeConfigurations[].managedEBSVolume"),
}


@pytest.mark.parametrize("service", UNITS)
def test_a_service_makes_the_change_where_its_hosts_are_made_from(service):
    kind, details, unit = UNITS[service]
    found = AwsCatalog().change(owned(kind, boot=True, service=service, **details), GP3)
    for steps, figures in ((found.forth, ("gp3", "4000", "250")), (found.back, ("gp2",))):
        text = steps_text(steps)
        assert unit in text
        assert all(figure in text for figure in figures)


def test_beanstalk_takes_back_what_the_old_type_does_not_provision():
    kind, details, _ = UNITS["elasticbeanstalk"]
    found = AwsCatalog().change(owned(kind, boot=True, service="elasticbeanstalk", **details), GP3)
    (back,) = of_kind(found.back, StepKind.COMMAND)
    removed = shlex.split(back.text.partition("--options-to-remove")[2])
    assert {word.rpartition("=")[2] for word in removed} == {"RootVolumeIOPS", "RootVolumeThroughput"}


def test_a_failed_modification_is_said_before_the_next_is_asked_for():
    failed = Modification(state="failed", started=LONG_AGO)
    volume = replace(owned(OwnerKind.HAND), modification=failed)
    first, *others = AwsCatalog().change(volume, GP3).forth
    assert first.kind is StepKind.NOTE
    assert "failed" in first.text
    assert "refused for a while" in first.text
    assert tuple(others) == AwsCatalog().change(owned(OwnerKind.HAND), GP3).forth


@pytest.mark.parametrize(("boot", "warned"), [(True, False), (False, True)])
def test_terraform_is_warned_of_a_block_of_an_instance(boot, warned):
    text = change_text(owned(OwnerKind.TERRAFORM, boot=boot), GP3)
    assert ("replaces the instance" in text) is warned
    assert "describe-volumes" in text


def figures_of(steps):
    """The type, size, IOPS and MiB/s that the steps write, whatever the tool; None for what they do not name."""
    written = steps
    if any(step.kind is StepKind.FILE for step in steps):
        (patch,) = [step for step in of_kind(steps, StepKind.COMMAND) if " patch pvc " in step.text]
        spec = yaml.safe_load(shlex.split(patch.text)[-1])["spec"]
        (named,) = [step for step in steps if step.path == f"{spec.get('volumeAttributesClassName')}.yaml"]
        written = [named, patch]
    else:
        written = [step for step in steps if step.kind in {StepKind.EDIT, StepKind.COMMAND}]
    text = "\n".join(step.text for step in written)
    text = re.sub(r"--options-to-remove.*|--region \S+|--launch-template \S+", "", text).replace(",", " ")
    text = re.sub(r"OptionName=(\w+) Value=", r"\1: ", text)
    patterns = {
        "type": r"(?:[Tt]ype['\"]?)\s*[:= ]\s*\"?([a-z]+[0-9])\b",
        "size": r"(?:(?<!\w)[sS]ize|[vV]olume_?[sS]ize|sizeInGiB|storage\")\s*[:= ]\s*\"?([0-9]+)",
        "iops": r"(?:[iI]ops|IOPS)\s*[:= ]\s*['\"]?([0-9]+)",
        "throughput": r"[tT]hroughput\s*[:= ]\s*['\"]?([0-9]+)",
    }
    found = {name: set(re.findall(pattern, text)) for name, pattern in patterns.items()}
    assert all(len(values) <= 1 for values in found.values()), (found, text)
    return tuple(next(iter(values), None) for values in found.values())


def as_written(spec, *, size):
    figures = (spec.size_gib if size else None, spec.iops, spec.throughput_mib_s)
    return (spec.type, *(None if figure is None else str(figure) for figure in figures))


SPECS = st.one_of(
    st.builds(
        VolumeSpec,
        type=st.just("gp3"),
        size_gib=st.integers(100, 999),
        iops=st.integers(3_000, 16_000),
        throughput_mib_s=st.integers(125, 999),
    ),
    st.builds(
        VolumeSpec, type=st.sampled_from(["io1", "io2"]), size_gib=st.integers(100, 999), iops=st.integers(100, 9_999)
    ),
    st.builds(VolumeSpec, type=st.sampled_from(["gp2", "st1", "sc1"]), size_gib=st.integers(100, 999)),
)
MAKERS = [
    *((kind, {}) for kind in OwnerKind if kind is not OwnerKind.OPERATOR),
    (OwnerKind.KUBERNETES, {**CLAIM, "provisioner": IN_TREE}),
    *((kind, {"service": service, **details}) for service, (kind, details, _) in UNITS.items()),
]


@given(spec=SPECS, target=SPECS, maker=st.sampled_from(MAKERS), boot=st.booleans())
def test_the_steps_write_exactly_the_target_and_the_way_back_what_is_there_now_but_for_its_size(
    spec, target, maker, boot
):
    kind, details = maker
    target = replace(target, size_gib=max(spec.size_gib, target.size_gib))
    if target.figures == spec.figures:
        return
    volume = replace(owned(kind, boot=boot, **details), spec=spec)
    found = AwsCatalog().change(volume, target)
    assert figures_of(found.forth) == as_written(target, size=target.size_gib > spec.size_gib)
    assert figures_of(found.back) == as_written(spec, size=False)
