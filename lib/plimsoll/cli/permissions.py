"""`plimsoll permissions`: what each cloud must allow, as text to paste."""

from plimsoll.clouds.aws.policies import AwsPolicy
from plimsoll.clouds.google.names import UNPROBED
from plimsoll.clouds.google.permissions import GoogleRole
from plimsoll.clouds.permissions import Purpose
from plimsoll.clouds.registry import GOOGLE
from plimsoll.domain.errors import BadInput
from plimsoll.domain.policy import Policy


def permissions_text(
    cloud: str,
    purpose: Purpose,
    format_: str,
    policy: Policy,
    *,
    organization: bool,
    bucket: str | None,
    partition: str,
) -> str:
    """A cloud's permissions for a purpose. BadInput for what that cloud or purpose does not have."""
    if organization and purpose is Purpose.CHANGE:
        raise BadInput("--organization is for audits and validations: a change is made in one account. Leave it out.")
    if cloud == GOOGLE:
        if purpose is Purpose.PROBE:
            raise BadInput(f"{UNPROBED} Give --for audit.")
        if format_ == "cloudformation":
            raise BadInput("CloudFormation makes no roles of Google Cloud: give --format json or terraform.")
        role = GoogleRole(purpose=purpose, policy=policy, organization=organization)
        return role.terraform() if format_ == "terraform" else role.json()
    aws = AwsPolicy(purpose=purpose, policy=policy, organization=organization, bucket=bucket, partition=partition)
    written = {"json": aws.json, "terraform": aws.terraform, "cloudformation": aws.cloudformation}
    return written[format_]()
