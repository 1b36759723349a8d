"""Audit: the whole scope is audited now."""

from typing import Final

from plimsoll.slack.actions.action import Action, Work
from plimsoll.slack.actions.answers import by
from plimsoll.slack.blocks.elements import note
from plimsoll.slack.blocks.message import Message


def _perform(work: Work) -> None:
    begun = work.begin("audit", {})
    text = "began an audit. " if begun else "asked for this audit before; it was begun. "
    told = by(work.asked.user, text, "Its report comes to the channels when it has ended.")
    waits = work.service.config.when_busy == "wait"
    beside = "waits until that has ended" if waits else "stops, and only the other's report comes"
    more = f"If another audit is under way, this one {beside}. If it fails, the service's alarms say so."
    work.answers.to_all(Message.of("An audit is begun", [told, note(more)]))


AUDIT: Final = Action(name="audit", command="audit everything now", of_volume=False, perform=_perform)
