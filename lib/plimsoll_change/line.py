"""Lines: one volume's change and its way back, as a job whose document is its row of the ledger.

    check -> intended -> request -> requested -> follow -> completed -> watch -> watched
                                                 follow, watch: worse -> taken back -> check -> ...

Each step looks at the world first. An intent is written before its call, and is good for one call of the process that
wrote it: any other reads the modifications of the volume, and asks again only if none is the intent's.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any, Final
from uuid import NAMESPACE_OID, uuid5

from plimsoll.jobs.document import StoredDocument
from plimsoll.jobs.kernel import DONE, BenchPatience, JobKind, JobStepRow
from plimsoll.model.errors import BadInput, CloudError, Unreachable, VolumeGone
from plimsoll.model.volume import Modification, Volume, VolumeSpec
from plimsoll.ports import Claims, RunStore
from plimsoll_change.clouds import CHANGE_CLOUDS
from plimsoll_change.drift import Drift, find_drifts
from plimsoll_change.ledger import PLAN_ROW, ChangeLedger, Fact, FactKind, Leg, find_latest, find_starts
from plimsoll_change.plan import ChangePlan, PlannedLine, slots_of
from plimsoll_change.ports import ModifyRefused, VolumeChanger
from plimsoll_change.watch import ChangeVerdict, VerdictCode
from plimsoll_change.waves import WATCH_H

SETTLE: Final = timedelta(minutes=2)
"""The time until a call that was sent is among a volume's modifications, if it was taken."""

FRESH: Final = timedelta(minutes=1)
"""The time for which an intent is good for its call: after that another process may have taken the line over."""

CLAIM_TIME: Final = timedelta(minutes=10)
_SLOT: Final = "slot"
MOST_FAILURES: Final = 2
"""A modification that failed is asked for once more."""


class LineStep(StrEnum):
    """The next step of a line; the function of `check` is `check_line`."""

    CHECK = "check"
    REQUEST = "request"
    AWAIT = "await"
    FOLLOW = "follow"
    WATCH = "watch"
    DONE = DONE


LINE_STEPS: Final = frozenset(LineStep) - {LineStep.DONE}

BEGINNINGS: Final = (FactKind.INTENDED, FactKind.HANDED)

_NEXT: Final[Mapping[FactKind, LineStep]] = {
    FactKind.UNSENT: LineStep.CHECK,
    FactKind.WAITS: LineStep.CHECK,
    FactKind.HANDED: LineStep.AWAIT,
    FactKind.INTENDED: LineStep.REQUEST,
    FactKind.REQUESTED: LineStep.FOLLOW,
    FactKind.MODIFYING: LineStep.FOLLOW,
    FactKind.OPTIMIZING: LineStep.FOLLOW,
    FactKind.COMPLETED: LineStep.WATCH,
    FactKind.FAILED: LineStep.CHECK,
    FactKind.DROPPED: LineStep.DONE,
    FactKind.WATCHED: LineStep.DONE,
}


