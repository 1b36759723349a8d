"""`plimsoll envelopes`: what was measured, by whom, and what it says."""

import json
from collections.abc import Sequence

import typer
from rich.console import Console

from plimsoll.bootstrap import envelope_library
from plimsoll.domain.errors import BadInput
from plimsoll.reports import envelopes as report
from plimsoll.settings import Settings


def list_all(*, as_json: bool) -> None:
    """Prints every measured envelope with its roofs."""
    library = envelope_library(Settings().campaigns_dir)
    envelopes = list(library.envelopes.values())
    if as_json:
        typer.echo(json.dumps([report.as_data(one) for one in envelopes], indent=2, ensure_ascii=False))
        return
    Console(highlight=False).print(
        report.list_table(envelopes, {one.name: library.campaign_of(one.name).name for one in envelopes})
    )


def show_one(name: str, *, as_json: bool) -> None:
    """Prints one envelope: its roofs, what cut them, and every figure as its source printed it."""
    library = envelope_library(Settings().campaigns_dir)
    envelope, campaign = library.get(name), library.campaign_of(name)
    beside = [
        *campaign.profiles.get(envelope.host_type or "", ()),
        *(pair for one in campaign.published for pair in one),
    ]
    if as_json:
        data = {**report.as_data(envelope), "source": campaign.source, "beside": dict(beside)}
        typer.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    Console(highlight=False).print(report.show(envelope, f"{campaign.title} ({campaign.source})", beside))


def compare(names: Sequence[str], *, as_json: bool) -> None:
    """Prints envelopes side by side over mode and I/O size."""
    if len(names) < 2:
        raise BadInput("a comparison needs two envelopes or more: plimsoll envelopes compare A B")
    library = envelope_library(Settings().campaigns_dir)
    envelopes = [library.get(name) for name in names]
    if as_json:
        typer.echo(json.dumps([report.as_data(one) for one in envelopes], indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False)
    console.print(report.compare(envelopes, console.width))
