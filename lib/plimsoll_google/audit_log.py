"""The audit log: changes of disks, and of the machine types of instances.

It is read only if the policy says so (`read_audit_log`): Compute Engine shows no change at all. Admin activity is
always logged, kept for 400 days and costs nothing to read; a project answers 60 requests a minute (Cloud Logging,
"Cloud Audit Logs overview" and "Quotas and limits", from memory: not held against a live project). An entry says what
was asked for, not what was before it: unless another entry tells that, it stays unknown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from plimsoll.clouds.common.answers import CloudAnswer, Deadline, Pages, ask_again, read_answer
from plimsoll.clouds.common.calls import Pacer
from plimsoll.demand.epochs import round_up_to_minute
from plimsoll.model.volume import Host, Seen, Volume, VolumeSpec
from plimsoll_google.clients import Clients
from plimsoll_google.errors import GOOGLE_AUDITING, call_errors
from plimsoll_google.machines import machine
from plimsoll_google.names import LIST_LOG_ENTRIES, is_moment, last_of, moment
from plimsoll_google.pages import PAGE_TRIES

REQUESTS_A_SECOND: Final = 1.0
LOG_KEPT_DAYS: Final = 400
_A_PAGE: Final = 1000
_RESIZED: Final = ("disks.resize", "regionDisks.resize", "disks.update", "regionDisks.update")
_RETYPED: Final = ("instances.setMachineType",)
_VERSIONS: Final = ("v1", "beta")


def _is_time(written: str) -> str:
    if not is_moment(written):
        raise ValueError("no time with an offset")
    return written


PositiveFigure = Annotated[int, Field(gt=0)]


class RequestedChange(CloudAnswer):
    """The figures that a change asked for; a missing one was not asked for."""

    size_gib: PositiveFigure | None = Field(alias="sizeGb", default=None)
    iops: PositiveFigure | None = Field(alias="provisionedIops", default=None)
    throughput_mib_s: PositiveFigure | None = Field(alias="provisionedThroughput", default=None)
    machine_type: str | None = Field(alias="machineType", default=None)


class LogPayload(CloudAnswer):
    """A change: its method, resource and request; `status` is there if it failed."""

    method: Annotated[str, Field(alias="methodName", min_length=1)]
    resource: Annotated[str, Field(alias="resourceName", pattern=r"^projects/.+/(disks|instances)/[^/]+$")]
    request: RequestedChange | None = None
    status: Mapping[str, Any] = Field(default_factory=dict)


class LogEntry(CloudAnswer):
    """An entry of the log."""

    timestamp: Annotated[str, AfterValidator(_is_time)]
    payload: LogPayload = Field(alias="protoPayload")


class EntriesPage(CloudAnswer):
    """A page of entries."""

    entries: tuple[LogEntry, ...] = ()
    next_page_token: str | None = Field(alias="nextPageToken", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectLog:
    """The entries of a project's log, oldest first.

    Changes are by the path of a disk within the project, machine types by the name and zone of an instance.
    """

    altered: Mapping[str, Sequence[tuple[datetime, RequestedChange]]] = field(default_factory=dict)
    retyped: Mapping[str, Sequence[tuple[datetime, str]]] = field(default_factory=dict)

    def seen_of(self, disk: str, instance: str | None, volume: Volume) -> tuple[Seen, ...]:
        """The changes of a disk, and of its only instance, each by its path within the project."""
        sightings = [*_specs(volume.spec, self.altered.get(disk, ()))]
        if instance is not None and len(volume.hosts) == 1 == len(volume.attachments):
            sightings += _hosts(volume.hosts[0], self.retyped.get(instance, ()))
        return tuple(sorted(sightings, key=lambda sighting: sighting.at_s))


def read_log(clients: Clients, project: str, place: str, since: datetime, pacer: Pacer) -> ProjectLog:
    """The changes in a project since a time. Raises CloudError."""
    altered: dict[str, list[tuple[datetime, RequestedChange]]] = {}
    retyped: dict[str, list[tuple[datetime, str]]] = {}
    for entry in _entries(clients, project, place, since, pacer):
        payload, at = entry.payload, moment(entry.timestamp)
        if payload.status or payload.request is None:
            continue
        resource = payload.resource.split("/", 2)[2]
        if payload.method.endswith(_RETYPED) and payload.request.machine_type:
            retyped.setdefault(resource, []).append((at, last_of(payload.request.machine_type)))
        elif payload.method.endswith(_RESIZED):
            altered.setdefault(resource, []).append((at, payload.request))
    return ProjectLog(altered=altered, retyped=retyped)


def _entries(clients: Clients, project: str, place: str, since: datetime, pacer: Pacer) -> Iterator[LogEntry]:
    """The entries of changes, oldest first. A page that cannot be used is asked for once more."""
    deadline = clients.list_deadline()
    bounds = Pages(what=f"read the audit log of {place}", deadline=deadline)
    methods = " OR ".join(f'"{v}.compute.{name}"' for v in _VERSIONS for name in (*_RESIZED, *_RETYPED))
    request: dict[str, Any] = {
        "resourceNames": [f"projects/{project}"],
        "filter": f'logName="projects/{project}/logs/cloudaudit.googleapis.com%2Factivity" '
        f"AND protoPayload.methodName=({methods}) AND operation.first=true "
        f'AND timestamp>="{since.astimezone(UTC).isoformat()}"',
        "orderBy": "timestamp asc",
        "pageSize": _A_PAGE,
    }
    while True:
        page = ask_again(partial(_page, clients, request, place, deadline, pacer), PAGE_TRIES)
        yield from page.entries
        if not bounds.follow(page.next_page_token, empty=not page.entries):
            return
        request["pageToken"] = page.next_page_token


def _page(clients: Clients, request: Mapping[str, Any], place: str, deadline: Deadline, pacer: Pacer) -> EntriesPage:
    pacer.take(1)
    with call_errors(f"read the audit log of {place}", place, LIST_LOG_ENTRIES, GOOGLE_AUDITING):
        raw = clients.log_entries(request, deadline)
    return read_answer(EntriesPage, raw, call=LIST_LOG_ENTRIES, place=place)


def _specs(present: VolumeSpec, changes: Sequence[tuple[datetime, RequestedChange]]) -> Iterator[Seen]:
    """The specs of a disk after each change whose other figures are known.

    They are those of an earlier change, or the present ones if no later change set them.
    """
    names = ("size_gib", "iops", "throughput_mib_s")
    known: dict[str, int | None] = {
        name: getattr(present, name) for name in names if all(getattr(asked, name) is None for _, asked in changes)
    }
    for at, asked in changes:
        known |= {name: figure for name in names if (figure := getattr(asked, name)) is not None}
        if len(known) == len(names):
            yield Seen(at_s=round_up_to_minute(at.timestamp()), spec=replace(present, **known), made=True)  # type: ignore[arg-type]  # names of its fields


def _hosts(present: Host, changes: Sequence[tuple[datetime, str]]) -> Iterator[Seen]:
    """The types of an instance after each change of its machine type."""
    for at, kind in changes:
        known = machine(kind)
        if known is not None:
            host = Host(id=present.id, type=kind, limits=known.limits, caps=known.caps)
            yield Seen(at_s=round_up_to_minute(at.timestamp()), hosts=(host,), made=True)
