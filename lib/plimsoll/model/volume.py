"""Volumes: what is there, where, on which hosts, and owned by whom.

Hosts: the instances that volumes are attached to, with a storage ceiling of their own.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from plimsoll.model.ceiling import UNBOUNDED, Ceiling, Resource, TokenBucket
from plimsoll.model.units import DAY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLimits:
    """A host type's published storage limits. It carries the maximum for `burst_s` seconds, at least once in 24 hours.

    At all other times it carries the baseline. Figures are those of reads. A write counts as `write_iops_cost` or
    `write_throughput_cost` reads.
    """

    baseline_iops: float
    baseline_throughput_mib_s: float
    maximum_iops: float
    maximum_throughput_mib_s: float
    burst_s: float = 0.0
    write_iops_cost: float = 1.0
    write_throughput_cost: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """An instance. `limits` is None where its type publishes none, or where what is published does not apply: then
    `unlimited_by` says why. `nitro` is False on older hypervisors.

    `running_since` is when it was last started, None where it does not run or the cloud does not say. `stopped_since`
    is when it was stopped, None where it runs or the cloud does not say. `caps` is the most that all its volumes of a
    type carry together, by type. A type that is missing there cannot be attached. None: every type can be attached, and
    none is capped.
    """

    id: str
    type: str
    limits: HostLimits | None = None
    unlimited_by: str | None = None
    nitro: bool = True
    tags: tuple[tuple[str, str], ...] = ()
    caps: tuple[tuple[str, Ceiling], ...] | None = None
    running_since: datetime | None = None
    stopped_since: datetime | None = None

    def cap(self, type_name: str) -> Ceiling | None:
        """The most that its volumes of that type carry together. None where none can be attached."""
        if self.caps is None:
            return UNBOUNDED
        return next((ceiling for name, ceiling in self.caps if name == type_name), None)

    def without_limits(self, why: str) -> "Host":
        """The same where its published limits do not apply; as it is where it has none."""
        return self if self.limits is None else replace(self, limits=None, unlimited_by=why)

    @property
    def ceiling(self) -> Ceiling:
        """The host's roofline; unbounded where nothing is published."""
        if self.limits is None:
            return UNBOUNDED
        limits = self.limits
        return Ceiling(
            iops=limits.maximum_iops,
            throughput_mib_s=limits.maximum_throughput_mib_s,
            buckets=(
                *_burst(Resource.IOPS, limits.baseline_iops, limits.maximum_iops, limits.burst_s),
                *_burst(
                    Resource.THROUGHPUT,
                    limits.baseline_throughput_mib_s,
                    limits.maximum_throughput_mib_s,
                    limits.burst_s,
                ),
            ),
            write_iops_cost=limits.write_iops_cost,
            write_throughput_cost=limits.write_throughput_cost,
        )

    @property
    def baseline(self) -> tuple[float, float]:
        """IOPS and MiB/s that it carries at any time, its credits spent; infinite where nothing is published."""
        if self.limits is None:
            return math.inf, math.inf
        return self.limits.baseline_iops, self.limits.baseline_throughput_mib_s


def _burst(resource: Resource, baseline: float, maximum: float, burst_s: float) -> tuple[TokenBucket, ...]:
    """The bucket of a host that carries its maximum for `burst_s` seconds, refilled in a day; none without a burst."""
    if maximum <= baseline:
        return ()
    capacity = (maximum - baseline) * burst_s
    return (TokenBucket(resource=resource, free_rate=baseline, refill_rate=capacity / DAY_S, capacity=capacity),)


NAME_TAG: Final = "Name"
"""The tag that says what people call a volume."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeSpec:
    """A configuration. `iops` and `throughput_mib_s` are what is provisioned, None where the type provisions none."""

    type: str
    size_gib: int
    iops: int | None = None
    throughput_mib_s: int | None = None

    @property
    def figures(self) -> tuple[str, int | None, int | None]:
        """Everything but its size: type, IOPS and MiB/s."""
        return self.type, self.iops, self.throughput_mib_s

    def __str__(self) -> str:
        parts = [self.type, f"{self.size_gib:,} GiB"]
        if self.iops is not None:
            parts.append(f"{self.iops:,} IOPS")
        if self.throughput_mib_s is not None:
            parts.append(f"{self.throughput_mib_s:,} MiB/s")
        return " ".join(parts)


class VolumeState(StrEnum):
    """The states in a volume's life."""

    CREATING = "creating"
    AVAILABLE = "available"
    IN_USE = "in-use"
    DELETING = "deleting"
    DELETED = "deleted"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A volume on a host since a time; `boot` where it is the host's root device. `host` is None where the cloud
    hides it. One that was made `at_start` of the host may only have been made anew."""

    host: Host | None
    device: str
    since: datetime
    boot: bool = False
    at_start: bool = False


class OwnerKind(StrEnum):
    """Who would undo a change made behind their back."""

    CLOUDFORMATION = "cloudformation"
    TERRAFORM = "terraform"
    KUBERNETES = "kubernetes"
    AUTO_SCALING = "auto-scaling"
    OPERATOR = "operator"
    HAND = "hand"


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Who made the volume and would change it. `details` holds what the change text needs (logical id, claim,
    storage class, launch template)."""

    kind: OwnerKind
    name: str | None = None
    details: Mapping[str, str] = field(default_factory=dict)


