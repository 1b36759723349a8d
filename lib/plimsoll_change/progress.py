"""Progress: what a plan has come to by its ledger, and what follows: waves that open, classes that stop. Pure.

A wave opens on the verdict of the wave before it, never on silence.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from plimsoll.model.units import HOUR_S
from plimsoll_change.ledger import PLAN_ROW, ChangeLedger, Fact, FactKind, Leg, find_latest, find_unresumed
from plimsoll_change.line import BEGINNINGS, LineJob, LineStep
from plimsoll_change.plan import ChangePlan
from plimsoll_change.watch import ChangeVerdict, GroupVerdict, VerdictCode
from plimsoll_change.waves import Wave, WaveKind

MOST_ALARMS: Final = 2
"""Alarms by comparison that pause all waves, and changes taken back by direct evidence that stop the plan."""

_BAKES: Final = 2
"""The bakes after which a wave without a verdict to go on stops its class."""

GO: Final = "go"
"""The code of a wave's verdict after which the next wave may open; any other is that of the verdict."""

_UNREAD: Final = "the metrics of its volumes could not be read."
SILENCE: Final = GroupVerdict(verdict=ChangeVerdict(code=VerdictCode.CANNOT_TELL, reason="unread", text=_UNREAD))
"""The verdict on a wave of which nothing was read."""


