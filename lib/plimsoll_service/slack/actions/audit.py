"""Audit: the whole scope is audited now."""

from typing import Final

from plimsoll_service.slack.actions.action import ActionContext, SlackAction
from plimsoll_service.slack.actions.answers import person_paragraph
from plimsoll_service.slack.blocks.elements import note
from plimsoll_service.slack.blocks.message import SlackMessage


def _perform(work: ActionContext) -> None:
    begun = work.begin("audit", {})
    text = "began an audit. " if begun else "asked for this audit before; it was begun. "
    sentence = person_paragraph(work.asked.user, text, "Its report comes to the channels when it has ended.")
    beside = "waits until that has ended" if work.audits_wait else "stops, and only the other's report comes"
    details = f"If another audit is under way, this one {beside}. If it fails, the service's alarms say so."
    work.answers.to_all(SlackMessage.compose("An audit is begun", [sentence, note(details)]))


AUDIT_ACTION: Final = SlackAction(name="audit", command="audit everything now", of_volume=False, perform=_perform)
