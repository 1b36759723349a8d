"""The synthesized templates of a deployment with all that there is."""

from pathlib import Path

import pytest

from tests.infra.synthesis import once_a_run
from tests.infra.templates import Templates

DEPLOYED = {
    "ASSETS": "empty",
    "WITH_PROBE": "true",
    "ORGANIZATION": "true",
    "EXTERNAL_ID": "the-external-id",
    "ALARM_EMAIL": "storage@example.com",
    "ALARM_VOLUMES": "vol-0123456789abcdef0:3000:125",
    "SLACK__TEAMS": "T0123ABCDEF",
    "SLACK__CHANNEL": "C0123ABCDEF",
    "SLACK__USER_GROUPS": "S0123ABCDEF",
}
"""The settings of the templates that the tests read."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.once)


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    """The templates of a deployment."""
    return Templates(once_a_run(tmp_path_factory, "deployed", DEPLOYED))


@pytest.fixture(scope="session")
def templates_with_copies(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    """Those of a deployment that may copy, whose document is locked, and where denied places are expected."""
    settings = {**DEPLOYED, "VALIDATION__COPIES": "true", "LOCKED_DOCUMENT": "true", "DENIED_PLACES_EXPECTED": "true"}
    return Templates(once_a_run(tmp_path_factory, "copies", settings))
