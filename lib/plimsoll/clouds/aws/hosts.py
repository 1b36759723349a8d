"""Hosts: instances and what their types can carry, looked up many at a time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from plimsoll.clouds.aws.errors import AUDITING, attempted
from plimsoll.clouds.common.calls import in_chunks
from plimsoll.clouds.common.messages import Purpose
from plimsoll.domain.host import Host, HostLimits
from plimsoll.domain.units import mib_s_from_mb_s

_INSTANCES_A_CALL: Final = 200
_TYPES_A_CALL: Final = 100


BURST_S: Final = 30 * 60
"""A host whose maximum exceeds its baseline carries the maximum for 30 minutes at least once in 24 hours (Amazon EC2
User Guide, "Amazon EBS-optimized instances", read 2026-11-20)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A host, and the device it boots from."""

    host: Host
    root_device: str | None


@dataclass(slots=True)
class Hosts:
    """The instances of one account and region, `place`, asked for as volumes need them by its EC2 client.

    Raises CloudError, which says what they were wanted for.
    """

    ec2: Any
    place: str
    purpose: Purpose = AUDITING
    known: dict[str, Instance] = field(default_factory=dict)
    _limits: dict[str, tuple[HostLimits | None, bool]] = field(default_factory=dict)

    def learn(self, instance_ids: Iterable[str]) -> None:
        """Looks up those that are not known yet. One that is gone since its volume was listed stays unknown."""
        missing = sorted(set(instance_ids) - set(self.known))
        for chunk in in_chunks(missing, _INSTANCES_A_CALL):
            pages = self.ec2.get_paginator("describe_instances").paginate(
                Filters=[{"Name": "instance-id", "Values": list(chunk)}]
            )
            with attempted(f"read {self.place}", "ec2:DescribeInstances", self.purpose):
                found = [one for page in pages for group in page["Reservations"] for one in group["Instances"]]
            self.take(found)

    def take(self, found: Sequence[Mapping[str, Any]]) -> None:
        """Knows these entries of DescribeInstances from now on."""
        self._learn_types({one["InstanceType"] for one in found})
        self.known.update((one["InstanceId"], self._instance(one)) for one in found)

    def _learn_types(self, types: set[str]) -> None:
        for chunk in in_chunks(sorted(types - set(self._limits)), _TYPES_A_CALL):
            pages = self.ec2.get_paginator("describe_instance_types").paginate(
                Filters=[{"Name": "instance-type", "Values": list(chunk)}]
            )
            with attempted(f"read {self.place}", "ec2:DescribeInstanceTypes", self.purpose):
                for found in (one for page in pages for one in page["InstanceTypes"]):
                    self._limits[found["InstanceType"]] = (limits_of(found), found.get("Hypervisor") != "xen")

    def _instance(self, found: Mapping[str, Any]) -> Instance:
        limits, nitro = self._limits.get(found["InstanceType"], (None, True))
        tags = tuple(tags_of(found).items())
        host = Host(id=found["InstanceId"], type=found["InstanceType"], limits=limits, nitro=nitro, tags=tags)
        return Instance(host=host, root_device=found.get("RootDeviceName"))


def tags_of(found: Mapping[str, Any]) -> dict[str, str]:
    """The tags in an entry of an answer of EC2."""
    return {tag["Key"]: tag["Value"] for tag in found.get("Tags", ())}


def limits_of(instance_type: Mapping[str, Any]) -> HostLimits | None:
    """The EBS limits in one entry of DescribeInstanceTypes, from MB/s into MiB/s; None where it has none."""
    info = instance_type.get("EbsInfo", {}).get("EbsOptimizedInfo")
    if not info:
        return None
    return HostLimits(
        baseline_iops=float(info["BaselineIops"]),
        baseline_throughput_mib_s=mib_s_from_mb_s(info["BaselineThroughputInMBps"]),
        maximum_iops=float(info["MaximumIops"]),
        maximum_throughput_mib_s=mib_s_from_mb_s(info["MaximumThroughputInMBps"]),
        burst_s=BURST_S,
    )
