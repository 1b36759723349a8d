"""Approve: an approver's word for a plan of changes, as it was when its button was shown."""

from typing import Final

from plimsoll_service.slack.actions.action import ActionContext, SlackAction


def _perform(work: ActionContext) -> None:
    """Keeps the approval and says so. Raises BadInput if the asker cannot approve the plan."""
    work.answers.to_all(work.approve_plan(work.asked))


APPROVE_ACTION: Final = SlackAction(
    name="approve",
    label="Approve",
    of_volume=False,
    of_plan=True,
    cost="The service then changes the volumes of the plan, as it says.",
    perform=_perform,
)
