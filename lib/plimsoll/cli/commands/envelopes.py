"""Commands on the library of envelopes, which holds everything that was measured."""

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli import options
from plimsoll.cli.option_groups import with_option_groups

envelopes = typer.Typer(help="Measured envelopes: list, show, compare, import.", no_args_is_help=True)


@envelopes.command(name="list")
def list_envelopes(as_json: options.AsJson = False) -> None:
    """List every measured envelope with its roofs."""
    from plimsoll.cli.envelopes import list_all

    list_all(as_json=as_json)


@envelopes.command(name="show")
def show_envelope(name: str, as_json: options.AsJson = False) -> None:
    """Show one envelope: its roofs, what cut them, and every figure as its source printed it."""
    from plimsoll.cli.envelopes import show_one

    show_one(name, as_json=as_json)


@envelopes.command(name="compare")
def compare_envelopes(
    names: Annotated[list[str], typer.Argument(help="Two envelopes or more.")],
    as_json: options.AsJson = False,
    chart: Annotated[Path | None, typer.Option("--chart", help="Draw them to this file instead, .svg or .png.")] = None,
) -> None:
    """Set envelopes side by side over mode and I/O size."""
    from plimsoll.cli.envelopes import compare

    if chart is None:
        compare(names, as_json=as_json)
        return
    from plimsoll.cli.chart import draw_comparison

    draw_comparison(names, chart)


@envelopes.command(name="import")
@with_option_groups
def import_envelope(
    files: Annotated[list[Path], typer.Argument(help="What fio or sysbench printed; see docs/results.md.")],
    *,
    name: Annotated[str, typer.Option("--as", help="Name of the new campaign and its envelope.")],
    measured: options.MeasuredVolumeOptions,
    measured_on: Annotated[
        str | None, typer.Option(help="Day (2026-11-21), month or year. Default: as printed.")
    ] = None,
) -> None:
    """Add what fio or sysbench printed to the library, and fit its envelope."""
    from plimsoll.cli.envelopes import import_files

    import_files(files, name, measured, measured_on=measured_on)
