"""The command that says what Plimsoll needs to be allowed."""

from enum import StrEnum
from typing import Annotated

import typer

from plimsoll.cli import options
from plimsoll.cli.option_groups import with_option_groups
from plimsoll.clouds.permissions import Purpose
from plimsoll.clouds.registry import AWS, CLOUDS


class Partition(StrEnum):
    """Which of AWS's clouds the ARNs are of."""

    AWS = "aws"
    CHINA = "aws-cn"
    GOV_CLOUD = "aws-us-gov"


class PolicyFormat(StrEnum):
    """How permissions are written."""

    JSON = "json"
    TERRAFORM = "terraform"
    CLOUDFORMATION = "cloudformation"


@with_option_groups
def permissions(
    cloud: Annotated[str, typer.Option(parser=options.cloud_named, metavar="|".join(CLOUDS), help="The cloud.")] = AWS,
    for_: Annotated[
        Purpose,
        typer.Option(
            "--for",
            metavar="TASK",
            help="audit; probe or validate, which audit as well; or change, to carry out the changes yourself.",
        ),
    ] = Purpose.AUDIT,
    format_: Annotated[
        PolicyFormat, typer.Option("--format", metavar="FORMAT", help="json, terraform or cloudformation.")
    ] = PolicyFormat.JSON,
    *,
    organization: Annotated[
        bool, typer.Option("--organization", help="Also find all accounts or projects, and enter accounts.")
    ] = False,
    results_bucket: Annotated[
        str | None, typer.Option(metavar="BUCKET", help="The S3 bucket of PLIMSOLL_RESULTS_BUCKET, if you use one.")
    ] = None,
    partition: Annotated[
        Partition, typer.Option(metavar="NAME", help="The partition of AWS: aws, aws-cn or aws-us-gov.")
    ] = Partition.AWS,
    policy: options.PolicyFileOptions,
) -> None:
    """Print the permissions that Plimsoll needs: an IAM policy for AWS, a custom role for Google Cloud."""
    from plimsoll.cli.option_values import policy_from
    from plimsoll.cli.permissions import permissions_text

    typer.echo(
        permissions_text(
            cloud,
            for_,
            format_,
            policy_from(policy),
            organization=organization,
            bucket=results_bucket,
            partition=partition,
        )
    )
