"""Changing in short steps: each call takes one pass of a plan that is open, as the command line's loop does.

Whatever ended the pass before, the next goes on by the ledger in the bucket of facts. People speak by files in that
bucket, and a switch ends what has not begun. What they must know of a pass is sent as an event.
"""

import logging
from datetime import datetime, timedelta
from typing import Final

from plimsoll.jobs.kernel import BenchPatience
from plimsoll_change.apply import Rollout, plan_claim
from plimsoll_change.judging import MetricsJudge
from plimsoll_change.ledger import PLAN_ROW, ChangeLedger, Fact, FactKind, find_latest
from plimsoll_change.line import LineContext, LineStep, join_starts
from plimsoll_change.progress import Progress
from plimsoll_service.change_messages import AppliedChanges, ApplyChangesMessage
from plimsoll_service.change_news import ToldMarks, changes_event, read_marks, select_news
from plimsoll_service.change_plans import (
    OpenPlan,
    count_words,
    find_open,
    kept_ledger,
    open_document,
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
    ledger, now = kept_ledger(service.change_facts, message.plan), service.clock.now()
    plan = ledger.plan
    key, holder = plan_claim(plan.id), f"service-{message.name}"
    if not service.claims.claim(key, holder, now + HELD, now):
        return AppliedChanges(plan=plan.id, under_way=0, halt="another execution takes a pass of it.")
    try:
        state = open_document(plan.id).get(service.store) or OpenPlan(due=now)
        words = count_words(service.change_facts, plan.id)
        rollout = _open_rollout(service, ledger, holder, state.judged)
        _hear_people(service, ledger)
        rollout.take_pass()
        return _conclude_pass(service, rollout, state.model_copy(update={"words": words}))
    finally:
        service.claims.release(key, holder)


def _hear_people(service: Service, ledger: ChangeLedger) -> None:
    """Writes into the ledger what people said, and that the switch is not on go."""
    now = service.clock.now()
    ledger.read()
    note_words(ledger, service_rules(service), now)
    if service.is_killed() and find_latest(ledger.facts(PLAN_ROW), FactKind.STOPPED) is None:
        text = "the service's switch for changes is not on go."
        ledger.add_in_turn(PLAN_ROW, Fact(kind=FactKind.STOPPED, at=now, code="switch", text=text))


def _conclude_pass(service: Service, rollout: Rollout, state: OpenPlan) -> AppliedChanges:
    """Tells the news, and keeps when the next pass is due.

    A plan that has expired, and of which nothing is under way, is closed.
    """
    context, progress, now = rollout.context, rollout.progress, service.clock.now()
    under_way, document = progress.active_jobs, open_document(context.plan.id)
    if state.telling is not None:  # a pass was ended while it told this
        state = _tell_news(service, progress, state, state.telling)
    state = _tell_news(service, progress, state, read_marks(progress, state.told, now))
    if not under_way and now >= context.plan.expires:
        document.delete(service.store)
    else:
        is_watched = bool(under_way) and all(job.next is LineStep.WATCH for job in under_way)
        due = now + _WATCHED_EVERY if is_watched else now
        document.put(service.store, state.model_copy(update={"due": due, "judged": rollout.judged}))
    return AppliedChanges(plan=context.plan.id, under_way=len(under_way), halt=progress.find_halt(now))


def _tell_news(service: Service, progress: Progress, state: OpenPlan, until: ToldMarks) -> OpenPlan:
    """The document once the news up to these marks is sent. Where a pass ends meanwhile, the next sends the same."""
    if news := select_news(progress, state.told, until):
        telling = state.model_copy(update={"telling": until})
        open_document(progress.plan.id).put(service.store, telling)
        service.events.send([changes_event(progress, news, state.told, service.clock.now())])
    return state.model_copy(update={"told": until, "telling": None})


def _open_rollout(service: Service, ledger: ChangeLedger, holder: str, judged: datetime | None) -> Rollout:
    plan = ledger.plan
    accounts = {line.target.account for line in plan.lines} | {control.target.account for control in plan.controls}
    tools, facts = service.places.change_tools(accounts), service.change_facts
    others = (name for name in find_open(service) if name != plan.id)
    context = LineContext(
        ledger=ledger,
        changer=tools.changer,
        claims=service.claims,
        patience=BenchPatience(now=service.clock.now, pause=service.pause),
        holder=holder,
        say=_log.info,
        other_starts=join_starts(kept_ledger(facts, name) for name in others),
        is_killed=service.is_killed,
    )
    judge = MetricsJudge(ledger=ledger, changer=tools.changer, metrics=lambda _: tools.metrics, say=_log.info)
    return Rollout(context=context, judge=judge, held=HELD, judged=judged)
