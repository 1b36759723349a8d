"""CloudTrail: what was changed of volumes and of their hosts in the last 90 days, and what a volume was before.

It is read only where the policy says so (`read_audit_log`): EC2 itself shows a volume's latest change alone. Its event
history costs nothing, and answers two requests a second in an account and region, 50 events each, newest first (AWS
CloudTrail API Reference, LookupEvents, read 2026-11-23). Each event is read into types of ours, and refused by name.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, model_validator

from plimsoll.clouds.aws.ec2_fields import Count, InstanceId, Name, PastTime, VolumeId
from plimsoll.clouds.aws.errors import translate_errors
from plimsoll.clouds.aws.hosts import Hosts, host_in_edge
from plimsoll.clouds.aws.lists import Asker, AwsAnswer, CamelAnswer, Page
from plimsoll.clouds.aws.volume_answers import check_figures
from plimsoll.clouds.common.answers import CloudAnswer
from plimsoll.clouds.common.calls import Pacer
from plimsoll.clouds.common.dated_data import sold_figures
from plimsoll.clouds.registry import AWS
from plimsoll.demand.epochs import MADE_WITH_S, round_up_to_minute
from plimsoll.model.volume import Host, Seen, Volume, VolumeSpec

LOOKING_UP: Final = "cloudtrail:LookupEvents"
LOOKUPS_A_SECOND: Final = 2.0
EVENTS_A_PAGE: Final = 50
KEPT_DAYS: Final = 90
"""How long events are kept."""


Whole = Annotated[Count, BeforeValidator(lambda value: int(value) if isinstance(value, str) else value)]
"""A figure, which events also write as a text."""


class Altered(CamelAnswer):
    """A volume before and after a change."""

    volume_id: VolumeId
    original_volume_type: Name
    original_size: Whole
    original_iops: Whole | None = None
    original_throughput: Whole | None = None
    target_volume_type: Name
    target_size: Whole
    target_iops: Whole | None = None
    target_throughput: Whole | None = None

    @property
    def old_spec(self) -> VolumeSpec:
        """The configuration before the change."""
        return _spec(self.original_volume_type, self.original_size, self.original_iops, self.original_throughput)

    @property
    def new_spec(self) -> VolumeSpec:
        """The configuration after the change."""
        return _spec(self.target_volume_type, self.target_size, self.target_iops, self.target_throughput)

    @model_validator(mode="after")
    def _possible(self) -> "Altered":
        for name, spec in (("original", self.old_spec), ("target", self.new_spec)):
            check_figures(name, spec)
        return self


def _spec(kind: str, size_gib: int, iops: int | None, throughput_mib_s: int | None) -> VolumeSpec:
    return sold_figures(VolumeSpec(type=kind, size_gib=size_gib, iops=iops, throughput_mib_s=throughput_mib_s), AWS)


class AlteredAnswer(CamelAnswer):
    """The answer to ModifyVolume."""

    volume_modification: Altered


class AlteredElements(CloudAnswer):
    """The same in an event, which wraps it."""

    answer: AlteredAnswer = Field(alias="ModifyVolumeResponse")


class Attached(CamelAnswer):
    """Which volume was attached to which instance."""

    volume_id: VolumeId
    instance_id: InstanceId


class Value(CloudAnswer):
    """A value in a structure of its own."""

    value: Name


class Retyped(CamelAnswer):
    """The type that an instance was given; None where another attribute was changed."""

    instance_id: InstanceId
    instance_type: Value | None = None
    attribute: str | None = None
    value: str | None = None

    @property
    def type(self) -> str | None:
        """The type."""
        if self.instance_type is not None:
            return self.instance_type.value
        return self.value if self.attribute == "instanceType" else None


class ModifyVolumeEvent(CloudAnswer):
    """A volume was changed."""

    name: Literal["ModifyVolume"] = Field(alias="eventName")
    elements: AlteredElements = Field(alias="responseElements")


class AttachVolumeEvent(CloudAnswer):
    """A volume was attached."""

    name: Literal["AttachVolume"] = Field(alias="eventName")
    asked: Attached = Field(alias="requestParameters")


class ModifyInstanceEvent(CloudAnswer):
    """An attribute of an instance was changed."""

    name: Literal["ModifyInstanceAttribute"] = Field(alias="eventName")
    asked: Retyped = Field(alias="requestParameters")


_KINDS: Final[dict[str, type[ModifyVolumeEvent | AttachVolumeEvent | ModifyInstanceEvent]]] = {
    "ModifyVolume": ModifyVolumeEvent,
    "AttachVolume": AttachVolumeEvent,
    "ModifyInstanceAttribute": ModifyInstanceEvent,
}


class EventAnswer(AwsAnswer):
    """An event. What it says stands in a text of JSON; one that was refused, or of another kind, says nothing."""

    event_name: Name
    event_time: PastTime
    cloud_trail_event: str

    @property
    def content(self) -> ModifyVolumeEvent | AttachVolumeEvent | ModifyInstanceEvent | None:
        """The event's content; None where it is of no kind that is read, or of a call that failed."""
        kind, event = _KINDS.get(self.event_name), json.loads(self.cloud_trail_event)
        if kind is None or event.get("errorCode"):
            return None
        return kind.model_validate(event)

    @model_validator(mode="after")
    def _readable(self) -> "EventAnswer":
        if not isinstance(json.loads(self.cloud_trail_event), dict):
            raise ValueError("CloudTrailEvent is no object")  # noqa: TRY004  # pydantic reports a ValueError
        _ = self.content
        return self


