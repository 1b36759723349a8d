"""Savings: what the last audit found, in a few lines."""

from typing import Final

from plimsoll_service.slack.actions.action import ActionContext, SlackAction


def _perform(work: ActionContext) -> None:
    work.answers.to_all(work.savings())


SAVINGS_ACTION: Final = SlackAction(
    name="savings", command="what the last audit found", of_volume=False, perform=_perform
)
