"""Done: somebody says that a volume was changed as recommended, and the next audit checks it."""

from typing import Final

from plimsoll.model.people import DecisionKind
from plimsoll_service.slack.actions.action import ActionContext, ActionPlace, SlackAction, Words, keep_decision

_WORDS: Final = Words(
    verb="says that this change is made:",
    state="reported as done",
    follows="The next audit checks it. If the change is not there, it is reported as new again.",
)


def _perform(work: ActionContext) -> None:
    keep_decision(work, work.decision(DecisionKind.DONE), _WORDS)


DONE_ACTION: Final = SlackAction(name="done", label="Done", shown=ActionPlace.MENU, perform=_perform)
