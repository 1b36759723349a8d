"""Done: somebody says that a volume was changed as recommended, and the next audit checks it."""

from typing import Final

from plimsoll.domain.people_decisions import DecisionKind
from plimsoll.slack.actions.action import Action, Shown, Words, Work, decide

_WORDS: Final = Words(
    verb="says that this change is made:",
    state="reported as done",
    follows="The next audit checks it. If the change is not there, it is reported as new again.",
)


def _perform(work: Work) -> None:
    decide(work, work.decision(DecisionKind.DONE), _WORDS)


DONE: Final = Action(name="done", label="Done", shown=Shown.MENU, perform=_perform)
