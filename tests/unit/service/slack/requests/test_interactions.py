"""From buttons, dialogs and words to what is asked, and the dialogs themselves."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll_service.slack.actions.asked import Origin, SlackRequest, notice
from plimsoll_service.slack.actions.registry import ACTIONS
from plimsoll_service.slack.requests.payloads import (
    Pressed,
    Submitted,
    Typed,
    button_request,
    command_request,
    dialog_request,
    origin_of,
)
from plimsoll_service.slack.requests.signed import Refused
from tests.slack.limits import check_view
from tests.slack.signing import VOLUME, because, pressed, snoozed, submitted

TYPED = {"command": "/plimsoll", "team_id": "T0PLIMSOLL", "user_id": "U0ANNA", "channel_id": "D0DIRECT"}
ORIGIN = Origin(
    volume=VOLUME, channel="C0STORAGE", message="1.1", thread="1.0", response_url="https://hooks.slack.com/x"
)


def by_button(action_id, volume=VOLUME, **more):
    return button_request(Pressed.model_validate(pressed(action_id, volume, **more)))


def by_words(text, trigger_id="1.2.x"):
    return command_request(Typed.model_validate(TYPED | {"text": text, "trigger_id": trigger_id}))


def test_a_button_of_one_message_asks_one_thing_by_whomever():
    ben = {"id": "U0BEN", "team_id": "T0PLIMSOLL"}
    for do in ("validate", "done", "include"):
        assert by_button(do, ts="1.1").id == by_button(do, ts="1.1", user=ben).id


def test_what_differs_in_message_volume_or_action_is_asked_apart():
    other = VOLUME.replace("vol-0", "vol-1")
    asked = [
        by_button("validate", ts="1.1"),
        by_button("validate", ts="1.2"),
        by_button("validate", other, ts="1.1"),
        by_button("done", ts="1.1"),
        by_button("validate", ts="1.1", channel={"id": "C0OTHER"}),
    ]
    assert all(one.id != another.id for one, another in combinations(asked, 2))


def test_an_explanation_is_read_anew_each_time():
    assert by_button("explain", ts="1.1").id != by_button("explain", ts="1.1").id


def test_a_button_in_a_message_that_one_alone_sees_is_answered_where_it_was_shown():
    shown = {"type": "message", "message_ts": "9.9", "thread_ts": "1.0", "is_ephemeral": True}
    press = Pressed.model_validate(pressed("done", ts="9.9", container=shown))
    assert (origin_of(press).message, origin_of(press).thread) == (None, "1.0")
    without = Pressed.model_validate({**pressed("done"), "message": None, "container": {"is_ephemeral": True}})
    assert origin_of(without).thread is None
    assert button_request(without).channel == "C0STORAGE"


def test_each_dialog_asks_once():
    view = ACTIONS["snooze"].dialog(ORIGIN)
    once = dialog_request(Submitted.model_validate(submitted(view, snoozed(), view_id="V1")))
    again = dialog_request(Submitted.model_validate(submitted(view, snoozed(), view_id="V1")))
    other = dialog_request(Submitted.model_validate(submitted(view, snoozed(), view_id="V2")))
    assert once == again
    assert once.id != other.id
    assert (once.channel, once.thread, once.response_url) == (ORIGIN.channel, ORIGIN.thread, ORIGIN.response_url)


@given(reason=st.text(max_size=300))
def test_any_reason_comes_through_as_it_is_but_for_space_around_it(reason):
    asked = dialog_request(Submitted.model_validate(submitted(ACTIONS["exclude"].dialog(ORIGIN), because(reason))))
    assert asked.entered["reason"] in reason
    assert asked.entered["reason"].strip() == reason.strip()
    assert SlackRequest.model_validate_json(asked.model_dump_json()) == asked


@given(text=st.text(max_size=100))
def test_any_words_are_either_an_action_or_answered(text):
    found = by_words(text)
    assert isinstance(found, (SlackRequest, str))
    if isinstance(found, str) and text.strip():
        assert text not in found or text.strip() in found


def test_the_command_is_answered_where_it_was_typed():
    asked = by_words("validate vol-0abc")
    assert (asked.channel, asked.thread, asked.volume) == ("D0DIRECT", None, "vol-0abc")
    assert asked.id != by_words("validate vol-0abc", "3.4.y").id


@pytest.mark.parametrize(
    ("text", "volume"),
    [
        ("explain `VOL-0ABC`.", "vol-0abc"),
        ("explain ledger-db", "ledger-db"),
        ("explain “Orders DB  (old)”", "Orders DB (old)"),
        ("explain 111122223333/eu-west-1/Ledger", "111122223333/eu-west-1/Ledger"),
    ],
)
def test_a_typed_volume_is_an_id_or_a_name_as_it_is_written(text, volume):
    assert by_words(text).volume == volume


@pytest.mark.parametrize("text", ["explain", "explain vol-0abc vol-0def", 'explain ""', f"explain {'x' * 500}"])
def test_what_names_no_volume_or_two_is_answered_at_once(text):
    assert isinstance(by_words(text), str)


def test_every_dialog_keeps_to_the_limits_of_slack():
    longest = Origin(
        volume=f"111122223333/eu-{'a' * 200}-1/vol-{'0' * 32}",
        channel="C" + "0" * 20,
        message="1700000000.000100",
        thread="1700000000.000100",
        response_url="https://hooks.slack.com/actions/" + "x" * 1000,
    )
    for origin in (ORIGIN, longest, Origin(volume="vol-1")):
        for action in ACTIONS.values():
            if action.dialog is not None:
                check_view(action.dialog(origin))
    check_view(notice("x" * 3000))


def test_a_line_of_the_menu_asks_what_its_button_would():
    menu = {
        "type": "overflow",
        "action_id": "menu",
        "block_id": f"volume:{VOLUME}",
        "selected_option": {"value": "done"},
    }
    chosen = button_request(Pressed.model_validate(pressed("menu", ts="1.1", actions=[menu])))
    assert chosen == by_button("done", ts="1.1")


def test_a_button_with_no_volume_is_refused():
    action = {"action_id": "done", "block_id": "abc"}
    with pytest.raises(Refused, match="names no volume"):
        origin_of(Pressed.model_validate({**pressed("done"), "actions": [action]}))
