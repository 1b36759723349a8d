"""Words: what is answered, as messages. People and volumes stand in rich text, where no name or reason is markup."""

from typing import Final

from plimsoll.clouds.targets import named_target
from plimsoll.domain.decisions import Decision, DecisionKind
from plimsoll.ports import Target
from plimsoll.reports.wording import usd
from plimsoll.slack.blocks.elements import Block, Part, Said, bold, buttons, note, person, place, said
from plimsoll.slack.blocks.message import Message

REFUSED: Final = (
    "Only members of certain user groups may ask Plimsoll for something here, and you are in none of them. Ask whoever "
    "looks after Plimsoll to take you in; that holds within five minutes."
)

_SAID: Final = {
    DecisionKind.SNOOZE: "snoozed",
    DecisionKind.DONE: "said to be done",
    DecisionKind.EXCLUDE: "left out of audits",
    DecisionKind.INCLUDE: "taken into audits again",
    DecisionKind.VALIDATE: "asked to be measured",
}
"""What became of a volume by what somebody said."""

_VERBS: Final = {
    DecisionKind.SNOOZE: "snoozed",
    DecisionKind.DONE: "says that this is done:",
    DecisionKind.EXCLUDE: "left this volume out of audits:",
    DecisionKind.INCLUDE: "takes this volume into audits again:",
    DecisionKind.VALIDATE: "asked for a measurement of",
}
"""What somebody does by saying it; the volume follows."""


def plain(text: str) -> Message:
    """A sentence or two."""
    return Message.of(text, [said(text)])


def failed(request: str) -> Message:
    """That something went wrong which nobody thought of; the log has it under the request's id."""
    return plain(f"Something went wrong, and this was not done. The service's log says what, under {request}.")


def by(user: str, *parts: Part) -> Block:
    """A paragraph that begins with somebody, by Slack's id."""
    return said(person(user), " ", *parts)


def decided(user: str, decision: Decision) -> Message:
    """What somebody has decided of a volume, and what follows from it."""
    end = f" until {decision.until}" if decision.until is not None else ""
    reason = f": {' '.join(decision.reason.split())}" if decision.reason.strip() else "."
    told = by(user, f"{_VERBS[decision.kind]} ", *_volume(decision), f"{end}{reason}")
    blocks = [told, note(_follows(decision))]
    if decision.kind is DecisionKind.EXCLUDE:
        blocks += buttons(name_of(decision), ("include",))
    return Message.of(f"{decision.volume_id} is {_SAID[decision.kind]}{end}", blocks)


def decided_before(prior: Decision) -> Message:
    """That somebody has decided the same before."""
    text = f"{prior.volume_id} was {_SAID[prior.kind]} before: nothing is done twice."
    return Message.of(text, [_before(prior)])


def was_never_left_out(decision: Decision) -> Message:
    """That there is nothing to take in again."""
    return plain(f"{decision.volume_id} is not left out by anybody here: audits answer of it as the policy has it.")


def measuring(user: str, decision: Decision, minutes: int, max_usd: float) -> Message:
    """That a measurement is begun, how long one takes, and what it may cost."""
    told = by(user, f"{_VERBS[decision.kind]} ", *_volume(decision), ": whether what is recommended carries its work.")
    more = f"A measurement takes about {minutes} minutes, and this costs at most {usd(max_usd)}. The result comes here."
    return Message.of(f"A measurement of {decision.volume_id} is begun", [told, note(more)])


def measuring_before(prior: Decision) -> Message:
    """That the same measurement was begun before, and how to have another."""
    again = f"The result comes here, or has come. /plimsoll validate {name_of(prior)} measures again."
    return Message.of(f"{prior.volume_id} is being measured, or was", [_before(prior), note(again)])


def measuring_elsewhere(channel: str) -> Message:
    """Where the result of a measurement will be."""
    told = said("The measurement is begun. It and its result are told in ", place(channel))
    return Message.of("The measurement is begun", [told])


def measuring_alone(why: str) -> Message:
    """That the result of a measurement is told to whoever asked alone, and why."""
    return plain(f"The measurement is begun. Its result comes to you alone, since no channel can be told of it: {why}")


def auditing(user: str, begun: bool, *, waits: bool) -> Message:
    """That an audit is begun, or was by the same request, and what becomes of it beside another (`waits` for it)."""
    text = "began an audit. " if begun else "asked for this audit before; it was begun. "
    told = by(user, text, "Its report comes to the channels as soon as it has ended.")
    beside = "waits until that has ended" if waits else "stops, and only the other's report comes"
    more = f"Where another is under way, this one {beside}. One that fails is told by the service's alarms alone."
    return Message.of("An audit is begun", [told, note(more)])


def name_of(decision: Decision) -> str:
    """The volume's full name: account/region/id."""
    return f"{_place(decision)}/{decision.volume_id}"


def _before(prior: Decision) -> Block:
    done = f" was {_SAID[prior.kind]} on {prior.at:%Y-%m-%d %H:%M} UTC by "
    return said(bold(prior.volume_id), done, person(prior.by.rpartition("/")[2]), ": nothing is done twice.")


def _volume(decision: Decision) -> tuple[Said, str]:
    return bold(decision.volume_id), f" ({_place(decision)})"


def _place(decision: Decision) -> Target:
    return named_target(decision.account, decision.region)


def _follows(decision: Decision) -> str:
    match decision.kind:
        case DecisionKind.SNOOZE:
            return "Audits go on; it is told as new again by the first one from that day on."
        case DecisionKind.DONE:
            return "The next audit looks: where the change is not there, it is told as new again."
        case DecisionKind.EXCLUDE:
            return f"No audit answers of it any more. /plimsoll include {name_of(decision)} takes it in again."
        case DecisionKind.INCLUDE:
            return "The next audit answers of it."
        case DecisionKind.VALIDATE:
            return "The result comes here."
