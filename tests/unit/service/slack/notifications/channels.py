"""A service with a run in its store, and a Slack on loopback that is told of it."""

from contextlib import contextmanager
from dataclasses import replace

from plimsoll_service.slack.client import slack_client
from tests.builders import NOW
from tests.service_loop import Loop
from tests.slack.server import FakeSlack
from tests.slack.workspace import CHANNEL, GROUP, TEAM, VirtualClock
from tests.unit.service.places import places_of, service_of, volumes

OTHER_ACCOUNT = "222222222222"
DATA, SHOP = "C0DATATEAM", "C0SHOPTEAM"


def two_accounts():
    """Three volumes of one account and two of another, which has the tag of a team."""
    elsewhere = [
        replace(one, account=OTHER_ACCOUNT, id=f"{one.id}-b", tags={"Name": "<!channel>", "team": "data"})
        for one in volumes(2)
    ]
    return [*volumes(3), *elsewhere]


def slack_config(*routes, **facts):
    return {"teams": [TEAM], "channel": CHANNEL, "routes": list(routes), "user_groups": [GROUP], **facts}


def a_service_with(folder, *routes, places, show_tags=("Name", "team"), **facts):
    """A service that tells Slack, and has not audited yet."""
    policy = {"lookback_days": 2, "show_tags": list(show_tags)}
    return service_of(places, folder, policy=policy, slack=slack_config(*routes, **facts))


def audited_anew(folder, *routes, given=(), places=None, **facts):
    """A service that has audited these volumes: its run is `first`."""
    loop = Loop(service=a_service_with(folder, *routes, places=places or places_of(given), **facts), now=NOW)
    loop.run()
    return loop


@contextmanager
def a_slack(*channels):
    """A Slack with those channels beside the usual one, in which no time passes but by waiting; with its client."""
    clock = VirtualClock()
    with FakeSlack(now=clock.now) as slack:
        slack.there.channels.update({channel: channel.lower() for channel in channels})
        slack.clock = clock
        yield slack, slack_client(slack.token, api_url=slack.api_url, pause=clock.pause)
