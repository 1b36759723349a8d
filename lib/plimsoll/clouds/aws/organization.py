"""The accounts of an Organization: all of them, those under some units, or a list that is checked against it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from plimsoll.clouds.aws.errors import attempted
from plimsoll.clouds.common.messages import Purpose
from plimsoll.domain.errors import BadInput, CloudError
from plimsoll.ports import FailedTarget

LISTING: Final = Purpose(
    goes_on="Its accounts are not audited",
    allow="run from the management account or a delegated administrator with that action, or name accounts instead",
    region="name another region",
    again="run again later",
)
_ACTIVE: Final = "ACTIVE"


def accounts_in(
    client: Any, *, organization: bool, units: Sequence[str], accounts: Sequence[str]
) -> Sequence[str | FailedTarget]:
    """The active accounts of the whole Organization, or of some units and those below, or of a list, each once.

    What cannot be audited is among them with the reason: an Organization or a unit that may not be listed or is empty,
    or a listed account that is not active in it. A caller who may not list the Organization gets the list as it is.

    `client` is boto3's of Organizations. BadInput where more than one of the three is asked for.
    """
    if [organization, bool(units), bool(accounts)].count(True) > 1:
        raise BadInput("give one of --organization, --unit and --account: each says which accounts there are.")
    if accounts:
        return _checked(client, accounts)
    if organization:
        return _reached(client, "the Organization", None)
    found = [one for unit in units for one in _reached(client, unit, unit)]
    return [one for number, one in enumerate(found) if one not in found[:number]]


def _reached(client: Any, name: str, unit: str | None) -> Sequence[str | FailedTarget]:
    """The active accounts of a unit (None: of all), or the one reason why there are none."""
    try:
        listed = _all(client) if unit is None else _below(client, unit, name)
        found = [account for account, state in listed if state == _ACTIVE]
    except CloudError as error:
        return [FailedTarget(name=name, error=error)]
    if not found:
        reason = f"{name} has no active account: name a unit that has, or leave it out."
        return [FailedTarget(name=name, error=CloudError(reason))]
    return found


def _checked(client: Any, accounts: Sequence[str]) -> Sequence[str | FailedTarget]:
    wanted = dict.fromkeys(accounts)
    try:
        states = dict(_all(client))
    except CloudError:
        return list(wanted)  # only those who may list the Organization can check; the roles decide for the others
    return [account if states.get(account) == _ACTIVE else _outside(account, states.get(account)) for account in wanted]


def _outside(account: str, state: str | None) -> FailedTarget:
    why = "it is not in this Organization" if state is None else f"its state in the Organization is {state}"
    reason = (
        f"cannot audit {account}: {why}. Check the number, or leave it out of the accounts; the others are audited."
    )
    return FailedTarget(name=account, error=CloudError(reason))


def _all(client: Any) -> Iterator[tuple[str, str]]:
    with attempted("list the accounts of the Organization", "organizations:ListAccounts", LISTING):
        for page in client.get_paginator("list_accounts").paginate():
            yield from _states(page)


def _below(client: Any, unit: str, name: str) -> Iterator[tuple[str, str]]:
    """The accounts under a unit and under those in it; `name` is that of the first, for what goes wrong."""
    with attempted(f"list the accounts of {name}", "organizations:ListAccountsForParent", LISTING):
        for page in client.get_paginator("list_accounts_for_parent").paginate(ParentId=unit):
            yield from _states(page)
    with attempted(f"list the units of {name}", "organizations:ListOrganizationalUnitsForParent", LISTING):
        pages = list(client.get_paginator("list_organizational_units_for_parent").paginate(ParentId=unit))
    for child in (one["Id"] for page in pages for one in page["OrganizationalUnits"]):
        yield from _below(client, child, name)


def _states(page: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Accounts with their state; an endpoint that is not up to date has it as Status, which State replaces."""
    for account in page["Accounts"]:
        yield account["Id"], account.get("State") or account.get("Status", "")
