"""Explain: the story of a volume as it is now, in a view or a message."""

from collections.abc import Sequence
from typing import Final

from plimsoll_service.slack.actions.action import ActionContext, ActionPlace, SlackAction, VolumeExplanation
from plimsoll_service.slack.actions.asked import modal
from plimsoll_service.slack.blocks.elements import Block, paragraph
from plimsoll_service.slack.blocks.message import MessageBudget, SlackMessage

_MORE: Final = "There is more than Slack has room for: `plimsoll explain` shows all of it."


def _perform(work: ActionContext) -> None:
    explanation = work.explain(work.volume)
    blocks = explanation_blocks(explanation)
    if work.asked.view is not None:
        work.answers.show(modal("Explain", blocks))
        return
    text = f"The recommendation for {explanation.volume_id}, explained"
    work.answers.to_all(SlackMessage.compose(text, blocks))


def explanation_blocks(explanation: VolumeExplanation) -> Sequence[Block]:
    """The story in blocks, as much of it as a message takes. A line says so if there is more."""
    budget, end = MessageBudget(), paragraph(_MORE)
    budget.take([end])
    shown = budget.take_first([*explanation.story])
    return [*shown, *([end] if len(shown) < len(explanation.story) else [])]


EXPLAIN_ACTION: Final = SlackAction(
    name="explain",
    label="Explain",
    shown=ActionPlace.BUTTON,
    command="why a volume has its recommendation, or has none",
    reading="Reading {volume_id}: this takes some seconds.",
    repeats=True,
    perform=_perform,
)
