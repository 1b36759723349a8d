"""Progress: what a plan has come to by its ledger, and what follows: waves that open, classes that stop. Pure.

A wave opens on the verdict of the wave before it, never on silence.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from plimsoll_change.ledger import PLAN_ROW, Fact, FactKind, Leg
from plimsoll_change.line import LineJob, LineStep, is_plan_stopped
from plimsoll_change.plan import Approval, ChangePlan, PlannedLine, find_refusal
from plimsoll_change.watch import ChangeVerdict, GroupVerdict, VerdictCode
from plimsoll_change.waves import Wave, WaveKind

MOST_ALARMS: Final = 2
"""Alarms by comparison that pause all waves, and changes taken back by direct evidence that stop the plan."""

_BEGUN: Final = (FactKind.INTENDED, FactKind.HANDED)
_BAKES: Final = 2
"""The bakes after which a wave without a verdict to go on stops its class."""


GO: Final = "go"
"""The code of a wave's verdict after which the next wave may open; any other is that of the verdict."""


_SILENCE: Final = ChangeVerdict(
    code=VerdictCode.CANNOT_TELL, reason="unread", text="the metrics of its volumes could not be read."
)


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A plan and the facts of its ledger at one moment."""

    plan: ChangePlan
    rows: Mapping[str, tuple[Fact, ...]]

    @cached_property
    def jobs(self) -> dict[str, LineJob]:
        """The lines by id, with their facts."""
        return {line.id: LineJob(line=line, facts=self.rows.get(line.id, ())) for line in self.plan.lines}

    @property
    def plan_facts(self) -> tuple[Fact, ...]:
        return self.rows.get(PLAN_ROW, ())

    def class_facts(self, name: str) -> tuple[Fact, ...]:
        return self.rows.get(self.plan.class_rows[name], ())

    def find_halt(self, now: datetime) -> str | None:
        """The sentence that says why nothing begins; None if changes may begin."""
        facts = self.plan_facts
        stop = next((fact for fact in facts if fact.kind is FactKind.STOPPED), None)
        if stop is not None:
            return f"stopped {stop.at:%Y-%m-%d %H:%M} UTC{f' by {stop.by}' if stop.by else ''}: {stop.text}"
        pause = next((fact for fact in reversed(facts) if fact.kind in (FactKind.PAUSED, FactKind.RESUMED)), None)
        if pause is not None and pause.kind is FactKind.PAUSED:
            return f"paused: {pause.text} A person lets it go on: plimsoll change approve {self.plan.id} --go-on."
        return find_refusal(self.plan, find_approvals(facts), now)

    def find_stop(self, name: str) -> Fact | None:
        """The fact by which a class is stopped; None if it goes on."""
        facts = [fact for fact in self.class_facts(name) if fact.kind in (FactKind.STOPPED, FactKind.RESUMED)]
        return facts[-1] if facts and facts[-1].kind is FactKind.STOPPED else None

    def find_open_wave(self, name: str) -> tuple[Wave, Fact] | None:
        """The latest wave of a class that was opened, and when; None if none was."""
        opened = [fact for fact in self.class_facts(name) if fact.kind is FactKind.OPENED]
        return (self.plan.classes[name][opened[-1].wave - 1], opened[-1]) if opened else None

    def find_members(self, wave: Wave) -> list[LineJob]:
        return [self.jobs[name] for name in wave.members]

    @cached_property
    def open_lines(self) -> frozenset[str]:
        """The lines of the waves that were opened, in classes that go on."""
        lines = set[str]()
        for name, waves in self.plan.classes.items():
            open_wave = self.find_open_wave(name)
            number = 0 if open_wave is None or self.find_stop(name) is not None else open_wave[0].number
            lines.update(line for wave in waves[:number] for line in wave.members)
        return frozenset(lines)


def find_approvals(facts: tuple[Fact, ...]) -> Iterator[Approval]:
    """The approvals of a plan's row."""
    for fact in facts:
        if fact.kind is FactKind.APPROVED:
            yield Approval(by=fact.by, at=fact.at, digest=fact.digest, accepts_late_back=fact.accepts_late_back)