@dataclass(frozen=True, kw_only=True)
class LineJob:
    """A line of a plan and the facts of its row."""

    line: PlannedLine
    facts: tuple[Fact, ...] = ()

    @cached_property
    def leg(self) -> Leg:
        """The way that it is on."""
        return Leg.BACK if any(fact.kind is FactKind.TAKEN_BACK for fact in self.facts) else Leg.FORTH

    @cached_property
    def leg_facts(self) -> tuple[Fact, ...]:
        return tuple(fact for fact in self.facts if fact.leg is self.leg)

    @cached_property
    def latest(self) -> Fact | None:
        """The fact that says what comes next; None if nothing was done on this leg yet."""
        return find_latest(self.leg_facts, *_NEXT)

    @property
    def next(self) -> LineStep:
        """The next step."""
        if self.latest is None:
            return LineStep.CHECK
        has_failed = self.latest.kind is FactKind.FAILED and self.count(FactKind.FAILED) >= MOST_FAILURES
        return LineStep.DONE if has_failed else _NEXT[self.latest.kind]

    @property
    def target(self) -> VolumeSpec:
        """The configuration at the end of its leg."""
        return self.line.back if self.leg is Leg.BACK else self.line.then

    @property
    def verdict(self) -> ChangeVerdict | None:
        """The latest verdict on this leg; None if there is none."""
        fact = self.find(FactKind.VERDICT)
        return None if fact is None else fact.verdict

    @property
    def worse(self) -> ChangeVerdict | None:
        """The verdict by which it went back; None if it did not by one."""
        verdicts = (fact.verdict for fact in self.facts if fact.leg is Leg.FORTH and fact.verdict is not None)
        return next((verdict for verdict in verdicts if verdict.code is VerdictCode.WORSE), None)

    @property
    def is_changed(self) -> bool:
        """True if its change arrived and is not taken back."""
        return self.leg is Leg.FORTH and self.find(FactKind.COMPLETED) is not None

    @property
    def is_in_force(self) -> bool:
        """True while its volume has the change: it arrived, and is not back, also where the way back failed."""
        return self.find(FactKind.COMPLETED, Leg.FORTH) is not None and self.find(FactKind.COMPLETED, Leg.BACK) is None

    @property
    def is_arriving(self) -> bool:
        """True for a change that is still to come or on its way."""
        return self.leg is Leg.FORTH and not self.is_changed and self.next is not LineStep.DONE

    @property
    def is_watched(self) -> bool:
        """True for a line that is judged: a change from its request on, a way back once it arrived."""
        return self.next is LineStep.WATCH or (self.next is LineStep.FOLLOW and self.leg is Leg.FORTH)

    @property
    def may_go_back(self) -> bool:
        """True for a change that was asked for, and neither given up nor taken back."""
        is_given_up = self.latest is not None and self.latest.kind is FactKind.DROPPED
        return self.leg is Leg.FORTH and self.find(FactKind.REQUESTED) is not None and not is_given_up

    def find(self, kind: FactKind, leg: Leg | None = None) -> Fact | None:
        """The latest fact of a kind on a leg, by default on that which it is on; None if there is none."""
        return find_latest([fact for fact in self.facts if fact.leg is (leg or self.leg)], kind)

    def count(self, kind: FactKind) -> int:
        return sum(fact.kind is kind for fact in self.leg_facts)

    def note(self, kind: FactKind, at: datetime, **fields: Any) -> "LineJob":
        """The line with one more fact, of its leg by default."""
        return replace(self, facts=(*self.facts, Fact(kind=kind, at=at, **{"leg": self.leg, **fields})))

    def take_back(self, at: datetime, **fields: Any) -> "LineJob":
        """The line on its way back."""
        return self.note(FactKind.TAKEN_BACK, at, leg=Leg.BACK, **fields)

    def drop_changed(self, at: datetime, text: str) -> "LineJob":
        """The line given up because somebody else changed its volume."""
        return self.note(FactKind.DROPPED, at, code="changed-by-others", text=text)

    def wait(self, at: datetime, code: str, text: str, until: datetime | None) -> "LineJob":
        """The line with what it waits for, unless it says so already."""
        latest = self.latest
        if latest is not None and (latest.kind, latest.code, latest.until) == (FactKind.WAITS, code, until):
            return self
        return self.note(FactKind.WAITS, at, code=code, text=text, until=until)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineContext:
    """The tools of a line's steps."""

    ledger: ChangeLedger
    changer: VolumeChanger
    claims: Claims
    patience: BenchPatience
    holder: str  # this process, for claims
    say: Callable[[str], None]
    other_starts: Mapping[str, Collection[datetime]] = field(default_factory=dict)  # by volume, of other plans
    is_killed: Callable[[], bool] = lambda: False  # by a switch beside the ledger
    find_news: Callable[[PlannedLine], Drift | None] = lambda _: None  # of recommendations made after the plan
    own_intents: set[tuple[str, Fact]] = field(default_factory=set)  # not used yet

    @property
    def plan(self) -> ChangePlan:
        return self.ledger.plan

    @property
    def jobs(self) -> RunStore:
        return self.ledger.store

    @property
    def now(self) -> datetime:
        return self.patience.now()

    def look(self, line: PlannedLine) -> Volume:
        """The volume of a line as it is now. Raises CloudError if it cannot be seen, VolumeGone if it is gone."""
        volume = self.changer.look(line.target, [line.volume_id])[line.volume_id]
        if isinstance(volume, CloudError):
            raise volume
        return volume

    def is_stopped(self) -> bool:
        """True if somebody stopped the plan, as the ledger and the switch have it at this moment."""
        self.ledger.read(PLAN_ROW)
        return self.is_killed() or find_latest(self.ledger.facts(PLAN_ROW), FactKind.STOPPED) is not None