class EventsPage(Page):
    """A page of LookupEvents."""

    events: tuple[EventAnswer, ...]


@dataclass(slots=True, kw_only=True)
class Trail:
    """The history of an account and region in CloudTrail since a time. Raises CloudError.

    `altered` are the changes of each volume, `retyped` the types that each instance was given, oldest first.
    """

    client: Any
    asker: Asker
    pacer: Pacer
    since: datetime
    altered: dict[str, list[tuple[datetime, Altered]]] = field(default_factory=dict, init=False)
    retyped: dict[str, list[tuple[datetime, str]]] = field(default_factory=dict, init=False)

    def read(self) -> None:
        """Reads the changes of all volumes and the types of all instances."""
        for event in self._events("EventName", "ModifyVolume"):
            if isinstance(event.content, ModifyVolumeEvent):
                change = event.content.elements.answer.volume_modification
                self.altered.setdefault(change.volume_id, []).insert(0, (event.event_time, change))
        for event in self._events("EventName", "ModifyInstanceAttribute"):
            asked = event.content.asked if isinstance(event.content, ModifyInstanceEvent) else None
            if asked is not None and asked.type is not None:
                self.retyped.setdefault(asked.instance_id, []).insert(0, (event.event_time, asked.type))

    def find_modifications(self, volume_id: str) -> list[datetime]:
        """The times of a volume's own changes, oldest first."""
        events = [(event.event_time, event.content) for event in self._events("ResourceName", volume_id)]
        return [at for at, content in reversed(events) if _is_modified(volume_id, content)]

    def find_attachments(self, volume_id: str) -> Iterator[tuple[datetime, str]]:
        """The instances that a volume was attached to, each with when, oldest first."""
        events = ((event.event_time, event.content) for event in self._events("ResourceName", volume_id))
        contents = [(at, content.asked) for at, content in events if isinstance(content, AttachVolumeEvent)]
        yield from ((at, asked.instance_id) for at, asked in reversed(contents) if asked.volume_id == volume_id)

    def _events(self, key: str, value: str) -> Iterator[EventAnswer]:
        def ask(**request: Any) -> Any:
            self.pacer.take(1)
            return self.client.lookup_events(**request)

        with translate_errors(f"read {self.asker.place}", LOOKING_UP):
            for page in self.asker.pages(
                EventsPage,
                ask,
                LOOKING_UP,
                LookupAttributes=[{"AttributeKey": key, "AttributeValue": value}],
                StartTime=self.since,
                MaxResults=EVENTS_A_PAGE,
            ):
                yield from page.events


def _is_modified(volume_id: str, content: object) -> bool:
    """True for the event of a change of that volume that EC2 took."""
    return isinstance(content, ModifyVolumeEvent) and content.elements.answer.volume_modification.volume_id == volume_id


def with_past(volume: Volume, trail: Trail, hosts: Hosts) -> Volume:
    """The volume with what its trail tells of its past; raises CloudError."""
    altered = trail.altered.get(volume.id, [])
    changes = {*volume.recent_changes, *(at for at, _ in altered)}
    seen = sorted([*_specs(altered), *_hosts(volume, trail, hosts)], key=lambda sighting: sighting.at_s)
    return replace(volume, seen=tuple(seen), recent_changes=tuple(sorted(changes)))


def _specs(altered: Sequence[tuple[datetime, Altered]]) -> Iterator[Seen]:
    for at, change in altered:
        at_s = round_up_to_minute(at.timestamp())
        yield Seen(at_s=at_s, spec=change.old_spec)
        yield Seen(at_s=at_s, spec=change.new_spec, made=True)


def _hosts(volume: Volume, trail: Trail, hosts: Hosts) -> Iterator[Seen]:
    """The earlier hosts of a volume with one host alone: at its attachment, and at that host's change of type."""
    if volume.multi_attach or len(volume.attachments) != 1 or not volume.hosts:
        return
    since, present = volume.attachments[0].since, volume.hosts[0]
    if since >= trail.since and (since - volume.created).total_seconds() > MADE_WITH_S:
        for at, host_id in trail.find_attachments(volume.id):
            yield from _sighting(at, _as_of(host_id, at, trail, hosts), volume.edge)
    for at, type_name in trail.retyped.get(present.id, []):
        if at > since:
            yield from _sighting(at, hosts.as_type(present.id, type_name), volume.edge)


def _sighting(at: datetime, host: Host | None, edge: str | None) -> Iterator[Seen]:
    if host is not None:
        alone = replace(host_in_edge(host, edge), tags=(), running_since=None)
        yield Seen(at_s=round_up_to_minute(at.timestamp()), hosts=(alone,), made=True)


def _as_of(host_id: str, at: datetime, trail: Trail, hosts: Hosts) -> Host | None:
    """A host as it was at a time. None where it is gone, or got a type later and nothing says which it had before."""
    types = trail.retyped.get(host_id, [])
    before = [kind for when, kind in types if when <= at]
    if not before and types:
        return None
    return hosts.as_type(host_id, before[-1] if before else None)