BY_HAND = Owner(kind=OwnerKind.HAND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Modification:
    """The latest change of a volume's configuration that the cloud still knows.

    `original` is what the volume was before it, None where the cloud does not say. Those who change volumes read
    `target`, what it becomes, None if the cloud does not say; `message`, what the cloud says of a failure; and
    `request_id`, by which it was asked for, empty where the cloud keeps none.
    """

    state: str
    started: datetime
    progress_pct: int | None = None
    original: VolumeSpec | None = None
    ended: datetime | None = None
    target: VolumeSpec | None = None
    message: str = ""
    request_id: str = ""

    @property
    def is_running(self) -> bool:
        """True if the change still runs, so that no other can start."""
        return self.state in {"modifying", "optimizing"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A volume's state at a time (epoch seconds), seen by an earlier audit or in the cloud's own log.

    `spec` or `hosts` is None if that says nothing of it. `made`: it became so at that very time.
    """

    at_s: int
    spec: VolumeSpec | None = None
    hosts: tuple[Host, ...] | None = None
    made: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """A spec with an id, a place, tags, attachments and an owner.

    `operator` names the service that manages it and alone may change it. `modification` is the latest change the cloud
    still knows; `recent_changes` are the starts of all that are known of. `seen` is what it was earlier, in order.

    `restored_from` is the snapshot or volume that its data are brought from when they are first read; None where it was
    made empty, or had all of them from the start. `edge` is the place that it is in where that is none of the region's
    own zones (an Outpost, a Local Zone). `replicated_to` are the disks that receive what is written to it, and
    `storage_pool` the pool that pays for it.
    """

    id: str
    account: str
    region: str
    zone: str
    spec: VolumeSpec
    state: VolumeState
    created: datetime
    tags: Mapping[str, str] = field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()
    owner: Owner = BY_HAND
    multi_attach: bool = False
    operator: str | None = None
    recent_changes: tuple[datetime, ...] = ()
    modification: Modification | None = None
    seen: tuple[Seen, ...] = ()
    restored_from: str | None = None
    edge: str | None = None
    replicated_to: tuple[str, ...] = ()
    storage_pool: str | None = None

    @property
    def name(self) -> str | None:
        """The name that people gave it in its tags; None without one."""
        return self.tags.get(NAME_TAG)

    @property
    def boot(self) -> bool:
        """True if a host starts from it."""
        return any(attachment.boot for attachment in self.attachments)

    @property
    def hosts(self) -> tuple[Host, ...]:
        """The hosts it is attached to, as far as they are known."""
        return tuple(attachment.host for attachment in self.attachments if attachment.host is not None)

    @property
    def stopped_since(self) -> datetime | None:
        """When the last of its hosts was stopped; None if one runs, or that is not known of one, or it has none."""
        stops = [host.stopped_since for host in self.hosts]
        known = [stop for stop in stops if stop is not None]
        return max(known) if known and len(known) == len(self.attachments) else None


def sole_host(volume: Volume) -> Host | None:
    """The volume's only host. None where it has no host, several, or an unknown one."""
    return volume.hosts[0] if len(volume.attachments) == 1 and volume.hosts else None


def ceiling_of_hosts(volume: Volume) -> Ceiling:
    """The ceiling of the attached hosts together; unbounded if one of them is not known."""
    if not volume.attachments or len(volume.hosts) < len(volume.attachments):
        return UNBOUNDED
    total = Ceiling(iops=0.0, throughput_mib_s=0.0)
    for host in volume.hosts:
        total = total + host.ceiling
    return total


def attached_from_s(volume: Volume) -> float:
    """The time of the first of today's attachments, in epoch seconds; infinite if there is none."""
    return min((attachment.since.timestamp() for attachment in volume.attachments), default=math.inf)


def running_from_s(volume: Volume) -> float | None:
    """The time since which a volume is attached to a running host, in epoch seconds; None if unknown."""
    known = [
        max(attachment.since, attachment.host.running_since).timestamp()
        for attachment in volume.attachments
        if attachment.host is not None and attachment.host.running_since is not None
    ]
    return min(known, default=None)
