"""Scratch volumes: those that are created in the simulated organization, and their life in the states of EC2.

The fleet stays as it is; what is made, attached and deleted lives here. States take a little time to pass, as in EC2.
"""

import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from math import inf
from operator import add

from moto.ec2.models.instance_types import INSTANCE_TYPES

from cloud_simulator.aws.fleet import SimulatedHost, SimulatedVolume
from cloud_simulator.aws.keeping import Keeping
from cloud_simulator.aws.living import LivingFleet
from cloud_simulator.devices.block_devices import Devices, Disk
from cloud_simulator.faults import Effect, Faults, Refused
from cloud_simulator.published import UNBOUNDED, Ceiling, Host, VolumeSpec, ebs_types, instance_limits


def ceiling_on_host(volumes: Sequence[SimulatedVolume], host: SimulatedHost) -> Ceiling:
    """The ceiling of volumes side by side on a host, by the published limits of both, burst included."""
    kinds = ebs_types()
    each = [
        kinds[volume.spec.type].ceiling(volume.spec) if volume.spec.type in kinds else UNBOUNDED for volume in volumes
    ]
    described = INSTANCE_TYPES.get(host.type)
    on_host = Host(id=host.id, type=host.type, limits=instance_limits(described) if described else None).ceiling
    return reduce(add, each) & on_host


def disk_of(volume: SimulatedVolume) -> Disk:
    """The volume as a disk; its link is named for its serial number, as a Nitro instance's udev names it."""
    link = f"nvme-Amazon_Elastic_Block_Store_{volume.id.replace('-', '')}"
    return Disk(id=volume.id, link=link, size_gib=volume.spec.size_gib, copy=volume.source is not None)


PACE_S = 0.3
"""Seconds that each passing state lasts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A volume to make. `source` is the volume that it is a copy of."""

    zone: str
    spec: VolumeSpec
    tags: tuple[tuple[str, str], ...] = ()
    source: str | None = None
    token: str | None = None


@dataclass(slots=True)
class _Kept:
    """A volume as it is, and what it is from `due_s` on (None: gone)."""

    volume: SimulatedVolume
    coming: SimulatedVolume | None = None
    due_s: float = inf


