"""The simulated Organization answers as AWS's does: to its management account alone, in pages, by unit."""

import pytest

from cloud_simulator.aws.organization import ACCOUNTS, organization
from cloud_simulator.aws.organizations_api import ROOT, SANDBOX, SUSPENDED, WORKLOADS, answer_organizations
from cloud_simulator.faults import Refused

from .served import NOW

FLEET = organization(NOW, volumes=1)


def asked(operation, **request):
    return answer_organizations(operation, request, ACCOUNTS[0], FLEET)


def test_accounts_come_in_pages_of_which_the_first_is_empty():
    pages, token = [], None
    while True:
        page = asked("ListAccounts", **({"NextToken": token} if token else {}))
        pages.append([one["Id"] for one in page["Accounts"]])
        token = page.get("NextToken")
        if token is None:
            break
    assert pages == [[], list(ACCOUNTS[:2]), [ACCOUNTS[2], SUSPENDED]]


def test_units_have_their_own_accounts_and_units():
    under = {unit: asked("ListAccountsForParent", ParentId=unit)["Accounts"] for unit in (ROOT, WORKLOADS, SANDBOX)}
    assert {unit: [one["Id"] for one in found] for unit, found in under.items()} == {
        ROOT: [ACCOUNTS[0]],
        WORKLOADS: [ACCOUNTS[1]],
        SANDBOX: [ACCOUNTS[2], SUSPENDED],
    }
    (child,) = asked("ListOrganizationalUnitsForParent", ParentId=ROOT)["OrganizationalUnits"]
    assert child["Id"] == WORKLOADS


def test_members_may_not_ask_and_unknown_units_are_refused():
    with pytest.raises(Refused, match="permissions"):
        answer_organizations("ListAccounts", {}, ACCOUNTS[1], FLEET)
    with pytest.raises(Refused, match="doesn't exist"):
        asked("ListAccountsForParent", ParentId="ou-plim-nowhere12")
    assert asked("DescribeOrganization") is None
