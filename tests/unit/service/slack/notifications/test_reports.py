"""Every channel is told of its part of a run, once however often it is tried, and no channel for another's fault."""

import json
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest
from slack_sdk import WebClient

from plimsoll.model.errors import AccessDenied, BadInput, CloudError, OutOfTime, Unreachable
from plimsoll.model.people import Decision, DecisionKind
from plimsoll.ports import Target
from plimsoll.reports.run_reader import stream_records
from plimsoll_service.slack.notifications.channels import quiet_of
from plimsoll_service.slack.notifications.run_report import post_run_report
from tests.builders import NOW
from tests.service_loop import files
from tests.slack.workspace import CHANNEL, ELSEWHERE, text_of
from tests.unit.service.places import ACCOUNT, places_of, service_of
from tests.unit.service.projects import THERE, both
from tests.unit.service.slack.notifications.channels import (
    DATA,
    OTHER_ACCOUNT,
    SHOP,
    a_slack,
    audited_anew,
    two_accounts,
)

PNG = b"\x89PNG, as far as anybody looks"


def draw(_draft):
    return PNG


def tell(service, slack, client, run_id="first", holder="one", **given):
    return post_run_report(
        replace(service, pause=slack.clock.pause), run_id, client, given.pop("draw", draw), holder=holder, **given
    )


def main_text(slack, channel=CHANNEL):
    (message,) = slack.there.in_channel(channel)
    return text_of({"text": message.text, "blocks": message.blocks})


def test_the_channel_of_the_whole_is_told_of_all_accounts_with_a_thread_and_pictures(audited):
    loop = audited()
    with a_slack() as (slack, client):
        told = tell(loop.service, slack, client)
        (main,) = slack.there.in_channel()
        assert told.channels == [CHANNEL]
        assert not told.troubles
        replies = slack.there.in_thread(main.ts)
        assert [
            account in text_of({"blocks": reply.blocks})
            for reply, account in zip(replies, (ACCOUNT, OTHER_ACCOUNT), strict=True)
        ] == [True, True]
        shown = {file.name: file for file in slack.there.files.values()}
        assert set(shown) == {"savings.png", "roofline.png"}
        assert all((file.thread_ts, file.channel, file.data) == (main.ts, CHANNEL, PNG) for file in shown.values())


def test_each_route_s_channel_is_told_of_its_part_alone(audited):
    loop = audited({"channel": DATA, "tags": {"team": "data"}}, {"channel": SHOP, "accounts": [ACCOUNT]})
    with a_slack(DATA, SHOP) as (slack, client):
        assert tell(loop.service, slack, client).channels == [CHANNEL, DATA, SHOP]
        for channel, theirs, others in ((DATA, OTHER_ACCOUNT, ACCOUNT), (SHOP, ACCOUNT, OTHER_ACCOUNT)):
            (main,) = slack.there.in_channel(channel)
            (reply,) = slack.there.in_thread(main.ts, channel)
            everything = json.dumps([main.blocks, reply.blocks])
            assert theirs in everything
            assert others not in everything
        assert "team=data" in main_text(slack, DATA)


def test_a_tag_that_the_policy_hides_routes_nothing_and_a_channel_without_a_volume_hears_nothing(tmp_path):
    loop = audited_anew(
        tmp_path, {"channel": DATA, "tags": {"team": "data"}}, given=two_accounts(), show_tags=("Name",)
    )
    with a_slack(DATA) as (slack, client):
        assert tell(loop.service, slack, client).channels == [CHANNEL]
        assert slack.there.in_channel(DATA) == []


def test_a_run_without_a_volume_is_told_to_the_channel_of_the_whole(tmp_path):
    loop = audited_anew(tmp_path, {"channel": DATA, "accounts": [ACCOUNT]})
    with a_slack(DATA) as (slack, client):
        assert tell(loop.service, slack, client).channels == [CHANNEL]
        assert not slack.there.files


def test_what_is_new_is_marked_in_the_first_run_and_not_in_the_next(audited):
    loop = audited()
    loop.run("next")
    with a_slack() as (slack, client):
        tell(loop.service, slack, client)
        tell(loop.service, slack, client, "next")
        first, again = (text_of({"blocks": message.blocks}).lower() for message in slack.there.in_channel())
        assert first.count("new") > again.count("new")


