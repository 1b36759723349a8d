"""Planned volumes: those that a Terraform plan or a CloudFormation change set makes or changes, before and after.

A plan is known by its content, whatever its file is called. Formats: Terraform and OpenTofu write
`terraform show -json` with `resource_changes` (format versions 0 and 1); CloudFormation answers DescribeChangeSet with
`Changes`, in which the properties before and after are JSON in a text, and every value in them is a text.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
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

_KNOWN_LATER: Final = "{{"
"""The beginning of a value that CloudFormation knows only when it executes the change set."""

_WANTED: Final = "give what `terraform show -json PLAN` or `aws cloudformation describe-change-set` prints"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedVolume:
    """A volume that a plan makes, or whose type, size, IOPS or throughput it changes.

    `address` is the plan's own name for it. `volume_id` is None for a new volume. `disk` is the path of a Google disk,
    if the plan has one. `after` is None if the plan does not know it, and `unclear` says why.
    """

    address: str
    cloud: str
    volume_id: str | None = None
    disk: str | None = None
    before: VolumeSpec | None = None
    after: VolumeSpec | None = None
    unclear: str = ""
    replaced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Resource:
    """The names of a resource's attributes: its id, and type, size, IOPS and MiB/s. `blocks` hold its volumes, if so.

    `default` is the type of a resource that names none.
    """

    cloud: str
    id: str
    figures: tuple[str, str, str, str]
    blocks: tuple[str, ...] = ()
    default: str | None = None


_RESOURCES: Final[Mapping[str, _Resource]] = {
    "aws_ebs_volume": _Resource(cloud=AWS, id="id", figures=("type", "size", "iops", "throughput")),
    "aws_instance": _Resource(
        cloud=AWS,
        id="volume_id",
        figures=("volume_type", "volume_size", "iops", "throughput"),
        blocks=("root_block_device", "ebs_block_device"),
    ),
    "google_compute_disk": _Resource(
        cloud=GOOGLE, id="disk_id", figures=("type", "size", "provisioned_iops", "provisioned_throughput")
    ),
    "AWS::EC2::Volume": _Resource(
        cloud=AWS, id="VolumeId", figures=("VolumeType", "Size", "Iops", "Throughput"), default="gp2"
    ),
}
"""The resources that are volumes, or have some, by the type that plans write."""


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
    parts = [change.get(key) or {} for key in ("before", "after", "after_unknown")]
    replaced = "create" in actions and bool(parts[0])
    if not row.blocks:
        yield from _compare(address, row, *parts, replaced=replaced)
    for block in row.blocks:
        before, after, unknown = (part.get(block) or [] for part in parts)
        yield from _read_blocks(f"{address}.{block}", row, (before, after, unknown), replaced=replaced)


def _read_blocks(
    address: str, row: _Resource, parts: tuple[list[Any], list[Any], Any], *, replaced: bool
) -> Iterator[PlannedVolume]:
    """Yields the volumes of an instance's blocks: the root, or the others, each matched by its device."""
    before, after, unknown = parts
    is_root = address.endswith("root_block_device")
    if unknown is True:  # nothing configures them: the image, or other resources do
        after = before or [{}] * is_root
        unknown = [dict.fromkeys(row.figures, True)] * len(after)
    for place, block in enumerate(after):
        device = block.get("device_name")
        match: Mapping[str, Any] = next(
            (earlier for earlier in before if is_root or earlier.get("device_name") == device), {}
        )
        name = address if is_root else f'{address}["{device}"]'
        yield from _compare(name, row, match, block, unknown[place] if place < len(unknown) else {}, replaced=replaced)


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
        elif kind == "AWS::EC2::Volume" and action in {"Add", "Modify", "Dynamic"}:
            yield from _read_resource(address, resource)


def _read_resource(address: str, resource: Mapping[str, Any]) -> Iterator[PlannedVolume]:
    """Yields a volume of a change set."""
    volume_id, row = resource.get("PhysicalResourceId"), _RESOURCES["AWS::EC2::Volume"]
    before, after = (
        json.loads(resource[key])["Properties"] if key in resource else None
        for key in ("BeforeContext", "AfterContext")
    )
    if after is None or (before is None and resource["Action"] != "Add"):
        unclear = "the change set has no values: describe it with --include-property-values"
        yield PlannedVolume(address=address, cloud=AWS, volume_id=volume_id, unclear=unclear)
        return
    unknown = {key: True for key, value in after.items() if _KNOWN_LATER in str(value)}
    before = {} if before is None else {**before, row.id: volume_id}
    yield from _compare(address, row, before, after, unknown, replaced=resource.get("Replacement") == "True")


PLAN_FORMATS: Final = (
    PlanFormat("a Terraform plan", ("resource_changes", "planned_values"), _read_terraform),
    PlanFormat("a CloudFormation change set", ("Changes",), _read_change_set),
)
"""The formats of plans that are known."""


def _compare(
    address: str,
    row: _Resource,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    unknown: Mapping[str, Any],
    *,
    replaced: bool,
) -> Iterator[PlannedVolume]:
    """Yields the volume; none if neither its type nor its size, IOPS or throughput changes."""
    earlier, later = _make_spec(row, before) if before else None, _make_spec(row, after)
    if isinstance(later, VolumeSpec):
        sells = [True, True, later.iops is not None, later.throughput_mib_s is not None]
    else:
        sells = [True, True, True, True]
    missing = [key for key, sold in zip(row.figures, sells, strict=True) if sold and unknown.get(key) is True]
    unclear = f"known after apply: {', '.join(missing)}" if missing else later if isinstance(later, str) else ""
    if not missing and isinstance(later, VolumeSpec) and earlier == later:
        return
    disk = before.get("id") if row.cloud == GOOGLE else None
    volume_id = before.get(row.id) or None
    yield PlannedVolume(
        address=address,
        cloud=row.cloud,
        volume_id=(volume_id or disk) and str(volume_id or disk),
        disk=disk,
        before=earlier if isinstance(earlier, VolumeSpec) else None,
        after=later if isinstance(later, VolumeSpec) and not missing else None,
        unclear=unclear,
        replaced=replaced and bool(before),
    )


def _make_spec(row: _Resource, values: Mapping[str, Any]) -> VolumeSpec | str:
    """The configuration in a resource's values, with what its type has unasked; the figure that is missing, if any."""
    kind_name = str(values.get(row.figures[0]) or row.default or "").rpartition("/")[2]
    size, iops, throughput = (_figure_in(values.get(key)) for key in row.figures[1:])
    if not kind_name or size is None:
        return f"the plan has no {row.figures[1] if kind_name else row.figures[0]}"
    spec = sold_figures(VolumeSpec(type=kind_name, size_gib=size, iops=iops, throughput_mib_s=throughput), row.cloud)
    kind = volume_types(row.cloud).get(kind_name)
    if kind is None:
        return spec
    ceiling = kind.ceiling(spec)
    if isinstance(kind.iops, Provisioned) and spec.iops is None:
        spec = replace(spec, iops=int(ceiling.iops))
    if isinstance(kind.throughput, Provisioned) and spec.throughput_mib_s is None:
        spec = replace(spec, throughput_mib_s=int(ceiling.throughput_mib_s))
    return spec


def _figure_in(value: Any) -> int | None:
    """A whole figure, also of a text; None for none, and for what is no such figure."""
    text = str(value)
    is_whole = text.isascii() and text.isdecimal() and len(text) <= len(str(_MOST_FIGURE))
    return int(text) if is_whole and 0 < int(text) <= _MOST_FIGURE else None
