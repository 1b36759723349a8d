"""Compute: the fleet's disks and instances, listed and got as Compute's REST API does."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeVar

from google.cloud import compute_v1

from cloud_simulator.faults import Faults, Refused
from cloud_simulator.google.fleet import Attachment, GoogleFleet, SimulatedDisk, SimulatedVm
from cloud_simulator.google.http_front import Call, Front, Route
from cloud_simulator.google.projects import ZONES
from cloud_simulator.paging import page_of

BASE: Final = "https://www.googleapis.com/compute/v1"
"""The beginning of a resource's address."""

Resource = dict[str, Any]
"""A resource as JSON."""

_REGIONAL: Final = "regional-"


def scope_of(disk: SimulatedDisk) -> str:
    """The scope that lists a disk: its zone, or its region if it is in two zones."""
    return f"regions/{disk.region}" if len(disk.zones) > 1 else f"zones/{disk.zones[0]}"


def instance_url(vm: SimulatedVm) -> str:
    """The address of an instance."""
    return f"{BASE}/projects/{vm.project}/zones/{vm.zone}/instances/{vm.name}"


def disk_url(disk: SimulatedDisk) -> str:
    """The address of a disk."""
    return f"{BASE}/projects/{disk.project}/{scope_of(disk)}/disks/{disk.name}"


def disk_resource(disk: SimulatedDisk) -> Resource:
    """A disk."""
    scope = f"{BASE}/projects/{disk.project}/{scope_of(disk)}"
    made = compute_v1.Disk(
        kind="compute#disk",
        id=int(disk.id),
        name=disk.name,
        description=disk.description,
        size_gb=disk.spec.size_gib,
        type_=f"{scope}/diskTypes/{disk.spec.type.removeprefix(_REGIONAL)}",
        status=disk.status,
        labels=dict(disk.labels),
        users=[instance_url(attachment.vm) for attachment in disk.attached],
        creation_timestamp=_stamp(disk.created),
        self_link=disk_url(disk),
        physical_block_size_bytes=4096,
    )
    if len(disk.zones) > 1:
        made.region = f"{BASE}/projects/{disk.project}/regions/{disk.region}"
        made.replica_zones = [f"{BASE}/projects/{disk.project}/zones/{zone}" for zone in disk.zones]
    else:
        made.zone = scope
    if disk.spec.iops is not None:
        made.provisioned_iops = disk.spec.iops
    if disk.spec.throughput_mib_s is not None:
        made.provisioned_throughput = disk.spec.throughput_mib_s
    if disk.access_mode is not None:
        made.access_mode = disk.access_mode
    if disk.secondary is not None:
        other = f"{BASE}/projects/{disk.project}/zones/{disk.zones[0]}/disks/{disk.secondary}"
        replicated = compute_v1.DiskAsyncReplication(disk=other)
        made.async_secondary_disks = {other: compute_v1.DiskAsyncReplicationList(async_replication_disk=replicated)}
    if disk.storage_pool is not None:
        made.storage_pool = f"{BASE}/projects/{disk.project}/zones/{disk.zones[0]}/storagePools/{disk.storage_pool}"
    _stamp_attachments(made, disk.attachments)
    return to_json(made)


def _stamp_attachments(made: compute_v1.Disk, attachments: Iterable[Attachment]) -> None:
    begun = [attachment.since for attachment in attachments]
    ended = [attachment.until for attachment in attachments if attachment.until is not None]
    if begun:
        made.last_attach_timestamp = _stamp(max(begun))
    if ended:
        made.last_detach_timestamp = _stamp(max(ended))


def instance_resource(vm: SimulatedVm, attached: Iterable[tuple[SimulatedDisk, Attachment]]) -> Resource:
    """An instance with what is attached to it."""
    zone = f"{BASE}/projects/{vm.project}/zones/{vm.zone}"
    made = compute_v1.Instance(
        kind="compute#instance",
        id=int(vm.id),
        name=vm.name,
        zone=zone,
        machine_type=f"{zone}/machineTypes/{vm.type}",
        status="TERMINATED" if vm.stopped else "RUNNING",
        labels=dict(vm.labels),
        creation_timestamp=_stamp(vm.created),
        last_start_timestamp=_stamp(vm.created),
        self_link=instance_url(vm),
        disks=[_attached_disk(disk, attachment, index) for index, (disk, attachment) in enumerate(attached)],
    )
    if vm.stopped:
        made.last_stop_timestamp = _stamp(vm.stopped)
    if vm.manager:
        group = f"projects/{vm.project}/zones/{vm.zone}/instanceGroupManagers/{vm.manager}"
        made.metadata = compute_v1.Metadata(items=[compute_v1.Items(key="created-by", value=group)])
    return to_json(made)