def has_begun(job: LineJob) -> bool:
    """True for a line whose change was intended, or handed to its owner."""
    return any(fact.kind in _BEGUN and fact.leg is Leg.FORTH for fact in job.facts)


def was_changed(job: LineJob) -> bool:
    """True for a line whose change arrived."""
    return job.find(FactKind.COMPLETED, Leg.FORTH) is not None


def is_watched(job: LineJob) -> bool:
    """True for a line that is judged: a change from its request on, a way back once it arrived."""
    return job.next is LineStep.WATCH or (job.next is LineStep.FOLLOW and job.leg is Leg.FORTH)


def is_worse(job: LineJob) -> ChangeVerdict | None:
    """The verdict by which a line went back; None if it did not by one."""
    verdicts = (fact.verdict for fact in job.facts if fact.leg is Leg.FORTH and fact.verdict is not None)
    return next((verdict for verdict in verdicts if verdict.code is VerdictCode.WORSE), None)


def find_baked(progress: Progress, name: str, now: datetime) -> tuple[Wave, float] | None:
    """The open wave of a class once all its volumes are changed and baked, and the bakes that have passed.

    None before, and once the next may follow.
    """
    open_wave = progress.find_open_wave(name)
    if open_wave is None or progress.find_stop(name) is not None:
        return None
    wave, opened = open_wave
    if _may_follow(progress, name, open_wave):
        return None
    members = progress.find_members(wave)
    if any(not was_changed(job) and job.next is not LineStep.DONE for job in members):
        return None
    arrived = [fact.at for job in members if (fact := job.find(FactKind.COMPLETED, Leg.FORTH)) is not None]
    bakes = (now - max(arrived, default=opened.at)) / timedelta(hours=wave.bake_h)
    return (wave, bakes) if bakes >= 1 or not arrived else None


def judge_class(
    progress: Progress, name: str, baked: tuple[Wave, float], verdict: GroupVerdict | None, now: datetime
) -> Iterator[Fact]:
    """The facts that follow from a baked wave: its verdict, and that its class stops without one after two bakes."""
    wave, bakes = baked
    lines = {job.line.volume_id: job.line.id for job in progress.find_members(wave)}
    if not any(was_changed(job) for job in progress.find_members(wave)):
        text = f"no volume of wave {wave.number} was changed, so nothing can be told of the class: make a new plan."
        yield Fact(kind=FactKind.STOPPED, at=now, code="nothing-changed", text=text)
        return
    outcome = verdict or GroupVerdict(verdict=_SILENCE)
    code = GO if outcome.may_go_on else outcome.verdict.code
    named = tuple(lines[volume_id] for volume_id in outcome.named if volume_id in lines)
    before = [fact for fact in progress.class_facts(name) if fact.kind is FactKind.JUDGED and fact.wave == wave.number]
    text = outcome.verdict.text
    if not before or (before[-1].code, before[-1].named) != (code, named):
        yield Fact(
            kind=FactKind.JUDGED, at=now, wave=wave.number, code=code, text=text, named=named, verdict=outcome.verdict
        )
    if code == VerdictCode.WORSE:
        offer = f"wave {wave.number} is slower as a group: {text} To take it back: plimsoll change back."
        yield Fact(kind=FactKind.STOPPED, at=now, code=code, text=offer)
    elif code != GO and bakes >= _BAKES:
        decide = f"two bakes of wave {wave.number} gave no verdict to go on: {text} A person decides."
        yield Fact(kind=FactKind.STOPPED, at=now, code=VerdictCode.CANNOT_TELL, text=decide)


def judge_canary(members: Iterable[LineJob], verdicts: Mapping[str, ChangeVerdict]) -> GroupVerdict | None:
    """The verdict on a canary: it goes on unless a verdict speaks against it. None if nothing was read."""
    known = [verdicts[job.line.id] for job in members if job.line.id in verdicts]
    if not known:
        return None
    against = [verdict for verdict in known if verdict.code in (VerdictCode.HOLD, VerdictCode.WORSE)]
    goes = ChangeVerdict(code=VerdictCode.NO_SLOWER, reason="canary", text="nothing speaks against the canary.")
    return GroupVerdict(verdict=against[0] if against else goes)


