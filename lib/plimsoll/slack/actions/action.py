"""What an action is, what it may use, and how it keeps a decision. An action is a module here and a registry row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import Enum, auto
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from plimsoll.domain.decisions import Decision, DecisionKind
from plimsoll.slack.actions.answers import Answers, by
from plimsoll.slack.actions.asked import Asked, Origin
from plimsoll.slack.blocks.elements import Block, Control, Said, bold, controls, note, person, said
from plimsoll.slack.blocks.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A volume's explanation: its id, the screen, and the name and address of the page that shows its demand."""

    volume_id: str
    screen: str
    monitoring: str
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a validation takes at most, and where the service posts."""

    minutes: int
    max_usd: float
    channel: str


class Work(Protocol):
    """What an action may use of the service; the functions in front of it import none of that."""

    @property
    def asked(self) -> Asked:
        """What was asked."""

    @property
    def answers(self) -> Answers:
        """Where the answer goes."""

    @property
    def today(self) -> date:
        """The day in UTC."""

    @property
    def limits(self) -> Limits:
        """What a validation takes at most."""

    @property
    def audits_wait(self) -> bool:
        """Whether an audit waits for one that is under way; it stops otherwise."""

    def decision(self, kind: DecisionKind, *, reason: str = "", until: date | None = None) -> Decision:
        """What the asker decides about the volume, now; BadInput where there is no such volume."""

    def keep(self, decision: Decision) -> bool:
        """Keeps a decision; False where the same request has one already."""

    def decisions(self, decision: Decision) -> list[Decision]:
        """All decisions about the volume of that one, in no order."""

    def not_measurable(self, decision: Decision) -> str | None:
        """Why nothing can be measured where the volume is; None where it can."""

    def begin(self, machine: Literal["audit", "validation"], given: Mapping[str, str]) -> bool:
        """Begins an audit or a validation for this request; False where this request has begun it before."""

    def keep_asked(self, asked: Asked, *, replace: bool) -> None:
        """Keeps who is answered at the end, without the secret address; an earlier one stays unless replaced."""

    def explanation(self) -> Explanation:
        """The volume read and explained anew; BadInput where there is none or it is excluded, CloudError."""

    def savings(self) -> Message:
        """What the latest report found; BadInput where there is no report yet."""


class Nothing(BaseModel):
    """What an action without a dialog is given: nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Shown(Enum):
    """Where people find an action: a button under a volume, that volume's menu, or below an answer or as a word."""

    BUTTON = auto()
    MENU = auto()
    ELSEWHERE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One action.

    `name` is its id in Slack and its word after the command. `label` is on its button or in the menu. `command` says
    what the word does and is empty where there is no word. `of_volume`: it is about a volume. `unproved_only`: it is
    offered where evidence is missing. `dialog` asks for `entered` before the action is carried out; `reading` is what
    an open view shows until the answer is there. `repeats`: each press is a request of its own. `perform` carries it
    out and answers; it raises BadInput for what the asker can mend, and CloudError.
    """

    name: str
    perform: Callable[[Work], None]
    label: str = ""
    shown: Shown = Shown.ELSEWHERE
    command: str = ""
    of_volume: bool = True
    unproved_only: bool = False
    dialog: Callable[[Origin], dict[str, Any]] | None = None
    entered: type[BaseModel] = Nothing
    reading: str = ""
    repeats: bool = False


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
