"""Validate: measure what is recommended for a volume; the verdict is posted when the measurement has ended."""

from typing import Final

from plimsoll.model.errors import AccessDenied, BadInput, CloudError
from plimsoll.model.people import Decision, DecisionKind
from plimsoll_service.slack.actions.action import (
    ActionContext,
    ActionPlace,
    SlackAction,
    decided_volume,
    prior_decision,
    prior_paragraph,
    volume_words,
)
from plimsoll_service.slack.actions.answers import person_paragraph, plain_message
from plimsoll_service.slack.blocks.elements import note, paragraph, place
from plimsoll_service.slack.blocks.message import SlackMessage

_STATE: Final = "asked to be measured"


def _perform(work: ActionContext) -> None:
    """Begins the measurement and says so. Raises BadInput if nothing can be measured, or there is no such volume."""
    decision = work.decision(DecisionKind.VALIDATE)
    target, _volume_id = work.place(decided_volume(decision))
    why = work.unmeasured(target)
    if why is not None:
        raise BadInput(why)
    if not _begin_measurement(work, decision):
        work.answers.to_all(_prior_measurement(prior_decision(work, decision)))
        return
    message = _measuring(work, decision)
    if work.asked.from_thread is not None:
        work.answers.to_all(message)
        return
    try:
        channel, thread = _post_somewhere(work, message)
    except CloudError as error:  # it is begun all the same, and who thinks it is not asks again and pays twice
        text = "The measurement has begun. Only you will get its result, because no channel could be posted to: "
        work.answers.to_asker(plain_message(f"{text}{error}"))
        return
    work.keep_asker(work.asked.model_copy(update={"channel": channel, "thread": thread}), replace=True)
    if channel != work.asked.channel:
        sentence = paragraph("The measurement is begun. Its result comes to ", place(channel))
        work.answers.to_asker(SlackMessage.compose("The measurement is begun", [sentence]))


def _begin_measurement(work: ActionContext, decision: Decision) -> bool:
    """Begins a measurement; False if the same request began one before.

    The asker is kept first, so that the measurement cannot end before its answer has an address. The decision is kept
    last, so that the next attempt goes on after one that broke off in between.
    """
    work.keep_asker(work.asked, replace=False)
    work.begin("validation", {"volume_id": decided_volume(decision)})
    return work.history.decide(decision)


def _post_somewhere(work: ActionContext, message: SlackMessage) -> tuple[str, str]:
    """Posts where the request came from, or to the service's channel if the app may not; returns channel and thread."""
    default = work.slack.channel
    channel = work.asked.channel or default
    try:
        return channel, work.answers.post(message, channel)
    except AccessDenied:
        if channel == default:
            raise
        return default, work.answers.post(message, default)


def _measuring(work: ActionContext, decision: Decision) -> SlackMessage:
    sentence = person_paragraph(
        work.asked.user, "asked for a measurement of ", *volume_words(decision), ": can the recommended size carry it?"
    )
    details = f"A measurement takes about {work.minutes} minutes and costs at most ${work.max_usd:,.2f}."
    return SlackMessage.compose(
        f"A measurement of {decision.volume_id} is begun", [sentence, note(f"{details} The result comes here.")]
    )


def _prior_measurement(prior: Decision) -> SlackMessage:
    again = f"The result comes here, or has come. /plimsoll validate {decided_volume(prior)} measures again."
    return SlackMessage.compose(
        f"{prior.volume_id} is being measured, or was", [prior_paragraph(prior, _STATE), note(again)]
    )


VALIDATE_ACTION: Final = SlackAction(
    name="validate",
    label="Validate",
    shown=ActionPlace.BUTTON,
    command="measure what is recommended for a volume",
    unproved_only=True,
    cost="It makes volumes that cost at most {at_most}.",
    perform=_perform,
)