def test_a_channel_is_told_what_plimsoll_is_in_its_first_report_alone_and_what_a_measurement_may_cost(audited):
    loop = audited({"channel": DATA, "tags": {"team": "data"}})
    loop.run("next")
    with a_slack(DATA) as (slack, client):
        for run_id in ("first", "next"):
            tell(loop.service, slack, client, run_id)
        for channel in (CHANNEL, DATA):
            first, later = (json.dumps(message.blocks) for message in slack.there.in_channel(channel))
            assert "Plimsoll compares" in first
            assert "Plimsoll compares" not in later
        assert "at most $5.00." in first + later


def test_what_is_snoozed_is_counted_and_not_listed(audited):
    loop = audited()
    with a_slack() as (slack, client):
        tell(loop.service, slack, client)
        decision = Decision(
            id="snooze-1",
            account=ACCOUNT,
            region="us-east-1",
            volume_id="vol-us-east-1-000",
            kind=DecisionKind.SNOOZE,
            by="slack:T0/U0",
            at=NOW,
            until=(NOW + timedelta(days=7)).date(),
        )
        assert loop.service.history.decide(decision)
        loop.run("next")
        tell(loop.service, slack, client, "next")
        before, after = (json.dumps(message.blocks) for message in slack.there.in_channel())
        named = f"volume:{ACCOUNT}/us-east-1/vol-us-east-1-000"
        assert named in before
        assert named not in after
        assert f"volume:{ACCOUNT}/us-east-1/vol-us-east-1-001" in after


def test_a_snooze_that_a_change_has_ended_hides_nothing(audited):
    loop = audited()
    target = Target(account=ACCOUNT, region="us-east-1")
    history, name = loop.service.history, "vol-us-east-1-000"
    said = {"account": ACCOUNT, "region": target.region, "volume_id": name, "by": "slack:T0/U0", "at": NOW}
    snooze = Decision(id="s", kind=DecisionKind.SNOOZE, until=(NOW + timedelta(days=90)).date(), **said)
    assert history.decide(snooze)
    parts = [one for one in stream_records(files(loop.service, "first")) if one.volume_id == name]
    assert quiet_of(parts, history, NOW) == {f"{target}/{name}"}
    entry = history.entries(target, [name])[name]
    history.write([replace(entry, done_on=(NOW + timedelta(days=1)).date())])
    assert quiet_of(parts, history, NOW + timedelta(days=2)) == set()


def test_what_was_excluded_while_the_audit_was_under_way_is_not_listed(audited):
    loop = audited()
    said = {"account": ACCOUNT, "region": "us-east-1", "volume_id": "vol-us-east-1-000", "by": "slack:T0/U0"}
    assert loop.service.history.decide(Decision(id="x", kind=DecisionKind.EXCLUDE, at=NOW, **said))
    with a_slack() as (slack, client):
        tell(loop.service, slack, client)
        (main,) = slack.there.in_channel()
        assert f"volume:{ACCOUNT}/us-east-1/vol-us-east-1-000" not in json.dumps(main.blocks)
        assert "1 volume that somebody" in main_text(slack)


def test_buttons_are_there_only_where_somebody_may_press_them(audited):
    with a_slack() as (slack, client):
        tell(audited().service, slack, client)
        tell(audited(user_groups=[]).service, slack, client)
        acting, reading = (json.dumps(message.blocks) for message in slack.there.in_channel())
        assert '"validate"' in acting or '"snooze"' in acting
        assert "snooze" not in reading


def test_the_report_is_linked_where_a_browser_can_open_it(audited):
    loop = audited()
    service = replace(loop.service, file_link=lambda key: f"https://console.example.com/{key}")
    with a_slack() as (slack, client):
        tell(service, slack, client)
        (main,) = slack.there.in_channel()
        assert "https://console.example.com/reports/first/report.html" in json.dumps(main.blocks)


# ---- once


def everything(slack):
    return len(slack.there.messages), len([file for file in slack.there.files.values() if file.thread_ts])


def test_told_twice_is_posted_once(audited):
    loop = audited({"channel": DATA, "accounts": [ACCOUNT]})
    with a_slack(DATA) as (slack, client):
        once = tell(loop.service, slack, client)
        posted = everything(slack)
        assert tell(loop.service, slack, client, holder="two") == once
        assert everything(slack) == posted


def test_while_one_tells_another_leaves_it_to_them(audited):
    loop = audited()
    with a_slack() as (slack, client):
        busy = []

        def meanwhile(_draft):
            busy.append(tell(loop.service, slack, client, holder="two"))
            return PNG

        tell(loop.service, slack, client, draw=meanwhile)
        assert {(one.busy, tuple(one.channels)) for one in busy} == {(True, ())}
        assert len(slack.there.in_channel()) == 1
        assert not loop.service.claims.held


