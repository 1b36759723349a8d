"""The registry of actions: one row each. Buttons, menus, dialogs, words and the worker all read it."""

from collections.abc import Mapping
from typing import Final

from plimsoll.slack.actions.action import Action, Shown
from plimsoll.slack.actions.audit import AUDIT
from plimsoll.slack.actions.done import DONE
from plimsoll.slack.actions.exclude import EXCLUDE
from plimsoll.slack.actions.explain import EXPLAIN
from plimsoll.slack.actions.include import INCLUDE
from plimsoll.slack.actions.probe import PROBE
from plimsoll.slack.actions.savings import SAVINGS
from plimsoll.slack.actions.snooze import SNOOZE
from plimsoll.slack.actions.validate import VALIDATE
from plimsoll.slack.blocks.elements import Control

ACTIONS: Final[Mapping[str, Action]] = {
    one.name: one for one in (SAVINGS, EXPLAIN, VALIDATE, PROBE, SNOOZE, DONE, EXCLUDE, INCLUDE, AUDIT)
}
"""Every action by its name, in the order in which people see them."""

CONTROLS: Final = tuple(
    Control(action=one.name, label=one.label, in_menu=one.shown is Shown.MENU, unproved_only=one.unproved_only)
    for one in ACTIONS.values()
    if one.shown is not Shown.ELSEWHERE
)
"""The buttons of a volume and the lines of its menu."""
