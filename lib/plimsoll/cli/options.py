"""Options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.domain.validation import Mode
from plimsoll.reports.charts.theme import ThemeName


class Cloud(StrEnum):
    """The clouds that can be asked."""

    AWS = "aws"
    GOOGLE = "google"


class DemoCloud(StrEnum):
    """What the demo simulates."""

    AWS = "aws"
    GOOGLE = "google"
    BOTH = "both"


def cloud_named(name: str) -> Cloud:
    """The cloud of that name; BadParameter where there is none. `gcp`, google's earlier name, still works."""
    return Cloud(_named(name, Cloud))


def demo_cloud_named(name: str) -> DemoCloud:
    """What the demo simulates by that name; BadParameter where there is none."""
    return DemoCloud(_named(name, DemoCloud))


def _named(name: str, clouds: type[StrEnum]) -> str:
    wanted = "google" if name == "gcp" else name
    if wanted not in set(clouds):
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(clouds)}.")
    return wanted


Clouds = Annotated[
    list[Cloud] | None,
    typer.Option(
        "--cloud",
        parser=cloud_named,
        metavar="aws|google",
        help="Cloud to ask; repeat for one report over several. Default: aws.",
    ),
]
Projects = Annotated[
    list[str] | None, typer.Option("--project", metavar="ID", help="Google Cloud project; repeatable.")
]
Folders = Annotated[
    list[str] | None,
    typer.Option("--folder", metavar="NUMBER", help="The active projects under this Google Cloud folder; repeatable."),
]
GoogleOrganizations = Annotated[
    list[str] | None,
    typer.Option(
        "--google-organization",
        "--gcp-organization",
        metavar="NUMBER",
        help="The active projects of this organization there; repeatable.",
    ),
]
Profiles = Annotated[list[str] | None, typer.Option("--profile", help="AWS profile; repeat for several accounts.")]
Roles = Annotated[list[str] | None, typer.Option("--role-arn", help="Role to assume, one an account; repeatable.")]
ExternalId = Annotated[str | None, typer.Option(help="External id of these roles.")]
Organization = Annotated[
    bool, typer.Option("--organization", help="Every active account of the Organization, each by its --role-name.")
]
Units = Annotated[
    list[str] | None, typer.Option("--unit", metavar="OU", help="The active accounts under this unit; repeatable.")
]
Accounts = Annotated[list[str] | None, typer.Option("--account", metavar="ID", help="This account; repeatable.")]
RoleName = Annotated[
    str | None, typer.Option(metavar="NAME", help="Role to assume in each of these accounts (plimsoll-audit).")
]
Regions = Annotated[
    list[str] | None, typer.Option("--region", help="Region; repeatable. Default: all, of each cloud with none named.")
]
PolicyPath = Annotated[Path | None, typer.Option("--policy", help="Policy file (YAML); see docs/policy.md.")]
Settings_ = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A policy key, over the file's; repeatable.")
]
Lookback = Annotated[int | None, typer.Option("--lookback-days", help="Days of metrics to judge by (14).")]
Headroom = Annotated[float | None, typer.Option("--headroom-pct", help="Headroom over the peak, in percent (20).")]
MinSaving = Annotated[float | None, typer.Option("--min-saving", help="Least saving worth a change, USD a month (1).")]
PriceFile = Annotated[Path | None, typer.Option("--prices", help="Price file to use instead of price lists.")]
FromFile = Annotated[Path | None, typer.Option("--from", help="Decide again from a recording, without a cloud.")]
MeasureMode = Annotated[
    Mode,
    typer.Option(
        help="On a new volume of the target's spec (canary), on a copy of the volume (copy), or the volume as it is, "
        "within its free headroom (in-place)."
    ),
]
BenchHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--bench-host", help="Instance to attach scratch volumes to; repeatable. Default: by the policy's tag."
    ),
]
MaxUsd = Annotated[float, typer.Option(min=0, help="Most to spend on scratch volumes, USD.")]
MaxRuns = Annotated[int, typer.Option(min=1, help="Most measurements to make.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before measuring.")]
Volumes = Annotated[int | None, typer.Option(min=1, help="Volumes at least. Default: 600 of AWS, 140 of Google Cloud.")]
Seed = Annotated[int, typer.Option(help="The same seed makes the same volumes.")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, every printed figure included.")]
VolumeType = Annotated[
    str | None, typer.Option("--type", help="Volume type, such as gp3. Without it, evidence for no offer.")
]
SizeGib = Annotated[int | None, typer.Option(min=1, help="Size of one volume.")]
ProvisionedIops = Annotated[int | None, typer.Option("--iops", min=1, help="IOPS provisioned to one volume.")]
ProvisionedThroughput = Annotated[
    int | None, typer.Option("--throughput-mib-s", min=1, help="MiB/s provisioned to one volume.")
]
Striped = Annotated[int, typer.Option(min=1, help="Volumes striped into the measured device.")]
ChartOf = Annotated[Path | None, typer.Option("--run", help="Folder of a run. Default: the run written last.")]
ChartOut = Annotated[
    Path | None, typer.Option("--out", help="File, .svg or .png. Default: NAME-demand.svg or the like.")
]
ChartTheme = Annotated[ThemeName, typer.Option(help="For white or for dark pages.")]
ChartWidth = Annotated[int, typer.Option(min=320, max=4000, help="Pixels.")]
ChartScale = Annotated[float | None, typer.Option(min=0.5, max=8, help="Pixels of a PNG for each of its width (1).")]
