"""Plans as they are read: real forms of Terraform's plan and CloudFormation's change set, and what is no plan."""

import json
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from plimsoll.api.planned import read_planned
from plimsoll.model.errors import BadInput
from plimsoll.model.volume import VolumeSpec

PLANS = Path(__file__).parent / "plans"
VOLUME = "vol-0a0000000000000"


def spec(type_name, size_gib, iops=None, throughput_mib_s=None):
    return VolumeSpec(type=type_name, size_gib=size_gib, iops=iops, throughput_mib_s=throughput_mib_s)


def written(tmp_path, document):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def a_change(after, before=None, *, actions=("update",), unknown=None, type_name="aws_ebs_volume", **fields):
    change = {"actions": list(actions), "before": before, "after": after, "after_unknown": unknown or {}}
    return {"address": f"{type_name}.a", "mode": "managed", "type": type_name, "change": change, **fields}


def the_only(tmp_path, *changes):
    (volume,) = read_planned(written(tmp_path, {"format_version": "1.2", "resource_changes": list(changes)}))
    return volume


def test_the_volumes_of_a_terraform_plan_that_change_are_read_with_their_addresses():
    gp3 = spec("gp3", 500, 3000, 125)
    read = {volume.address: volume for volume in read_planned(PLANS / "terraform.json")}
    assert {address: (volume.volume_id, volume.before, volume.after) for address, volume in read.items()} == {
        'module.db["eu"].aws_ebs_volume.data[0]': (
            f"{VOLUME}1",
            spec("gp3", 500, 10_000, 500),
            spec("gp3", 500, 16_000, 500),
        ),
        "aws_ebs_volume.logs": (f"{VOLUME}2", spec("gp2", 500), gp3),
        'aws_ebs_volume.orders["primary"]': (f"{VOLUME}3", spec("io2", 1000, 20_000), spec("gp3", 1000, 3000, 125)),
        "aws_instance.web[1].root_block_device": (
            f"{VOLUME}4",
            spec("gp3", 100, 3000, 125),
            spec("gp3", 200, 3000, 125),
        ),
        'aws_instance.web[1].ebs_block_device["/dev/sdf"]': (
            f"{VOLUME}9",
            spec("gp3", 300, 3000, 125),
            spec("gp3", 300, 6000, 125),
        ),
        "aws_ebs_volume.scratch": (f"{VOLUME}5", spec("gp2", 500), gp3),
        "aws_ebs_volume.fresh": (None, None, None),
        "aws_ebs_volume.later": (f"{VOLUME}7", spec("gp2", 200), None),
    }
    assert [address for address, volume in read.items() if volume.replaced] == ["aws_ebs_volume.scratch"]
    assert "iops" in read["aws_ebs_volume.later"].unclear


def test_the_volumes_of_a_change_set_are_read_with_the_types_and_figures_that_are_not_written():
    gp3 = spec("gp3", 500, 3000, 125)
    read = {volume.address: volume for volume in read_planned(PLANS / "change-set.json")}
    assert {address: (volume.volume_id, volume.before, volume.after) for address, volume in read.items()} == {
        "LedgerVolume": (f"{VOLUME}1", spec("gp3", 500, 10_000, 500), spec("gp3", 500, 16_000, 500)),
        "LogsVolume": (f"{VOLUME}2", spec("gp2", 500), gp3),
        "OrdersVolume": (f"{VOLUME}3", spec("io2", 1000, 20_000), spec("gp3", 1000, 3000, 125)),
        "ScratchVolume": (f"{VOLUME}5", spec("gp2", 500), gp3),
        "LaterVolume": (f"{VOLUME}4", spec("gp3", 100, 3000, 125), None),
        "StrangerVolume": (f"{VOLUME}9", spec("gp3", 300, 3000, 125), spec("gp3", 300, 6000, 125)),
        "FreshVolume": (None, None, spec("gp3", 100, 3000, 125)),
        "Network": ("arn:aws:cloudformation:us-east-1:111122223333:stack/shop-Network-1A2B3C/6d1f", None, None),
    }
    assert [address for address, volume in read.items() if volume.replaced] == ["ScratchVolume"]


def test_a_change_set_without_values_names_its_volumes_and_says_how_to_get_them(tmp_path):
    document = json.loads((PLANS / "change-set.json").read_text(encoding="utf-8"))
    for row in document["Changes"]:
        for key in ("BeforeContext", "AfterContext"):
            row["ResourceChange"].pop(key, None)
    read = [volume for volume in read_planned(written(tmp_path, document)) if volume.address != "Network"]
    assert [volume.volume_id for volume in read] == [f"{VOLUME}{end}" for end in "123549"] + [None, f"{VOLUME}6"]
    assert all("--include-property-values" in volume.unclear for volume in read)