def join_starts(ledgers: Iterable[ChangeLedger]) -> Mapping[str, list[datetime]]:
    """The starts of modifications by some plans, by volume: they count against the same slots."""
    starts: dict[str, list[datetime]] = {}
    for ledger in ledgers:
        for line in ledger.plan.lines:
            starts.setdefault(line.volume_id, []).extend(find_starts(ledger.facts(line.id)))
    return starts


def check_line(job: LineJob, context: LineContext) -> LineJob:
    """Looks for drift and for a slot, then writes the intent, or hands the patch to the owner.

    A way back waits for as long as it takes. A change that drifted is dropped by name.
    """
    now, latest = context.now, job.latest
    if latest is not None and latest.until is not None and now < latest.until and latest.code != _SLOT:
        return job
    if job.leg is Leg.FORTH and context.is_stopped():
        return job
    volume = context.look(job.line)
    intent = job.note(FactKind.INTENDED, now, spec=job.target, started=_start_of(volume.modification))
    after = next(_find_hindrances(job, volume, context), intent)
    if after is intent:
        context.own_intents.add((job.line.id, intent.facts[-1]))
    return after


def _start_of(change: Modification | None) -> datetime | None:
    return None if change is None else change.started


def _find_hindrances(job: LineJob, volume: Volume, context: LineContext) -> Iterator[LineJob]:
    """The line as it becomes where nothing is asked of the cloud now; the first counts.

    Slots are counted by the ledgers, the cloud's log and its latest modification: other people's count.
    """
    line, now, change = job.line, context.now, volume.modification
    rules = slots_of(line, context.plan.rules)
    is_back = job.leg is Leg.BACK
    for drift in () if is_back else _find_drifts(line, volume, context):
        yield job.note(FactKind.DROPPED, now, code=drift.code, text=drift.text)
    if is_back and change is not None and change.is_running:
        yield job.wait(now, "optimizing", "the cloud still moves data, and takes nothing back before it ends", None)
    if is_back and volume.spec == job.target:
        yield job.note(FactKind.COMPLETED, now, code="already-back")
    if is_back and volume.spec != line.then:
        yield job.drop_changed(now, f"it is {volume.spec} now: somebody changed it, and it is not taken back.")
    if line.is_by_owner:
        text = f"{line.owner}: its patch is in change show {context.plan.id}."
        yield job.note(FactKind.HANDED, now, text=text, started=_start_of(change))
    since = now - timedelta(hours=max(rule.hours for rule in rules))
    logged = context.changer.find_starts(line.target, line.volume_id, since) or ()
    shown = [] if change is None else [change.started]
    starts = {*find_starts(job.facts), *logged, *shown, *context.other_starts.get(line.volume_id, ())}
    for rule in rules:
        free_at = rule.find_next(starts, is_back=is_back)
        if free_at is not None and free_at > now:
            kept = "" if is_back or rule.most == 1 else ", of which one is kept for the way back"
            yield job.wait(now, _SLOT, f"{rule}{kept}", free_at)
    if not context.claims.claim(f"change/{line.target}/{line.volume_id}", context.holder, now + CLAIM_TIME, now):
        yield job.wait(now, "claimed", "another plan changes this volume", now + CLAIM_TIME)


