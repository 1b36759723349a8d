"""News of changes in Slack: one message to each channel of the plan's volumes, with the buttons that count."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from plimsoll.model.errors import AccessDenied, BadInput, CloudError, Unanswered
from plimsoll.ports import Target
from plimsoll_change.ledger import PLAN_ROW, Fact, FactKind
from plimsoll_service.change_plans import read_halts
from plimsoll_service.events import ChangesProgressed
from plimsoll_service.slack.notifications.change_posts import describe_news, post_news
from tests.functions.changing import Changing
from tests.golden import assert_golden
from tests.slack.limits import check_message
from tests.slack.workspace import CHANNEL
from tests.unit.change.memory import a_line, a_verdict
from tests.unit.service.slack.blocks.said import pressed, said
from tests.unit.service.slack.notifications.channels import DATA, OTHER_ACCOUNT, SHOP, a_slack, slack_config

HARMED = a_verdict("worse", is_direct=True, slower_pct=31.2, stopped_minutes=40.0, hours_watched=26)
STOPS = "Stopped in 40 minutes beyond those of past weeks; 15 are allowed."


def a_worse_world(folder, *lines, slack=None):
    """A plan of which the first volume was harmed, after the pass that takes it back."""
    world = Changing(folder, *lines, slack=slack or slack_config())
    world.judge.told = {"vol-0001": replace(HARMED, text=STOPS)}
    world.say("ada", say="approve")
    while not world.events:
        world.execute()
        world.clock.pause(600)
    return world


def last_event(world):
    return ChangesProgressed.model_validate(world.events[-1])


def message_of(world, *, with_buttons=True):
    """The message of the latest event, as Slack takes it."""
    ledger = read_halts(world.service.change_facts, world.plan.id)
    message = describe_news(last_event(world), ledger, world.clock.now(), with_buttons=with_buttons)
    check_message(message.payload)
    return message


def post(world, client, holder="one"):
    service = replace(world.service, pause=lambda _seconds: None)
    return post_news(service, last_event(world), client, holder=holder)


def test_a_change_that_goes_back_is_said_with_its_reason_and_what_people_can_do(tmp_path):
    world = a_worse_world(tmp_path, a_line(1, name="orders-db"), a_line(2))
    message = message_of(world)
    assert_golden("slack-changes", f"{message.text}\n\n{said(message)}\n")
    assert pressed(message) == {"plan:run-1": ["go-on", "stop"]}


def test_buttons_are_there_for_who_may_press_and_where_they_count(tmp_path):
    world = a_worse_world(tmp_path)
    assert pressed(message_of(world, with_buttons=False)) == {}
    world.say("eve", say="stop")
    world.run(minutes=20)
    message = message_of(world)
    assert "The plan run-1 is stopped by eve" in said(message)
    assert pressed(message) == {}


def test_a_plan_that_is_judged_and_goes_on_can_only_be_stopped(tmp_path):
    world = Changing(tmp_path, *map(a_line, (1, 2, 3)), slack=slack_config())
    world.say("ada", say="approve")
    while not world.events:
        world.execute()
        world.clock.pause(600)
    message = message_of(world)
    assert "Wave 1 of io1 to gp3, hand: go on: nothing speaks against the canary." in said(message)
    assert "1 of 3 volumes changed, which saves $350 a month." in said(message)
    assert pressed(message) == {"plan:run-1": ["stop"]}


def test_a_paused_plan_says_so_with_the_button_that_lets_it_go_on(tmp_path):
    names = ["io1 to gp3, hand", "gp2 to gp3, hand", "st1 to gp3, hand"]
    lines = [a_line(number, change_class=name) for number, name in enumerate(names, start=1)]
    world = Changing(tmp_path, *lines, slack=slack_config())
    world.judge.told = {name: a_verdict("worse") for name in ("vol-0001", "vol-0002")}
    world.say("ada", say="approve")
    world.run(days=1)
    (event,) = [each for each in world.events if ("paused", "The plan run-1 is paused") in kinds(each)]
    ledger = read_halts(world.service.change_facts, world.plan.id)
    event = ChangesProgressed.model_validate(event)
    message = describe_news(event, ledger, world.clock.now(), with_buttons=True)
    assert "2 alarms by comparison. Nothing more begins until an approver lets it go on." in said(message)
    assert pressed(message) == {"plan:run-1": ["go-on", "stop"]}


def kinds(event):
    return [(news["kind"], news["title"]) for news in event["news"]]


def test_what_is_long_or_much_is_cut_and_counted_and_slack_takes_it(tmp_path):
    world = a_worse_world(tmp_path)
    (news, *_) = last_event(world).news
    long = news.model_copy(update={"title": "\x01\\" * 200, "text": '"\U0001f4be' * 200, "todo": "x" * 500})
    event = last_event(world).model_copy(update={"news": [long] * 50, "news_total": 73})
    ledger = read_halts(world.service.change_facts, world.plan.id)
    message = describe_news(event, ledger, world.clock.now(), with_buttons=True)
    check_message(message.payload)
    assert "And 65 more" in said(message)


def test_each_channel_of_the_plans_volumes_is_told_once_and_no_other(tmp_path):
    lines = [
        a_line(1, tags={"team": "data"}),
        a_line(2, target=Target(account=OTHER_ACCOUNT, region="us-east-1"), owner="terraform payments-store"),
    ]
    routes = [
        {"channel": DATA, "tags": {"team": "data"}},
        {"channel": SHOP, "owners": ["payments-*"]},
        {"channel": "C0NOBODY", "accounts": ["999999999999"]},
    ]
    world = a_worse_world(tmp_path, *lines, slack=slack_config(*routes))
    with a_slack(DATA, SHOP) as (slack, client):
        for _ in range(2):
            assert post(world, client).channels == [CHANNEL, DATA, SHOP]
        assert [len(slack.there.in_channel(channel)) for channel in (CHANNEL, DATA, SHOP)] == [1, 1, 1]


def test_one_channel_that_fails_keeps_no_other_from_the_news_and_has_them_once_it_can(tmp_path):
    routes = [{"channel": DATA, "accounts": ["111122223333"]}, {"channel": SHOP, "accounts": ["111122223333"]}]
    world = a_worse_world(tmp_path, slack=slack_config(*routes))
    with a_slack(SHOP) as (slack, client):
        with pytest.raises(CloudError, match=f"the news run-1-.* did not reach every channel. {DATA}: ") as raised:
            post(world, client)
        assert isinstance(raised.value.__cause__, AccessDenied)
        slack.there.channels[DATA] = "data"
        assert post(world, client).channels == [CHANNEL, DATA, SHOP]
        assert [len(slack.there.in_channel(channel)) for channel in (CHANNEL, DATA, SHOP)] == [1, 1, 1]


def test_a_message_whose_answer_was_lost_is_not_sent_again(tmp_path):
    world = a_worse_world(tmp_path)
    with a_slack() as (slack, client):
        slack.fail("chat.postMessage", status=500)
        for _ in range(2):
            with pytest.raises(CloudError, match="where it is missing see /plimsoll changes run-1") as raised:
                post(world, client)
            assert isinstance(raised.value.__cause__, Unanswered)
        assert len(slack.there.in_channel()) <= 1


def test_two_functions_do_not_post_the_same_news_at_once(tmp_path):
    world = a_worse_world(tmp_path)
    now = world.clock.now()
    world.service.claims.claim(f"slack-changes/{last_event(world).id}", "other", now + timedelta(minutes=16), now)
    with a_slack() as (slack, client):
        posted = post(world, client)
        assert (posted.busy, posted.channels) == (True, [])
        assert slack.there.messages == []


def test_a_service_without_slack_and_a_plan_that_is_gone_say_so(tmp_path):
    world = a_worse_world(tmp_path)
    gone = last_event(world).model_copy(update={"plan": "never"})
    with a_slack() as (_, client):
        with pytest.raises(BadInput, match="there is no plan never"):
            post_news(world.service, gone, client, holder="one")
        world.service = replace(world.service, config=world.service.config.model_copy(update={"slack": None}))
        with pytest.raises(BadInput, match=r"slack\.channel"):
            post(world, client)


def test_a_press_of_go_on_in_the_news_is_about_what_they_say(tmp_path):
    world = a_worse_world(tmp_path)
    (row,) = [block for block in message_of(world).blocks if block["type"] == "actions"]
    values = {button["action_id"]: button["value"] for button in row["elements"]}
    assert values == {"go-on": f"{world.plan.digest}.1", "stop": world.plan.digest}
    ledger = read_halts(world.service.change_facts, world.plan.id)
    ledger.add(PLAN_ROW, Fact(kind=FactKind.PAUSED, at=world.clock.now(), text="2 alarms by comparison."))
    assert f"{world.plan.digest}.2" in json.dumps(message_of(world).payload)
