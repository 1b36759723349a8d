"""What functions that talk to Slack meet: an account of AWS, and a Slack, both on loopback."""

import pytest

from tests.contract.service_ports import home_account
from tests.slack.server import FakeSlack


@pytest.fixture(scope="module")
def account():
    with home_account() as found:
        yield found


@pytest.fixture
def slack():
    with FakeSlack(pace_s=0) as found:
        yield found
