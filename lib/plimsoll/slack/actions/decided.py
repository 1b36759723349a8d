"""What several actions share: a decision about a volume is kept once, and the answer says what follows from it."""

from dataclasses import dataclass

from plimsoll.domain.decisions import Decision
from plimsoll.slack.actions.action import Work
from plimsoll.slack.actions.answers import by
from plimsoll.slack.blocks.elements import Block, Control, Said, bold, controls, note, person, said
from plimsoll.slack.blocks.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """How one kind of decision is reported: what the asker does, what the volume is then, and what follows."""

    verb: str
    state: str
    follows: str


def decide(work: Work, decision: Decision, words: Words, *, offer: tuple[Control, ...] = ()) -> None:
    """Keeps a decision and answers; a second request for the same one changes nothing. `offer` stands below."""
    if not work.keep(decision):
        text = f"{decision.volume_id} was {words.state} before: nothing is done twice."
        work.answers.to_all(Message.of(text, [decided_before(kept(work, decision), words.state)]))
        return
    end = f" until {decision.until}" if decision.until is not None else ""
    reason = f": {' '.join(decision.reason.split())}" if decision.reason.strip() else "."
    told = by(decision.by.rpartition("/")[2], f"{words.verb} ", *named(decision), f"{end}{reason}")
    below = controls(full_name(decision), offer)
    text = f"{decision.volume_id} is {words.state}{end}"
    work.answers.to_all(Message.of(text, [told, note(words.follows), *below]))


def decided_before(prior: Decision, state: str) -> Block:
    """Who decided the same before, and when."""
    done = f" was {state} on {prior.at:%Y-%m-%d %H:%M} UTC by "
    return said(bold(prior.volume_id), done, person(prior.by.rpartition("/")[2]), ": nothing is done twice.")


def kept(work: Work, decision: Decision) -> Decision:
    """The decision that this request already has: somebody else may have been first."""
    return next((one for one in work.decisions(decision) if one.id == decision.id), decision)


def full_name(decision: Decision) -> str:
    """The volume's full name: account/region/id."""
    return f"{decision.account}/{decision.region}/{decision.volume_id}"


def named(decision: Decision) -> tuple[Said, str]:
    """The volume, and in brackets its account and region."""
    return bold(decision.volume_id), f" ({decision.account}/{decision.region})"