def stop_worse_class(progress: Progress, name: str, now: datetime) -> Iterator[Fact]:
    """The stop of a class in which a volume became worse after a person let it go on."""
    if progress.find_stop(name) is not None:
        return
    resumed = [fact.at for fact in progress.class_facts(name) if fact.kind is FactKind.RESUMED]
    since = max(resumed, default=None)
    for job in progress.jobs.values():
        back = job.find(FactKind.TAKEN_BACK, Leg.BACK)
        if job.line.change_class == name and back is not None and is_worse(job) and (since is None or back.at > since):
            yield Fact(kind=FactKind.STOPPED, at=now, code="worse", text=f"{job.line.label}: {back.text}")
            return


def open_next_wave(progress: Progress, name: str, now: datetime) -> Iterator[Fact]:
    """The fact that the next wave of a class opens, if the one before may be followed. Held back waves are last."""
    if progress.find_stop(name) is not None:
        return
    waves, open_wave = progress.plan.classes[name], progress.find_open_wave(name)
    number = 1 if open_wave is None else open_wave[0].number + 1
    if number > len(waves) or (open_wave is not None and not _may_follow(progress, name, open_wave)):
        return
    if waves[number - 1].kind is WaveKind.HELD_BACK and not _is_all_else_over(progress, name):
        return
    yield Fact(kind=FactKind.OPENED, at=now, wave=number, code=waves[number - 1].kind)


def _may_follow(progress: Progress, name: str, open_wave: tuple[Wave, Fact]) -> bool:
    """True if a wave was judged to go on, or a person said so since it was opened."""
    wave, opened = open_wave
    return any(
        (fact.kind is FactKind.JUDGED and fact.wave == wave.number and fact.code == GO)
        or (fact.kind is FactKind.RESUMED and fact.at >= opened.at)
        for fact in progress.class_facts(name)
    )


def _is_all_else_over(progress: Progress, name: str) -> bool:
    """True if every other class has stopped, or has judged all its waves but those held back."""
    for other, waves in progress.plan.classes.items():
        last = max((wave.number for wave in waves if wave.kind is not WaveKind.HELD_BACK), default=0)
        open_wave = progress.find_open_wave(other)
        if other == name or progress.find_stop(other) is not None:
            continue
        if open_wave is None or open_wave[0].number < last:
            return False
        if open_wave[0].number == last and not _may_follow(progress, other, open_wave):
            return False
    return True


def stop_or_pause_plan(progress: Progress, now: datetime) -> Iterator[Fact]:
    """The fact that the plan stops after two changes with direct evidence, or pauses after two alarms by comparison."""
    if is_plan_stopped(progress.plan_facts):
        return
    verdicts = [verdict for job in progress.jobs.values() if (verdict := is_worse(job)) is not None]
    direct = sum(verdict.is_direct for verdict in verdicts)
    if direct >= MOST_ALARMS:
        text = f"{direct} volumes were stopped for more minutes than promised."
        yield Fact(kind=FactKind.STOPPED, at=now, code="direct-evidence", text=text)
        return
    marks = [fact for fact in progress.plan_facts if fact.kind in (FactKind.PAUSED, FactKind.RESUMED)]
    if marks and marks[-1].kind is FactKind.PAUSED:
        return
    since = marks[-1].at if marks else None
    alarms = [at for at in _find_alarms(progress) if since is None or at > since]
    if len(alarms) >= MOST_ALARMS:
        yield Fact(kind=FactKind.PAUSED, at=now, code="alarms", text=f"{len(alarms)} alarms by comparison.")


def _find_alarms(progress: Progress) -> Iterator[datetime]:
    """The times of alarms by comparison: volumes and waves that are slower without a stopped minute."""
    for job in progress.jobs.values():
        for fact in job.facts:
            verdict = fact.verdict if fact.leg is Leg.FORTH else None
            if verdict is not None and verdict.code is VerdictCode.WORSE and not verdict.is_direct:
                yield fact.at
    for name in progress.plan.classes:
        for fact in progress.class_facts(name):
            if fact.kind is FactKind.JUDGED and fact.code in (VerdictCode.WORSE, VerdictCode.HOLD):
                yield fact.at


