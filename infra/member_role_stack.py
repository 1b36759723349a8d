"""The member role stacks: the roles that the service's functions assume in the accounts that are audited.

Each is a plain CloudFormation template, without anything of CDK in it, so that a StackSet can deploy it everywhere.
"""

from collections.abc import Sequence
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


class MemberRoleStack(Stack):
    """A role in a member account for these functions of the service alone, and only with the external id."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        deployment: Deployment,
        role_name: str,
        says: str,
        functions: Sequence[str],
    ) -> None:
        super().__init__(
            scope,
            name,
            stack_name=f"plimsoll-{deployment.stage}-{name}",
            description=f"Plimsoll: {says}",
            synthesizer=DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
        )
        self.node.set_context(_PATHS, value=False)
        self.deployment = deployment
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
            for function in functions
        ]
        self.role = iam.Role(
            self,
            "Role",
            role_name=role_name,
            path=deployment.written_role_path,
            description=f"Plimsoll: {says}",
            assumed_by=iam.AccountPrincipal(service.value_as_string).with_conditions(
                {
                    "StringEquals": {"sts:ExternalId": external_id.value_as_string},
                    "ArnEquals": {"aws:PrincipalArn": callers},
                }
            ),
        )
        CfnOutput(self, "RoleArn", value=self.role.role_arn, description="What the service assumes here")

    def allow(self, grants: Sequence[Grant]) -> None:
        """Lets the role do this."""
        give(self.role, grants)


def audit_role(scope: Construct, deployment: Deployment) -> MemberRoleStack:
    """The role that audits read with; it changes nothing."""
    functions = [
        *AUDIT_ENTERS,
        *(PROBE_AUDITS if deployment.with_probe else ()),
        *(VALIDATION_AUDITS if deployment.with_validation else ()),
        *(SLACK_ENTERS if deployment.slack else ()),
    ]
    stack = MemberRoleStack(
        scope,
        "member-audit",
        deployment=deployment,
        role_name=deployment.role_name,
        says="what audits read in this account; it changes nothing",
        functions=functions,
    )
    stack.allow([look(auditing(deployment.parsed_policy), "read volumes, prices and metrics")])
    return stack


def validation_role(scope: Construct, deployment: Deployment) -> MemberRoleStack:
    """The role that validations measure with: it changes scratch volumes alone."""
    stack = MemberRoleStack(
        scope,
        "member-validation",
        deployment=deployment,
        role_name=deployment.validation_role_name,
        says="what validations measure with in this account; only scratch volumes are changed",
        functions=VALIDATION_ENTERS,
    )
    stack.allow([_CALLER, *Measuring(stack=stack, deployment=deployment).all])
    return stack


def probe_role(scope: Construct, deployment: Deployment) -> MemberRoleStack:
    """The role that probes read hosts with: it runs one document, and cannot change it."""
    stack = MemberRoleStack(
        scope,
        "member-probe",
        deployment=deployment,
        role_name=deployment.probe_role_name,
        says="what probes read hosts with in this account, by one document that does no I/O",
        functions=PROBE_ENTERS,
    )
    stack.allow([_CALLER, *Probing(stack=stack).all])
    return stack


def change_role(scope: Construct, deployment: Deployment) -> MemberRoleStack:
    """The role that changes volumes: those alone that a plan has tagged, and it can tag none."""
    stack = MemberRoleStack(
        scope,
        "member-change",
        deployment=deployment,
        role_name=deployment.change_role_name,
        says="what changes planned volumes in this account; only volumes that a plan has tagged",
        functions=CHANGE_ENTERS,
    )
    stack.allow(Changing(stack=stack).changes)
    return stack


def change_plan_role(scope: Construct, deployment: Deployment) -> MemberRoleStack:
    """The role that plans look at volumes with, and tag them: it changes none."""
    stack = MemberRoleStack(
        scope,
        "member-change-plan",
        deployment=deployment,
        role_name=deployment.change_plan_role_name,
        says="what looks at volumes for a plan of changes in this account, and tags them; it changes none",
        functions=CHANGE_PLANS,
    )
    stack.allow(Changing(stack=stack).plans)
    return stack
