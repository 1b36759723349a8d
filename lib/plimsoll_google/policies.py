"""Custom roles: they grant the permissions of a purpose."""

import json
from dataclasses import dataclass
from typing import Any

from plimsoll.clouds.permissions import PermissionRequest, PolicyFormat, Purpose
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import Policy
from plimsoll_google.names import UNPROBED
from plimsoll_google.permissions import (
    BELOW,
    GOOGLE_AUDIT,
    GOOGLE_AUDIT_LOG,
    GOOGLE_CHANGE,
    GOOGLE_VALIDATION,
    NUMBERED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoogleRole:
    """The custom role for a purpose.

    `organization` adds the permissions to find the projects of a folder or an organization. Such a role is made in the
    organization, since projects.list is granted nowhere else.
    """

    purpose: Purpose
    policy: Policy
    organization: bool = False

    @property
    def name(self) -> str:
        """The role's id."""
        return f"plimsoll{self.purpose.capitalize()}"

    @property
    def permissions(self) -> frozenset[str]:
        """All permissions of the role."""
        if self.purpose is Purpose.CHANGE:
            return GOOGLE_CHANGE
        granted = GOOGLE_AUDIT | (GOOGLE_AUDIT_LOG if self.policy.read_audit_log else frozenset())
        granted |= BELOW | NUMBERED if self.organization else frozenset()
        return granted | GOOGLE_VALIDATION if self.purpose is Purpose.VALIDATE else granted

    def document(self) -> dict[str, Any]:
        """The role as `gcloud iam roles create --file` takes it."""
        return {
            "title": f"Plimsoll {self.purpose}",
            "description": self.purpose.says,
            "stage": "GA",
            "includedPermissions": sorted(self.permissions),
        }

    def json(self) -> str:
        """JSON, for gcloud."""
        return json.dumps(self.document(), indent=2)

    def terraform(self) -> str:
        """Terraform: one custom role, of the provider's project or of an organization."""
        kind, place, head = "google_project_iam_custom_role", "", ""
        if self.organization:
            kind, place = "google_organization_iam_custom_role", "  org_id      = var.organization_id\n"
            head = 'variable "organization_id" {\n  type = string\n}\n\n'
        permissions = "".join(f'    "{permission}",\n' for permission in sorted(self.permissions))
        return (
            f'{head}resource "{kind}" "plimsoll_{self.purpose}" {{\n{place}'
            f'  role_id     = "{self.name}"\n'
            f'  title       = "Plimsoll {self.purpose}"\n'
            f'  description = "{self.purpose.says}"\n'
            f"  permissions = [\n{permissions}  ]\n"
            "}"
        )


def write_permissions(request: PermissionRequest) -> str:
    """The role that is asked for, in its format. Raises BadInput for what Google Cloud does not have."""
    if request.purpose is Purpose.COMPARE:
        raise BadInput("--for compare is for AWS Compute Optimizer: leave out --cloud google, or give --for audit.")
    if request.purpose is Purpose.STATES:
        raise BadInput("--for states is for snapshots on AWS: leave out --cloud google, or give --for audit.")
    if request.purpose is Purpose.BILL:
        raise BadInput("--for bill is for a bucket of S3: leave out --cloud google, or give --for audit.")
    if request.purpose is Purpose.PROBE:
        raise BadInput(f"{UNPROBED} Give --for audit.")
    if request.format is PolicyFormat.CLOUDFORMATION:
        raise BadInput("CloudFormation makes no roles of Google Cloud: give --format json or terraform.")
    role = GoogleRole(purpose=request.purpose, policy=request.policy, organization=request.organization)
    return role.terraform() if request.format is PolicyFormat.TERRAFORM else role.json()
