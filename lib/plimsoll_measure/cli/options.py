"""Options of validations, benchmarks and what was measured."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from plimsoll.cli.option_groups import OptionGroup
from plimsoll.cli.options import MeasureOptions
from plimsoll_measure.runs import Budget, Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidateOptions(MeasureOptions):
    """The options of any validation, and its way to measure."""

    mode: Annotated[
        Mode,
        typer.Option(
            help="On a new volume of the target's spec (canary), on a copy of the volume (copy), or the volume as it "
            "is, within its free headroom (in-place)."
        ),
    ] = Mode.CANARY
    plan: Annotated[
        bool, typer.Option("--plan", "--dry-run", help="Say what would be measured and what it costs, and stop.")
    ] = False

    @property
    def budget(self) -> Budget:
        """The most that a validation may take."""
        return Budget(max_usd=self.max_usd, max_runs=self.max_runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkOptions(OptionGroup):
    """Which job a benchmark runs, and what it may take."""

    job: Annotated[str, typer.Option(help="What is run; benchmarks/jobs has them.")] = "sweep"
    name: Annotated[
        str | None,
        typer.Option("--as", help="Name of the new campaign and its envelope. Default: the job and the time."),
    ] = None
    runtime_s: Annotated[
        int | None, typer.Option(min=1, max=86_400, help="Seconds that each section is measured (180).")
    ] = None
    ramp_s: Annotated[int | None, typer.Option(min=0, max=3600, help="Seconds before that, not counted (10).")] = None
    file_mib: Annotated[int | None, typer.Option(min=64, help="Size of each file. Default: the job's.")] = None
    max_minutes: Annotated[float, typer.Option(min=0, help="Minutes that it may take at most.")] = 120
    max_gib: Annotated[float, typer.Option(min=0, help="GiB that it may write to at most.")] = 32
    yes: Annotated[bool, typer.Option("--yes", help="Begin without asking.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredVolumeOptions(OptionGroup):
    """The volume that was or is measured, and where it is."""

    PANEL: ClassVar[str] = "Measured volume"

    type_: Annotated[
        str | None, typer.Option("--type", help="Volume type, such as gp3. Without it, evidence for no offer.")
    ] = None
    size_gib: Annotated[int | None, typer.Option(min=1, help="Size of one volume.")] = None
    iops: Annotated[int | None, typer.Option(min=1, help="IOPS provisioned to one volume.")] = None
    throughput_mib_s: Annotated[int | None, typer.Option(min=1, help="MiB/s provisioned to one volume.")] = None
    volumes: Annotated[int, typer.Option(min=1, help="Volumes striped into the measured device.")] = 1
    host_type: Annotated[
        str | None, typer.Option(help="Type of the host, such as r5.large. A benchmark's default: its processor.")
    ] = None
    provider: Annotated[
        str | None, typer.Option(help="Cloud of the volume: aws, google or another. Default: the one of its type.")
    ] = None
    account: Annotated[
        str | None, typer.Option(help="Account it was measured in: with --region, you vouch that it is of there.")
    ] = None
    region: Annotated[str | None, typer.Option(help="Region it was measured in; with --account.")] = None
