"""Savings: what the last audit found, in a few lines."""

from typing import Final

from plimsoll.slack.actions.action import Action, Work


def _perform(work: Work) -> None:
    work.answers.to_all(work.savings())


SAVINGS: Final = Action(name="savings", command="what the last audit found", of_volume=False, perform=_perform)
