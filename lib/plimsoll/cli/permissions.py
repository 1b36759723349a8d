"""Print the permissions to give: an IAM policy or a role.

An IAM policy for AWS, a custom role for Google Cloud.
"""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from plimsoll.cli import options
from plimsoll.clouds.permissions import Purpose
from plimsoll.clouds.registry import AWS, CLOUDS, GOOGLE
from plimsoll.model.errors import BadInput

if TYPE_CHECKING:
    from plimsoll.model.policy import Policy


_LISTED: Final = ("Begin with", 8)


class Partition(StrEnum):
    """Which of AWS's clouds the ARNs are of."""

    AWS = "aws"
    CHINA = "aws-cn"
    GOV_CLOUD = "aws-us-gov"


class PolicyFormat(StrEnum):
    """The format of permissions."""

    JSON = "json"
    TERRAFORM = "terraform"
    CLOUDFORMATION = "cloudformation"


def permissions_command(
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
    copies: Annotated[
        bool, typer.Option("--copies", help="Validate also by copies, of volumes tagged plimsoll:copy=true.")
    ] = False,
    locked_document: Annotated[
        bool, typer.Option("--locked-document", help="Leave out writing the document that measures.")
    ] = False,
    policy: options.PolicyFileOptions,
) -> None:
    from plimsoll.cli.option_values import policy_from
    from plimsoll.clouds.aws.policies import AwsPolicy

    if organization and for_ is Purpose.CHANGE:
        raise BadInput("--organization is for audits and validations: a change is made in one account. Leave it out.")
    if (copies or locked_document) and (for_ is not Purpose.VALIDATE or cloud != AWS):
        raise BadInput("--copies and --locked-document are for validations on AWS: give --for validate as well.")
    if cloud == GOOGLE:
        typer.echo(_google_role(for_, format_, policy_from(policy), organization=organization))
        return
    needed = AwsPolicy(
        purpose=for_,
        policy=policy_from(policy),
        organization=organization,
        bucket=results_bucket,
        partition=partition,
        copies=copies,
        locked_document=locked_document,
    )
    written = {"json": needed.json, "terraform": needed.terraform, "cloudformation": needed.cloudformation}
    typer.echo(written[format_]())


def _google_role(purpose: Purpose, format_: PolicyFormat, policy: "Policy", *, organization: bool) -> str:
    """The role as text; BadInput for what Google Cloud does not have."""
    from plimsoll.clouds.google.names import UNPROBED
    from plimsoll.clouds.google.permissions import GoogleRole

    if purpose is Purpose.PROBE:
        raise BadInput(f"{UNPROBED} Give --for audit.")
    if format_ is PolicyFormat.CLOUDFORMATION:
        raise BadInput("CloudFormation makes no roles of Google Cloud: give --format json or terraform.")
    role = GoogleRole(purpose=purpose, policy=policy, organization=organization)
    return role.terraform() if format_ is PolicyFormat.TERRAFORM else role.json()
