"""Planned volumes: those that a Terraform plan or a CloudFormation change set makes or changes, before and after.

A plan is known by its content, whatever its file is called. Formats: Terraform and OpenTofu write
`terraform show -json` with `resource_changes` (format versions 0 and 1); CloudFormation answers DescribeChangeSet with
`Changes`, in which the properties before and after are JSON in a text, and every value in them is a text.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from plimsoll.clouds.common.dated_data import sold_figures, volume_types
from plimsoll.clouds.registry import AWS, GOOGLE
from plimsoll.files import read_bytes
from plimsoll.model.errors import BadInput
from plimsoll.model.market import Provisioned
from plimsoll.model.units import MIB
from plimsoll.model.volume import VolumeSpec

MOST_PLAN_BYTES: Final = 1024 * MIB
_MOST_FIGURE: Final = 10**9
"""No size in GiB and no rate that can be bought is more."""

_LATER: Final = object()
"""The value of what a plan knows only when it is carried out."""

_KNOWN_LATER: Final = "{{"
"""The beginning of a value that CloudFormation knows only when it executes the change set."""

_WANTED: Final = "give what `terraform show -json PLAN` or `aws cloudformation describe-change-set` prints"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedVolume:
    """A volume that a plan makes, or whose type, size, IOPS or throughput it changes.

    `address` is the plan's own name for it. `volume_id` is None for a new volume. `disk` is the path of a Google disk,
    if the plan has one. `template` is the id of the template that makes such volumes at `device`, if it is one that is
    there already. `after` is None if the plan does not know it, and `unclear` says why.
    """

    address: str
    cloud: str
    volume_id: str | None = None
    disk: str | None = None
    template: str | None = None
    device: str = ""
    before: VolumeSpec | None = None
    after: VolumeSpec | None = None
    unclear: str = ""
    replaced: bool = False


@dataclass(frozen=True, slots=True)
class _Blocks:
    """The path to a resource's blocks that describe volumes; `key` tells blocks of one kind apart."""

    path: tuple[str, ...]
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Resource:
    """The names of a resource's attributes: its volume's id, and type, size, IOPS and MiB/s, in itself or in `blocks`.

    `default` is the type of a volume without one. `makes`: it is a template, and its volumes are made by others.
    """

    cloud: str
    figures: tuple[str, str, str, str]
    id: str = ""
    blocks: tuple[_Blocks, ...] = ()
    default: str | None = None
    makes: bool = False


_TERRAFORM_FIGURES: Final = ("volume_type", "volume_size", "iops", "throughput")
_STACK_FIGURES: Final = ("VolumeType", "VolumeSize", "Iops", "Throughput")
_EMR_FIGURES: Final = ("type", "size", "iops", "throughput")
_GOOGLE_FIGURES: Final = ("type", "size", "provisioned_iops", "provisioned_throughput")
_GOOGLE_TEMPLATE_FIGURES: Final = ("disk_type", "disk_size_gb", "provisioned_iops", "provisioned_throughput")
_INSTANCE_BLOCKS: Final = (_Blocks(("root_block_device",)), _Blocks(("ebs_block_device",), "device_name"))
_STACK_EBS: Final = "BlockDeviceMappings", "Ebs"
_DISK: Final = _Resource(cloud=GOOGLE, id="disk_id", figures=_GOOGLE_FIGURES)
_BOOTED: Final = _Resource(
    cloud=GOOGLE, id="source", figures=_GOOGLE_FIGURES, blocks=(_Blocks(("boot_disk", "initialize_params")),)
)
_INSTANCE: Final = _Resource(cloud=AWS, id="volume_id", figures=_TERRAFORM_FIGURES, blocks=_INSTANCE_BLOCKS)
_GOOGLE_TEMPLATE: Final = _Resource(
    cloud=GOOGLE, figures=_GOOGLE_TEMPLATE_FIGURES, blocks=(_Blocks(("disk",), "device_name"),), makes=True
)
_NODES: Final = replace(_GOOGLE_TEMPLATE, blocks=(_Blocks(("node_config",)),))


def _template(figures: tuple[str, str, str, str], *path: str, key: str = "") -> _Resource:
    """A template of AWS, with its volumes at the end of a path."""
    return _Resource(cloud=AWS, figures=figures, blocks=(_Blocks(path, key),), makes=True)


