"""EC2's answers as types, with the fields that an answer of ours rests on.

A field is required where its absence would change an answer without a word. Figures beyond what can be bought, and
fields that contradict each other, are refused as well (Amazon EC2 API Reference, read 2026-11-22).
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field, model_validator

from plimsoll.clouds.aws.lists import AwsAnswer, Page
from plimsoll.clouds.aws.names import VOLUME_ID
from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.registry import AWS
from plimsoll.domain.volume import VolumeSpec, VolumeState
from plimsoll.domain.volume_types import Provisioned

_FIRST_VOLUME: Final = datetime(2008, 1, 1, tzinfo=UTC)
"""EBS began in August 2008: an earlier time is no time of a volume."""

_AHEAD: Final = timedelta(days=1)
_ATTACHED: Final = frozenset({"attached", "attaching", "busy"})


def _past(moment: datetime) -> datetime:
    if not _FIRST_VOLUME <= moment <= datetime.now(UTC) + _AHEAD:
        raise ValueError("no time at which there was a volume")
    return moment


def _plain_number(value: Any) -> Any:
    if isinstance(value, bool | str):
        raise ValueError("no number")  # noqa: TRY004  # pydantic reports a ValueError by its field
    return value


_WHEN: Final = re.compile(r"\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) GMT\)")
_OWN_ZONE: Final = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d+[a-z]")

Name = Annotated[str, Field(min_length=1)]
AttachmentState = Literal["attaching", "attached", "detaching", "detached", "busy"]
InstanceId = Annotated[str, Field(pattern="^i-[0-9a-z-]+$")]
VolumeId = Annotated[str, Field(pattern=f"^{VOLUME_ID}$")]
Moment = Annotated[AwareDatetime, AfterValidator(_past)]
Count = Annotated[int, BeforeValidator(_plain_number), Field(gt=0)]
Rate = Annotated[float, BeforeValidator(_plain_number), Field(gt=0, lt=1e9, allow_inf_nan=False)]


class Tag(AwsAnswer):
    """A tag; its value may be empty but is there."""

    key: Name
    value: str


class Tagged(AwsAnswer):
    """What can have tags."""

    tags: tuple[Tag, ...] = ()

    @property
    def tag_values(self) -> dict[str, str]:
        """The tags by their keys."""
        return {tag.key: tag.value for tag in self.tags}


class AttachmentAnswer(AwsAnswer):
    """A volume on an instance. Only one on an instance that AWS itself runs names no instance."""

    state: AttachmentState
    attach_time: Moment | None = None
    instance_id: InstanceId | None = None
    device: str | None = None
    instance_owning_service: str | None = None
    associated_resource: str | None = None

    @property
    def is_on(self) -> bool:
        """Whether it holds, or begins."""
        return self.state in _ATTACHED

    @property
    def since(self) -> datetime:
        """When it began."""
        if self.attach_time is None:
            raise ValueError("an attachment that is over has no beginning to go by")
        return self.attach_time

    @model_validator(mode="after")
    def _whole(self) -> "AttachmentAnswer":
        if not self.is_on:
            return self
        if self.attach_time is None:
            raise ValueError("AttachTime is missing")
        if self.instance_id and not self.device:
            raise ValueError("Device is missing")
        if not (self.instance_id or self.instance_owning_service or self.associated_resource):
            raise ValueError("InstanceId is missing")
        return self


class OperatorAnswer(AwsAnswer):
    """The AWS service that manages something, if one does."""

    managed: bool
    principal: str | None = None

    @property
    def name(self) -> str | None:
        """The service, None where none manages it."""
        return self.principal or "an AWS service" if self.managed else None

    @model_validator(mode="after")
    def _one_word(self) -> "OperatorAnswer":
        if self.principal and not self.managed:
            raise ValueError(f"Managed is false, and {self.principal} manages it")
        return self


class VolumeAnswer(Tagged):
    """A volume."""

    volume_id: VolumeId
    volume_type: Name
    size: Count
    state: VolumeState
    create_time: Moment
    availability_zone: Name
    iops: int | None = None
    throughput: int | None = None
    attachments: tuple[AttachmentAnswer, ...]
    multi_attach_enabled: bool | None = None
    operator: OperatorAnswer | None = None
    snapshot_id: Annotated[str, Field(pattern="^(snap-[0-9a-z-]+)?$")]
    source_volume_id: VolumeId | None = None
    fast_restored: bool = False
    outpost_arn: str = ""

    @property
    def edge(self) -> str | None:
        """The Outpost, Local Zone or Wavelength Zone that it is in; None in a zone of the region itself.

        A region's own zones are named as it is with one letter more (Amazon EC2 User Guide, "Regions and Zones", read
        2026-11-23).
        """
        if self.outpost_arn:
            return f"the Outpost {self.outpost_arn.rsplit('/', 1)[-1]}"
        return None if _OWN_ZONE.fullmatch(self.availability_zone) else f"the zone {self.availability_zone}"

    @property
    def restored_from(self) -> str | None:
        """What its data are brought from when they are first read; None where it was empty, or restored fast."""
        return None if self.fast_restored else self.snapshot_id or self.source_volume_id or None

    @property
    def attached(self) -> list[AttachmentAnswer]:
        """Its attachments that hold, or begin."""
        return [one for one in self.attachments if one.is_on]

    @model_validator(mode="after")
    def _possible(self) -> "VolumeAnswer":
        kind = volume_types(AWS).get(self.volume_type)
        if kind is not None:
            if self.size > kind.most_size_gib:
                raise ValueError(f"Size is {self.size}, and a {kind.name} has at most {kind.most_size_gib} GiB")
            _check_sold("Iops", self.iops, kind.iops, self.size)
            _check_sold("Throughput", self.throughput, kind.throughput, self.size)
            if kind.multi_attach and self.multi_attach_enabled is None:
                raise ValueError("MultiAttachEnabled is missing")
        hosts = [one.instance_id for one in self.attached if one.instance_id]
        if len(set(hosts)) < len(hosts):
            raise ValueError("it is attached to one instance more than once")
        if len(self.attached) > 1 and not self.multi_attach_enabled:
            raise ValueError("it is attached more than once and has no Multi-Attach")
        if self.state is VolumeState.IN_USE and not self.attachments:
            raise ValueError("it is in-use and has no Attachments")
        return self


def check_figures(name: str, spec: VolumeSpec) -> None:
    """ValueError where a volume cannot have been that; `name` begins the names of its fields."""
    kind = volume_types(AWS).get(spec.type)
    if kind is None:
        raise ValueError(f"{name}VolumeType is {spec.type}, which this version does not know")
    if spec.size_gib > kind.most_size_gib:
        raise ValueError(f"{name}Size is {spec.size_gib}, and a {kind.name} has at most {kind.most_size_gib} GiB")
    _check_sold(f"{name}Iops", spec.iops, kind.iops, spec.size_gib)
    _check_sold(f"{name}Throughput", spec.throughput_mib_s, kind.throughput, spec.size_gib)


def _check_sold(name: str, figure: int | None, rule: object, size_gib: int) -> None:
    """ValueError where a type sells such a figure by itself and the volume has none that can be bought."""
    if not isinstance(rule, Provisioned):
        return
    if figure is None:
        raise ValueError(f"{name} is missing")
    least = rule.least_at(size_gib)
    if not least <= figure <= rule.most:
        raise ValueError(f"{name} is {figure}, and {least} to {rule.most} can be bought")


class VolumesPage(Page):
    """A page of DescribeVolumes. Its entries are read one by one, so that a wrong one costs only itself."""

    volumes: tuple[Any, ...]


class ModificationAnswer(AwsAnswer):
    """The latest change of a volume, with what it was before."""

    volume_id: VolumeId
    modification_state: Literal["modifying", "optimizing", "completed", "failed"]
    start_time: Moment
    end_time: Moment | None = None
    progress: Annotated[int, Field(ge=0, le=100)]
    original_volume_type: Name
    original_size: Count
    original_iops: int | None = None
    original_throughput: int | None = None

    @property
    def original(self) -> VolumeSpec:
        """What the volume was before."""
        return VolumeSpec(
            type=self.original_volume_type,
            size_gib=self.original_size,
            iops=self.original_iops,
            throughput_mib_s=self.original_throughput,
        )

    @model_validator(mode="after")
    def _possible(self) -> "ModificationAnswer":
        check_figures("Original", self.original)
        if self.end_time is None and self.modification_state in {"completed", "failed"}:
            raise ValueError("EndTime is missing")
        if self.end_time is not None and self.end_time < self.start_time:
            raise ValueError("EndTime is before StartTime")
        return self


class ModificationsPage(Page):
    """A page of DescribeVolumesModifications, as of volumes."""

    entries: tuple[Any, ...] = Field(alias="VolumesModifications")


class MappedVolume(AwsAnswer):
    """The volume behind a device."""

    volume_id: VolumeId
    status: AttachmentState | None = None


class DeviceMapping(AwsAnswer):
    """A device of an instance; only one that is a volume has `ebs`."""

    device_name: Name
    ebs: MappedVolume | None = None


class MappedInstance(AwsAnswer):
    """An instance and the volumes that it says it has."""

    instance_id: InstanceId
    block_device_mappings: tuple[DeviceMapping, ...]

    @property
    def volume_ids(self) -> frozenset[str]:
        """The volumes that are on it, or about to be."""
        found = [one.ebs for one in self.block_device_mappings if one.ebs is not None]
        return frozenset(one.volume_id for one in found if one.status is None or one.status in _ATTACHED)


class InstanceState(AwsAnswer):
    """What an instance is doing."""

    name: Literal["pending", "running", "shutting-down", "terminated", "stopping", "stopped"]


Weighting = Literal["default", "vpc-1", "ebs-1"]


class NetworkPerformance(AwsAnswer):
    """How an instance's bandwidth is shared out between its network and EBS."""

    bandwidth_weighting: Weighting = "default"


