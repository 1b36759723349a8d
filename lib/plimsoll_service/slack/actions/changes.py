"""Changes: a plan of changes is shown, with the buttons by which people speak on it."""

from typing import Final

from plimsoll_service.slack.actions.action import ActionContext, SlackAction


def _perform(work: ActionContext) -> None:
    """Shows the plan. Raises BadInput if there is none of that name."""
    work.answers.to_all(work.show_plan(work.plan))


CHANGES_ACTION: Final = SlackAction(
    name="changes",
    command="show a plan of changes, to approve or stop it",
    of_volume=False,
    of_plan=True,
    repeats=True,
    perform=_perform,
)
