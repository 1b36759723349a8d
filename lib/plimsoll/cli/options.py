"""Options that several commands share, in the groups that help shows."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from plimsoll.cli.option_groups import GroupOptions, OptionGroup
from plimsoll.clouds import registry
from plimsoll.clouds.registry import CLOUDS
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import OWN_OPTIONS, Policy
from plimsoll.reports.charts.theme import WIDTH_PX, ThemeName


class SimulatedCloud(StrEnum):
    """The clouds that can be simulated."""

    AWS = "aws"
    GOOGLE = "google"
    BOTH = "both"


def cloud_named(name: str) -> str:
    """The cloud of that name, or of that earlier name (`gcp`); BadParameter where there is none."""
    return _name_in(CLOUDS, name)


def simulated_named(name: str) -> SimulatedCloud:
    """The simulated clouds of that name; BadParameter if there are none."""
    return SimulatedCloud(_name_in(SimulatedCloud, name))


def one_simulated_named(name: str) -> SimulatedCloud:
    """Does as `simulated_named`, for one cloud alone."""
    return SimulatedCloud(_name_in([cloud for cloud in SimulatedCloud if cloud is not SimulatedCloud.BOTH], name))


def _name_in(names: Iterable[str], name: str) -> str:
    cloud = registry.cloud_named(name)
    cloud_name = cloud.name if cloud else name
    if cloud_name not in set(names):
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(names)}.")
    return cloud_name


Regions = Annotated[
    list[str] | None,
    typer.Option("--region", help="Region, or several: a,b. Default, for each cloud: all of its regions."),
]
RunFolder = Annotated[Path | None, typer.Argument(help="A run's folder. Default: the newest.")]
Where = Annotated[
    str | None, typer.Option(help="Only volumes that match this SQL condition: \"owner.name = 'payments'\".")
]
VolumeWords = Annotated[
    list[str],
    typer.Argument(metavar="VOLUME", help="Its id, how that begins, or its Name tag: ledger-db. You may add a run."),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Ask the cloud now, by the minute, instead of reading a run.")]
FromRecording = Annotated[Path | None, typer.Option("--from", help="Decide again from a recording, without a cloud.")]
SimulatedVolumes = Annotated[
    int | None, typer.Option(min=1, help="Least number of volumes. Default: 600 of AWS, 140 of Google Cloud.")
]
Seed = Annotated[int, typer.Option(help="The same seed makes the same volumes.")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, every printed figure included.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsOptions(OptionGroup):
    """Which accounts of AWS."""

    PANEL: ClassVar[str] = "AWS accounts"

    profile: Annotated[list[str] | None, typer.Option(help="AWS profile; repeat for several accounts.")] = None
    role_arn: Annotated[list[str] | None, typer.Option(help="Role to assume, one an account; repeatable.")] = None
    external_id: Annotated[str | None, typer.Option(help="External id of these roles.")] = None
    organization: Annotated[
        bool, typer.Option("--organization", help="Every active account of the Organization, each by its --role-name.")
    ] = False
    unit: Annotated[
        list[str] | None, typer.Option(metavar="OU", help="The active accounts under this unit; repeatable.")
    ] = None
    account: Annotated[list[str] | None, typer.Option(metavar="ID", help="This account; repeatable.")] = None
    role_name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Role to assume in each of these accounts (plimsoll-audit).")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GoogleOptions(OptionGroup):
    """Which projects of Google Cloud."""

    PANEL: ClassVar[str] = "Google Cloud projects"

    project: Annotated[list[str] | None, typer.Option(metavar="ID", help="Google Cloud project; repeatable.")] = None
    folder: Annotated[
        list[str] | None,
        typer.Option(metavar="NUMBER", help="The active projects under this Google Cloud folder; repeatable."),
    ] = None
    google_organization: Annotated[
        list[str] | None,
        typer.Option(metavar="NUMBER", help="The active projects of this Google Cloud organization; repeatable."),
    ] = None
    gcp_organization: Annotated[list[str] | None, typer.Option(hidden=True)] = None
    """The earlier name of the option before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeOptions(OptionGroup):
    """Which clouds, accounts and regions."""

    PANEL: ClassVar[str] = "Scope"

    cloud: Annotated[
        list[str] | None,
        typer.Option(
            parser=cloud_named,
            metavar="|".join(CLOUDS),
            help="Cloud to ask; repeat for one report over several. Default: aws.",
        ),
    ] = None
    region: Regions = None
    aws: AwsOptions = field(default_factory=AwsOptions)
    google: GoogleOptions = field(default_factory=GoogleOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFileOptions(OptionGroup):
    """By which policy."""

    PANEL: ClassVar[str] = "Policy"

    policy: Annotated[Path | None, typer.Option(help="Policy file (YAML); see docs/policy.md.")] = None
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A policy key, over the file's; repeatable.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyOptions(PolicyFileOptions):
    """By which policy and prices."""

    PANEL: ClassVar[str] = "Policy and prices"

    prices: Annotated[Path | None, typer.Option(help="Price file to use instead of price lists.")] = None


def _with_policy_keys(group: type[GroupOptions]) -> type[GroupOptions]:
    """The group with an option for each key of the policy that has its own."""
    for key, option in OWN_OPTIONS.items():
        default, name = getattr(Policy(), key), option.name or key
        shown = typer.Option(help=f"{option.help} ({default:g}).")
        group.__annotations__[name] = Annotated[type(default) | None, shown]
        setattr(group, name, None)
    return dataclass(frozen=True, kw_only=True)(group)


@_with_policy_keys
class PolicyKeyOptions(OptionGroup):
    """The policy's keys that are changed most."""

    PANEL: ClassVar[str] = PolicyOptions.PANEL

    @property
    def keys(self) -> dict[str, Any]:
        """The keys that were given a value."""
        values = {key: getattr(self, option.name or key) for key, option in OWN_OPTIONS.items()}
        return {key: value for key, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPolicyOptions(PolicyOptions):
    """By which policy and prices, with the policy's keys that are changed most."""

    own: PolicyKeyOptions = field(default_factory=PolicyKeyOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(OptionGroup):
    """The manner in which an audit is run, and its folder."""

    PANEL: ClassVar[str] = "Run"

    out: Annotated[Path | None, typer.Option(help="Folder of the run. Default: a new one under ./plimsoll-runs.")] = (
        None
    )
    record: Annotated[Path | None, typer.Option(help="Record the clouds' answers in this file.")] = None
    from_: FromRecording = None
    resume: Annotated[Path | None, typer.Option(help="Continue the run in this folder.")] = None
    every_minute: Annotated[
        bool, typer.Option("--every-minute", help="Read every minute, also those that cannot change an answer.")
    ] = False
    plan: Annotated[
        bool, typer.Option("--plan", "--dry-run", help="Estimate the cost of reading the metrics, and read none.")
    ] = False
    json_lines: Annotated[
        bool,
        typer.Option("--json", help="Print each answer as a line of JSON; all else goes to standard error."),
    ] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False
    fail_over: Annotated[
        float | None,
        typer.Option(min=0, metavar="USD", help="Exit with 4 if more than this can be saved a month, for pipelines."),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOptions(OptionGroup):
    """The place of a validation's measurements, and the most that they may take."""

    PANEL: ClassVar[str] = "Validation"

    bench_host: Annotated[
        list[str] | None,
        typer.Option(help="Instance to attach scratch volumes to; repeatable. Default: by the policy's tag."),
    ] = None
    max_usd: Annotated[float, typer.Option(min=0, help="Most to spend on scratch volumes, USD.")] = 5.0
    max_runs: Annotated[int, typer.Option(min=1, help="Most measurements to make.")] = 10
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before measuring.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureOptions(OptionGroup):
    """The run that a picture is drawn of, its file and how it looks."""

    PANEL: ClassVar[str] = "Picture"

    run: Annotated[Path | None, typer.Option(help="Folder of a run. Default: the run written last.")] = None
    out: Annotated[Path | None, typer.Option(help="File, .svg or .png. Default: NAME-demand.svg or the like.")] = None
    theme: Annotated[ThemeName, typer.Option(help="For white or for dark pages.")] = ThemeName.LIGHT
    width: Annotated[int, typer.Option(min=320, max=4000, help="Pixels.")] = WIDTH_PX
    scale: Annotated[float | None, typer.Option(min=0.5, max=8, help="Scale of a PNG, in pixels (1).")] = None

    def __post_init__(self) -> None:
        if self.out is not None and self.out.suffix.lower() not in {".svg", ".png"}:
            raise BadInput(f"{self.out} is no file for a chart: give --out a name that ends in .svg or .png.")
        if self.scale is not None and not self.is_png:
            raise BadInput("--scale is the size of a PNG's pixels: name the file with --out FILE.png.")

    @property
    def is_png(self) -> bool:
        """True if a PNG is drawn."""
        return self.out is not None and self.out.suffix.lower() == ".png"