class InstanceAnswer(MappedInstance, Tagged):
    """An instance as a host."""

    instance_type: Name
    launch_time: Moment
    state: InstanceState
    network_performance_options: NetworkPerformance = NetworkPerformance()
    state_transition_reason: str = ""
    root_device_name: str | None = None
    root_device_type: str | None = None

    @property
    def running_since(self) -> datetime | None:
        """When it was last started (Amazon EC2 API Reference, Instance.launchTime); None where it does not run."""
        return self.launch_time if self.state.name == "running" else None

    @property
    def stopped_since(self) -> datetime | None:
        """When it was stopped; None where it was not, or the reason of its last change of state does not say."""
        found = _WHEN.search(self.state_transition_reason) if self.state.name == "stopped" else None
        return None if found is None else datetime.fromisoformat(found[1]).replace(tzinfo=UTC)

    @model_validator(mode="after")
    def _whole(self) -> "InstanceAnswer":
        if not self.root_device_name and self.root_device_type != "instance-store":
            raise ValueError("RootDeviceName is missing")
        return self


class Placement(AwsAnswer):
    """Where an instance runs."""

    availability_zone: Name


class BenchInstance(InstanceAnswer):
    """An instance that may measure."""

    placement: Placement


class Reservation(AwsAnswer):
    """Instances that were begun together."""

    instances: tuple[Any, ...]


