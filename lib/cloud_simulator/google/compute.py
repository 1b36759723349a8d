"""Compute: the fleet's disks and instances, listed and got as Compute's REST API does."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from cloud_simulator.faults import Faults, Refused
from cloud_simulator.google.compute_resources import BASE, Resource, disk_resource, instance_resource, scope_of
from cloud_simulator.google.disk_maker import ZONES
from cloud_simulator.google.fleet import GoogleFleet
from cloud_simulator.google.http_front import Call, Front, Route

Source = Callable[[str], Iterator[tuple[str, Resource]]]
"""The resources of a project, each with the scope that it is listed under: `zones/us-central1-a`, `regions/...`."""

PROJECT: Final = r"/compute/v1/projects/(?P<project>[^/]+)"
"""What the paths of a project's resources begin with."""

ZONE: Final = rf"{PROJECT}/zones/(?P<zone>[^/]+)"
REGION: Final = rf"{PROJECT}/regions/(?P<region>[^/]+)"

PAGE: Final = 500
"""The most of a page (google-cloud-compute 1.57, maxResults)."""

_FILTER: Final = re.compile(r'labels\.([\w-]+):\*|id = (\d+)|name = "([\w-]+)"')

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
            (rf"{PROJECT}/aggregated/disks", "disks.aggregatedList", self._all_disks),
            (rf"{PROJECT}/aggregated/instances", "instances.aggregatedList", self._all_instances),
            (rf"{PROJECT}/regions", "regions.list", self._regions),
            (rf"{ZONE}/disks/(?P<name>[^/]+)", "disks.get", lambda call: self.one(call, "disks")),
            (rf"{REGION}/disks/(?P<name>[^/]+)", "regionDisks.get", lambda call: self.one(call, "disks")),
            (rf"{ZONE}/instances/(?P<name>[^/]+)", "instances.get", lambda call: self.one(call, "instances")),
        ):
            front.routes["GET", path] = Route(operation, answer)

    def one(self, call: Call, kind: str) -> Resource:
        """The resource of a kind (`disks` or `instances`) that a call's path names, by its name or id."""
        name = call.named["name"]
        for resource in self._in_scope(call, kind):
            if name in {resource["name"], resource["id"]}:
                return resource
        missing = f"projects/{call.project}/{_scope(call)}/{kind}/{name}"
        raise Refused("NOT_FOUND", f"The resource '{missing}' was not found")

    def _all_disks(self, call: Call) -> Mapping[str, Any]:
        return self._aggregated(call, "disks", self.disks)

    def _all_instances(self, call: Call) -> Mapping[str, Any]:
        return self._aggregated(call, "instances", self.instances)

    def _aggregated(self, call: Call, kind: str, source: Source) -> Mapping[str, Any]:
        self._check(call.project)
        wanted = _filter(call.query.get("filter", ""))
        away = self._away(call, f"{kind}.aggregatedList")
        found = [
            (scope, resource) for scope, resource in source(call.project) if scope not in away and wanted(resource)
        ]
        listed, token = _page(call.query, found)
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

    def _in_scope(self, call: Call, kind: str) -> list[Resource]:
        self._check(call.project)
        source = self.disks if kind == "disks" else self.instances
        return [resource for scope, resource in source(call.project) if scope == _scope(call)]

    def _regions(self, call: Call) -> Mapping[str, Any]:
        self._check(call.project)
        base = f"{BASE}/projects/{call.project}"
        return _listed(
            call,
            [
                {
                    "name": region,
                    "status": "UP",
                    "zones": [f"{base}/zones/{region}-{letter}" for letter in ZONES[region]],
                }
                for region in self.fleet.regions
            ],
        )

    def _scopes(self) -> Iterator[str]:
        for region in self.fleet.regions:
            yield f"regions/{region}"
            for letter in ZONES[region]:
                yield f"zones/{region}-{letter}"

    def _check(self, project: str) -> None:
        if project not in self.fleet.accounts:
            raise Refused("NOT_FOUND", f"The resource 'projects/{project}' was not found")

    def _fleet_disks(self, project: str) -> Iterator[tuple[str, Resource]]:
        for disk in sorted(self.fleet.disks(project), key=lambda one: (scope_of(one), one.name)):
            yield scope_of(disk), self._once(disk.id, partial(disk_resource, disk))

    def _fleet_instances(self, project: str) -> Iterator[tuple[str, Resource]]:
        for vm in sorted(self.fleet.vms(project), key=lambda one: (one.zone, one.name)):
            yield f"zones/{vm.zone}", self._once(vm.id, partial(instance_resource, vm, self.fleet.on(vm)))

    def _once(self, number: str, make: Callable[[], Resource]) -> Resource:
        if number not in self._written:
            self._written[number] = make()
        return self._written[number]


def _scope(call: Call) -> str:
    return f"zones/{call.named['zone']}" if "zone" in call.named else f"regions/{call.named['region']}"


def _listed(call: Call, found: list[Resource]) -> Mapping[str, Any]:
    listed, token = _page(call.query, found)
    return {"items": list(listed), **({"nextPageToken": token} if token else {})}


def _page(query: Mapping[str, str], found: Sequence[T]) -> tuple[Sequence[T], str | None]:
    """The part of what was found that a call asks for, and the token for the rest."""
    token, size = query.get("pageToken") or "0", query.get("maxResults") or str(PAGE)
    if not token.isdecimal():
        raise Refused("INVALID_ARGUMENT", f"Invalid value for field 'pageToken': '{token}'.")
    if not size.isdecimal() or not 0 < int(size) <= PAGE:
        raise Refused("INVALID_ARGUMENT", f"Invalid value for field 'maxResults': '{size}'. It must be 1 to {PAGE}.")
    begin, end = int(token), int(token) + int(size)
    return found[begin:end], str(end) if end < len(found) else None


def _filter(text: str) -> Callable[[Resource], bool]:
    """Whether a resource is meant by a filter: `labels.KEY:*`, `id = NUMBER` or `name = "NAME"`; no text means all."""
    if not text:
        return lambda _: True
    found = _FILTER.fullmatch(text)
    if found is None:
        raise Refused(
            "INVALID_ARGUMENT",
            f"Invalid value for field 'filter': '{text}'. The simulated Compute Engine knows `labels.KEY:*`, "
            '`id = NUMBER` and `name = "NAME"`.',
        )
    key, number, name = found.groups()
    if key:
        return lambda resource: key in resource.get("labels", {})
    return lambda resource: (resource["id"] == number) if number else (resource["name"] == name)


def _nothing(scope: str) -> Mapping[str, Any]:
    return {
        "code": "NO_RESULTS_ON_PAGE",
        "message": f"There are no results for scope '{scope}' on this page.",
        "data": [{"key": "scope", "value": scope}],
    }
