"""The service as it is synthesized, once for all tests."""

import pytest

from tests.infra.synthesis import once_a_run

from .account import HOME, REGION
from .templates import Templates

SLACK = {"SLACK__TEAMS": "T0123ABCDEF", "SLACK__CHANNEL": "C0123ABCDEF", "SLACK__USER_GROUPS": "S0123ABCDEF"}


@pytest.fixture(scope="session")
def templates(tmp_path_factory):
    """The templates of an ordinary deployment, whose functions' code is left out."""
    return read(once_a_run(tmp_path_factory, "ordinary", {"ASSETS": "empty"}))


@pytest.fixture(scope="session")
def slack_templates(tmp_path_factory):
    """Those of a deployment that tells Slack; the configuration in force is what a test deploys them with."""
    return read(once_a_run(tmp_path_factory, "slack", {"ASSETS": "empty", **SLACK}))


def read(folder):
    return Templates.read(folder, account=HOME, region=REGION)
