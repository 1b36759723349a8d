"""Changing in short steps: each call takes one pass of a plan that is open, as the command line's loop does.

Whatever ended the pass before, the next goes on by the ledger in the bucket of facts. People speak by files in that
bucket, and a switch ends what has not begun.
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from plimsoll.jobs.kernel import BenchPatience
from plimsoll_change.apply import Rollout, ask_back, plan_claim
from plimsoll_change.judging import MetricsJudge
from plimsoll_change.ledger import PLAN_ROW, Fact, FactKind
from plimsoll_change.line import JudgingMemory, LineContext, LineStep, is_plan_stopped
from plimsoll_change.people import add_in_turn
from plimsoll_change.plan import ChangePlan
from plimsoll_change.progress import find_under_way
from plimsoll_service.change_messages import AppliedChanges, ApplyChangesMessage
from plimsoll_service.change_plans import (
    OpenPlan,
    count_words,
    find_open,
    kept_ledger,
    open_document,
    read_stored_plan,
    service_rules,
)
from plimsoll_service.change_words import note_words
from plimsoll_service.service import Service

_log = logging.getLogger(__name__)

HELD: Final = timedelta(minutes=16)
"""The claim of a pass on its plan: a function lives for 15 minutes at most."""

_WATCHED_EVERY: Final = timedelta(minutes=55)
"""The time between two passes of a plan of which all is watched: metrics are judged by the hour."""


def apply_changes(service: Service, message: ApplyChangesMessage) -> AppliedChanges:
    """Takes one pass of a plan: people's words, the switch, what is under way, the waves, what is due.

    Nothing is done while another execution takes a pass of the same plan.
    """
    plan, now = read_stored_plan(service.change_facts, message.plan), service.clock.now()
    key, holder = plan_claim(plan.id), f"service-{message.name}"
    if not service.claims.claim(key, holder, now + HELD, now):
        return AppliedChanges(plan=plan.id, under_way=0, halt="another execution takes a pass of it.")
    try:
        state = open_document(plan.id).get(service.store) or OpenPlan(due=now)
        words = count_words(service.change_facts, plan.id)
        rollout = _open_rollout(service, plan, holder, state.memory)
        _hear_people(service, rollout)
        rollout.take_pass()
        return _conclude_pass(service, rollout, words)
    finally:
        service.claims.release(key, holder)


def _hear_people(service: Service, rollout: Rollout) -> None:
    """Writes into the ledger what people said, and that the switch is not on go."""
    ledger, now = rollout.context.ledger, service.clock.now()
    ledger.read()

    def take_back(lines: list[str], by: str, reason: str) -> None:
        ask_back(rollout, lines, by=by, reason=reason)

    note_words(rollout.context.plan, ledger, service_rules(service), now, take_back=take_back)
    if service.is_killed() and not is_plan_stopped(ledger.facts(PLAN_ROW)):
        text = "the service's switch for changes is not on go."
        add_in_turn(ledger, PLAN_ROW, Fact(kind=FactKind.STOPPED, at=now, code="switch", text=text))


def _conclude_pass(service: Service, rollout: Rollout, words: int) -> AppliedChanges:
    """Keeps when the next pass is due. A plan that has expired, and of which nothing is under way, is closed."""
    context, progress, now = rollout.context, rollout.progress, service.clock.now()
    under_way, document = list(find_under_way(progress)), open_document(context.plan.id)
    if not under_way and now >= context.plan.expires:
        document.delete(service.store)
    else:
        is_watched = bool(under_way) and all(job.next is LineStep.WATCH for job in under_way)
        due = now + _WATCHED_EVERY if is_watched else now
        document.put(service.store, OpenPlan(due=due, words=words, memory=context.memory))
    return AppliedChanges(plan=context.plan.id, under_way=len(under_way), halt=progress.find_halt(now))


def _open_rollout(service: Service, plan: ChangePlan, holder: str, memory: JudgingMemory) -> Rollout:
    accounts = {line.account for line in plan.lines} | {control.target.account for control in plan.controls}
    tools = service.places.change_tools(accounts)
    context = LineContext(
        plan=plan,
        ledger=kept_ledger(service.change_facts, plan.id),
        changer=tools.changer,
        claims=service.claims,
        patience=BenchPatience(now=service.clock.now, pause=service.pause),
        holder=holder,
        say=_log.info,
        other_starts=_find_other_starts(service, plan),
        memory=memory,
        is_killed=service.is_killed,
    )
    judge = MetricsJudge(changer=tools.changer, metrics=tools.metrics, say=_log.info)
    return Rollout(context=context, judge=judge, held=HELD)


def _find_other_starts(service: Service, plan: ChangePlan) -> Mapping[str, list[datetime]]:
    """The starts of modifications by other open plans, by volume: they count against the same slots."""
    starts: dict[str, list[datetime]] = {}
    for plan_id in find_open(service):
        if plan_id == plan.id:
            continue
        ledger = kept_ledger(service.change_facts, plan_id)
        ledger.read()
        for line in read_stored_plan(service.change_facts, plan_id).lines:
            requested = (fact for fact in ledger.facts(line.id) if fact.kind is FactKind.REQUESTED)
            starts.setdefault(line.volume_id, []).extend(fact.started for fact in requested if fact.started)
    return starts