def test_a_google_disk_is_named_by_its_number_and_by_its_path(tmp_path):
    path = "projects/shop-data/zones/europe-west1-b/disks/ledger"
    before = {"id": path, "disk_id": "1234567890123456789", "name": "ledger", "type": "pd-ssd", "size": 500}
    url = "https://www.googleapis.com/compute/v1/projects/shop-data/zones/europe-west1-b/diskTypes/hyperdisk-balanced"
    after = {**before, "type": url, "provisioned_iops": 3600, "provisioned_throughput": 290}
    volume = the_only(tmp_path, a_change(after, before, type_name="google_compute_disk"))
    assert (volume.volume_id, volume.disk) == ("1234567890123456789", path)
    assert (volume.before, volume.after) == (spec("pd-ssd", 500), spec("hyperdisk-balanced", 500, 3600, 290))
    earlier = {key: value for key, value in before.items() if key != "disk_id"}
    assert the_only(tmp_path, a_change(after, earlier, type_name="google_compute_disk")).volume_id == path


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-1", "0", "1e400", '"big"', "true", "9" * 5000, "null", "[]"])
def test_a_figure_that_is_none_is_unknown(tmp_path, value):
    plan = tmp_path / "plan.json"
    after = f'{{"type": "gp3", "size": {value}, "id": "vol-1"}}'
    change = f'{{"actions": ["update"], "before": {{"type": "gp3", "size": 10, "id": "vol-1"}}, "after": {after}}}'
    plan.write_text(
        '{"format_version": "1.2", "resource_changes": [{"address": "a", "type": "aws_ebs_volume", "change": '
        + change
        + "}]}"
    )
    if value.startswith("999"):  # JSON whose figures Python does not read
        with pytest.raises(BadInput):
            read_planned(plan)
        return
    (volume,) = read_planned(plan)
    assert (volume.volume_id, volume.after) == ("vol-1", None)
    assert "size" in volume.unclear


def test_an_instance_whose_blocks_nothing_configures_names_its_volumes_as_unknown(tmp_path):
    block = {"volume_id": "vol-1", "device_name": "/dev/xvda", "volume_type": "gp3", "volume_size": 8}
    other = {**block, "volume_id": "vol-2", "device_name": "/dev/sdf"}
    before = {"root_block_device": [block], "ebs_block_device": [other]}
    unknown = {"root_block_device": True, "ebs_block_device": True}
    change = a_change({}, before, actions=["delete", "create"], unknown=unknown, type_name="aws_instance")
    read = read_planned(written(tmp_path, {"format_version": "1.2", "resource_changes": [change]}))
    assert [(volume.volume_id, volume.after, volume.replaced) for volume in read] == [
        ("vol-1", None, True),
        ("vol-2", None, True),
    ]
    new = the_only(tmp_path, a_change({}, None, actions=["create"], unknown=unknown, type_name="aws_instance"))
    assert (new.volume_id, new.before, new.after) == (None, None, None)


@pytest.mark.parametrize(
    "document",
    [
        "",
        "not JSON",
        "[]",
        "{}",
        '"gp3"',
        '{"format_version": "1.0", "values": {"root_module": {}}}',
        '{"version": 4, "serial": 3, "resources": []}',
        '{"format_version": "2.0", "resource_changes": []}',
        '{"format_version": "1.2", "resource_changes": [], "errored": true}',
        '{"format_version": "1.2", "resource_changes": 3}',
        '{"format_version": "1.2", "resource_changes": [{"address": "a", "type": "aws_ebs_volume", "change": 3}]}',
        '{"format_version": "1.2", "resource_changes": [{"type": "aws_ebs_volume", "change": {"actions": []}}]}',
        '{"@level": "info"}\n{"@level": "info"}\n',
        '{"Changes": [{"Type": "Resource"}]}',
        '{"Changes": {}, "NextToken": "more"}',
        '{"Changes": [], "Status": "CREATE_IN_PROGRESS"}',
        "[" * 100_000,
    ],
)
def test_what_is_no_plan_or_only_part_of_one_is_refused(tmp_path, document):
    path = tmp_path / "plan.json"
    path.write_text(document, encoding="utf-8")
    with pytest.raises(BadInput):
        read_planned(path)


