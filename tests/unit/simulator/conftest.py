"""One organisation for all tests that change nothing in it."""

import pytest

from plimsoll.simulator.organisation import organisation

from .served import NOW, served


@pytest.fixture(scope="session")
def fleet():
    return organisation(NOW)


@pytest.fixture(scope="session")
def account(fleet):
    with served(fleet) as found:
        yield found
