"""Print the JSON Schema of recommendations.json, or of the detail of an event."""

import json
from typing import Annotated, Final

import typer

from plimsoll.model.errors import BadInput

_LISTED: Final = ("Read a run", 5)


def schema_command(
    of: Annotated[
        str, typer.Argument(help="recommendations, or a kind of event: AuditCompleted, RecommendationNew ...")
    ] = "recommendations",
) -> None:
    from plimsoll.reports import record
    from plimsoll.service.events import EVENT_KINDS, event_schema

    if of not in {"recommendations", *EVENT_KINDS}:
        raise BadInput(f"there is no schema of {of}: give recommendations or one of {', '.join(EVENT_KINDS)}.")
    typer.echo(json.dumps(event_schema(of) if of in EVENT_KINDS else record.schema(), indent=2))
