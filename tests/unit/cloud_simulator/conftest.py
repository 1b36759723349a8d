"""One organization for all tests that change nothing in it."""

import pytest

from cloud_simulator.aws.organization import organization

from .served import NOW, served


@pytest.fixture(scope="session")
def fleet():
    return organization(NOW)


@pytest.fixture(scope="session")
def account(fleet):
    with served(fleet) as found:
        yield found
