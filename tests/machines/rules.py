"""EventBridge between the parts of the service: which functions an event begins, by the rules of the templates."""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from moto.events.models import EventPattern

from .templates import Templates

DEFAULT_BUS: Final = "default"
"""Where AWS's own services tell what happens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a bus hands on, and the functions that it begins, by the names that they are deployed under."""

    bus: str
    pattern: EventPattern
    functions: Sequence[str]

    def hears(self, bus: str, event: Mapping[str, Any]) -> bool:
        return bus == self.bus and self.pattern.matches_event(dict(event))


def rules_of(templates: Templates) -> list[Rule]:
    """Every rule that begins functions."""
    return [
        Rule(
            bus=found.properties.get("EventBusName", DEFAULT_BUS),
            pattern=EventPattern.load(json.dumps(found.properties["EventPattern"])),
            functions=[target["Arn"].rpartition(":")[2] for target in found.properties["Targets"]],
        )
        for found in templates.resources("AWS::Events::Rule")
    ]


def event_of(source: str, kind: str, detail: Mapping[str, Any], *, account: str, region: str) -> dict[str, Any]:
    """An event as EventBridge hands it on (EventBridge User Guide, "Events", read 2026-11-22)."""
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": kind,
        "source": source,
        "account": account,
        "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": region,
        "resources": [],
        "detail": dict(detail),
    }


def told(entries: Sequence[Mapping[str, Any]], *, account: str, region: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of the entries of a PutEvents, each with its bus."""
    for entry in entries:
        detail = json.loads(entry["Detail"])
        made = event_of(entry["Source"], entry["DetailType"], detail, account=account, region=region)
        yield entry.get("EventBusName", DEFAULT_BUS), made