_RESOURCES: Final[Mapping[str, _Resource]] = {
    "aws_ebs_volume": _Resource(cloud=AWS, id="id", figures=("type", "size", "iops", "throughput")),
    "aws_instance": _INSTANCE,
    "aws_spot_instance_request": _INSTANCE,
    "aws_launch_template": _template(_TERRAFORM_FIGURES, "block_device_mappings", "ebs", key="device_name"),
    "aws_launch_configuration": replace(_INSTANCE, id="", makes=True),
    "aws_spot_fleet_request": replace(
        _INSTANCE,
        id="",
        blocks=tuple(_Blocks(("launch_specification", *row.path), row.key) for row in _INSTANCE_BLOCKS),
        makes=True,
    ),
    "aws_ami": _template(_TERRAFORM_FIGURES, "ebs_block_device", key="device_name"),
    "aws_imagebuilder_image_recipe": _template(_TERRAFORM_FIGURES, "block_device_mapping", "ebs", key="device_name"),
    "aws_ecs_service": _template(
        ("volume_type", "size_in_gb", "iops", "throughput"), "volume_configuration", "managed_ebs_volume", key="name"
    ),
    "aws_emr_cluster": replace(
        _template(_EMR_FIGURES),
        blocks=(_Blocks(("master_instance_group", "ebs_config")), _Blocks(("core_instance_group", "ebs_config"))),
    ),
    "aws_emr_instance_group": _template(_EMR_FIGURES, "ebs_config"),
    "google_compute_disk": _DISK,
    "google_compute_region_disk": _DISK,
    "google_compute_instance": _BOOTED,
    "google_compute_instance_from_template": _BOOTED,
    "google_compute_instance_template": _GOOGLE_TEMPLATE,
    "google_compute_region_instance_template": _GOOGLE_TEMPLATE,
    "google_container_node_pool": _NODES,
    "google_container_cluster": _NODES,
    "AWS::EC2::Volume": _Resource(
        cloud=AWS, id="VolumeId", figures=("VolumeType", "Size", "Iops", "Throughput"), default="gp2"
    ),
    "AWS::EC2::Instance": replace(_template(_STACK_FIGURES, *_STACK_EBS, key="DeviceName"), makes=False),
    "AWS::EC2::LaunchTemplate": _template(_STACK_FIGURES, "LaunchTemplateData", *_STACK_EBS, key="DeviceName"),
    "AWS::AutoScaling::LaunchConfiguration": _template(_STACK_FIGURES, *_STACK_EBS, key="DeviceName"),
    "AWS::ImageBuilder::ImageRecipe": _template(_STACK_FIGURES, *_STACK_EBS, key="DeviceName"),
    "AWS::ECS::Service": _template(
        ("VolumeType", "SizeInGiB", "Iops", "Throughput"), "VolumeConfigurations", "ManagedEBSVolume", key="Name"
    ),
}
"""The resources that are volumes, have some or make some, by the type that plans write."""

_LOCAL: Final = frozenset({"local-ssd"})
"""The types of disks that end with their host, and are no block storage."""


@dataclass(frozen=True, slots=True)
class PlanFormat:
    """A format of plans: the keys of which it has one, and its reader."""

    name: str
    keys: tuple[str, ...]
    read: Callable[[Mapping[str, Any]], Iterator[PlannedVolume]]


def read_planned(path: Path) -> list[PlannedVolume]:
    """The volumes that a plan makes or changes, in its order. BadInput if the file is no plan, or only part of one."""
    try:
        document = json.loads(read_bytes(path, MOST_PLAN_BYTES), object_hook=_drop_others)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not one JSON document: {_WANTED}.") from error
    keys = document if isinstance(document, dict) else {}
    plan_format = next((row for row in PLAN_FORMATS if any(key in keys for key in row.keys)), None)
    if plan_format is None:
        raise BadInput(f"{path} is neither a Terraform plan nor a CloudFormation change set: {_WANTED}.")
    try:
        return list(plan_format.read(keys))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise BadInput(f"{path} has the keys of {plan_format.name}, but not its form: {_WANTED}.") from error


def _drop_others(values: dict[str, Any]) -> dict[str, Any] | None:
    """None for the resources that hold no volume, the state and the configuration, so that memory is for volumes."""
    if "change" in values and values.get("type") not in _RESOURCES and "address" in values:
        return None
    is_state, is_configuration = {"address", "mode", "values"} <= values.keys(), "expressions" in values
    return None if is_state or is_configuration else values


def _read_terraform(plan: Mapping[str, Any]) -> Iterator[PlannedVolume]:
    if str(plan.get("format_version", "1")).partition(".")[0] not in {"0", "1"}:
        raise BadInput(f"Terraform plans of format {plan['format_version']} are not known here: update Plimsoll.")
    if plan.get("errored"):
        raise BadInput("Terraform could not finish this plan (errored): plan again, and check that one.")
    deferred = [row["resource_change"] for row in plan.get("deferred_changes") or ()]
    for resource in (*(plan.get("resource_changes") or ()), *deferred):
        if resource is not None and resource.get("mode") != "data" and "deposed" not in resource:
            yield from _read_change(resource["address"], _RESOURCES[resource["type"]], resource["change"])