class Ended(BaseException):
    """The function was ended in the middle."""


def test_a_function_that_was_ended_goes_on_with_what_is_missing(audited):
    loop = audited({"channel": DATA, "accounts": [OTHER_ACCOUNT]})
    with a_slack(DATA) as (slack, client):

        def end():
            if slack.there.in_channel():
                raise Ended
            return False

        with pytest.raises(Ended):
            tell(loop.service, slack, client, stop=end)
        assert (len(slack.there.in_channel()), len(slack.there.in_channel(DATA))) == (1, 0)
        told = tell(loop.service, slack, client)
        assert told.channels == [CHANNEL, DATA]
        assert (len(slack.there.in_channel()), len(slack.there.in_channel(DATA))) == (1, 1)


def test_when_time_is_over_the_rest_is_left_to_the_next_try(audited):
    loop = audited({"channel": DATA, "accounts": [OTHER_ACCOUNT]})
    with a_slack(DATA) as (slack, client):
        with pytest.raises(OutOfTime, match="before all of the report was in"):
            tell(loop.service, slack, client, stop=lambda: bool(slack.there.in_channel()))
        assert tell(loop.service, slack, client).channels == [CHANNEL, DATA]
        assert len(slack.there.in_channel()) == 1


def test_time_is_looked_at_between_messages_and_no_message_is_doubtful_for_it(audited):
    loop = audited({"channel": DATA, "accounts": [OTHER_ACCOUNT]})
    with a_slack(DATA) as (slack, client):
        for least in range(1, 6):
            with suppress(OutOfTime):
                tell(loop.service, slack, client, stop=lambda most=least: len(slack.there.messages) >= most)
        told = tell(loop.service, slack, client)
        assert (told.channels, told.troubles) == ([CHANNEL, DATA], [])
        assert everything(slack) == (5, 3)


def killed_at(call, arrived, ask):
    """What calls Slack, until the process ends at that call: before it was sent, or before its answer was read."""
    left = [call]

    def asked(self, *args, **given):
        left[0] -= 1
        if left[0] == 0 and not arrived:
            raise Ended
        answer = ask(self, *args, **given)
        if left[0] == 0:
            raise Ended
        return answer

    return asked


def tried_again(loop, slack, client):
    """What the next try says is wrong."""
    try:
        return " ".join(tell(loop.service, slack, client).troubles)
    except CloudError as error:
        return str(error)


@pytest.mark.parametrize("arrived", [True, False])
@pytest.mark.parametrize("call", range(1, 8))
def test_ended_at_any_call_to_slack_nothing_stands_twice_and_what_may_be_missing_is_said(
    call, arrived, audited, monkeypatch
):
    loop = audited()
    with a_slack() as (slack, client):
        with monkeypatch.context() as ending:
            ending.setattr(WebClient, "api_call", killed_at(call, arrived, WebClient.api_call))
            with suppress(Ended):
                tell(loop.service, slack, client)
        wrong = tried_again(loop, slack, client)
        texts = [one.text for one in slack.there.messages]
        assert len(texts) == len(set(texts))
        assert len(texts) == 3 or "not known whether" in wrong
        shown = {one.name for one in slack.there.files.values() if one.thread_ts}
        assert shown == ({"savings.png", "roofline.png"} if texts[1:] else set()), "a picture may stand twice"


# ---- what goes wrong


def test_a_channel_that_cannot_be_told_keeps_no_other_from_it_and_is_told_once_it_can(audited):
    loop = audited({"channel": ELSEWHERE, "accounts": [ACCOUNT]}, {"channel": DATA, "accounts": [OTHER_ACCOUNT]})
    with a_slack(DATA) as (slack, client):
        with pytest.raises(CloudError, match=f"{ELSEWHERE}: .*/invite @plimsoll") as raised:
            tell(loop.service, slack, client)
        assert isinstance(raised.value.__cause__, AccessDenied)
        assert (len(slack.there.in_channel()), len(slack.there.in_channel(DATA))) == (1, 1)
        slack.there.channels[ELSEWHERE] = "elsewhere"
        assert tell(loop.service, slack, client).channels == [CHANNEL, ELSEWHERE, DATA]
        assert [len(slack.there.in_channel(one)) for one in (CHANNEL, ELSEWHERE, DATA)] == [1, 1, 1]


