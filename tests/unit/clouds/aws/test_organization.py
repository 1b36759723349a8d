"""Which accounts an Organization has, by its root, its units or a list, and what is said of those it has not."""

from types import SimpleNamespace

import pytest

from cloud_simulator.aws.organization import ACCOUNTS, Mix
from cloud_simulator.aws.organizations_api import ROOT, SANDBOX, SUSPENDED, WORKLOADS
from cloud_simulator.faults import Fault
from plimsoll.clouds.aws.accounts import accounts_in, check_own_account
from plimsoll.clouds.aws.names import role_arn
from plimsoll.model.errors import AccessDenied, BadInput
from plimsoll.ports import FailedTarget
from tests.contract.service_ports import home_account

FIRST, SECOND, THIRD = ACCOUNTS
NOWHERE = "ou-plim-nowhere12"


@pytest.fixture(scope="module")
def client():
    with home_account() as account:
        yield account.client("organizations")


def found(client, *, organization=False, units=(), accounts=()):
    """The accounts, and the reasons by the name of what cannot be had."""
    both = accounts_in(client, organization=organization, units=units, accounts=accounts)
    reasons = {one.name: str(one.error) for one in both if isinstance(one, FailedTarget)}
    return [one for one in both if isinstance(one, str)], reasons


def test_the_whole_organization_is_its_active_accounts(client):
    assert found(client, organization=True) == (list(ACCOUNTS), {})


@pytest.mark.parametrize(
    ("units", "accounts"),
    [
        ([SANDBOX], [THIRD]),
        ([WORKLOADS], [SECOND, THIRD]),
        ([ROOT], [FIRST, SECOND, THIRD]),
        ([SANDBOX, WORKLOADS, SANDBOX], [THIRD, SECOND]),
    ],
)
def test_a_unit_has_the_active_accounts_under_it_and_below_each_once(client, units, accounts):
    assert found(client, units=units) == (accounts, {})


def test_a_unit_that_does_not_exist_costs_itself_and_is_named_with_a_remedy(client):
    accounts, reasons = found(client, units=[NOWHERE, SANDBOX])
    assert accounts == [THIRD]
    assert reasons[NOWHERE].startswith(f"cannot list the accounts of {NOWHERE}: ParentNotFoundException")
    assert "Check the unit's id" in reasons[NOWHERE]


def test_accounts_outside_the_organization_or_suspended_are_named(client):
    accounts, reasons = found(client, accounts=[THIRD, "123456789012", SUSPENDED, THIRD])
    assert accounts == [THIRD]
    assert "cannot audit 123456789012: it is not in this Organization. Check the number" in reasons["123456789012"]
    assert "its state in the Organization is SUSPENDED" in reasons[SUSPENDED]


def test_nothing_asked_is_nothing(client):
    assert found(client) == ([], {})


def test_two_ways_to_say_it_are_refused(client):
    with pytest.raises(BadInput, match="give one of --organization, --unit and --account"):
        accounts_in(client, organization=True, units=[], accounts=[FIRST])


def test_who_may_not_list_the_organization_is_told_so_and_gets_a_list_as_given():
    with home_account(faults=[Fault(code="AccessDeniedException", operation="ListAccounts")]) as account:
        client = account.client("organizations")
        assert found(client, accounts=[THIRD, "123456789012"]) == ([THIRD, "123456789012"], {})
        (failed,) = accounts_in(client, organization=True, units=[], accounts=[])
    assert isinstance(failed.error, AccessDenied)
    assert "AccessDeniedException for organizations:ListAccounts" in str(failed.error)
    assert "the management account" in str(failed.error)


def test_a_unit_without_an_active_account_is_named():
    with home_account(mix=Mix.EVERYDAY) as account:  # one account alone, at the root
        _accounts, reasons = found(account.client("organizations"), units=[SANDBOX])
    assert reasons == {SANDBOX: f"{SANDBOX} has no active account: name a unit that has one, or leave it out."}


def test_a_role_is_in_its_accounts_partition():
    assert role_arn(FIRST, "plimsoll-audit", "aws-cn") == f"arn:aws-cn:iam::{FIRST}:role/plimsoll-audit"


def listing(*pages, times=99):
    """Organizations, whose list of accounts is of these pages for so many readings, then whole."""
    whole = [[(FIRST, "ACTIVE"), (SECOND, "ACTIVE"), (THIRD, "ACTIVE")]]
    readings = []

    def list_accounts(**asked):
        number = int(asked.get("NextToken", 0))
        if not number:
            readings.append(1)
        shown = pages if len(readings) <= times else whole
        page = {"Accounts": [{"Id": name, "State": state} for name, state in shown[number]]}
        return {**page, **({"NextToken": str(number + 1)} if number + 1 < len(shown) else {})}

    return SimpleNamespace(list_accounts=list_accounts)


TWICE = {
    "on one page": [[(FIRST, "ACTIVE"), (SECOND, "ACTIVE"), (SECOND, "ACTIVE")]],
    "on two pages": [[(FIRST, "ACTIVE"), (SECOND, "ACTIVE")], [(SECOND, "ACTIVE")]],
    "once closed": [[(FIRST, "ACTIVE"), (SECOND, "ACTIVE"), (SECOND, "CLOSED")]],
}


@pytest.mark.parametrize("pages", TWICE.values(), ids=TWICE)
def test_an_account_that_is_listed_twice_may_hide_another_which_is_named(pages):
    accounts, reasons = found(listing(*pages), organization=True)
    assert set(accounts) <= {FIRST, SECOND}
    assert FIRST in accounts
    (reason,) = (text for name, text in reasons.items() if name.startswith("the Organization"))
    assert SECOND in reason
    assert found(listing(*pages, times=1), organization=True) == ([FIRST, SECOND, THIRD], {})


def test_the_callers_own_account_is_in_every_whole_list_of_its_organization_or_is_named():
    (lacking,) = check_own_account(FIRST, [SECOND, THIRD])
    assert lacking.name == FIRST
    assert f"it lacks {FIRST}" in str(lacking.error)
    for reason in (FIRST, "the Organization", "the Organization: what is listed twice"):
        told = FailedTarget(name=reason, error=lacking.error)
        assert list(check_own_account(FIRST, [SECOND, told])) == []
    assert list(check_own_account(FIRST, [SECOND, FailedTarget(name=THIRD, error=lacking.error)])) != []
    assert list(check_own_account(FIRST, [FIRST, SECOND])) == []


def test_what_was_listed_before_a_page_that_cannot_be_used_is_audited():
    accounts, reasons = found(listing([(FIRST, "ACTIVE")], [("no account", "ACTIVE")]), organization=True)
    assert accounts == [FIRST]
    assert list(reasons) == ["the Organization"]