def test_a_binary_plan_a_folder_and_nothing_are_refused_with_what_to_give(tmp_path):
    with zipfile.ZipFile(tmp_path / "tfplan", "w") as plan:
        plan.writestr("tfplan", b"\x00\x01")
    for name in ("tfplan", "", "nowhere"):
        with pytest.raises(BadInput) as refused:
            read_planned(tmp_path / name)
    assert "nowhere" in str(refused.value)
    with pytest.raises(BadInput, match="terraform show -json"):
        read_planned(tmp_path / "tfplan")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_plan_is_read_as_shells_write_it(tmp_path, encoding):
    path = tmp_path / "plan.json"
    path.write_text((PLANS / "terraform.json").read_text(encoding="utf-8"), encoding=encoding)
    assert read_planned(path) == read_planned(PLANS / "terraform.json")


def test_a_plan_without_changes_changes_nothing(tmp_path):
    assert read_planned(written(tmp_path, {"format_version": "1.2", "planned_values": {}})) == []
    assert read_planned(written(tmp_path, {"Changes": [], "Status": "FAILED"})) == []


def test_a_large_plan_takes_memory_for_its_volumes_alone(tmp_path):
    values = {f"attribute_{number}": f"value {number}" for number in range(8)}
    others = [a_change(values, values, type_name="aws_iam_role") for _ in range(10_000)]
    state = [{"address": "a", "mode": "managed", "values": dict(values)} for _ in range(2_000)]
    volume = a_change({"type": "gp3", "size": 20}, {"id": "vol-1", "type": "gp3", "size": 10})
    document = {
        "format_version": "1.2",
        "prior_state": {"values": {"root_module": {"resources": state}}},
        "resource_changes": [*others, volume],
    }
    path = written(tmp_path, document)
    del document, others, state
    tracemalloc.start()
    (read,) = read_planned(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert read.after == spec("gp3", 20, 3000, 125)
    assert peak < 2.5 * path.stat().st_size


def an_update(kind, before, after, **more):
    """A Terraform resource or, by its name with colons, one of a change set that goes from some values to others."""
    if "::" not in kind:
        return {"format_version": "1.2", "resource_changes": [a_change(after, before, type_name=kind, **more)]}
    contexts = {
        name: json.dumps({"Properties": values})
        for name, values in (("BeforeContext", before), ("AfterContext", after))
    }
    resource = {"LogicalResourceId": "A", "ResourceType": kind, "Action": "Modify", "PhysicalResourceId": "lt-1"}
    return {"Changes": [{"Type": "Resource", "ResourceChange": {**resource, **contexts}}]}


DISK = "projects/shop/zones/europe-west1-b/disks/web"
NAMES = {
    "terraform": ("volume_type", "volume_size", "iops", "throughput"),
    "stack": ("VolumeType", "VolumeSize", "Iops", "Throughput"),
    "emr": ("type", "size", "iops", "throughput"),
    "google": ("type", "size", "provisioned_iops", "provisioned_throughput"),
    "google template": ("disk_type", "disk_size_gb", "provisioned_iops", "provisioned_throughput"),
}


def figures(names, *values):
    return dict(zip(NAMES.get(names, names), values, strict=False))


@pytest.mark.parametrize(
    ("kind", "address", "names", "around"),
    [
        ("aws_spot_instance_request", "root_block_device", "terraform", lambda ebs: {"root_block_device": [ebs]}),
        (
            "aws_launch_template",
            'block_device_mappings["/dev/xvda"].ebs',
            "terraform",
            lambda ebs: {"id": "lt-1", "block_device_mappings": [{"device_name": "/dev/xvda", "ebs": [ebs]}]},
        ),
        (
            "aws_launch_configuration",
            'ebs_block_device["/dev/sdf"]',
            "terraform",
            lambda ebs: {"ebs_block_device": [{"device_name": "/dev/sdf", **ebs}]},
        ),
        (
            "aws_spot_fleet_request",
            "launch_specification[1].root_block_device",
            "terraform",
            lambda ebs: {"launch_specification": [{}, {"root_block_device": [ebs]}]},
        ),
        (
            "aws_ami",
            'ebs_block_device["/dev/xvda"]',
            "terraform",
            lambda ebs: {"ebs_block_device": [{"device_name": "/dev/xvda", **ebs}]},
        ),
        (
            "aws_imagebuilder_image_recipe",
            'block_device_mapping["/dev/xvda"].ebs',
            "terraform",
            lambda ebs: {"block_device_mapping": [{"device_name": "/dev/xvda", "ebs": [ebs]}]},
        ),
        (
            "aws_ecs_service",
            'volume_configuration["data"].managed_ebs_volume',
            ("volume_type", "size_in_gb", "iops", "throughput"),
            lambda ebs: {"volume_configuration": [{"name": "data", "managed_ebs_volume": [ebs]}]},
        ),
        (
            "aws_emr_cluster",
            "core_instance_group.ebs_config",
            "emr",
            lambda ebs: {"core_instance_group": [{"ebs_config": [ebs]}]},
        ),
        ("aws_emr_instance_group", "ebs_config", "emr", lambda ebs: {"ebs_config": [ebs]}),
        ("AWS::EC2::Instance", 'BlockDeviceMappings["/dev/sdf"].Ebs', "stack", None),
        ("AWS::AutoScaling::LaunchConfiguration", 'BlockDeviceMappings["/dev/sdf"].Ebs', "stack", None),
        ("AWS::ImageBuilder::ImageRecipe", 'BlockDeviceMappings["/dev/sdf"].Ebs', "stack", None),
        (
            "AWS::EC2::LaunchTemplate",
            'LaunchTemplateData.BlockDeviceMappings["/dev/sdf"].Ebs',
            "stack",
            lambda ebs: {"LaunchTemplateData": {"BlockDeviceMappings": [{"DeviceName": "/dev/sdf", "Ebs": ebs}]}},
        ),
        (
            "AWS::ECS::Service",
            'VolumeConfigurations["data"].ManagedEBSVolume',
            ("VolumeType", "SizeInGiB", "Iops", "Throughput"),
            lambda ebs: {"VolumeConfigurations": [{"Name": "data", "ManagedEBSVolume": ebs}]},
        ),
    ],
)
def test_every_resource_that_sets_block_storage_is_read(tmp_path, kind, address, names, around):
    around = around or (lambda ebs: {"BlockDeviceMappings": [{"DeviceName": "/dev/sdf", "Ebs": ebs}]})
    before, after = figures(names, "gp3", 500, 3000, 125), figures(names, "gp3", 500, 16_000, 500)
    (volume,) = read_planned(written(tmp_path, an_update(kind, around(before), around(after))))
    assert volume.address.endswith(f".{address}")
    assert (volume.before, volume.after) == (spec("gp3", 500, 3000, 125), spec("gp3", 500, 16_000, 500))
    assert read_planned(written(tmp_path, an_update(kind, around(after), around(after)))) == []
    assert [volume.after for volume in read_planned(written(tmp_path, an_update(kind, around({}), around({}))))] == []


@pytest.mark.parametrize(
    ("kind", "names", "around", "disk"),
    [
        ("google_compute_region_disk", "google", lambda disk: {"id": DISK, **disk}, DISK),
        (
            "google_compute_instance",
            "google",
            lambda disk: {
                "id": "projects/shop/zones/europe-west1-b/instances/web",
                "boot_disk": [{"source": f"https://www.googleapis.com/compute/v1/{DISK}", "initialize_params": [disk]}],
            },
            DISK,
        ),
        (
            "google_compute_instance_template",
            "google template",
            lambda disk: {"id": "projects/shop/global/instanceTemplates/web", "disk": [{"device_name": "a", **disk}]},
            None,
        ),
        ("google_container_node_pool", "google template", lambda disk: {"node_config": [disk]}, None),
    ],
)
def test_every_resource_of_google_that_sets_block_storage_is_read(tmp_path, kind, names, around, disk):
    before, after = figures(names, "pd-ssd", 500), figures(names, "hyperdisk-balanced", 500, 3600, 290)
    (volume,) = read_planned(written(tmp_path, an_update(kind, around(before), around(after))))
    assert (volume.volume_id, volume.disk) == (disk, disk)
    assert (volume.before, volume.after) == (spec("pd-ssd", 500), spec("hyperdisk-balanced", 500, 3600, 290))
    local = around(figures(names, "local-ssd", 375))
    assert read_planned(written(tmp_path, an_update(kind, {}, local, actions=["create"]))) == []


def test_what_a_template_knows_later_is_named_and_an_image_s_own_figures_that_stay_are_no_change(tmp_path):
    def mapped(**ebs):
        return {"id": "lt-1", "block_device_mappings": [{"device_name": "/dev/xvda", "ebs": [ebs]}]}

    unknown = {"block_device_mappings": [{"ebs": [{"iops": True}]}]}
    after = mapped(volume_type="gp3", volume_size=100, throughput=125)
    (volume,) = read_planned(
        written(tmp_path, an_update("aws_launch_template", mapped(volume_type="gp2"), after, unknown=unknown))
    )
    assert (volume.after, volume.unclear) == (None, "known after apply: iops")
    assert (volume.template, volume.device) == ("lt-1", "/dev/xvda")
    unsized = mapped(volume_type="gp3")
    newer = {**unsized, "image_id": "ami-2"}
    assert read_planned(written(tmp_path, an_update("aws_launch_template", unsized, newer))) == []