@dataclass(frozen=True, kw_only=True)
class ClassProgress:
    """A class of a plan at one moment: its waves, the facts of its row, and its lines by id."""

    waves: tuple[Wave, ...]
    facts: tuple[Fact, ...]
    jobs: Mapping[str, LineJob]

    @cached_property
    def stop(self) -> Fact | None:
        """The fact by which it is stopped; None if it goes on."""
        return find_unresumed(self.facts, FactKind.STOPPED)

    @cached_property
    def opening(self) -> Fact | None:
        """The fact that the latest wave was opened; None if none was."""
        return find_latest(self.facts, FactKind.OPENED)

    @property
    def number(self) -> int:
        """The number of the wave that is open, 0 before the first."""
        return 0 if self.opening is None else self.opening.wave

    @property
    def open_jobs(self) -> list[LineJob]:
        """The lines of the waves that were opened; none if the class is stopped."""
        waves = self.waves[: self.number] if self.stop is None else ()
        return [job for wave in waves for job in self.find_members(wave)]

    @property
    def next_wave(self) -> Wave | None:
        """The wave after the one that is open; None if that is the last, or the class is stopped."""
        return self.waves[self.number] if self.number < len(self.waves) and self.stop is None else None

    @cached_property
    def may_follow(self) -> bool:
        """True if the open wave was judged to go on, or a person said so since; or none is open."""
        opening = self.opening
        return opening is None or any(
            (fact.kind is FactKind.JUDGED and fact.wave == opening.wave and fact.code == GO)
            or (fact.kind is FactKind.RESUMED and fact.at >= opening.at)
            for fact in self.facts
        )

    @property
    def is_judged(self) -> bool:
        """True if it has stopped, or has judged all its waves but those held back."""
        last = max((wave.number for wave in self.waves if wave.kind is not WaveKind.HELD_BACK), default=0)
        return self.stop is not None or self.number > last or (self.number == last and self.may_follow)

    def find_members(self, wave: Wave) -> list[LineJob]:
        return [self.jobs[name] for name in wave.members]

    def find_baked(self, now: datetime) -> tuple[Wave, float] | None:
        """The open wave once all its volumes are changed and baked, and the bakes that have passed.

        None before, and once the next may follow.
        """
        if self.opening is None or self.stop is not None or self.may_follow:
            return None
        wave = self.waves[self.number - 1]
        members = self.find_members(wave)
        if any(job.is_arriving for job in members):
            return None
        arrived = [fact.at for job in members if (fact := job.find(FactKind.COMPLETED, Leg.FORTH)) is not None]
        bakes = (now - max(arrived, default=self.opening.at)).total_seconds() / HOUR_S / wave.bake_h
        return (wave, bakes) if bakes >= 1 or not arrived else None

    def judge(self, wave: Wave, bakes: float, outcome: GroupVerdict, now: datetime) -> Iterator[Fact]:
        """The facts that follow from a baked wave: its verdict, and a stop after two bakes without a way on."""
        lines = {job.line.volume_id: job.line.id for job in self.find_members(wave)}
        if not any(job.is_changed for job in self.find_members(wave)):
            text = f"no volume of wave {wave.number} is changed, so nothing can be told of the class: make a new plan."
            yield Fact(kind=FactKind.STOPPED, at=now, code="nothing-changed", text=text)
            return
        code, text = GO if outcome.may_go_on else outcome.verdict.code, outcome.verdict.text
        verdict = Fact(
            kind=FactKind.JUDGED,
            at=now,
            wave=wave.number,
            code=code,
            text=text,
            named=tuple(lines[volume_id] for volume_id in outcome.named if volume_id in lines),
            verdict=outcome.verdict,
        )
        before = find_latest([fact for fact in self.facts if fact.wave == wave.number], FactKind.JUDGED)
        if before is None or (before.code, before.named) != (verdict.code, verdict.named):
            yield verdict
        if code == VerdictCode.WORSE:
            yield Fact(kind=FactKind.STOPPED, at=now, code=code, text=f"wave {wave.number} is slower as a group.")
        elif code != GO and bakes >= _BAKES:
            decide = f"two bakes of wave {wave.number} gave no verdict to go on: {text} A person decides."
            yield Fact(kind=FactKind.STOPPED, at=now, code=VerdictCode.CANNOT_TELL, text=decide)

    def stop_if_worse(self, now: datetime) -> Iterator[Fact]:
        """The stop of a class in which a volume became worse after a person let it go on."""
        resumed = find_latest(self.facts, FactKind.RESUMED)
        for job in () if self.stop is not None else self.jobs.values():
            back = job.find(FactKind.TAKEN_BACK, Leg.BACK)
            if back is not None and job.worse and (resumed is None or back.at > resumed.at):
                yield Fact(kind=FactKind.STOPPED, at=now, code="worse", text=f"{job.line.label}: {back.text}")
                return


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A plan and the facts of its ledger at one moment."""

    plan: ChangePlan
    rows: Mapping[str, tuple[Fact, ...]]

    @classmethod
    def read(cls, ledger: ChangeLedger) -> "Progress":
        """The plan as its ledger was last read."""
        return cls(plan=ledger.plan, rows=ledger.rows)

    @cached_property
    def jobs(self) -> dict[str, LineJob]:
        """The lines by id, with their facts."""
        return {line.id: LineJob(line=line, facts=self.rows.get(line.id, ())) for line in self.plan.lines}

    @cached_property
    def classes(self) -> dict[str, ClassProgress]:
        """The classes by name."""
        return {
            name: ClassProgress(
                waves=self.plan.classes[name],
                facts=self.rows.get(row, ()),
                jobs={name: self.jobs[name] for wave in self.plan.classes[name] for name in wave.members},
            )
            for name, row in self.plan.class_rows.items()
        }

    @property
    def plan_facts(self) -> tuple[Fact, ...]:
        return self.rows.get(PLAN_ROW, ())

    def find_halt(self, now: datetime) -> str | None:
        """The sentence that says why nothing begins; None if changes may begin."""
        plan, stop = self.plan, find_latest(self.plan_facts, FactKind.STOPPED)
        if stop is not None:
            return f"stopped {stop.at:%Y-%m-%d %H:%M} UTC{f' by {stop.by}' if stop.by else ''}: {stop.text}"
        if (pause := find_unresumed(self.plan_facts, FactKind.PAUSED)) is not None:
            return f"paused: {pause.text} A person lets it go on: plimsoll change approve {plan.id} --go-on."
        if now >= plan.expires:
            return f"the plan {plan.id} expired on {plan.expires:%Y-%m-%d %H:%M} UTC: make a new one of a new run."
        return self._find_lack()

    def _find_lack(self) -> str | None:
        """The sentence that says which approval is missing; None if none is."""
        plan, rules = self.plan, self.plan.rules
        words = [fact for fact in self.plan_facts if fact.kind is FactKind.APPROVED and fact.digest == plan.digest]
        people = sorted({word.by for word in words if not rules.approvers or word.by in rules.approvers})
        limit = rules.two_people_above_usd_month
        if not people:
            return f"the plan {plan.id} is approved by nobody: plimsoll change show {plan.id}, then change approve."
        if limit is not None and plan.usd_month_saved > limit and len(people) < 2:
            return (
                f"the plan {plan.id} saves ${plan.usd_month_saved:,.0f} a month, and above ${limit:,.0f} two people "
                f"approve: {people[0]} did, another is needed."
            )
        if plan.late_back and not any(word.accepts_late_back for word in words):
            return (
                f"{len(plan.late_back)} volumes of the plan {plan.id} have no way back within a day: an owner accepts "
                "that with change approve --accept-late-back."
            )
        return None

    @cached_property
    def active_jobs(self) -> list[LineJob]:
        """The lines that were begun and are not over, those on their way back first."""
        jobs = [job for job in self.jobs.values() if job.facts and job.next is not LineStep.DONE]
        forth = [job for job in jobs if job.leg is Leg.FORTH and job.next is not LineStep.CHECK]
        return [job for job in jobs if job.leg is Leg.BACK] + forth

    def is_over(self, now: datetime) -> bool:
        """True if nothing is under way and nothing can begin any more without a person."""
        if self.active_jobs or self.find_halt(now) is not None:
            return not self.active_jobs
        return all(
            each.stop is not None or all(job.next is LineStep.DONE for job in each.jobs.values())
            for each in self.classes.values()
        )

    def open_wave(self, name: str, now: datetime) -> Iterator[Fact]:
        """The fact that a class's next wave opens, if the one before may be followed. Held back waves are last."""
        wave = self.classes[name].next_wave if self.classes[name].may_follow else None
        is_last = all(each.is_judged for other, each in self.classes.items() if other != name)
        if wave is not None and (wave.kind is not WaveKind.HELD_BACK or is_last):
            yield Fact(kind=FactKind.OPENED, at=now, wave=wave.number, code=wave.kind)

    def stop_or_pause(self, now: datetime) -> Iterator[Fact]:
        """The plan stops after two changes with direct evidence, and pauses after two alarms by comparison."""
        if find_latest(self.plan_facts, FactKind.STOPPED) is not None:
            return
        direct = sum(job.worse is not None and job.worse.is_direct for job in self.jobs.values())
        resumed, alarms = find_latest(self.plan_facts, FactKind.RESUMED), self._find_alarms()
        count = sum(resumed is None or fact.at > resumed.at for fact in alarms)
        if direct >= MOST_ALARMS:
            text = f"{direct} volumes were stopped for more minutes than promised."
            yield Fact(kind=FactKind.STOPPED, at=now, code="direct-evidence", text=text)
        elif count >= MOST_ALARMS and find_unresumed(self.plan_facts, FactKind.PAUSED) is None:
            yield Fact(kind=FactKind.PAUSED, at=now, code="alarms", text=f"{count} alarms by comparison.")

    def _find_alarms(self) -> Iterator[Fact]:
        """The alarms by comparison: volumes and waves that are slower without a stopped minute."""
        for fact in (fact for job in self.jobs.values() for fact in job.facts if fact.leg is Leg.FORTH):
            if fact.verdict is not None and fact.verdict.code is VerdictCode.WORSE and not fact.verdict.is_direct:
                yield fact
        for fact in (fact for each in self.classes.values() for fact in each.facts):
            if fact.kind is FactKind.JUDGED and fact.code in (VerdictCode.WORSE, VerdictCode.HOLD):
                yield fact

    def take_back_with_others(self, now: datetime) -> Iterator[LineJob]:
        """The changed lines that go back with others: named by a group that holds, or of one unit."""
        judged = (fact for each in self.classes.values() for fact in each.facts if fact.code == VerdictCode.HOLD)
        named = {name: fact.text for fact in judged for name in fact.named}
        units = {job.line.unit for job in self.jobs.values() if job.line.unit and job.leg is Leg.BACK}
        for job in (job for job in self.jobs.values() if job.may_go_back):
            if job.line.id in named:
                yield job.take_back(now, code="named-by-group", text=named[job.line.id])
            elif job.line.unit in units:
                yield job.take_back(now, code="same-unit", text=f"{job.line.unit} changes as one.")

    def find_due(self, now: datetime) -> Iterator[LineJob]:
        """The lines that may begin now, those first that have least at risk, within the rules' bounds.

        Volumes of one unit begin together. A canary waits for its quiet hours.
        """
        rules, begun = self.plan.rules, [job for job in self.jobs.values() if has_begun(job)]
        if rules.find_hindrance(now) is not None:
            return
        hour_ago = now - timedelta(hours=1)
        within_hour = sum(fact.at > hour_ago for job in begun for fact in job.facts if fact.kind in BEGINNINGS)
        usd = sum(job.line.usd_at_risk for job in begun if job.next is not LineStep.DONE)
        moving = [job.line for job in begun if job.next in (LineStep.REQUEST, LineStep.AWAIT, LineStep.FOLLOW)]
        busy = {key: line.unit or line.id for line in moving for key in line.fails_with}
        canaries = {name for each in self.classes.values() for name in each.waves[0].members}
        units: dict[str, list[LineJob]] = {}
        for job in (job for each in self.classes.values() for job in each.open_jobs):
            if job.leg is Leg.FORTH and job.next is LineStep.CHECK:
                units.setdefault(job.line.unit or job.line.id, []).append(job)
        for usd_of_unit, unit in sorted((sum(job.line.usd_at_risk for job in units[unit]), unit) for unit in units):
            lines = [job.line for job in units[unit]]
            may_begin = (
                (within_hour == 0 or within_hour + len(lines) <= rules.most_volumes_an_hour)
                and (usd == 0 or usd + usd_of_unit <= rules.most_usd_at_risk)
                and all(busy.get(key, unit) == unit for line in lines for key in line.fails_with)
                and all(line.id not in canaries or now.hour in (line.quiet_hours or (now.hour,)) for line in lines)
            )
            if may_begin or any(map(has_begun, units[unit])):
                within_hour, usd = within_hour + len(lines), usd + usd_of_unit
                busy |= {key: unit for line in lines for key in line.fails_with}
                yield from units[unit]


def has_begun(job: LineJob) -> bool:
    """True for a line whose change was intended, or handed to its owner."""
    return any(fact.kind in BEGINNINGS and fact.leg is Leg.FORTH for fact in job.facts)


def judge_canary(members: Iterable[LineJob], verdicts: Mapping[str, ChangeVerdict]) -> GroupVerdict:
    """The verdict on a canary: it goes on unless a verdict speaks against it, or nothing was read."""
    known = [verdicts[job.line.id] for job in members if job.line.id in verdicts]
    if not known:
        return SILENCE
    goes = ChangeVerdict(code=VerdictCode.NO_SLOWER, reason="canary", text="nothing speaks against the canary.")
    against = (verdict for verdict in known if verdict.code in (VerdictCode.HOLD, VerdictCode.WORSE))
    return GroupVerdict(verdict=next(against, goes))
