"""Plans of changes in Slack: what one would do, and the words of those who approve, stop or continue it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from plimsoll.model.errors import BadInput
from plimsoll.reports.wording import count_of
from plimsoll_change.ledger import PLAN_ROW, ChangeLedger, Fact, FactKind, find_latest, find_unresumed
from plimsoll_change.plan import ChangePlan
from plimsoll_change.progress import Progress
from plimsoll_service.change_plans import read_halts, service_rules
from plimsoll_service.change_words import PersonWord, check_word, keep_word
from plimsoll_service.service import Service
from plimsoll_service.slack.actions.answers import person_paragraph, plain_message
from plimsoll_service.slack.actions.asked import SlackRequest
from plimsoll_service.slack.actions.plan_words import PLAN_WORDS
from plimsoll_service.slack.blocks.elements import (
    SENTENCE_CHARACTERS,
    Block,
    Control,
    bold,
    bullets,
    line,
    note,
    paragraph,
    plan_controls,
)
from plimsoll_service.slack.blocks.message import SlackMessage

_MOST_SHOWN: Final = 10
_HALTS: Final = (FactKind.STOPPED, FactKind.PAUSED, FactKind.RESUMED)


@dataclass(frozen=True, slots=True)
class _Telling:
    """The sentence on a word, around the plan's name, and what follows from it."""

    before: str
    after: str
    follows: str


_TELLINGS: Final[Mapping[str, _Telling]] = {
    "approve": _Telling("approves the plan ", "", "The service begins with its next pass, within ten minutes."),
    "go-on": _Telling("lets the plan ", " go on", "It goes on with its next pass, within ten minutes."),
    "stop": _Telling(
        "stops the plan ",
        "",
        "Nothing more of it begins after its next pass, within ten minutes. What has begun is watched to its end, and "
        "goes back if it did harm.",
    ),
}


def present_plan(plan_id: str, service: Service) -> SlackMessage:
    """A plan, what it waits for, and its buttons. Raises BadInput if there is none of that name."""
    ledger, now = read_halts(service.change_facts, plan_id), service.clock.now()
    plan, progress = ledger.plan, Progress.read(ledger)
    stops = ((name, each.stop.text) for name, each in progress.classes.items() if each.stop is not None)
    blocks = [
        *_plan_blocks(plan),
        paragraph(progress.find_halt(now) or "It is being carried out."),
        *bullets([bold(f"{line(name)} is stopped: "), line(text, SENTENCE_CHARACTERS)] for name, text in stops),
        *offer_words(ledger, now),
    ]
    return SlackMessage.compose(f"Plan of changes {plan.id}", blocks)


def offer_words(ledger: ChangeLedger, now: datetime) -> list[Block]:
    """The buttons that count for something now: no block if a plan is stopped for ever, or has expired."""
    plan, progress = ledger.plan, Progress.read(ledger)
    is_paused = find_unresumed(progress.plan_facts, FactKind.PAUSED) is not None
    counts = {
        "approve": not is_paused and progress.find_halt(now) is not None,
        "go-on": is_paused or any(each.stop is not None for each in progress.classes.values()),
        "stop": True,
    }
    values = {"go-on": f"{plan.digest}.{_count_halts(progress)}"}
    offered = [
        Control(action=word.name, label=word.label, cost=word.cost, value=values.get(word.name, plan.digest))
        for word in PLAN_WORDS
        if counts[word.name]
    ]
    return [] if _find_end(progress, now) is not None else plan_controls(plan.id, offered)


def _find_end(progress: Progress, now: datetime) -> str | None:
    """The sentence that says why no word counts for anything any more; None if one may."""
    is_stopped = find_latest(progress.plan_facts, FactKind.STOPPED) is not None
    return progress.find_halt(now) if is_stopped or now >= progress.plan.expires else None


def _count_halts(progress: Progress) -> int:
    """The number of stops, pauses and words to go on so far: a button to go on is about those that were shown."""
    rows = (progress.plan_facts, *(each.facts for each in progress.classes.values()))
    return sum(fact.kind in _HALTS for facts in rows for fact in facts)


def _plan_blocks(plan: ChangePlan) -> Iterator[Block]:
    volumes = count_of(len(plan.lines), "volume")
    yield paragraph(
        bold(f"Plan {plan.id}: "), f"{volumes} change in waves, which saves ${plan.usd_month_saved:,.0f} a month."
    )
    shown = plan.lines[:_MOST_SHOWN]
    yield from bullets([bold(line(each.label)), f": {each.now} \u2192 {each.then}"] for each in shown)
    if len(plan.lines) > len(shown):
        yield note(f"And {len(plan.lines) - len(shown):,} more: plan.json in the bucket of facts has all of them.")
    if plan.late_back:
        late = count_of(len(plan.late_back), "volume")
        yield paragraph(bold(f"{late} cannot go back within a day. "), "Who approves accepts that.")
    yield note(f"Void from {plan.expires:%Y-%m-%d %H:%M} UTC on. Digest {plan.digest}")


def say_on_plan(asked: SlackRequest, service: Service) -> SlackMessage:
    """Keeps a member's word on a plan, once, and says what follows.

    Raises BadInput if the word counts for nothing, or the plan is not what was shown.
    """
    by, now = _name_member(asked, service), service.clock.now()
    if asked.plan is None or asked.digest is None:
        raise BadInput(f"{asked.do} needs a plan: press its button below the plan.")
    ledger, (digest, _, halts) = read_halts(service.change_facts, asked.plan), asked.digest.partition(".")
    plan, progress = ledger.plan, Progress.read(ledger)
    late = asked.do == "approve" and bool(plan.late_back)
    word = PersonWord.model_validate(
        {"say": asked.do, "digest": digest, "accepts_late_back": late, "reason": "in Slack"}
    )
    check_word(plan, word, by, service_rules(service))
    if (end := _find_end(progress, now)) is not None:
        raise BadInput(f"This changes nothing: {end}")
    if word.say == "go-on" and halts != str(_count_halts(progress)):
        raise BadInput(f"The plan {plan.id} has stopped or gone on since: see /plimsoll changes {plan.id}.")
    if not keep_word(service.change_facts, plan.id, by, f"slack-{asked.id}", word):
        return plain_message(f"{by} has said this of the plan {plan.id} before: nothing is done twice.")
    telling = _TELLINGS[word.say]
    sentence = person_paragraph(asked.user, telling.before, bold(plan.id), f"{telling.after} as {by}.")
    missing = None
    if word.say == "approve":
        approval = Fact(kind=FactKind.APPROVED, at=now, by=by, digest=plan.digest, accepts_late_back=late)
        missing = Progress(plan=plan, rows={PLAN_ROW: (*progress.plan_facts, approval)}).find_halt(now)
    text = f"{by} {telling.before}{plan.id}{telling.after}"
    return SlackMessage.compose(text, [sentence, note(missing or telling.follows)])


def _name_member(asked: SlackRequest, service: Service) -> str:
    """The name under which a member speaks. Raises BadInput if the word takes an approver, and they are none."""
    slack = service.config.slack
    by = None if slack is None else slack.approvers.get(asked.user)
    if by is None and asked.do != "stop":
        raise BadInput(
            "You approve no changes here: slack.approvers of the service's settings says which members may, and under "
            "which names."
        )
    return by or f"slack-{asked.user}"
