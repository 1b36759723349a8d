"""An action, its tools, and how it keeps a decision. An action is a module here and a registry row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from plimsoll.clouds.aws.names import SLACK_EXECUTIONS
from plimsoll.model.errors import BadInput
from plimsoll.model.people import Decision, DecisionKind
from plimsoll_service.slack.actions.answers import SlackAnswers, person_paragraph
from plimsoll_service.slack.actions.asked import Origin, SlackRequest, asked_key
from plimsoll_service.slack.blocks.elements import Block, Control, RichText, bold, controls, note, paragraph, person
from plimsoll_service.slack.blocks.message import SlackMessage
from plimsoll_service.slack_config import SlackConfig

if TYPE_CHECKING:
    from plimsoll.ports import Clock, Executions, HistoryStore, RunStore, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeExplanation:
    """A volume's explanation: its id, and its story in blocks."""

    volume_id: str
    story: Sequence[Block]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionContext:
    """The request that an action carries out, where its answer goes, and what it needs of the service.

    The function in front knows every action and must import none of what carries it out: that is given here by the
    worker. `place` finds where a volume is and its id, by a name as people write it (BadInput if there is none);
    `explain` reads and explains it anew (BadInput, CloudError); `savings` says what the latest report found (BadInput
    if there is none). `show_plan` shows a plan of changes, and `say_on_plan` keeps the asker's word on it (BadInput if
    it counts for nothing). A measurement takes `minutes` and costs at most `max_usd`; `unmeasured` says why nothing can
    be measured at a target, None if it can. `audits_wait`: an audit waits for one that is under way.
    """

    asked: SlackRequest
    answers: SlackAnswers
    history: "HistoryStore"
    store: "RunStore"
    executions: "Executions"
    clock: "Clock"
    slack: SlackConfig
    minutes: int
    max_usd: float
    audits_wait: bool
    unmeasured: Callable[["Target"], str | None]
    place: Callable[[str], tuple["Target", str]]
    explain: Callable[[str], VolumeExplanation]
    savings: Callable[[], SlackMessage]
    show_plan: Callable[[str], SlackMessage]
    say_on_plan: Callable[[SlackRequest], SlackMessage]

    @property
    def plan(self) -> str:
        """The plan's name as it was asked. Raises BadInput if none was."""
        if self.asked.plan is None:
            raise BadInput(f"{self.asked.do} needs a plan: name its id.")
        return self.asked.plan

    @property
    def volume(self) -> str:
        """The volume's name as it was asked. Raises BadInput if none was."""
        if self.asked.volume is None:
            raise BadInput(f"{self.asked.do} needs a volume: name its id.")
        return self.asked.volume

    def decision(self, kind: DecisionKind, *, reason: str = "", until: date | None = None) -> Decision:
        """The asker's decision about the volume, now. Raises BadInput if there is no such volume."""
        asked, (target, volume_id) = self.asked, self.place(self.volume)
        return Decision(
            id=asked.id,
            account=target.account,
            region=target.region,
            volume_id=volume_id,
            kind=kind,
            by=f"slack:{asked.team}/{asked.user}",
            at=self.clock.now(),
            reason=reason,
            until=until,
        )

    def decisions(self, decision: Decision) -> list[Decision]:
        """All decisions about the decision's volume, in no order."""
        target, volume_id = self.place(decided_volume(decision))
        return [*self.history.decisions(target, [volume_id]).get(volume_id, ())]

    def begin(self, machine: Literal["audit", "validation", "probe"], payload: Mapping[str, Any]) -> bool:
        """Begins an audit, a validation or a probe for this request; False if this request has begun it before."""
        return self.executions.begin(machine, f"{SLACK_EXECUTIONS}{self.asked.id}", dict(payload))

    def keep_asker(self, asked: SlackRequest, *, replace: bool) -> None:
        """Keeps who is answered at the end, without the secret address; an earlier one stays unless replaced."""
        key, store = asked_key(f"{SLACK_EXECUTIONS}{asked.id}"), self.store
        if replace or store.get(key) is None:
            lasting = asked.model_copy(update={"response_url": None, "view": None})
            store.put(key, lasting.model_dump_json().encode())


class Nothing(BaseModel):
    """The input of an action without a dialog."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class ActionPlace(Enum):
    """A place where people find an action: a button under a volume, that volume's menu, below an answer, or a word."""

    BUTTON = auto()
    MENU = auto()
    ELSEWHERE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackAction:
    """One action.

    `name` is its id in Slack and its word after the command. `label` is on its button or in the menu. `command`
    says what the word does and is empty where there is no word. `of_volume`: it is about a volume. `of_plan`: it is
    about a plan of changes. `unproved_only`: it is offered where evidence is missing. `cost` says what a press
    spends, at most `{at_most}`: its button asks before it acts. `dialog` asks for `entered` before the action is
    carried out; `reading` is what an open view shows until the answer is there. `repeats`: each press is a request
    of its own. `perform` carries it out and answers; it raises BadInput for what the asker can mend, and
    CloudError.
    """

    name: str
    perform: Callable[[ActionContext], None]
    label: str = ""
    shown: ActionPlace = ActionPlace.ELSEWHERE
    command: str = ""
    of_volume: bool = True
    of_plan: bool = False
    unproved_only: bool = False
    cost: str = ""
    dialog: Callable[[Origin], dict[str, Any]] | None = None
    entered: type[BaseModel] = Nothing
    reading: str = ""
    repeats: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words for one kind of decision: what the asker does, what the volume is then, and what follows."""

    verb: str
    state: str
    follows: str


def keep_decision(work: ActionContext, decision: Decision, words: Words, *, offer: tuple[Control, ...] = ()) -> None:
    """Keeps a decision and answers; a second request for the same one changes nothing. `offer` stands below."""
    if not work.history.decide(decision):
        text = f"{decision.volume_id} was {words.state} before: nothing is done twice."
        work.answers.to_all(SlackMessage.compose(text, [prior_paragraph(prior_decision(work, decision), words.state)]))
        return
    end = f" until {decision.until}" if decision.until is not None else ""
    reason = f": {' '.join(decision.reason.split())}" if decision.reason.strip() else "."
    sentence = person_paragraph(
        decision.by.rpartition("/")[2], f"{words.verb} ", *volume_words(decision), f"{end}{reason}"
    )
    below = controls(decided_volume(decision), offer)
    text = f"{decision.volume_id} is {words.state}{end}"
    work.answers.to_all(SlackMessage.compose(text, [sentence, note(words.follows), *below]))


def prior_paragraph(prior: Decision, state: str) -> Block:
    """A paragraph on who decided the same before, and when."""
    done = f" was {state} on {prior.at:%Y-%m-%d %H:%M} UTC by "
    return paragraph(bold(prior.volume_id), done, person(prior.by.rpartition("/")[2]), ": nothing is done twice.")


def prior_decision(work: ActionContext, decision: Decision) -> Decision:
    """The decision that this request already has: somebody else may have been first."""
    return next((prior for prior in work.decisions(decision) if prior.id == decision.id), decision)


def decided_volume(decision: Decision) -> str:
    """The volume's full name: account/region/id."""
    return f"{decision.account}/{decision.region}/{decision.volume_id}"


def volume_words(decision: Decision) -> tuple[RichText, str]:
    """The volume, and in brackets its account and region."""
    return bold(decision.volume_id), f" ({decision.account}/{decision.region})"
