"""Include: audits take a volume in again that somebody excluded."""

from typing import Final

from plimsoll.model.people import DecisionKind, find_holding
from plimsoll_service.slack.actions.action import ActionContext, SlackAction, Words, keep_decision
from plimsoll_service.slack.actions.answers import plain_message

_WORDS: Final = Words(
    verb="included this volume in audits again:",
    state="included in audits again",
    follows="The next audit reports it.",
)


def _perform(work: ActionContext) -> None:
    """Keeps nothing about a volume that nobody excluded: any name can be typed, and nothing follows from it."""
    decision = work.decision(DecisionKind.INCLUDE)
    decisions = work.decisions(decision)
    if find_holding(decisions).excluded is None and all(earlier.id != decision.id for earlier in decisions):
        work.answers.to_all(
            plain_message(f"Nobody has excluded {decision.volume_id}: audits follow the policy for it.")
        )
        return
    keep_decision(work, decision, _WORDS)


INCLUDE_ACTION: Final = SlackAction(
    name="include",
    label="Audit it again",
    command='audit it again, where somebody pressed "Not this volume"',
    perform=_perform,
)
