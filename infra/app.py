"""The app: the stacks of one deployment, held against cdk-nag's rules for AWS solutions when they are synthesized."""

import os
import sys
from collections.abc import Sequence
from typing import Final

from aws_cdk import App, Stack, Tags, Validations
from aws_cdk import aws_iam as iam
from cdk_nag import AwsSolutionsChecks

from infra.audit_stack import AuditStack
from infra.change_stack import ChangeStack
from infra.data_stack import DataStack
from infra.deployed_region import check_region, find_region, leave_out_what_is_missing
from infra.document_stack import benchmark_document, probe_document
from infra.member_role_stack import MEMBER_ROLES, MemberRoleStack
from infra.probe_stack import ProbeStack
from infra.settings import Deployment
from infra.slack_stack import SlackStack
from infra.validation_stack import ValidationStack
from plimsoll.model.errors import PlimsollError

FEATURES: Final = {
    "@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy": True,
    "@aws-cdk/aws-iam:minimizePolicies": False,
    "@aws-cdk/core:target-partitions": ["aws", "aws-cn", "aws-us-gov"],
}
"""CDK's feature flags. Access logs are allowed by policy, as buckets without access lists need it. Statements stay as
they are written here. Partitions are known, for the names of services."""


def add_stacks(app: App, deployment: Deployment) -> None:
    """Adds the stacks of a deployment to an app."""
    data = DataStack(app, deployment)
    service: list[Stack] = [data, AuditStack(app, deployment)]
    members = [MemberRoleStack(app, role, deployment) for role in MEMBER_ROLES if role.is_made(deployment)]
    if deployment.with_validation:
        service.append(ValidationStack(app, deployment))
        if deployment.locked_document:
            benchmark_document(app, deployment)
    if deployment.with_probe:
        service.append(ProbeStack(app, deployment))
        probe_document(app, deployment)
    if deployment.with_changes:
        service.append(ChangeStack(app, deployment))
    if deployment.slack is not None:
        service.append(SlackStack(app, deployment))
    for stack in service[1:]:
        stack.add_stack_dependency(data)
    _bound(service, deployment.permissions_boundary)
    _bound(members, deployment.member_permissions_boundary)
    for key, value in deployment.tags.items():
        Tags.of(app).add(key, value)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))


def _bound(stacks: Sequence[Stack], boundary: str | None) -> None:
    """Bounds every role of the stacks by the policy of that name in the role's own account, if one is named."""
    if boundary is not None:
        for stack in stacks:
            policy = iam.ManagedPolicy.from_managed_policy_name(stack, "Boundary", boundary)
            iam.PermissionsBoundary.of(stack).apply(policy)


def main() -> int:
    """Synthesizes what context and environment say. A setting that cannot be used is printed, with exit code 2."""
    app = App(context=FEATURES, analytics_reporting=False, outdir=os.environ.get("CDK_OUTDIR"))
    try:
        deployment = Deployment.read(app.node.get_all_context())
        check_region(deployment, find_region())
        add_stacks(app, deployment)
    except PlimsollError as error:
        print(error, file=sys.stderr)  # noqa: T201 - CDK shows what its app prints
        return 2
    leave_out_what_is_missing(app, find_region())
    app.synth()
    return 0


if __name__ == "__main__":
    sys.exit(main())