def _attached_disk(disk: SimulatedDisk, attachment: Attachment, index: int) -> compute_v1.AttachedDisk:
    return compute_v1.AttachedDisk(
        kind="compute#attachedDisk",
        type_="PERSISTENT",
        mode="READ_ONLY" if disk.access_mode == "READ_ONLY_MANY" else "READ_WRITE",
        source=disk_url(disk),
        device_name=attachment.device,
        index=index,
        boot=attachment.boot,
        disk_size_gb=disk.spec.size_gib,
    )


def to_json(message: Any) -> Resource:
    """A message of Compute's client as JSON."""
    made: Resource = type(message).to_dict(
        message,
        use_integers_for_enums=False,
        preserving_proto_field_name=False,
        always_print_fields_with_no_presence=False,
    )
    return made


def _stamp(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")


Source = Callable[[str], Iterator[tuple[str, Resource]]]
"""The resources of a project, each with the scope that it is listed under: `zones/us-central1-a`, `regions/...`."""

PROJECT: Final = r"/compute/v1/projects/(?P<project>[^/]+)"
"""What the paths of a project's resources begin with."""

ZONE: Final = rf"{PROJECT}/zones/(?P<zone>[^/]+)"
REGION: Final = rf"{PROJECT}/regions/(?P<region>[^/]+)"

PAGE: Final = 500
"""The most of a page (google-cloud-compute 1.57, maxResults)."""

_FILTER: Final = re.compile(r'labels\.([\w-]+):\*|(id|targetId) = (\d+)|(name) = "([\w-]+)"')

T = TypeVar("T")


@dataclass(slots=True)
class Compute:
    """Lists and gets what its `disks` and `instances` yield; whoever simulates more replaces or wraps these two."""

    fleet: GoogleFleet
    faults: Faults = field(default_factory=Faults)
    disks: Source = field(init=False)
    instances: Source = field(init=False)
    _written: dict[str, Resource] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.disks, self.instances = self._fleet_disks, self._fleet_instances

    def add_to(self, front: Front) -> None:
        """Adds its routes."""
        for path, operation, answer in (
            (rf"{PROJECT}/aggregated/disks", "disks.aggregatedList", lambda call: self._aggregate(call, "disks")),
            (
                rf"{PROJECT}/aggregated/instances",
                "instances.aggregatedList",
                lambda call: self._aggregate(call, "instances"),
            ),
            (rf"{PROJECT}/regions", "regions.list", self._regions),
            (rf"{ZONE}/disks/(?P<name>[^/]+)", "disks.get", lambda call: self.one(call, "disks")),
            (rf"{REGION}/disks/(?P<name>[^/]+)", "regionDisks.get", lambda call: self.one(call, "disks")),
            (rf"{ZONE}/instances/(?P<name>[^/]+)", "instances.get", lambda call: self.one(call, "instances")),
        ):
            front.routes["GET", path] = Route(operation, answer)

    def one(self, call: Call, kind: str) -> Resource:
        """The resource of a kind (`disks` or `instances`) that a call's path names, by its name or id."""
        name = call.named["name"]
        self._check(call.project)
        wanted = f"zones/{call.named['zone']}" if "zone" in call.named else f"regions/{call.named['region']}"
        for scope, resource in (self.disks if kind == "disks" else self.instances)(call.project):
            if scope == wanted and name in {resource["name"], resource["id"]}:
                return resource
        missing = f"projects/{call.project}/{wanted}/{kind}/{name}"
        raise Refused("NOT_FOUND", f"The resource '{missing}' was not found")

    def _aggregate(self, call: Call, kind: str) -> Mapping[str, Any]:
        self._check(call.project)
        source = self.disks if kind == "disks" else self.instances
        wanted = parse_filter(call.query.get("filter", ""))
        away = self._away(call, f"{kind}.aggregatedList")
        resources = [
            (scope, resource) for scope, resource in source(call.project) if scope not in away and wanted(resource)
        ]
        listed, token = list_page(call.query, resources)
        items: dict[str, Any] = {}
        for scope, resource in listed:
            items.setdefault(scope, {kind: []})[kind].append(resource)
        for scope in self._scopes():
            if scope not in items and scope not in away:
                items[scope] = {"warning": _nothing(scope)}
        answer = {"kind": f"compute#{kind[:-1]}AggregatedList", "items": items, "unreachables": sorted(away)}
        return {**answer, "nextPageToken": token} if token else answer

    def _away(self, call: Call, operation: str) -> frozenset[str]:
        """The scopes that cannot be reached, where the call can do without them."""
        away: set[str] = set()
        for scope in self._scopes():
            place = scope.rpartition("/")[2]
            if not any(fault.region == place for fault in self.faults.given):
                continue
            try:
                self.faults.meet(operation, call.project, place)
            except Refused:
                if call.query.get("returnPartialSuccess", "").lower() != "true":
                    raise
                away.add(scope)
        return frozenset(away)

    def _regions(self, call: Call) -> Mapping[str, Any]:
        self._check(call.project)
        base = f"{BASE}/projects/{call.project}/zones"
        listed, token = list_page(
            call.query,
            [
                {"name": region, "status": "UP", "zones": [f"{base}/{region}-{letter}" for letter in ZONES[region]]}
                for region in self.fleet.regions
            ],
        )
        return {"items": listed, **({"nextPageToken": token} if token else {})}

    def _scopes(self) -> Iterator[str]:
        for region in self.fleet.regions:
            yield f"regions/{region}"
            for letter in ZONES[region]:
                yield f"zones/{region}-{letter}"

    def _check(self, project: str) -> None:
        if project not in self.fleet.accounts:
            raise Refused("NOT_FOUND", f"The resource 'projects/{project}' was not found")

    def _fleet_disks(self, project: str) -> Iterator[tuple[str, Resource]]:
        for disk in sorted(self.fleet.disks(project), key=lambda other: (scope_of(other), other.name)):
            yield scope_of(disk), self._once(disk.id, partial(disk_resource, disk))

    def _fleet_instances(self, project: str) -> Iterator[tuple[str, Resource]]:
        for vm in sorted(self.fleet.vms(project), key=lambda other: (other.zone, other.name)):
            yield f"zones/{vm.zone}", self._once(vm.id, partial(instance_resource, vm, self.fleet.on(vm)))

    def _once(self, number: str, make: Callable[[], Resource]) -> Resource:
        if number not in self._written:
            self._written[number] = make()
        return self._written[number]


def list_page(query: Mapping[str, str], items: Sequence[T]) -> tuple[Sequence[T], str | None]:
    """The part of what was found that a call asks for, and the token for the rest."""
    size = query.get("maxResults")
    if size and size.isdecimal() and int(size) > PAGE:
        raise Refused("INVALID_ARGUMENT", f"Invalid value for field 'maxResults': '{size}'. It must be 1 to {PAGE}.")
    return page_of(items, query.get("pageToken"), size, most=PAGE, refusal="INVALID_ARGUMENT")


def parse_filter(text: str) -> Callable[[Resource], bool]:
    """The predicate of a filter: `labels.KEY:*`, `id = NUMBER` or `name = "NAME"`, or several in brackets with OR.

    No text passes all.
    """
    if not text:
        return lambda _: True
    if text.startswith("("):
        either = [parse_filter(part) for part in text.removeprefix("(").removesuffix(")").split(") OR (")]
        return lambda resource: any(passes(resource) for passes in either)
    match = _FILTER.fullmatch(text)
    if match is None:
        raise Refused(
            "INVALID_ARGUMENT",
            f"Invalid value for field 'filter': '{text}'. The simulated Compute Engine knows `labels.KEY:*`, "
            '`id = NUMBER` and `name = "NAME"`.',
        )
    label, *compared = match.groups()
    if label:
        return lambda resource: label in resource.get("labels", {})
    field, value = filter(None, compared)
    return lambda resource: resource.get(field) == value


def _nothing(scope: str) -> Mapping[str, Any]:
    return {
        "code": "NO_RESULTS_ON_PAGE",
        "message": f"There are no results for scope '{scope}' on this page.",
        "data": [{"key": "scope", "value": scope}],
    }
