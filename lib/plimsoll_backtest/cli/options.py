"""Options of the commands that look back at fleets."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from plimsoll.cli.option_groups import OptionGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class BacktestOptions(OptionGroup):
    """The volumes that a fleet's demand is put on, the cuts, and the outcome's folder."""

    PANEL: ClassVar[str] = "Backtest"

    times: Annotated[
        list[float], typer.Option(min=0.001, help="Multiply the file's demand by this; repeat to compare several.")
    ] = field(default_factory=lambda: [1.0])
    io_kib: Annotated[
        float, typer.Option("--io-kib", min=0.5, max=16384, help="KiB of an operation, where the file counts none.")
    ] = 32.0
    period_s: Annotated[int, typer.Option(min=1, max=86400, help="Seconds of a row of Parquet, or of a recording.")] = (
        300
    )
    memory: Annotated[
        list[float], typer.Option(min=0.5, max=455, help="Days of history before a cut; repeat to compare several.")
    ] = field(default_factory=lambda: [30.0, 60.0])
    days: Annotated[float, typer.Option(min=0.5, max=90, help="Days after a cut that are judged.")] = 30.0
    every: Annotated[float, typer.Option(min=0.05, max=90, help="Days from one cut to the next.")] = 7.0
    budget_min: Annotated[
        float, typer.Option(min=0, max=43200, help="Throttled minutes in these days above which a promise is broken.")
    ] = 15.0
    type_: Annotated[str, typer.Option("--type", help="Type of each volume.")] = "gp3"
    size_gib: Annotated[int, typer.Option(min=1, help="Size of each volume, GiB.")] = 500
    iops: Annotated[int | None, typer.Option(min=1, help="IOPS of each volume.")] = 16000
    throughput_mib_s: Annotated[int | None, typer.Option(min=1, help="MiB/s of each volume.")] = 1000
    to: Annotated[str, typer.Option(help="The type that it may become.")] = "gp3"
    region: Annotated[str, typer.Option(help="The region whose list prices count.")] = "us-east-1"
    out: Annotated[Path | None, typer.Option(help="Folder of the outcomes; a stopped command continues there.")] = None
