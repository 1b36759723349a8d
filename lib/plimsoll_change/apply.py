"""Applying a plan: pass after pass, what is under way goes on, waves are judged and opened, and what is due begins.

A pass reads the ledger and the world, and keeps all of its own in the ledger: any process goes on where one ended.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from plimsoll.model.errors import BadInput, CloudError, PlimsollError
from plimsoll_change.drift import find_drift
from plimsoll_change.ledger import PLAN_ROW, Fact, FactKind, Leg, RowTaken
from plimsoll_change.line import LINE_STEPS, LineContext, LineJob, LineStep, line_jobs, take_back
from plimsoll_change.plan import PlannedLine
from plimsoll_change.progress import (
    Progress,
    find_baked,
    find_due,
    find_lines_to_take_back,
    find_under_way,
    has_begun,
    is_over,
    is_watched,
    judge_canary,
    judge_class,
    open_next_wave,
    stop_or_pause_plan,
    stop_worse_class,
)
from plimsoll_change.watch import ChangeVerdict, GroupVerdict
from plimsoll_change.waves import Wave, WaveKind

_JUDGED_EVERY: Final = timedelta(minutes=50)
"""Metrics are judged by the hour."""

_MOVING_S: Final = 600.0
_WATCHING_S: Final = 3600.0
"""Seconds between two passes while something moves, and while all is watched or waits."""


class Judge(Protocol):
    """A judge of changes, by what volumes did before and after."""

    def judge_lines(self, progress: Progress, jobs: Sequence[LineJob], now: datetime) -> Mapping[str, ChangeVerdict]:
        """The verdict on each line that was changed, by line; without those that cannot be read."""
        ...

    def judge_group(
        self, progress: Progress, members: Sequence[LineJob], bake_h: float, now: datetime
    ) -> GroupVerdict | None:
        """The verdict on the lines of a wave, against volumes that were not changed."""
        ...

    def count_stopped(self, lines: Sequence[PlannedLine], since: datetime, now: datetime) -> Mapping[str, float]:
        """The minutes since a time in which unchanged volumes were stopped, beyond their usual ones, by line."""
        ...


def plan_claim(plan_id: str) -> str:
    """The key of the claim that the process has which carries a plan out."""
    return f"change/plan/{plan_id}"


@dataclass(slots=True, kw_only=True)
class Rollout:
    """A plan that is carried out by this process."""

    context: LineContext
    judge: Judge
    held: timedelta = timedelta(hours=2)  # the claim on the plan, renewed by each pass

    @property
    def progress(self) -> Progress:
        """The plan as the ledger was last read."""
        return Progress(plan=self.context.plan, rows=self.context.ledger.rows)

    def check_work(self) -> None:
        """Raises BadInput if nothing of the plan may begin and nothing is under way."""
        halt = self.progress.find_halt(self.context.now)
        if halt is not None and not any(True for _ in find_under_way(self.progress)):
            raise BadInput(f"{halt} Nothing was done.")

    def run(self, *, once: bool = False) -> Progress:
        """Passes until nothing is left to do without a person, or one pass.

        Raises BadInput if another process carries the plan out.
        """
        while True:
            self.take_pass()
            if not once and is_over(self.progress, self.context.now):
                self._gate()  # what the last pass came to
            if once or is_over(self.progress, self.context.now):
                return self.progress
            moves = any(job.next is not LineStep.WATCH for job in find_under_way(self.progress))
            self.context.patience.pause(_MOVING_S if moves else _WATCHING_S)

    def run_back(self, lines: Collection[str]) -> bool:
        """Passes until these lines are back, and nothing else begins. False if one can only go back by its owner.

        Raises BadInput if another process carries the plan out: that one takes them back.
        """
        while True:
            self._claim()
            self.context.ledger.read()
            self._advance(job for job in find_under_way(self.progress) if job.line.id in lines)
            jobs = [job for job in self.progress.jobs.values() if job.line.id in lines]
            moving = [job for job in jobs if job.next in (LineStep.CHECK, LineStep.REQUEST, LineStep.FOLLOW)]
            if not moving:
                return all(job.find(FactKind.COMPLETED, Leg.BACK) for job in jobs)
            self.context.patience.pause(_MOVING_S)

    def take_pass(self) -> None:
        """One pass over everything that can go on now."""
        self._claim()
        self.context.ledger.read()
        self._advance(find_under_way(self.progress))
        self._judge_lines()
        self._advance(find_under_way(self.progress))
        self._gate()
        if self.progress.find_halt(self.context.now) is None:
            due = self._without_throttled(list(find_due(self.progress, self.context.now)))
            self._advance(self._without_broken_units(due))

    def _claim(self) -> None:
        context, now = self.context, self.context.now
        if not context.claims.claim(plan_claim(context.plan.id), context.holder, now + self.held, now):
            raise BadInput(f"another process carries the plan {context.plan.id} out: see plimsoll change status.")

    def _advance(self, jobs: Iterable[LineJob]) -> None:
        """Takes each line as far as it goes without waiting. A row that another process wrote is left to it."""
        kind = line_jobs(self.context.ledger)
        for job in list(jobs):
            ended = kind.advance(job, self.context, LINE_STEPS)
            if isinstance(ended.error, RowTaken):
                self.context.ledger.read()

    def _judge_lines(self) -> None:
        """Judges what was changed, every hour from its request on, and as soon as a change has arrived."""
        now, progress, memory = self.context.now, self.progress, self.context.memory
        watched = [job for job in find_under_way(progress) if is_watched(job)]
        arrived = {f"{job.line.id} {job.leg}" for job in watched if job.next is LineStep.WATCH} - memory.arrived
        if not watched or not (arrived or memory.at is None or now - memory.at >= _JUDGED_EVERY):
            return
        try:
            memory.verdicts = dict(self.judge.judge_lines(progress, watched, now))
        except CloudError as error:
            self.context.say(f"nothing can be judged now: {error}")
            return
        memory.at = now
        memory.arrived |= arrived

    def _gate(self) -> None:
        """Writes what follows from verdicts: lines that go back, classes that stop, waves that open."""
        now, ledger = self.context.now, self.context.ledger
        for job, code, text in list(find_lines_to_take_back(self.progress)):
            self.keep(take_back(job, now, code=code, text=text))
        for name, row in self.context.plan.class_rows.items():
            for fact in [*stop_worse_class(self.progress, name, now)]:
                ledger.add(row, fact)
            baked = find_baked(self.progress, name, now)
            if baked is not None:
                for fact in [*judge_class(self.progress, name, baked, self._judge_wave(baked[0]), now)]:
                    self._say(name, fact)
                    ledger.add(row, fact)
        for fact in [*stop_or_pause_plan(self.progress, now)]:
            self._say("the plan", fact)
            ledger.add(PLAN_ROW, fact)
        if self.progress.find_halt(now) is None:
            for name, row in self.context.plan.class_rows.items():
                for fact in [*open_next_wave(self.progress, name, now)]:
                    self._say(name, fact)
                    ledger.add(row, fact)

    def _judge_wave(self, wave: Wave) -> GroupVerdict | None:
        members = [job for job in self.progress.find_members(wave) if job.find(FactKind.COMPLETED, Leg.FORTH)]
        if not members:
            return None
        if wave.kind in (WaveKind.CANARY, WaveKind.SINGLE):
            return judge_canary(members, self.context.memory.verdicts)
        try:
            return self.judge.judge_group(self.progress, members, wave.bake_h, self.context.now)
        except CloudError as error:
            self.context.say(f"wave {wave.number} cannot be judged now: {error}")
            return None

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
            self.keep(job.note(FactKind.DROPPED, now, code="new-throttling", text=text))
        return [job for job in jobs if job.line.id not in stopped]

    def _without_broken_units(self, jobs: list[LineJob]) -> Iterator[LineJob]:
        """The lines that may begin. Where one of a unit drifted, all of it are dropped before any is changed."""
        units: dict[str, list[LineJob]] = {}
        for job in jobs:
            units.setdefault(job.line.unit or job.line.id, []).append(job)
        for unit, members in units.items():
            if len(members) == 1 or any(has_begun(job) for job in members):
                yield from members
                continue
            try:
                drifts = [find_drift(job.line, self.context.look(job.line)) for job in members]
            except PlimsollError as error:
                self.context.say(f"{unit}: {error}")
                continue
            drift = next(filter(None, drifts), None)
            if drift is None:
                yield from members
                continue
            for job in members:
                text = f"{unit} changes as one: {drift.text}"
                self.keep(job.note(FactKind.DROPPED, self.context.now, code=drift.code, text=text))

    def keep(self, job: LineJob) -> None:
        """Writes a line's new facts."""
        line_jobs(self.context.ledger).document(job).put(self.context.jobs, job)

    def _say(self, subject: str, fact: Fact) -> None:
        wave = f" wave {fact.wave}" if fact.wave else ""
        self.context.say(f"{subject}:{wave} {fact.kind}{f', {fact.code}' if fact.code else ''}. {fact.text}".rstrip())


def ask_back(rollout: Rollout, lines: Iterable[str], *, by: str, reason: str) -> list[str]:
    """Notes that a person takes these lines back, and gives those that go back now."""
    jobs, asked = rollout.progress.jobs, list[str]()
    for job in (jobs[name] for name in lines):
        latest = job.latest
        is_changed = job.find(FactKind.REQUESTED) is not None and latest is not None
        if job.leg is Leg.BACK or not is_changed or latest is None or latest.kind is FactKind.DROPPED:
            continue
        rollout.keep(take_back(job, rollout.context.now, code="asked", text=reason, by=by))
        asked.append(job.line.id)
    return asked