def _find_drifts(line: PlannedLine, volume: Volume, context: LineContext) -> Iterator[Drift]:
    """The reasons to drop a line: its own, and those of its unit, of which all are dropped before any is changed."""
    alarms, ledger = context.plan.rules.alarms, context.ledger
    unit = [other for other in context.plan.lines if line.unit and other.unit == line.unit]
    is_begun = any(find_latest(ledger.facts(other.id), *BEGINNINGS) for other in unit)
    for member in (line, *(other for other in unit if other is not line and not is_begun)):
        drifts: list[Drift | Fact | None] = [find_latest(ledger.facts(member.id), FactKind.DROPPED)]
        if drifts == [None]:
            seen = volume if member is line else context.look(member)
            drifts = [*find_drifts(member, seen), context.find_news(member)]
        for drift in drifts:
            if drift is not None:
                text = drift.text if member is line else f"{line.unit} changes as one: {drift.text}"
                yield Drift(drift.code, text)
    if alarms and (firing := context.changer.find_firing(line.target, alarms)):
        yield Drift("alarm", f"the alarm {', '.join(firing)} is not OK.")


def request_line(job: LineJob, context: LineContext) -> LineJob:
    """Asks the cloud for what is intended, once. A modification that came of the intent already is taken as its own."""
    now, intent = context.now, job.find(FactKind.INTENDED)
    if intent is None or intent.spec is None:
        raise BadInput(f"{job.line.id} has no intent: begin with its check.")
    volume = context.look(job.line)
    change, key, request_id = volume.modification, (job.line.id, intent), _name_request(job, intent, context)
    if change is not None and change.started != intent.started:
        is_own = change.target == intent.spec or change.request_id == request_id
        seen = job.note(FactKind.REQUESTED, now, started=change.started, code="seen")
        return seen if is_own else job.drop_changed(now, _describe_change(change))
    if key not in context.own_intents or now >= intent.at + FRESH:
        return job if now < intent.at + SETTLE else job.note(FactKind.UNSENT, now, code="no-modification")
    context.own_intents.discard(key)  # from here on, only the cloud says whether it was taken
    if job.leg is Leg.FORTH and context.is_stopped():
        return job.note(FactKind.UNSENT, now, code="stopped")
    return _send(job, volume, intent.spec, request_id, context)


def _name_request(job: LineJob, intent: Fact, context: LineContext) -> str:
    """The id of an intent's request, a UUID that every process makes alike."""
    return str(uuid5(NAMESPACE_OID, f"{context.plan.digest}/{job.line.id}/{intent.leg}/{intent.at.isoformat()}"))


def _describe_change(change: Modification) -> str:
    return f"somebody asked for {change.target or 'other figures'} at {change.started:%Y-%m-%d %H:%M} UTC."


def _send(job: LineJob, volume: Volume, spec: VolumeSpec, request_id: str, context: LineContext) -> LineJob:
    """The line after its call: requested, refused, or as it is if no answer came."""
    label, now = job.line.label, context.now
    try:
        started = context.changer.modify(job.line.target, volume.id, volume.spec, spec, request_id)
    except ModifyRefused as refusal:
        return _note_refusal(job, refusal, now)
    except Unreachable:
        context.say(f"{label}: no answer to its modification. What the cloud shows is read before anything else.")
        return job
    context.say(f"{label}: asked for {spec}")
    return job.note(FactKind.REQUESTED, now, started=started)


def _note_refusal(job: LineJob, refusal: ModifyRefused, now: datetime) -> LineJob:
    """The line after a refusal. A change that will not be taken is dropped; a way back is tried every hour."""
    refusals = CHANGE_CLOUDS[job.line.target.provider].refusals
    wait, sentence = refusals.get(refusal.code, (None, "the cloud refuses it"))
    text = f"{sentence}: {refusal}"
    if wait is None and job.leg is Leg.FORTH:
        return job.note(FactKind.DROPPED, now, code=refusal.code, text=text)
    return job.wait(now, refusal.code, text, refusal.until or now + (wait or timedelta(hours=1)))


def await_line(job: LineJob, context: LineContext) -> LineJob:
    """Waits until the cloud shows what the owner's tool was to make. No state file is believed."""
    now, volume = context.now, context.look(job.line)
    if volume.spec == job.target:
        return job.note(FactKind.REQUESTED, now, code="by-owner", started=_start_of(volume.modification))
    if volume.spec != (job.line.then if job.leg is Leg.BACK else job.line.now):
        return job.drop_changed(now, f"it is {volume.spec} now, which is not what its owner was asked for.")
    if job.leg is Leg.FORTH and (now >= context.plan.expires or context.is_stopped()):
        return job.note(FactKind.DROPPED, now, code="not-done", text="its owner did not change it while the plan held.")
    return job


