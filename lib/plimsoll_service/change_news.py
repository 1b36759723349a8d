"""News of a plan: the facts of its ledger that people must know, and the event that says them.

Rows of a table say which facts are news. How much of each row was told is counted, and what came after is news.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from plimsoll.reports.wording import cut
from plimsoll_change.ledger import PLAN_ROW, FactKind, Leg, find_latest
from plimsoll_change.line import LineJob, LineStep
from plimsoll_change.progress import GO, Progress
from plimsoll_change.watch import VerdictCode
from plimsoll_service.events import (
    LONGEST_TEXT,
    MOST_NAMED,
    ChangeNews,
    ChangesProgressed,
    NewsKind,
    ServiceEvent,
)

ToldMarks = Mapping[str, int]
"""The number of facts of each row that were told; under `over`, of all lines when the plan was told to be over."""

_OVER: Final = "over"
_CLASS: Final = "class"
_LONGEST_SUBJECT: Final = 100
_GIVEN_UP: Final = "It stays changed: take it back by hand."


@dataclass(frozen=True, slots=True)
class _NewsRow:
    """A kind of fact that is news, its title, and what a person can do about it."""

    kind: NewsKind
    title: str
    todo: str = ""


_CONTINUE: Final = "An approver lets it go on, or takes its changes back by a file (back)."
_END: Final = "What has begun is watched to its end. Anything else takes a new plan."
_PAUSE: Final = "Nothing more begins until an approver lets it go on."
_ROWS: Final[Mapping[tuple[FactKind, str], _NewsRow]] = {
    (FactKind.TAKEN_BACK, Leg.BACK): _NewsRow("taken-back", "{subject} goes back"),
    (FactKind.COMPLETED, Leg.BACK): _NewsRow("restored", "{subject} is back"),
    (FactKind.FAILED, Leg.BACK): _NewsRow("not-restored", "{subject} failed to go back"),
    (FactKind.DROPPED, Leg.BACK): _NewsRow("not-restored", "{subject} does not go back", "Look at it."),
    (FactKind.JUDGED, GO): _NewsRow("judged", "Wave {wave} of {subject}: go on"),
    (FactKind.JUDGED, VerdictCode.HOLD): _NewsRow("judged", "Wave {wave} of {subject}: hold"),
    (FactKind.JUDGED, VerdictCode.WORSE): _NewsRow("judged", "Wave {wave} of {subject}: worse"),
    (FactKind.STOPPED, _CLASS): _NewsRow("stopped", "{subject} is stopped", _CONTINUE),
    (FactKind.STOPPED, PLAN_ROW): _NewsRow("stopped", "{subject} is stopped", _END),
    (FactKind.PAUSED, PLAN_ROW): _NewsRow("paused", "{subject} is paused", _PAUSE),
}
"""The facts that are news: by kind, and by the way that a line is on, a wave's verdict, or whose fact it is."""


def read_marks(progress: Progress, since: ToldMarks, now: datetime) -> ToldMarks:
    """The marks once all that the ledger has is told."""
    lines = sum(len(job.facts) for job in progress.jobs.values())
    marks = {row: len(facts) for row, facts in progress.rows.items()}
    return {**marks, _OVER: lines if _is_over(progress, now) else since.get(_OVER, 0)}


def _is_over(progress: Progress, now: datetime) -> bool:
    """True if nothing is under way, and nothing can begin."""
    is_ended = find_latest(progress.plan_facts, FactKind.STOPPED) is not None or now >= progress.plan.expires
    is_done = is_ended or all(job.next is LineStep.DONE for job in progress.jobs.values())
    return is_done and not progress.active_jobs


def select_news(progress: Progress, since: ToldMarks, until: ToldMarks) -> list[ChangeNews]:
    """The news in the facts between two marks: of the plan, then of its classes, then of its volumes."""
    classes = {row: name for name, row in progress.plan.class_rows.items()}
    rows = [PLAN_ROW, *classes, *progress.jobs]
    news = [
        each
        for row in rows
        for number in range(since.get(row, 0), until.get(row, 0))
        for each in _describe_fact(progress, row, number, classes.get(row))
    ]
    return [*_describe_end(progress), *news] if until.get(_OVER, 0) > since.get(_OVER, 0) else news


