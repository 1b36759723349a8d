"""CloudTrail: the event history of an account and region, newest first, in pages of at most 50 events."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from cloud_simulator.aws.cloudtrail_events import attach_event, modify_event
from cloud_simulator.aws.fleet import PastEvent, SimulatedVolume
from cloud_simulator.aws.scratch_volumes import AccountRegion
from cloud_simulator.faults import Refused
from cloud_simulator.paging import page_of

_A_PAGE: Final = 50


def lookup_events(asked: Mapping[str, Any], here: AccountRegion) -> Mapping[str, Any]:
    """The answer to LookupEvents, by the name of an event or of a resource; Refused for what it would refuse."""
    (wanted,) = asked.get("LookupAttributes") or [{}]
    key, value = wanted.get("AttributeKey"), wanted.get("AttributeValue")
    if key not in {"EventName", "ResourceName"}:
        raise Refused("InvalidLookupAttributesException", "The simulated CloudTrail looks up names alone.")
    since_s = float(asked.get("StartTime") or 0.0)
    events = [
        (event, names)
        for event, names in _events(here)
        if event.at.timestamp() >= since_s and (event.name == value if key == "EventName" else value in names)
    ]
    events.sort(key=lambda event_names: event_names[0].at, reverse=True)
    asked_for = asked.get("NextToken"), asked.get("MaxResults")
    page, token = page_of(events, *asked_for, most=_A_PAGE, refusal="InvalidNextTokenException")
    return {"Events": [_event(event) for event, _ in page], **({"NextToken": token} if token else {})}


def _events(here: AccountRegion) -> Iterator[tuple[PastEvent, set[str]]]:
    """Every event of the place, with the resources that it names."""
    for event in here.fleet.host_events(here.account, here.region):
        yield event, {str(event.asked["instanceId"])}
    for volume in here.volumes():
        change = volume.modification
        if change is not None:
            before, after = change.before(volume), change.after(volume)
            yield modify_event(volume.id, change.started, before, after), {volume.id}
        if volume.hosts and volume.attached is not None:
            for host in volume.hosts:
                yield attach_event(volume.id, volume.attached, host.id, volume.device), {volume.id, host.id}
        for event in volume.past:
            yield event, _resources(event, volume)


def _resources(event: PastEvent, volume: SimulatedVolume) -> set[str]:
    named = {str(event.asked[key]) for key in ("volumeId", "instanceId") if key in event.asked}
    return named if named else {volume.id}


def _event(event: PastEvent) -> dict[str, Any]:
    details = {
        "eventVersion": "1.09",
        "eventSource": "ec2.amazonaws.com",
        "eventName": event.name,
        "eventTime": event.at.isoformat(),
        "requestParameters": event.asked,
        "responseElements": event.answered,
    }
    return {
        "EventId": f"{event.name}-{event.at.timestamp():.0f}",
        "EventName": event.name,
        "EventTime": event.at.timestamp(),
        "EventSource": "ec2.amazonaws.com",
        "CloudTrailEvent": json.dumps(details),
    }