def _read_change(address: str, row: _Resource, change: Mapping[str, Any]) -> Iterator[PlannedVolume]:
    """Yields the volumes of one resource; none if it is only read, deleted or left as it is."""
    actions = set(change["actions"])
    if not actions & {"create", "update"}:
        return
    before, after = change.get("before") or {}, _mark_unknown(change.get("after") or {}, change.get("after_unknown"))
    replaced = "create" in actions and bool(before)
    yield from _compare_all(address, row, before, after, replaced=replaced)


def _mark_unknown(values: Any, unknown: Any) -> Any:
    """The values, with `_LATER` in the place of those that are known only after apply."""
    if unknown is True:
        return _LATER
    if isinstance(unknown, Mapping):
        values = values or {}
        return {**values, **{key: _mark_unknown(values.get(key), inner) for key, inner in unknown.items()}}
    if isinstance(unknown, list) and isinstance(values, list):
        return [_mark_unknown(value, inner) for value, inner in zip_longest(values, unknown[: len(values)])]
    return values


def _mark_texts(values: Any) -> Any:
    """The values of a change set, with `_LATER` for those that only its execution knows."""
    if isinstance(values, Mapping):
        return {key: _mark_texts(value) for key, value in values.items()}
    if isinstance(values, list):
        return [_mark_texts(value) for value in values]
    return _LATER if _KNOWN_LATER in str(values) else values


def _compare_all(
    address: str, row: _Resource, before: Mapping[str, Any], after: Mapping[str, Any], *, replaced: bool
) -> Iterator[PlannedVolume]:
    """Yields the volumes of a resource, each matched with what it was before."""
    template = str(before.get("id") or "") or None
    if not row.blocks:
        yield from _compare(address, row, before, after, replaced=replaced)
    for blocks in row.blocks:
        earlier = {name: values for name, _, values in _list_blocks(row, blocks, before)}
        for name, device, values in _list_blocks(row, blocks, after, earlier):
            for volume in _compare(f"{address}.{name}", row, earlier.get(name, {}), values, replaced=replaced):
                yield replace(volume, template=template, device=device) if row.makes else volume


_Block = tuple[str, str, Mapping[str, Any]]
"""A block's name within its resource, the key that tells it apart, and its values with those of the blocks around."""


def _list_blocks(
    row: _Resource, blocks: _Blocks, values: Mapping[str, Any], earlier: Iterable[str] = ()
) -> Iterator[_Block]:
    """Yields the blocks at the end of a path. Where nothing configures them, those that were there are unknown."""
    later = dict.fromkeys(row.figures, _LATER)
    if values.get(blocks.path[0]) is _LATER:  # the image, or other resources do
        yield from ((name, "", later) for name in earlier or ([] if blocks.key else [blocks.path[0]]))
        return
    listed: list[_Block] = [("", "", {})]
    for step in blocks.path:
        listed = [
            (f"{name}.{label}".lstrip("."), device or key, later if inner is _LATER else {**outer, **inner})
            for name, device, outer in listed
            for label, key, inner in _label_blocks(step, blocks.key, outer.get(step) if name else values.get(step))
        ]
    yield from (block for block in listed if any(block[2].get(key) for key in row.figures))


def _label_blocks(step: str, key: str, inner: Any) -> Iterator[tuple[str, str, Any]]:
    """Yields the blocks of one kind with their labels, as Terraform writes addresses."""
    blocks = inner if isinstance(inner, list) else [] if inner is None else [inner]
    for place, block in enumerate(blocks):
        device = "" if block is _LATER or not key else str(block.get(key) or "")
        label = f'["{device}"]' if device else f"[{place}]" if len(blocks) > 1 else ""
        yield f"{step}{label}", device, block


def _read_change_set(answer: Mapping[str, Any]) -> Iterator[PlannedVolume]:
    if answer.get("NextToken"):
        raise BadInput("this is only a page of the change set (NextToken): give all of it.")
    if str(answer.get("Status", "")).endswith(("PENDING", "IN_PROGRESS")):
        raise BadInput(f"the change set is not ready ({answer['Status']}): describe it again.")
    for resource in (row["ResourceChange"] for row in answer["Changes"] if row.get("Type", "Resource") == "Resource"):
        address, kind, action = resource["LogicalResourceId"], resource["ResourceType"], resource["Action"]
        if kind == "AWS::CloudFormation::Stack" and action != "Remove":
            nested = resource.get("ChangeSetId") or resource.get("PhysicalResourceId") or address
            unclear = "a nested stack: check its own change set"
            yield PlannedVolume(address=address, cloud=AWS, volume_id=nested, unclear=unclear)
        elif kind in _RESOURCES and action in {"Add", "Modify", "Dynamic"}:
            yield from _read_resource(address, _RESOURCES[kind], resource)


