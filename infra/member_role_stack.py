"""The member role stacks: the roles that the service's functions assume in the accounts that are audited.

Each is a plain CloudFormation template, without anything of CDK in it, so that a StackSet can deploy it everywhere.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from aws_cdk import CfnOutput, CfnParameter, DefaultStackSynthesizer, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.audit_functions import AUDIT_ENTERS
from infra.change_functions import CHANGE_ENTERS, CHANGE_PLANS
from infra.change_permissions import Changing
from infra.function_grants import look
from infra.grants import Grant, give
from infra.names import Names
from infra.probe_functions import PROBE_AUDITS, PROBE_ENTERS
from infra.probe_permissions import Probing
from infra.settings import Deployment
from infra.slack_functions import SLACK_ENTERS
from infra.validation_functions import VALIDATION_AUDITS, VALIDATION_ENTERS
from infra.validation_permissions import Measuring
from plimsoll.clouds.aws.names import role_arn
from plimsoll.clouds.aws.permissions import auditing

_PATHS: Final = "aws:cdk:enable-path-metadata"
_CALLER: Final = look(frozenset({"sts:GetCallerIdentity"}), "name the caller")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRole:
    """A role for member accounts, and whether a deployment has it."""

    name: str
    says: str
    role_name: Callable[[Deployment], str]
    functions: Callable[[Deployment], Sequence[str]]
    """The functions that assume it."""
    grants: Callable[[Stack, Deployment], Sequence[Grant]]
    """The grants that it gives them, in the account of its stack."""
    is_made: Callable[[Deployment], bool]


def _list_readers(deployment: Deployment) -> list[str]:
    return [
        *AUDIT_ENTERS,
        *(PROBE_AUDITS if deployment.with_probe else ()),
        *(VALIDATION_AUDITS if deployment.with_validation else ()),
        *(SLACK_ENTERS if deployment.slack else ()),
    ]


MEMBER_ROLES: Final = (
    MemberRole(
        name="audit",
        says="what audits read in this account; it changes nothing",
        role_name=lambda deployment: deployment.role_name,
        functions=_list_readers,
        grants=lambda _, deployment: [look(auditing(deployment.parsed_policy), "read volumes, prices and metrics")],
        is_made=lambda _: True,
    ),
    MemberRole(
        name="validation",
        says="what validations measure with in this account; only scratch volumes are changed",
        role_name=lambda deployment: deployment.validation_role_name,
        functions=lambda _: VALIDATION_ENTERS,
        grants=lambda stack, deployment: [_CALLER, *Measuring(stack=stack, deployment=deployment).all],
        is_made=lambda deployment: deployment.with_validation,
    ),
    MemberRole(
        name="probe",
        says="what probes read hosts with in this account, by one document that does no I/O",
        role_name=lambda deployment: deployment.probe_role_name,
        functions=lambda _: PROBE_ENTERS,
        grants=lambda stack, _: [_CALLER, *Probing(stack=stack).all],
        is_made=lambda deployment: deployment.with_probe,
    ),
    MemberRole(
        name="change-plan",
        says="what looks at volumes for a plan of changes in this account, and tags them; it changes none",
        role_name=lambda deployment: deployment.change_plan_role_name,
        functions=lambda _: CHANGE_PLANS,
        grants=lambda stack, _: Changing(stack=stack).plans,
        is_made=lambda deployment: deployment.with_changes,
    ),
    MemberRole(
        name="change",
        says="what changes planned volumes in this account; only volumes that a plan has tagged",
        role_name=lambda deployment: deployment.change_role_name,
        functions=lambda _: CHANGE_ENTERS,
        grants=lambda stack, _: Changing(stack=stack).changes,
        is_made=lambda deployment: deployment.with_changes,
    ),
)


class MemberRoleStack(Stack):
    """A role in a member account for its functions of the service alone, and only with the external id."""

    def __init__(self, scope: Construct, member_role: MemberRole, deployment: Deployment) -> None:
        description = f"Plimsoll: {member_role.says}"
        super().__init__(
            scope,
            f"member-{member_role.name}",
            stack_name=f"plimsoll-{deployment.stage}-member-{member_role.name}",
            description=description,
            synthesizer=DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
        )
        self.node.set_context(_PATHS, value=False)
        service = CfnParameter(
            self,
            "ServiceAccount",
            description="The account that Plimsoll is deployed in",
            allowed_pattern=r"^\d{12}$",
            constraint_description="an account has twelve digits",
        )
        external_id = CfnParameter(
            self,
            "ExternalId",
            description="The external id that the service gives, as in its settings",
            default=deployment.external_id,
            min_length=2,
            max_length=1224,
        )
        names = Names(stack=self, stage=deployment.stage)
        callers = [
            role_arn(service.value_as_string, names.role(function), self.partition, deployment.role_path)
            for function in member_role.functions(deployment)
        ]
        role = iam.Role(
            self,
            "Role",
            role_name=member_role.role_name(deployment),
            path=deployment.written_role_path,
            description=description,
            assumed_by=iam.AccountPrincipal(service.value_as_string).with_conditions(
                {
                    "StringEquals": {"sts:ExternalId": external_id.value_as_string},
                    "ArnEquals": {"aws:PrincipalArn": callers},
                }
            ),
        )
        CfnOutput(self, "RoleArn", value=role.role_arn, description="What the service assumes here")
        give(role, member_role.grants(self, deployment))