def find_lines_to_take_back(progress: Progress) -> Iterator[tuple[LineJob, str, str]]:
    """The changed lines that go back with others, a code and a sentence each: named by a group, or of one unit."""
    named = {
        name: fact.text
        for row in progress.plan.class_rows.values()
        for fact in progress.rows.get(row, ())
        if fact.kind is FactKind.JUDGED and fact.code == VerdictCode.HOLD
        for name in fact.named
    }
    jobs = progress.jobs
    units = {job.line.unit for job in jobs.values() if job.line.unit and job.leg is Leg.BACK}
    for job in jobs.values():
        if job.leg is Leg.BACK or job.find(FactKind.REQUESTED) is None or job.latest is None:
            continue
        if job.latest.kind is FactKind.DROPPED:
            continue
        if job.line.id in named:
            yield job, "named-by-group", named[job.line.id]
        elif job.line.unit in units:
            yield job, "same-unit", f"{job.line.unit} changes as one."


def find_due(progress: Progress, now: datetime) -> Iterator[LineJob]:
    """The lines that may begin now, those first that have least at risk, within the rules' bounds.

    Volumes of one unit begin together.
    """
    jobs, rules = progress.jobs, progress.plan.rules
    if rules.find_hindrance(now) is not None:
        return
    begun = [job for job in jobs.values() if has_begun(job)]
    within_hour = sum(fact.at > now - timedelta(hours=1) for job in begun for fact in job.facts if fact.kind in _BEGUN)
    usd = sum(job.line.usd_at_risk for job in begun if job.next is not LineStep.DONE)
    busy = {key: job.line.unit or job.line.id for job in begun if _is_moving(job) for key in job.line.fails_with}
    units: dict[str, list[LineJob]] = {}
    for job in jobs.values():
        if job.leg is Leg.FORTH and job.next is LineStep.CHECK and job.line.id in progress.open_lines:
            units.setdefault(job.line.unit or job.line.id, []).append(job)
    for unit, members in sorted(
        units.items(), key=lambda item: (sum(job.line.usd_at_risk for job in item[1]), item[0])
    ):
        lines, goes_on = [job.line for job in members], any(has_begun(job) for job in members)
        fits = within_hour + len(lines) <= rules.most_volumes_an_hour or within_hour == 0
        usd_then = usd + sum(line.usd_at_risk for line in lines)
        is_free = all(busy.get(key, unit) == unit for line in lines for key in line.fails_with)
        if not goes_on and not (fits and (usd_then <= rules.most_usd_at_risk or usd == 0) and is_free):
            continue
        if not goes_on and any(not _is_quiet(progress, line, now) for line in lines):
            continue
        within_hour, usd = within_hour + len(lines), usd_then
        busy |= {key: unit for line in lines for key in line.fails_with}
        yield from members


def _is_moving(job: LineJob) -> bool:
    """True for a line between its intent and its end, in which what fails with it must not change."""
    return job.next in (LineStep.REQUEST, LineStep.FOLLOW, LineStep.AWAIT)


def _is_quiet(progress: Progress, line: PlannedLine, now: datetime) -> bool:
    """True unless the line is a canary, which waits for its quiet hours."""
    canary = progress.plan.classes[line.change_class][0]
    return line.id not in canary.members or not line.quiet_hours or now.hour in line.quiet_hours


def find_under_way(progress: Progress) -> Iterator[LineJob]:
    """The lines that were begun and are not over, those on their way back first."""
    under_way = [job for job in progress.jobs.values() if job.facts and job.next is not LineStep.DONE]
    yield from (job for job in under_way if job.leg is Leg.BACK)
    yield from (job for job in under_way if job.leg is Leg.FORTH and job.next is not LineStep.CHECK)


def is_over(progress: Progress, now: datetime) -> bool:
    """True if nothing is under way and nothing can begin any more without a person."""
    if any(True for _ in find_under_way(progress)):
        return False
    if progress.find_halt(now) is not None:
        return True
    return all(
        progress.find_stop(name) is not None or _is_at_end(progress, waves)
        for name, waves in progress.plan.classes.items()
    )


def _is_at_end(progress: Progress, waves: tuple[Wave, ...]) -> bool:
    return all(job.next is LineStep.DONE for wave in waves for job in progress.find_members(wave))
