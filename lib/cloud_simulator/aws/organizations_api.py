"""The Organization of the simulated accounts: a root, two units of which one lies in the other, and who is where.

The management account is at the root, the second in `WORKLOADS`, all others in `SANDBOX` under it, beside an account
that is suspended. Answers come in short pages, as Organizations may give them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from cloud_simulator.aws.fleet import Fleet
from cloud_simulator.faults import Refused
from cloud_simulator.paging import place_of

ROOT: Final = "r-plim"
WORKLOADS: Final = "ou-plim-workload"
SANDBOX: Final = "ou-plim-sandbox1"
SUSPENDED: Final = "999999999999"

_UNITS: Final = {ROOT: (WORKLOADS,), WORKLOADS: (SANDBOX,), SANDBOX: ()}
_A_PAGE: Final = 2


def answer_organizations(
    operation: str, asked: Mapping[str, Any], account: str, fleet: Fleet
) -> Mapping[str, Any] | None:
    """The answer of Organizations to the management account. None if the operation is not simulated.

    Raises Refused for every other account, and if the unit does not exist.
    """
    if account != fleet.accounts[0]:
        raise Refused("AccessDeniedException", f"You don't have permissions to access this resource: {operation}.")
    match operation:
        case "ListAccounts":
            return _page("Accounts", [_account(item) for item in [*fleet.accounts, SUSPENDED]], asked)
        case "ListAccountsForParent":
            return _page("Accounts", [_account(item) for item in _under(_unit(asked), fleet)], asked)
        case "ListOrganizationalUnitsForParent":
            return _page("OrganizationalUnits", [{"Id": item, "Name": item} for item in _UNITS[_unit(asked)]], asked)
        case _:
            return None


def _unit(asked: Mapping[str, Any]) -> str:
    unit = str(asked.get("ParentId"))
    if unit not in _UNITS:
        raise Refused("ParentNotFoundException", f"You specified parent {unit} that doesn't exist.")
    return unit


def _under(unit: str, fleet: Fleet) -> Sequence[str]:
    """The accounts right under a unit."""
    by_unit = {ROOT: fleet.accounts[:1], WORKLOADS: fleet.accounts[1:2], SANDBOX: (*fleet.accounts[2:], SUSPENDED)}
    return by_unit[unit]


def _account(account: str) -> Mapping[str, str]:
    return {"Id": account, "Name": account, "State": "SUSPENDED" if account == SUSPENDED else "ACTIVE"}


def _page(name: str, items: Sequence[Any], asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """A page of a list; the first of a long one is empty."""
    token = place_of(asked.get("NextToken"), "InvalidInputException")
    if len(items) <= _A_PAGE:
        return {name: items}
    start, end = max(0, token - 1) * _A_PAGE, token * _A_PAGE
    return {name: items[start:end], **({"NextToken": str(token + 1)} if end < len(items) else {})}
