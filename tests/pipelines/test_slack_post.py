"""An audit of the simulated organization arrives in Slack: the command as a user runs it, the client as it is, and a
Slack that refuses what Slack refuses and keeps its pace in real time."""

from datetime import UTC, datetime

import pytest

from cloud_simulator.running import running
from tests.slack.server import FakeSlack
from tests.slack.workspace import CHANNEL, text_of

from .commands import TWO_DAYS, plimsoll, roles

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """A run of the simulated organization, and the folder that it is in."""
    folder = tmp_path_factory.mktemp("audited")
    with running(datetime.now(UTC), volumes=1) as organization:
        words = ("audit", "--out", "run", *TWO_DAYS, "--region", "us-east-1", *roles(organization))
        assert plimsoll(organization, folder, *words).returncode == 3
        yield organization, folder


@pytest.fixture
def slack():
    with FakeSlack(burst=1) as slack:
        yield slack


@pytest.mark.release
def test_a_run_stands_in_its_channel_with_every_account_in_its_thread(audited, slack):
    organization, folder = audited
    here = {"PLIMSOLL_SLACK_API_URL": slack.api_url, "PLIMSOLL_SLACK_BOT_TOKEN": slack.token}
    post = ("slack", "post", "run", "--channel", CHANNEL)
    done = plimsoll(organization, folder, *post, **here)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not [call for call in slack.calls if call.error]
    (report,) = slack.there.in_channel()
    assert "a month can be saved" in text_of(report.json)
    replies = slack.there.in_thread(report.ts)
    assert len(replies) == 3
    assert [file.name for file in slack.there.files.values()] == ["savings.png", "roofline.png"]
    assert {file.thread_ts for file in slack.there.files.values()} == {report.ts}

    again = plimsoll(organization, folder, *post, **here)
    assert again.returncode == 0
    assert "--again posts it once more" in again.stdout
    assert len(slack.there.messages) == 1 + len(replies)
