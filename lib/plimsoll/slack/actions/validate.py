"""Validate: measure what is recommended for a volume; the verdict is posted when the measurement has ended."""

from typing import Final

from plimsoll.domain.errors import AccessDenied, BadInput, CloudError
from plimsoll.domain.people_decisions import Decision, DecisionKind
from plimsoll.slack.actions.action import Action, Shown, Work, decided_before, full_name, kept, named
from plimsoll.slack.actions.answers import by, plain
from plimsoll.slack.blocks.elements import note, place, said
from plimsoll.slack.blocks.message import Message

_STATE: Final = "asked to be measured"


def _perform(work: Work) -> None:
    """Begins the measurement and says so. BadInput where nothing can be measured, or there is no such volume."""
    from plimsoll.service.service import unmeasured  # noqa: PLC0415  # the function in front shows the button alone

    decision = work.decision(DecisionKind.VALIDATE)
    target, _volume_id = work.place(full_name(decision))
    why = unmeasured(target)
    if why is not None:
        raise BadInput(why)
    if not _begun(work, decision):
        work.answers.to_all(_measured_before(kept(work, decision)))
        return
    message = _measuring(work, decision)
    if work.asked.from_thread is not None:
        work.answers.to_all(message)
        return
    try:
        channel, thread = _posted(work, message)
    except CloudError as error:  # it is begun all the same, and who thinks it is not asks again and pays twice
        text = "The measurement is begun. Its result comes to you alone, because no channel could be told: "
        work.answers.to_asker(plain(f"{text}{error}"))
        return
    work.keep_asked(work.asked.model_copy(update={"channel": channel, "thread": thread}), replace=True)
    if channel != work.asked.channel:
        told = said("The measurement is begun. Its result comes to ", place(channel))
        work.answers.to_asker(Message.of("The measurement is begun", [told]))


def _begun(work: Work, decision: Decision) -> bool:
    """Begins a measurement; False where the same request began one before.

    The asker is kept first, so that the measurement cannot end before its answer has an address. The decision is kept
    last, so that the next attempt goes on after one that broke off in between.
    """
    work.keep_asked(work.asked, replace=False)
    work.begin("validation", {"volume_id": full_name(decision)})
    return work.service.history.decide(decision)


def _posted(work: Work, message: Message) -> tuple[str, str]:
    """Posts where the request came from, or to the service's channel where the app may not; the channel and thread."""
    own = work.slack.channel
    channel = work.asked.channel or own
    try:
        return channel, work.answers.post(message, channel)
    except AccessDenied:
        if channel == own:
            raise
        return own, work.answers.post(message, own)


def _measuring(work: Work, decision: Decision) -> Message:
    told = by(work.asked.user, "asked for a measurement of ", *named(decision), ": can the recommended size carry it?")
    max_usd = work.service.config.validation.max_usd
    more = f"A measurement takes about {work.minutes} minutes and costs at most ${max_usd:,.2f}."
    return Message.of(f"A measurement of {decision.volume_id} is begun", [told, note(f"{more} The result comes here.")])


def _measured_before(prior: Decision) -> Message:
    again = f"The result comes here, or has come. /plimsoll validate {full_name(prior)} measures again."
    return Message.of(f"{prior.volume_id} is being measured, or was", [decided_before(prior, _STATE), note(again)])


VALIDATE: Final = Action(
    name="validate",
    label="Validate",
    shown=Shown.BUTTON,
    command="measure what is recommended for a volume",
    unproved_only=True,
    perform=_perform,
)