def follow_line(job: LineJob, context: LineContext) -> LineJob:
    """Notes how far a modification is, as the cloud shows it."""
    now, volume, requested = context.now, context.look(job.line), job.find(FactKind.REQUESTED)
    change, started = volume.modification, None if requested is None else requested.started
    if change is None or (started is not None and change.started < started):
        by_owner = started is None and volume.spec == job.target
        return job.note(FactKind.COMPLETED, now, code="by-owner") if by_owner else job
    if started is not None and change.started > started and change.target != job.target:
        return job.drop_changed(now, _describe_change(change))
    kind = FactKind(change.state)
    if kind is FactKind.COMPLETED and volume.spec != job.target:
        text = f"the cloud says completed, and the volume is {volume.spec}."
        return job.note(FactKind.FAILED, now, code="not-as-asked", text=text, started=change.started)
    is_noted = job.latest is not None and job.latest.kind is kind
    return job if is_noted else job.note(kind, now, text=change.message, started=change.started)


def watch_line(job: LineJob, context: LineContext) -> LineJob:
    """Ends the watch after a week. A change that made its volume worse goes back."""
    now, completed = context.now, job.find(FactKind.COMPLETED)
    after = heed_verdict(job, None, now)
    if after.leg is job.leg and completed is not None and now >= completed.at + timedelta(hours=WATCH_H):
        code = VerdictCode.CANNOT_TELL if job.verdict is None else job.verdict.code
        return job.note(FactKind.WATCHED, now, code=code)
    return after


def heed_verdict(job: LineJob, verdict: ChangeVerdict | None, now: datetime) -> LineJob:
    """The line with a new verdict, and on its way back if its change made the volume worse.

    While the cloud moves data, only direct evidence counts.
    """
    if verdict is not None and not (job.next is LineStep.WATCH or verdict.is_direct):
        return job
    if verdict is not None and _is_news(verdict, job.find(FactKind.VERDICT), now):
        job = job.note(FactKind.VERDICT, now, code=verdict.code, text=verdict.text, verdict=verdict)
    if job.leg is Leg.FORTH and job.verdict is not None and job.verdict.code is VerdictCode.WORSE:
        return job.take_back(now, code=job.verdict.reason, text=job.verdict.text)
    return job


def _is_news(verdict: ChangeVerdict, before: Fact | None, now: datetime) -> bool:
    """True for another verdict than the last one, or the same in other words a day later."""
    if before is None or before.verdict is None:
        return True
    if (before.verdict.code, before.verdict.reason) != (verdict.code, verdict.reason):
        return True
    return before.text != verdict.text and now - before.at >= timedelta(days=1)


def leave_line(job: LineJob, error: BaseException, context: LineContext) -> LineJob:
    """The line as it is, which the next pass goes on with. One whose volume is gone is dropped."""
    context.say(f"{job.line.label}: {error}")
    if not isinstance(error, VolumeGone):
        return job
    gone = job.note(FactKind.DROPPED, context.now, code="gone", text=str(error))
    context.ledger.keep(gone.line.id, gone.facts)
    return gone


@dataclass(frozen=True, slots=True, kw_only=True)
class _RowDocument(StoredDocument[LineJob]):
    """A line's row as the kernel keeps it: its new facts are added, none is written over."""

    ledger: ChangeLedger

    def put(self, store: RunStore, value: LineJob) -> LineJob:  # noqa: ARG002  # the ledger has its store
        """Adds the facts that the ledger does not have. Raises RowTaken if another process added others."""
        self.ledger.keep(value.line.id, value.facts)
        return value


def line_jobs(ledger: ChangeLedger) -> JobKind[LineJob, LineContext]:
    """The lines of a plan as jobs."""
    return JobKind(
        document=lambda job: _RowDocument(key=job.line.id, model=LineJob, noun="line", ledger=ledger),
        steps={step: JobStepRow(f"plimsoll_change.line:{step}_line") for step in LINE_STEPS},
        way_out="plimsoll_change.line:leave_line",
        outlives_process=True,
    )