def _describe_fact(progress: Progress, name: str, number: int, change_class: str | None) -> Iterator[ChangeNews]:
    """The news in a fact of a row: of a line, of a class or of the plan. None if nobody must know it."""
    facts, plan = progress.rows[name][: number + 1], progress.plan
    fact, job = facts[-1], progress.jobs.get(name)
    detail = fact.leg if job is not None else PLAN_ROW if change_class is None else _CLASS
    row = _ROWS.get((fact.kind, fact.code if fact.kind is FactKind.JUDGED else detail))
    if row is None:
        return
    job = None if job is None else LineJob(line=job.line, facts=facts)  # as it was then
    line = None if job is None else job.line
    verdict, text, todo = fact.verdict, fact.text, row.todo
    if job is not None and fact.kind is FactKind.TAKEN_BACK and job.worse is not None:
        verdict = job.worse if job.worse.text == fact.text else None
    if line is not None and row.kind == "restored":
        text = f"It is {line.back} again."
    if line is not None and row.kind == "taken-back" and line.is_by_owner:
        todo = f"Its owner ({cut(line.owner)}) takes it back: plimsoll change show has the patch."
    if job is not None and fact.kind is FactKind.FAILED:
        todo = _GIVEN_UP if job.next is LineStep.DONE else "It is tried once more."
    subject = change_class or f"The plan {plan.id}" if line is None else line.label
    title = row.title.format(subject=cut(subject, _LONGEST_SUBJECT), wave=fact.wave)
    by = cut(fact.by)
    yield ChangeNews(
        kind=row.kind,
        at=fact.at,
        title=f"{title} by {by}" if by else title,
        text=cut(text, LONGEST_TEXT),
        todo=todo,
        code=cut(fact.code),
        by=by or None,
        account=None if line is None else line.target.account,
        region=None if line is None else line.target.region,
        volume_id=None if line is None else line.volume_id,
        change_class=change_class if line is None else line.change_class,
        wave=fact.wave or None,
        slower_pct=None if verdict is None else verdict.slower_pct,
        stopped_minutes=None if verdict is None else verdict.stopped_minutes,
        hours_watched=None if verdict is None else verdict.hours_watched,
    )


def _describe_end(progress: Progress) -> Iterator[ChangeNews]:
    """The news that a plan is over."""
    jobs = progress.jobs.values()
    changed, back = (
        sum(job.is_in_force for job in jobs),
        sum(job.find(FactKind.COMPLETED, Leg.BACK) is not None for job in jobs),
    )
    yield ChangeNews(
        kind="over",
        at=max(fact.at for job in jobs for fact in job.facts),
        title=f"The plan {cut(progress.plan.id, _LONGEST_SUBJECT)} is over",
        text=f"{changed:,} of {len(jobs):,} volumes stay changed; {back:,} are back.",
    )


def changes_event(progress: Progress, news: list[ChangeNews], since: ToldMarks, now: datetime) -> ServiceEvent:
    """The event of news after these marks, with what the plan has come to."""
    plan, jobs = progress.plan, progress.jobs.values()
    back = [job for job in jobs if job.leg is Leg.BACK]
    restored = sum(job.find(FactKind.COMPLETED) is not None for job in back)
    going = sum(job.find(FactKind.COMPLETED) is None and job.next is not LineStep.DONE for job in back)
    changed = [job for job in jobs if job.is_changed]
    event = ChangesProgressed(
        id=f"{plan.id}-{sum(since.values())}",
        plan=plan.id,
        run_id=plan.run,
        now=now,
        volumes={
            "planned": len(jobs),
            "changed": len(changed),
            "going_back": going,
            "restored": restored,
            "not_restored": len(back) - going - restored,
        },
        saved_usd_month=round(sum(job.line.usd_month_saved for job in changed), 2),
        news=news[:MOST_NAMED],
        news_total=len(news),
    )
    return ChangesProgressed.__name__, event.model_dump(mode="json")
