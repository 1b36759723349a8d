"""Measured envelopes: list, show, compare, import."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from plimsoll.bootstrap.clocks import clock
from plimsoll.cli import options
from plimsoll.cli.plain_help import PlainTyper
from plimsoll.cli.screen import Screen
from plimsoll.model.ceiling import Resource
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import Policy
from plimsoll_measure.cli.options import MeasuredVolumeOptions

if TYPE_CHECKING:
    from plimsoll.envelopes.library import EnvelopeLibrary
    from plimsoll.model.envelope import Envelope

COMPARISON_PX: Final = 1100

_LISTED: Final = ("Measure", 6)

envelopes_command = PlainTyper()


@envelopes_command.command(name="list")
def list_envelopes(as_json: options.AsJson = False) -> None:
    """List every measured envelope with its limits."""
    from plimsoll.decide.evidence import best_grade
    from plimsoll_measure.terminal.envelopes import list_table

    library = _open_library()
    envelopes = list(library.envelopes.values())
    if as_json:
        _print_json(envelopes)
        return
    today, age = clock().now().date(), Policy().evidence_max_age_days
    screen = Screen()
    screen.print(
        list_table(
            envelopes,
            {envelope.name: library.campaign_of(envelope.name).name for envelope in envelopes},
            {envelope.name: best_grade(envelope, today, age) for envelope in envelopes},
            screen.width,
        )
    )


@envelopes_command.command(name="show")
def show_envelope(name: str, as_json: options.AsJson = False) -> None:
    """Show one envelope: its limits, with their causes, and every figure as its source printed it."""
    from plimsoll.decide.evidence import find_same_configuration
    from plimsoll.reports.envelope_json import as_data
    from plimsoll_measure.terminal.envelopes import show

    library = _open_library()
    envelope, campaign = library.get(name), library.campaign_of(name)
    beside = [
        *campaign.profiles.get(envelope.host_type or "", ()),
        *(pair for other in campaign.published for pair in other),
    ]
    others = find_same_configuration(envelope, library.envelopes.values())
    if as_json:
        alike = {other.envelope.name: {side.value: other.difference(side) for side in Resource} for other in others}
        data = {
            **as_data(envelope),
            "source": campaign.source,
            "beside": dict(beside),
            "same_configuration_differs_by": alike,
        }
        typer.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    Screen().print(show(envelope, f"{campaign.title} ({envelope.source_names})", beside, others))


@envelopes_command.command(name="compare")
def compare_envelopes(
    names: Annotated[list[str], typer.Argument(help="Two envelopes or more.")],
    as_json: options.AsJson = False,
    chart: Annotated[Path | None, typer.Option("--chart", help="Draw them to this file instead, .svg or .png.")] = None,
) -> None:
    """Set envelopes side by side over mode and I/O size."""
    from plimsoll_measure.terminal.envelopes import compare

    if chart is not None:
        _draw_comparison(names, chart)
        return
    envelopes = _compared_envelopes(names)
    if as_json:
        _print_json(envelopes)
        return
    console = Screen()
    console.print(compare(envelopes, console.width))


@envelopes_command.command(name="import")
def import_envelope(
    files: Annotated[
        list[Path], typer.Argument(help="Output of fio or sysbench, and fio's logs of it; see docs/validation.md.")
    ],
    *,
    name: Annotated[str, typer.Option("--as", help="Name of the new campaign and its envelope.")],
    measured: MeasuredVolumeOptions,
    measured_on: Annotated[
        str | None, typer.Option(help="Day (2026-11-21), month or year. Default: as printed.")
    ] = None,
) -> None:
    """Add what fio or sysbench printed to the library, and fit its envelope."""
    from plimsoll.reports.wording import count_of
    from plimsoll.settings import Settings
    from plimsoll_measure.cli.imported_campaign import add_imported, read_campaign
    from plimsoll_measure.terminal.envelopes import counting

    campaign = read_campaign(files, name, measured, measured_on=measured_on)
    path = add_imported(campaign, Settings.from_environment().measured_dir)
    typer.echo(f"{count_of(len(campaign.results), 'result')} added in {path}.\n")
    console = Screen()
    for line in counting(_open_library().get(name).measurements):
        console.print(line, soft_wrap=True)
    console.print()
    show_envelope(name)


def _draw_comparison(names: Sequence[str], out: Path) -> None:
    """Draws envelopes beside each other, and prints the file's path."""
    from plimsoll.cli.picture_files import write_picture
    from plimsoll.reports.charts.comparison import comparison_picture

    picture = options.PictureOptions(out=out, width=COMPARISON_PX)
    write_picture(comparison_picture(_compared_envelopes(names)), None, picture, name=names[0])


def _compared_envelopes(names: Sequence[str]) -> list[Envelope]:
    """The envelopes of these names; BadInput where one is unknown or there are not two."""
    if len(names) < 2:
        raise BadInput("a comparison needs two envelopes or more: plimsoll envelopes compare A B")
    library = _open_library()
    return [library.get(name) for name in names]


def _open_library() -> EnvelopeLibrary:
    from plimsoll.bootstrap.envelopes import envelope_library
    from plimsoll.settings import Settings

    return envelope_library(Settings.from_environment().measured_dir)


def _print_json(envelopes: Sequence[Envelope]) -> None:
    from plimsoll.reports.envelope_json import as_data

    typer.echo(json.dumps([as_data(envelope) for envelope in envelopes], indent=2, ensure_ascii=False))