def _read_resource(address: str, row: _Resource, resource: Mapping[str, Any]) -> Iterator[PlannedVolume]:
    """Yields the volumes of a resource of a change set."""
    volume_id = resource.get("PhysicalResourceId")
    before, after = (
        json.loads(resource[key])["Properties"] if key in resource else None
        for key in ("BeforeContext", "AfterContext")
    )
    if after is None or (before is None and resource["Action"] != "Add"):
        unclear = "the change set has no values: describe it with --include-property-values"
        yield PlannedVolume(address=address, cloud=AWS, volume_id=volume_id, unclear=unclear)
        return
    before = {} if before is None else {**before, (row.id or "id"): volume_id}
    replaced = resource.get("Replacement") == "True"
    yield from _compare_all(address, row, before, _mark_texts(after), replaced=replaced)


PLAN_FORMATS: Final = (
    PlanFormat("a Terraform plan", ("resource_changes", "planned_values"), _read_terraform),
    PlanFormat("a CloudFormation change set", ("Changes",), _read_change_set),
)
"""The formats of plans that are known."""


def _compare(
    address: str, row: _Resource, before: Mapping[str, Any], after: Mapping[str, Any], *, replaced: bool
) -> Iterator[PlannedVolume]:
    """Yields the volume; none if neither its type nor its size, IOPS or throughput changes."""
    if before and all(before.get(key) == after.get(key) for key in row.figures):
        return
    earlier, later = _make_spec(row, before) if before else None, _make_spec(row, after)
    if isinstance(later, VolumeSpec):
        sells = [True, True, later.iops is not None, later.throughput_mib_s is not None]
    else:
        sells = [True, True, True, True]
    missing = [key for key, sold in zip(row.figures, sells, strict=True) if sold and after.get(key) is _LATER]
    unclear = f"known after apply: {', '.join(missing)}" if missing else later if isinstance(later, str) else ""
    if not missing and isinstance(later, VolumeSpec) and (earlier == later or later.type in _LOCAL):
        return
    path = re.search("projects/.*", str(before.get("source" if row.id == "source" else "id")))
    disk = path[0] if path and row.cloud == GOOGLE and not row.makes else None
    volume_id = (before.get(row.id) if row.id != "source" else None) or disk
    yield PlannedVolume(
        address=address,
        cloud=row.cloud,
        volume_id=volume_id and str(volume_id),
        disk=disk,
        before=earlier if isinstance(earlier, VolumeSpec) else None,
        after=later if isinstance(later, VolumeSpec) and not missing else None,
        unclear=unclear,
        replaced=replaced and bool(before),
    )


def _make_spec(row: _Resource, values: Mapping[str, Any]) -> VolumeSpec | str:
    """The configuration in a resource's values, with what its type has unasked; the figure that is missing, if any."""
    kind = values.get(row.figures[0])
    kind_name = "" if kind is _LATER else str(kind or row.default or "").rpartition("/")[2]
    size, iops, throughput = (_figure_in(values.get(key)) for key in row.figures[1:])
    if not kind_name or size is None:
        return f"the plan has no {row.figures[1] if kind_name else row.figures[0]}"
    spec = sold_figures(VolumeSpec(type=kind_name, size_gib=size, iops=iops, throughput_mib_s=throughput), row.cloud)
    volume_type = volume_types(row.cloud).get(kind_name)
    if volume_type is None:
        return spec
    ceiling = volume_type.ceiling(spec)
    if isinstance(volume_type.iops, Provisioned) and spec.iops is None:
        spec = replace(spec, iops=int(ceiling.iops))
    if isinstance(volume_type.throughput, Provisioned) and spec.throughput_mib_s is None:
        spec = replace(spec, throughput_mib_s=int(ceiling.throughput_mib_s))
    return spec


def _figure_in(value: Any) -> int | None:
    """A whole figure, also of a text; None for none, and for what is no such figure."""
    text = str(value)
    is_whole = text.isascii() and text.isdecimal() and len(text) <= len(str(_MOST_FIGURE))
    return int(text) if is_whole and 0 < int(text) <= _MOST_FIGURE else None
