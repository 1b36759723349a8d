"""The registry of actions: one row each. Buttons, menus, dialogs, words and the worker all read it."""

from collections.abc import Mapping
from typing import Final

from plimsoll_service.slack.actions.action import ActionPlace, SlackAction
from plimsoll_service.slack.actions.audit import AUDIT_ACTION
from plimsoll_service.slack.actions.changes import CHANGES_ACTION
from plimsoll_service.slack.actions.done import DONE_ACTION
from plimsoll_service.slack.actions.exclude import EXCLUDE_ACTION
from plimsoll_service.slack.actions.explain import EXPLAIN_ACTION
from plimsoll_service.slack.actions.include import INCLUDE_ACTION
from plimsoll_service.slack.actions.plan_words import PLAN_WORDS
from plimsoll_service.slack.actions.probe import PROBE_ACTION
from plimsoll_service.slack.actions.savings import SAVINGS_ACTION
from plimsoll_service.slack.actions.snooze import SNOOZE_ACTION
from plimsoll_service.slack.actions.validate import VALIDATE_ACTION
from plimsoll_service.slack.blocks.elements import Control

ACTIONS: Final[Mapping[str, SlackAction]] = {
    action.name: action
    for action in (
        SAVINGS_ACTION,
        EXPLAIN_ACTION,
        VALIDATE_ACTION,
        PROBE_ACTION,
        SNOOZE_ACTION,
        DONE_ACTION,
        EXCLUDE_ACTION,
        INCLUDE_ACTION,
        AUDIT_ACTION,
        CHANGES_ACTION,
        *PLAN_WORDS,
    )
}
"""Every action by its name, in the order in which people see them."""


def offer_controls(at_most: str = "the service's limit") -> tuple[Control, ...]:
    """The buttons of a volume and the lines of its menu; `at_most` is what one of them may spend."""
    return tuple(
        Control(
            action=action.name,
            label=action.label,
            cost=action.cost.format(at_most=at_most),
            in_menu=action.shown is ActionPlace.MENU,
            unproved_only=action.unproved_only,
        )
        for action in ACTIONS.values()
        if action.shown is not ActionPlace.ELSEWHERE
    )


CONTROLS: Final = offer_controls()
"""The controls of reports that do not know the service's limit."""
