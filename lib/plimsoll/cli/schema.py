"""Print the JSON Schema of recommendations.json, or of the detail of an event."""

import json
from importlib import import_module
from typing import Annotated, Final

import typer

from plimsoll.model.errors import BadInput
from plimsoll.wings import EVENT_SCHEMAS

_LISTED: Final = ("Read a run", 5)
_RECORDS: Final = "recommendations"


def schema_command(
    of: Annotated[
        str, typer.Argument(help="recommendations, or a kind of event: AuditCompleted, RecommendationNew ...")
    ] = _RECORDS,
) -> None:
    from plimsoll.reports import record

    if of == _RECORDS:
        schema = record.schema()
    else:
        events = import_module(EVENT_SCHEMAS)
        if of not in events.EVENT_KINDS:
            raise BadInput(f"there is no schema of {of}: give {_RECORDS} or one of {', '.join(events.EVENT_KINDS)}.")
        schema = events.event_schema(of)
    typer.echo(json.dumps(schema, indent=2))
