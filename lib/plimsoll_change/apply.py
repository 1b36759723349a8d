"""Applying a plan: pass after pass, what is under way goes on, waves are judged and opened, and what is due begins.

A pass reads the ledger and the world, and keeps all of its own in the ledger: any process goes on where one ended.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from plimsoll.model.errors import BadInput, CloudError
from plimsoll_change.judging import MetricsJudge
from plimsoll_change.ledger import PLAN_ROW, Fact, FactKind, Leg, RowTaken
from plimsoll_change.line import LINE_STEPS, LineContext, LineJob, LineStep, heed_verdict, line_jobs
from plimsoll_change.progress import SILENCE, Progress, judge_canary
from plimsoll_change.watch import GroupVerdict
from plimsoll_change.waves import Wave, WaveKind

_JUDGED_EVERY: Final = timedelta(minutes=50)
"""Metrics are judged by the hour."""

_MOVING_S: Final = 600.0
_WATCHING_S: Final = 3600.0
"""Seconds between two passes while something moves, and while all is watched or waits."""


def plan_claim(plan_id: str) -> str:
    """The key of the claim that the process has which carries a plan out."""
    return f"change/plan/{plan_id}"


@dataclass(slots=True, kw_only=True)
class Rollout:
    """A plan that is carried out by this process."""

    context: LineContext
    judge: MetricsJudge
    held: timedelta = timedelta(hours=2)  # the claim on the plan, renewed by each pass
    judged: datetime | None = None  # when lines were judged last

    @property
    def progress(self) -> Progress:
        """The plan as the ledger was last read."""
        return Progress.read(self.context.ledger)

    def check_work(self) -> None:
        """Raises BadInput if nothing of the plan may begin and nothing is under way."""
        halt = self.progress.find_halt(self.context.now)
        if halt is not None and not self.progress.active_jobs:
            raise BadInput(f"{halt} Nothing was done.")

    def run(self, *, once: bool = False) -> Progress:
        """Passes until nothing is left to do without a person, or one pass.

        Raises BadInput if another process carries the plan out.
        """
        while True:
            self.take_pass()
            if not once and self.progress.is_over(self.context.now):
                self._gate()  # what the last pass came to
            if once or self.progress.is_over(self.context.now):
                return self.progress
            moves = any(job.next is not LineStep.WATCH for job in self.progress.active_jobs)
            self.context.patience.pause(_MOVING_S if moves else _WATCHING_S)

    def run_back(self, lines: Collection[str]) -> bool:
        """Passes until these lines are back, and nothing else begins. False if one can only go back by its owner.

        Raises BadInput if another process carries the plan out: that one takes them back.
        """
        while True:
            self._claim()
            self._advance(job for job in self.progress.active_jobs if job.line.id in lines)
            jobs = [job for job in self.progress.jobs.values() if job.line.id in lines]
            if not any(job.next in (LineStep.CHECK, LineStep.REQUEST, LineStep.FOLLOW) for job in jobs):
                return all(job.find(FactKind.COMPLETED, Leg.BACK) for job in jobs)
            self.context.patience.pause(_MOVING_S)

    def take_pass(self) -> None:
        """One pass over everything that can go on now."""
        self._claim()
        self._advance(self.progress.active_jobs)
        self._judge_lines()
        self._advance(self.progress.active_jobs)
        self._gate()
        if self.progress.find_halt(self.context.now) is None:
            self._advance(self._without_throttled(list(self.progress.find_due(self.context.now))))

    def _claim(self) -> None:
        """Takes the plan for this process, and reads what others did to it."""
        context, now = self.context, self.context.now
        if not context.claims.claim(plan_claim(context.plan.id), context.holder, now + self.held, now):
            raise BadInput(f"another process carries the plan {context.plan.id} out: see plimsoll change status.")
        context.ledger.read()

    def _advance(self, jobs: Iterable[LineJob]) -> None:
        """Takes each line as far as it goes without waiting. A row that another process wrote is left to it."""
        kind = line_jobs(self.context.ledger)
        for job in list(jobs):
            if isinstance(kind.advance(job, self.context, LINE_STEPS).error, RowTaken):
                self.context.ledger.read()

    def _judge_lines(self) -> None:
        """Judges what was changed, every hour from its request on, and as soon as a change has arrived."""
        now, progress, judged = self.context.now, self.progress, self.judged
        watched = {job.line.id: job for job in progress.active_jobs if job.is_watched}
        arrived = [fact.at for job in watched.values() if (fact := job.find(FactKind.COMPLETED)) is not None]
        is_due = judged is None or now - judged >= _JUDGED_EVERY or any(at > judged for at in arrived)
        if not watched or not is_due:
            return
        try:
            verdicts = self.judge.judge_lines(progress, list(watched.values()), now)
        except CloudError as error:
            self.context.say(f"nothing can be judged now: {error}")
            return
        self.judged = now
        for name, verdict in verdicts.items():
            self._keep(heed_verdict(watched[name], verdict, now))

    def _keep(self, job: LineJob) -> None:
        """Writes a line's new facts. A row that another process wrote is left to it."""
        try:
            self.context.ledger.keep(job.line.id, job.facts)
        except RowTaken:
            self.context.ledger.read()

    def _gate(self) -> None:
        """Writes what follows from verdicts: lines that go back, classes that stop, waves that open."""
        now = self.context.now
        for job in list(self.progress.take_back_with_others(now)):
            self._keep(job)
        for name, row in self.context.plan.class_rows.items():
            self._note(row, name, self.progress.classes[name].stop_if_worse(now))
            baked = self.progress.classes[name].find_baked(now)
            if baked is not None:
                verdict = self._judge_wave(baked[0])
                self._note(row, name, self.progress.classes[name].judge(*baked, verdict, now))
        self._note(PLAN_ROW, "the plan", self.progress.stop_or_pause(now))
        if self.progress.find_halt(now) is None:
            for name, row in self.context.plan.class_rows.items():
                self._note(row, name, self.progress.open_wave(name, now))

    def _note(self, row: str, subject: str, facts: Iterable[Fact]) -> None:
        """Writes and says what follows for the plan or a class."""
        for fact in list(facts):
            wave = f" wave {fact.wave}" if fact.wave else ""
            code = f", {fact.code}" if fact.code else ""
            self.context.say(f"{subject}:{wave} {fact.kind}{code}. {fact.text}".rstrip())
            self.context.ledger.add(row, fact)

    def _judge_wave(self, wave: Wave) -> GroupVerdict:
        now, progress = self.context.now, self.progress
        members = [job for name in wave.members if (job := progress.jobs[name]).is_changed]
        try:
            if members and wave.kind in (WaveKind.CANARY, WaveKind.SINGLE):
                return judge_canary(members, self.judge.judge_lines(progress, members, now))
            group = self.judge.judge_group(progress, members, wave.bake_h, now) if members else None
        except CloudError as error:
            self.context.say(f"wave {wave.number} cannot be judged now: {error}")
            return SILENCE
        return group or SILENCE

    def _without_throttled(self, jobs: list[LineJob]) -> list[LineJob]:
        """The lines whose volumes were not stopped since the plan was made. The others ask for more than it gives."""
        fresh, plan, now = [job.line for job in jobs if not job.facts], self.context.plan, self.context.now
        try:
            minutes = self.judge.count_stopped(fresh, plan.made, now) if fresh else {}
        except CloudError as error:
            self.context.say(f"nothing begins, as it is not known whether volumes are throttled now: {error}")
            return []
        stopped = {name for name, count in minutes.items() if count > plan.rules.stopped_minutes}
        for job in (job for job in jobs if job.line.id in stopped):
            count = f"{minutes[job.line.id]:.0f} more minutes than usual"
            text = f"{job.line.volume_id} was stopped for {count} since the plan was made."
            self._keep(job.note(FactKind.DROPPED, now, code="new-throttling", text=text))
        return [job for job in jobs if job.line.id not in stopped]