@dataclass(slots=True)
class Scratch:
    """All scratch volumes. Each call raises Refused with EC2's codes."""

    fleet: LivingFleet
    devices: Devices
    faults: Faults = field(default_factory=Faults)
    pace_s: float = PACE_S
    _kept: dict[str, _Kept] = field(default_factory=dict, repr=False)
    _tokens: dict[tuple[str, str, str], tuple[Order, SimulatedVolume]] = field(default_factory=dict, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def now(self) -> datetime:
        """The time there."""
        return self.fleet.clock.now()

    def at(self, account: str, region: str) -> list[SimulatedVolume]:
        """The scratch volumes of a place as they are now."""
        with self._lock:
            self._settle()
            volumes = [kept.volume for kept in self._kept.values()]
            return [volume for volume in volumes if (volume.account, volume.region) == (account, region)]

    def create(self, order: Order, account: str, region: str) -> SimulatedVolume:
        """Makes a volume; the same token and order again give the same one."""
        with self._lock:
            key = (account, region, order.token or "")
            if order.token and key in self._tokens:
                before, made = self._tokens[key]
                if before != order:
                    raise Refused(
                        "IdempotentParameterMismatch", "The client token was used before, with other parameters."
                    )
                return made
            made = self._make(order, account, region)
            self._kept[made.id] = self._passing(made, replace(made, state="available"))
            if order.token:
                self._tokens[key] = (order, made)
            return made

    def attach(self, volume_id: str, host: SimulatedHost, device: str, account: str, region: str) -> SimulatedVolume:
        """Begins to attach a volume to a host of its own zone."""
        with self._lock:
            kept = self._own(volume_id, account, region)
            self._check_attachable(kept.volume, host, device)
            attaching = replace(
                kept.volume, state="in-use", hosts=(host,), device=device, attached=self.now(), attachment="attaching"
            )
            kept = self._kept[volume_id] = self._passing(attaching, replace(attaching, attachment="attached"))
            if self.faults.has_effect(Effect.HANGS, "AttachVolume", account, region):
                kept.due_s = inf
            elif not self.faults.has_effect(Effect.NO_DEVICE, "AttachVolume", account, region):
                self.devices.attach(disk_of(attaching), host.id, ceiling_on_host([attaching], host))
            return attaching

    def detach(self, volume_id: str, account: str, region: str) -> SimulatedVolume:
        """Begins to detach a volume; a second call does it again where the first hangs."""
        with self._lock:
            kept = self._own(volume_id, account, region)
            if not kept.volume.hosts:
                raise Refused("IncorrectState", f"Volume '{volume_id}' is in the '{kept.volume.state}' state.")
            detaching = replace(kept.volume, attachment="detaching")
            free = replace(detaching, state="available", hosts=(), attached=None, attachment="attached")
            kept = self._kept[volume_id] = self._passing(detaching, free)
            if self.faults.has_effect(Effect.HANGS, "DetachVolume", account, region):
                kept.due_s = inf
            else:
                self.devices.detach(volume_id)
            return detaching

    def delete(self, volume_id: str, account: str, region: str) -> None:
        """Begins to delete a volume."""
        with self._lock:
            kept = self._own(volume_id, account, region)
            if kept.volume.hosts:
                host = kept.volume.hosts[0].id
                raise Refused("VolumeInUse", f"Volume {volume_id} is currently attached to {host}")
            if kept.volume.state == "deleting":
                raise Refused("InvalidVolume.NotFound", f"The volume '{volume_id}' does not exist.")
            if kept.volume.state != "available":
                raise Refused("IncorrectState", f"The volume '{volume_id}' is '{kept.volume.state}'.")
            self._kept[volume_id] = self._passing(replace(kept.volume, state="deleting"), None)
            self.devices.delete(volume_id)

    def _make(self, order: Order, account: str, region: str) -> SimulatedVolume:
        return SimulatedVolume(
            id=f"vol-{uuid.uuid4().hex[:17]}",
            account=account,
            region=region,
            zone=order.zone,
            spec=order.spec,
            created=self.now(),
            state="creating",
            tags=order.tags,
            source=order.source,
        )

    def _passing(self, volume: SimulatedVolume, coming: SimulatedVolume | None) -> _Kept:
        return _Kept(volume, coming, time.monotonic() + self.pace_s)

    def _settle(self) -> None:
        """Moves volumes that are due to their next state."""
        for volume_id, kept in list(self._kept.items()):
            if time.monotonic() < kept.due_s:
                continue
            if kept.coming is None:
                del self._kept[volume_id]
            else:
                self._kept[volume_id] = _Kept(kept.coming)

    def _own(self, volume_id: str, account: str, region: str) -> _Kept:
        self._settle()
        kept = self._kept.get(volume_id)
        if kept is not None and (kept.volume.account, kept.volume.region) == (account, region):
            return kept
        if any(volume.id == volume_id for volume in self.fleet.at(account, region)):
            raise Refused(
                "UnauthorizedOperation", f"The caller may not change {volume_id}: it is no scratch volume.", 403
            )
        raise Refused("InvalidVolume.NotFound", f"The volume '{volume_id}' does not exist.")

    def _check_attachable(self, volume: SimulatedVolume, host: SimulatedHost, device: str) -> None:
        if volume.hosts:
            raise Refused("VolumeInUse", f"{volume.id} is already attached to an instance")
        if volume.state != "available":
            raise Refused("IncorrectState", f"{volume.id} is not 'available'.")
        if volume.zone != self.fleet.zone_of(host.id):
            raise Refused(
                "InvalidVolume.ZoneMismatch",
                f"The volume '{volume.id}' is not in the same availability zone as instance '{host.id}'",
            )
        place_volumes = [*self.fleet.at(volume.account, volume.region), *(kept.volume for kept in self._kept.values())]
        if device == host.root_device or any(host in other.hosts and other.device == device for other in place_volumes):
            raise Refused(
                "InvalidParameterValue",
                f"Invalid value '{device}' for unixDevice. Attachment point {device} is already in use",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountRegion:
    """One account in one region: the fleet's volumes there and, after them, the scratch volumes."""

    fleet: LivingFleet
    scratch: Scratch
    account: str
    region: str

    def volumes(self) -> list[SimulatedVolume]:
        """All volumes of the place, as they are now."""
        scratch = (self.fleet.as_now(volume) for volume in self.scratch.at(self.account, self.region))
        return [*self.fleet.at(self.account, self.region), *scratch]

    def modify(self, volume: SimulatedVolume, after: VolumeSpec) -> None:
        """Begins to modify a volume of the place. Raises Refused with EC2's codes."""
        must_fail = self.scratch.faults.has_effect(Effect.FAILS, "ModifyVolume", self.account, self.region)
        self.fleet.modify(volume, after, beside=self.volumes(), must_fail=must_fail)

    def tag(self, volume: SimulatedVolume, tags: Mapping[str, str]) -> None:
        """Adds tags to a volume of the place. They replace tags with the same keys."""
        self.fleet.tag(volume.id, tags)

    @property
    def keeping(self) -> Keeping:
        """What the account keeps in the place beside volumes."""
        return self.fleet.kept_at(self.account, self.region)

    def hosts(self) -> dict[str, SimulatedHost]:
        """All instances of the place, by id."""
        return self.fleet.hosts(self.account, self.region)
