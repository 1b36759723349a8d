"""Each action is a row of one module and of the registry, which all read that shows or carries out actions."""

from importlib import import_module
from pkgutil import iter_modules

from plimsoll_service.slack import actions
from plimsoll_service.slack.actions.action import ActionPlace, SlackAction
from plimsoll_service.slack.actions.asked import Origin
from plimsoll_service.slack.actions.plan_words import PLAN_WORDS
from plimsoll_service.slack.actions.registry import ACTIONS, CONTROLS, offer_controls
from plimsoll_service.slack.blocks.elements import controls
from plimsoll_service.slack.blocks.message import SlackMessage
from plimsoll_service.slack.requests.payloads import HELP
from tests.slack.limits import check_message, check_view

from .asking import a_workplace

VOLUME = "111122223333/eu-west-1/vol-0123456789abcdef0"


def test_every_module_with_an_action_has_its_row():
    modules = [import_module(f"{actions.__name__}.{one.name}") for one in iter_modules(actions.__path__)]
    found = {
        action.name: module.__name__.rpartition(".")[2]
        for module in modules
        for value in vars(module).values()
        for action in (value if isinstance(value, tuple) else (value,))
        if isinstance(action, SlackAction) and action.perform.__module__ == module.__name__
    }
    of_plans = {word.name for word in PLAN_WORDS}
    assert found == {name: "plan_words" if name in of_plans else name for name in ACTIONS}


def test_every_action_can_be_found_by_people():
    offered = {one.action for one in CONTROLS}
    for action in ACTIONS.values():
        assert action.command or action in PLAN_WORDS or action.name in offered, action.name  # test_plans.py
        assert (action.name in offered) == (action.shown is not ActionPlace.ELSEWHERE)
        assert (f"/plimsoll {action.name}" in HELP) == bool(action.command)


def test_the_controls_of_a_volume_are_two_buttons_and_a_menu_that_slack_takes():
    (row,) = controls(VOLUME, CONTROLS)
    check_message(SlackMessage.compose("controls", [row]).payload)
    assert [one["type"] for one in row["elements"]] == ["button", "button", "overflow"]


def test_every_dialog_is_one_that_slack_takes():
    for action in ACTIONS.values():
        if action.dialog is not None:
            view = action.dialog(Origin(volume=VOLUME))
            check_view(view)
            assert view["callback_id"] == action.name


def test_a_button_that_makes_volumes_asks_first_and_says_what_it_may_cost(tmp_path):
    with a_workplace(tmp_path) as workplace:
        for action in ACTIONS.values():
            if action.shown is not ActionPlace.ELSEWHERE and action.dialog is None:
                workplace.ask(action.name, request=action.name)
        spending = {execution.removeprefix("slack-") for execution in workplace.begun("validation")}
    (row,) = controls(VOLUME, offer_controls("$7.00"))
    asking = {element["action_id"]: element["confirm"] for element in row["elements"] if "confirm" in element}
    assert set(asking) == spending == {"validate"}
    assert "$7.00" in asking["validate"]["text"]["text"]
    assert not any(control.cost for control in CONTROLS if control.in_menu), "a menu asks for all of its lines or none"
