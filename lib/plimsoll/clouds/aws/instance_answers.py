"""EC2's answers about instances as types: those that volumes are on, what their types carry, and the regions of an
account."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field, model_validator

from plimsoll.clouds.aws.ec2_fields import ATTACHED, AttachmentState, InstanceId, Name, PastTime, Rate, Tagged, VolumeId
from plimsoll.clouds.aws.lists import AwsAnswer, Page

_WHEN: Final = re.compile(r"\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) GMT\)")


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
        disks = [mapping.ebs for mapping in self.block_device_mappings if mapping.ebs is not None]
        return frozenset(mapping.volume_id for mapping in disks if mapping.status is None or mapping.status in ATTACHED)


class InstanceState(AwsAnswer):
    """The state of an instance."""

    name: Literal["pending", "running", "shutting-down", "terminated", "stopping", "stopped"]


Weighting = Literal["default", "vpc-1", "ebs-1"]


class NetworkPerformance(AwsAnswer):
    """The weighting of an instance's bandwidth between its network and EBS."""

    bandwidth_weighting: Weighting = "default"


class InstanceAnswer(MappedInstance, Tagged):
    """An instance as a host."""

    instance_type: Name
    launch_time: PastTime
    state: InstanceState
    ebs_optimized: bool | None = None
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
        match = _WHEN.search(self.state_transition_reason) if self.state.name == "stopped" else None
        return None if match is None else datetime.fromisoformat(match[1]).replace(tzinfo=UTC)

    @model_validator(mode="after")
    def _check_presence(self) -> "InstanceAnswer":
        if not self.root_device_name and self.root_device_type != "instance-store":
            raise ValueError("RootDeviceName is missing")
        return self


class Placement(AwsAnswer):
    """The zone in which an instance runs."""

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
        return [instance for group in self.reservations for instance in group.instances]


class EbsOptimizedInfo(AwsAnswer):
    """The EBS limits of a type of instance."""

    baseline_iops: Rate
    baseline_throughput: Rate = Field(alias="BaselineThroughputInMBps")
    maximum_iops: Rate
    maximum_throughput: Rate = Field(alias="MaximumThroughputInMBps")

    @model_validator(mode="after")
    def _check_order(self) -> "EbsOptimizedInfo":
        if self.maximum_iops < self.baseline_iops or self.maximum_throughput < self.baseline_throughput:
            raise ValueError("the maximum is under the baseline")
        return self


class EbsInfo(AwsAnswer):
    """The published traffic of a type; None of types that are not optimized for EBS."""

    ebs_optimized_support: Literal["unsupported", "supported", "default"]
    ebs_optimized_info: EbsOptimizedInfo | None = None

    @model_validator(mode="after")
    def _check_presence(self) -> "EbsInfo":
        if self.ebs_optimized_info is None and self.ebs_optimized_support != "unsupported":
            raise ValueError("EbsOptimizedInfo is missing")
        return self


class NetworkCard(AwsAnswer):
    """A part of what a type's network carries."""

    baseline_bandwidth_gbit_s: Rate | None = Field(default=None, alias="BaselineBandwidthInGbps")


class NetworkInfo(AwsAnswer):
    """The published network of a type."""

    network_cards: tuple[NetworkCard, ...] = ()

    @property
    def baseline_gbit_s(self) -> float | None:
        """The bandwidth that all cards carry together at all times; None where a card has none published."""
        rates = [card.baseline_bandwidth_gbit_s for card in self.network_cards]
        return sum(rate for rate in rates if rate is not None) if rates and None not in rates else None


class InstanceTypeAnswer(AwsAnswer):
    """A type of instance. Only bare metal has no hypervisor."""

    instance_type: Name
    hypervisor: Literal["nitro", "xen"] | None = None
    bare_metal: bool | None = None
    ebs_info: EbsInfo
    network_info: NetworkInfo = NetworkInfo()

    def optimizes(self, instance: bool | None) -> bool:
        """True if the limits hold for an instance. `instance` is its own switch for EBS optimization. Types with
        optional optimization have their limits for that alone (Amazon EC2 API Reference, EbsInfo, read 2026-11-26)."""
        return self.ebs_info.ebs_optimized_support != "supported" or bool(instance)

    @property
    def is_nitro(self) -> bool:
        """True for types of the current generation's hypervisor, and for bare metal."""
        return self.hypervisor != "xen"

    @model_validator(mode="after")
    def _check_presence(self) -> "InstanceTypeAnswer":
        if not self.hypervisor and not self.bare_metal:
            raise ValueError("Hypervisor is missing")
        return self


class InstanceTypesPage(Page):
    """A page of DescribeInstanceTypes, as of volumes."""

    instance_types: tuple[Any, ...]


class RegionAnswer(AwsAnswer):
    """A region that an account has switched on."""

    region_name: Name
    endpoint: str | None = None

    @model_validator(mode="after")
    def _one_word(self) -> "RegionAnswer":
        if self.endpoint and f".{self.region_name}." not in f".{self.endpoint}.":
            raise ValueError(f"RegionName is {self.region_name}, and Endpoint is {self.endpoint}")
        return self


class RegionsAnswer(AwsAnswer):
    """The regions of an account, which are never none, each once."""

    regions: Annotated[tuple[RegionAnswer, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _each_once(self) -> "RegionsAnswer":
        names = [region.region_name for region in self.regions]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{twice[0]} is there twice, so that another region may be missing")
        return self
