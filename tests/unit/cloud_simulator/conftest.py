"""One organization for all tests that change nothing in it."""

from pathlib import Path

import pytest

from cloud_simulator.aws.organization import organization

from .served import NOW, served

SMOKE = ("test_running.py", "test_fleet.py", "test_modifications.py", "test_organizations_api.py")
"""What of the simulator's own tests a push runs: it starts, serves and ends. All else that a push tests uses it."""


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and item.path.name not in SMOKE:
            item.add_marker(pytest.mark.release)


@pytest.fixture(scope="session")
def fleet():
    return organization(NOW)


@pytest.fixture(scope="session")
def account(fleet):
    with served(fleet) as found:
        yield found
