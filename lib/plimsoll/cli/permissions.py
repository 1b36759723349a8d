"""Print the permissions to give: an IAM policy or a role.

An IAM policy for AWS, a custom role for Google Cloud.
"""

from enum import StrEnum
from typing import Annotated, Final

import typer

from plimsoll.cli import options
from plimsoll.clouds.permissions import PermissionRequest, PolicyFormat, Purpose, permission_text
from plimsoll.clouds.registry import AWS, CLOUDS
from plimsoll.model.errors import BadInput

_LISTED: Final = ("Begin with", 8)


class Partition(StrEnum):
    """Which of AWS's clouds the ARNs are of."""

    AWS = "aws"
    CHINA = "aws-cn"
    GOV_CLOUD = "aws-us-gov"


def permissions_command(
    cloud: Annotated[str, typer.Option(parser=options.cloud_named, metavar="|".join(CLOUDS), help="The cloud.")] = AWS,
    for_: Annotated[
        Purpose,
        typer.Option(
            "--for",
            metavar="TASK",
            help="audit; compare, states, probe or validate, which audit too; bill; or change, to carry changes out.",
        ),
    ] = Purpose.AUDIT,
    format_: Annotated[
        PolicyFormat, typer.Option("--format", metavar="FORMAT", help="json, terraform or cloudformation.")
    ] = PolicyFormat.JSON,
    *,
    organization: Annotated[
        bool, typer.Option("--organization", help="Also find all accounts or projects, and enter accounts.")
    ] = False,
    bucket: Annotated[
        str | None,
        typer.Option(
            "--bucket",
            "--results-bucket",
            metavar="BUCKET",
            help="The S3 bucket of the bill, or that of PLIMSOLL_RESULTS_BUCKET if you use one.",
        ),
    ] = None,
    partition: Annotated[
        Partition, typer.Option(metavar="NAME", help="The partition of AWS: aws, aws-cn or aws-us-gov.")
    ] = Partition.AWS,
    copies: Annotated[
        bool, typer.Option("--copies", help="Validate also by copies, of volumes tagged plimsoll:copy=true.")
    ] = False,
    locked_document: Annotated[
        bool, typer.Option("--locked-document", help="Leave out writing the document that measures.")
    ] = False,
    policy: options.PolicyFileOptions,
) -> None:
    from plimsoll.cli.option_values import policy_from

    if organization and for_ in {Purpose.CHANGE, Purpose.BILL}:
        raise BadInput("--organization is for audits and validations, not for a change or a bill. Leave it out.")
    if for_ is Purpose.BILL and bucket is None:
        raise BadInput("--for bill reads one bucket: give it with --bucket.")
    if (copies or locked_document) and (for_ is not Purpose.VALIDATE or cloud != AWS):
        raise BadInput("--copies and --locked-document are for validations on AWS: give --for validate as well.")
    request = PermissionRequest(
        purpose=for_,
        policy=policy_from(policy),
        format=format_,
        organization=organization,
        bucket=bucket,
        partition=partition,
        copies=copies,
        locked_document=locked_document,
    )
    typer.echo(permission_text(CLOUDS[cloud], request))
