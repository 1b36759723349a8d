"""Callers: which account a request's credentials stand for, and which roles may be assumed."""

from collections.abc import Mapping
from typing import Final

from moto.iam.models import get_account_id_from

from cloud_simulator.faults import Refused
from cloud_simulator.fleet import HOME_KEY, Fleet

_UNKNOWN_KEY: Final = {"ec2": ("AuthFailure", 401), "sts": ("InvalidClientTokenId", 403)}
"""What each service says of an access key that it has never seen; the JSON and CBOR services have one word for it."""


def account_of(access_key: str, service: str, fleet: Fleet) -> str:
    """The account behind an access key; Refused for one that is neither the home key nor an assumed role's."""
    if access_key == HOME_KEY:
        return fleet.accounts[0]
    account = str(get_account_id_from(access_key))
    if account not in fleet.accounts:
        code, status = _UNKNOWN_KEY.get(service, ("UnrecognizedClientException", 400))
        raise Refused(code, "The security token included in the request is invalid.", status)
    return account


def check_role(asked: Mapping[str, str], fleet: Fleet) -> None:
    """Refuses to assume a role outside the organization."""
    arn = asked.get("RoleArn", "")
    if arn.split(":")[4:5] not in [[account] for account in fleet.accounts]:
        raise Refused(
            "AccessDenied", f"The caller is not authorized to perform: sts:AssumeRole on resource: {arn}", 403
        )
