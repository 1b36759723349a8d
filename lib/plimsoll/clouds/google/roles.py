"""Custom roles to paste: the permissions of an audit, a validation or a change, as JSON or Terraform."""

import json
from dataclasses import dataclass
from typing import Any

from plimsoll.clouds.google.permissions import AUDIT, AUDIT_LOG, BELOW, CHANGE, NUMBERED, VALIDATION
from plimsoll.clouds.permissions import Purpose
from plimsoll.domain.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class GoogleRole:
    """The custom role for a purpose.

    `organization` adds what it takes to find the projects of a folder or an organization. Such a role is made in the
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
        """Everything that is allowed."""
        if self.purpose is Purpose.CHANGE:
            return CHANGE
        found = AUDIT | (AUDIT_LOG if self.policy.read_audit_log else frozenset())
        found |= BELOW | NUMBERED if self.organization else frozenset()
        return found | VALIDATION if self.purpose is Purpose.VALIDATE else found

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
        permissions = "".join(f'    "{one}",\n' for one in sorted(self.permissions))
        return (
            f'{head}resource "{kind}" "plimsoll_{self.purpose}" {{\n{place}'
            f'  role_id     = "{self.name}"\n'
            f'  title       = "Plimsoll {self.purpose}"\n'
            f'  description = "{self.purpose.says}"\n'
            f"  permissions = [\n{permissions}  ]\n"
            "}"
        )