class InstancesPage(Page):
    """A page of DescribeInstances."""

    reservations: tuple[Reservation, ...]

    @property
    def entries(self) -> list[Any]:
        """Its instances, each to be read by itself."""
        return [one for group in self.reservations for one in group.instances]


class EbsOptimizedInfo(AwsAnswer):
    """What a type of instance carries."""

    baseline_iops: Rate
    baseline_throughput: Rate = Field(alias="BaselineThroughputInMBps")
    maximum_iops: Rate
    maximum_throughput: Rate = Field(alias="MaximumThroughputInMBps")

    @model_validator(mode="after")
    def _ordered(self) -> "EbsOptimizedInfo":
        if self.maximum_iops < self.baseline_iops or self.maximum_throughput < self.baseline_throughput:
            raise ValueError("the maximum is under the baseline")
        return self


class EbsInfo(AwsAnswer):
    """What is published of a type's traffic; nothing of types that are not optimized for EBS."""

    ebs_optimized_support: Literal["unsupported", "supported", "default"]
    ebs_optimized_info: EbsOptimizedInfo | None = None

    @model_validator(mode="after")
    def _whole(self) -> "EbsInfo":
        if self.ebs_optimized_info is None and self.ebs_optimized_support != "unsupported":
            raise ValueError("EbsOptimizedInfo is missing")
        return self


class NetworkCard(AwsAnswer):
    """A part of what a type's network carries."""

    baseline_bandwidth_gbit_s: Rate | None = Field(default=None, alias="BaselineBandwidthInGbps")


class NetworkInfo(AwsAnswer):
    """What is published of a type's network."""

    network_cards: tuple[NetworkCard, ...] = ()

    @property
    def baseline_gbit_s(self) -> float | None:
        """What all cards carry together at all times; None where that is not published of one."""
        known = [card.baseline_bandwidth_gbit_s for card in self.network_cards]
        return sum(one for one in known if one is not None) if known and None not in known else None


class InstanceTypeAnswer(AwsAnswer):
    """A type of instance. Only bare metal has no hypervisor."""

    instance_type: Name
    hypervisor: Literal["nitro", "xen"] | None = None
    bare_metal: bool | None = None
    ebs_info: EbsInfo
    network_info: NetworkInfo = NetworkInfo()

    @property
    def is_nitro(self) -> bool:
        """Whether it is of the current generation's hypervisor, or bare metal."""
        return self.hypervisor != "xen"

    @model_validator(mode="after")
    def _whole(self) -> "InstanceTypeAnswer":
        if not self.hypervisor and not self.bare_metal:
            raise ValueError("Hypervisor is missing")
        return self


class InstanceTypesPage(Page):
    """A page of DescribeInstanceTypes, as of volumes."""

    instance_types: tuple[Any, ...]


class RegionAnswer(AwsAnswer):
    """A region that an account has switched on."""

    region_name: Name


class RegionsAnswer(AwsAnswer):
    """The regions of an account, which are never none."""

    regions: Annotated[tuple[RegionAnswer, ...], Field(min_length=1)]
