"""Terraform as an owner: the tags that its users write on their resources, whatever the cloud."""

from collections.abc import Mapping
from typing import Final

from plimsoll.model.volume import Owner, OwnerKind

_KEYS: Final = ("terraform", "managed-by", "managed_by", "managedby", "iac", "provisioner", "created-by")


def terraform_owner(tags: Mapping[str, str]) -> Owner | None:
    """Terraform if a tag or label says so, with the module if one does. None if none says so."""
    lowered = {key.lower(): value for key, value in tags.items()}
    for key in _KEYS:
        value = lowered.get(key, "").lower()
        if "terraform" in value or (key == "terraform" and value in {"true", "yes", "1"}):
            module = lowered.get("terraform-module") or lowered.get("terraform_module") or lowered.get("workspace")
            return Owner(kind=OwnerKind.TERRAFORM, name=module, details=known_details({"module": module}))
    return None


def known_details(details: Mapping[str, str | None]) -> dict[str, str]:
    """The details of an owner that are known."""
    return {key: value for key, value in details.items() if value is not None}
