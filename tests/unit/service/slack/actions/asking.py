"""Asking as people do in Slack: a service with volumes in memory, and a Slack on loopback that has a message of it."""

import json
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from plimsoll_service.slack.actions.asked import SlackRequest
from plimsoll_service.slack.actions.members import Members
from plimsoll_service.slack.actions.worker import act
from plimsoll_service.slack.client import slack_client
from tests.slack.server import FakeSlack
from tests.slack.workspace import CHANNEL, GROUP, MEMBER, TEAM
from tests.unit.service.places import ACCOUNT, places_of, service_of, volumes

PLACE = f"{ACCOUNT}/us-east-1"
VOLUME = "vol-one"
NAME = f"{PLACE}/{VOLUME}"
STRANGER = "U0BOB"
SLACK = {"teams": [TEAM], "channel": CHANNEL, "user_groups": [GROUP]}


def a_volume(volume_id=VOLUME, **fields):
    (one,) = volumes(1, **fields)
    return replace(one, id=volume_id)


@dataclass(kw_only=True)
class Workplace:
    """A service, a Slack and a message with buttons in it. `numbers` give each request an id of its own."""

    service: object
    slack: FakeSlack
    members: Members = field(default_factory=Members)
    asked: int = 0

    def __post_init__(self):
        self.client = slack_client(self.slack.token, api_url=self.slack.api_url, pause=lambda _seconds: None)
        self.thread = self.client.chat_postMessage(channel=CHANNEL, text="the report")["ts"]

    def ask(self, do, *, user=MEMBER, request=None, place=True, volume=NAME, plan=None, digest=None, **entered):
        """Asks by a button in the thread, or from elsewhere as `place` says."""
        self.asked += 1
        there = {"channel": CHANNEL, "thread": self.thread} if place is True else place
        asked = SlackRequest.model_validate(
            {
                "id": request or f"request-{self.asked}",
                "team": TEAM,
                "user": user,
                "do": do,
                "volume": None if do in {"audit", "savings"} else volume,
                "plan": plan,
                "digest": digest,
                "entered": entered,
                **there,
            }
        )
        act(self.service, asked, self.client, members=self.members, request="the-request")
        return asked

    def typed(self):
        """Where the answer to a typed command goes, and what came there."""
        url = self.slack.response_url()
        return {"channel": CHANNEL, "response_url": url}, lambda: [told(one) for one in self.slack.there.responses[url]]

    def view(self):
        """Where the answer to what opened a view goes, and what the view shows."""
        view = {
            "type": "modal",
            "title": {"type": "plain_text", "text": "Explain"},
            "blocks": [{"type": "divider"}],
        }
        found = self.client.views_open(trigger_id=self.slack.trigger(), view=view)["view"]["id"]
        return {"view": found}, lambda: self.slack.there.views[found].view

    @property
    def replies(self):
        """What stands in the thread, in words."""
        return [told(one.json) for one in self.slack.there.in_thread(self.thread)]

    @property
    def quietly(self):
        """What somebody alone was told in the channel."""
        return [told(one.json) for one in self.slack.there.ephemerals]

    def decisions(self, volume_id=VOLUME):
        return self.service.history.decided.get((*PLACE.split("/"), volume_id), {})

    def begun(self, kind):
        return {name: given for (one, name), given in self.service.executions.begun.items() if one == kind}

    def stored(self, key):
        content = self.service.store.get(key)
        return None if content is None else json.loads(content)


def told(payload):
    """What a message's blocks say, people and channels as their ids."""

    def parts(value):
        if isinstance(value, dict):
            if "user_id" in value or "channel_id" in value:
                yield f"@{value.get('user_id') or value['channel_id']}"
            if isinstance(value.get("text"), str):
                yield value["text"]
            for inner in value.values():
                yield from parts(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from parts(inner)

    return "".join(parts(payload["blocks"]))


@contextmanager
def a_workplace(folder, *given, slack=SLACK, **config):
    """A workplace with those volumes, one by default."""
    places = places_of([*given] or [a_volume()])
    with FakeSlack(pace_s=0) as there:
        yield Workplace(service=service_of(places, folder, slack=slack, **config), slack=there)
