"""`plimsoll schema`: the JSON Schema of recommendations.json."""

import json

import typer

from plimsoll.reports import record


def schema() -> None:
    """Print the JSON Schema of recommendations.json."""
    typer.echo(json.dumps(record.schema(), indent=2))