def test_every_channel_that_failed_is_named_and_no_secret(audited):
    loop = audited({"channel": ELSEWHERE, "accounts": [ACCOUNT]}, {"channel": SHOP, "accounts": [ACCOUNT]})
    with a_slack() as (slack, client), pytest.raises(CloudError) as raised:
        tell(loop.service, slack, client)
    assert ELSEWHERE in str(raised.value)
    assert SHOP in str(raised.value)
    assert slack.token not in str(raised.value)


def test_a_picture_that_cannot_be_drawn_or_shown_costs_itself_alone(audited):
    def broken(draft):
        if draft.profile is None:
            raise ValueError("no such font")
        return PNG

    loop = audited()
    with a_slack() as (slack, client):
        assert tell(loop.service, slack, client, draw=broken).channels == [CHANNEL]
        assert [file.name for file in slack.there.files.values()] == ["roofline.png"]
    with a_slack() as (slack, client):
        slack.fail("files.completeUploadExternal", error="file_uploads_disabled")
        loop.run("next")
        told = tell(loop.service, slack, client, "next")
        assert "file_uploads_disabled" in told.troubles[0]
        assert len(slack.there.in_channel()) == 1


def test_a_history_that_cannot_be_read_is_said_and_the_next_try_tells(audited):
    loop = audited()

    class Locked:
        def decisions(self, _target, _ids):
            raise Unreachable("no connection to the history.")

    with a_slack() as (slack, client):
        with pytest.raises(Unreachable, match="no connection"):
            tell(replace(loop.service, history=Locked()), slack, client)
        assert not loop.service.claims.held
        assert tell(loop.service, slack, client).channels == [CHANNEL]


def test_a_run_whose_work_has_gone_is_told_without_its_news_and_its_roofline(audited):
    loop = audited()
    for key in list(loop.service.store.keys("work/first/")):
        loop.service.store.delete(key)
    with a_slack() as (slack, client):
        assert tell(loop.service, slack, client).channels == [CHANNEL]
        assert [file.name for file in slack.there.files.values()] == ["savings.png"]


def test_a_run_that_was_never_reported_and_a_service_without_slack_say_so(audited, tmp_path):
    loop = audited()
    with a_slack() as (slack, client):
        with pytest.raises(BadInput, match="reports/nothing/run"):
            tell(loop.service, slack, client, "nothing")
        with pytest.raises(BadInput, match=r"slack\.channel"):
            tell(service_of(loop.service.places, tmp_path), slack, client)


def test_a_target_that_could_not_be_read_is_told_with_the_run(tmp_path):
    places = places_of(two_accounts())
    places.locked[Target(account=OTHER_ACCOUNT, region="us-east-1")] = AccessDenied("the role cannot be assumed.")
    loop = audited_anew(tmp_path, places=places)
    with a_slack() as (slack, client):
        tell(loop.service, slack, client)
        (main,) = slack.there.in_channel()
        said = text_of({"blocks": main.blocks})
        assert "partial" in said
        assert "the role cannot be assumed" in said


def test_the_channel_of_an_account_that_could_not_be_read_hears_that_and_no_other_account_s_does(tmp_path):
    places = places_of(two_accounts())
    places.locked[Target(account=OTHER_ACCOUNT, region="us-east-1")] = AccessDenied("the role cannot be assumed.")
    routes = [{"channel": DATA, "accounts": [OTHER_ACCOUNT]}, {"channel": SHOP, "owners": ["shop"]}]
    loop = audited_anew(tmp_path, *routes, places=places)
    with a_slack(DATA, SHOP) as (slack, client):
        assert tell(loop.service, slack, client).channels == [CHANNEL, DATA]
        assert "the role cannot be assumed" in main_text(slack, DATA)


def test_a_button_to_validate_is_there_only_where_the_service_can_measure(tmp_path):
    loop = audited_anew(tmp_path, places=both())
    with a_slack() as (slack, client):
        tell(loop.service, slack, client)
        (main,) = slack.there.in_channel()
    buttons = {
        block["block_id"]: {one["action_id"] for one in block["elements"]}
        for block in main.blocks
        if block.get("block_id", "").startswith("volume:")
    }
    there = {name: offered for name, offered in buttons.items() if f"volume:{THERE}/" in name}
    assert len(there) == 2
    assert len(buttons) == 4
    assert all("validate" not in offered and "explain" in offered for offered in there.values())
    assert all("validate" in offered for name, offered in buttons.items() if name not in there)
