"""One set of projects for all tests that change nothing in them."""

import pytest

from cloud_simulator.google.projects import projects_of

from .served import NOW, served


@pytest.fixture(scope="session")
def fleet():
    return projects_of(NOW)


@pytest.fixture(scope="session")
def clients(fleet):
    with served(fleet) as found:
        yield found
