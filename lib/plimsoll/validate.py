"""A validation: one resumable job. A loop drives its steps here, and the service's state machine drives the same ones.

    decide -> propose -> create -> attach -> send -> clean up -> conclude -> decide again -> ...

with looks in between, until what was begun is there. Each step is a function of the job and the context, keeps the job
that comes of it, and may be called again. The job itself says which step comes next.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from plimsoll.auditing.audit import audit
from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.domain.errors import PlimsollError
from plimsoll.domain.evidence.grade import Grade
from plimsoll.domain.evidence.measuring_runs import MeasuringRun, runs_for, within
from plimsoll.domain.evidence.validation_order import Budget, Mode
from plimsoll.domain.volume import VolumeSpec
from plimsoll.outcomes import Answered
from plimsoll.ports import Target
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.to_record import record_of
from plimsoll.validation.context import Agree, Context, agreed
from plimsoll.validation.deciding import MOST_ATTEMPTS, decide, planned, rest_of, usd_month_of
from plimsoll.validation.job import Job, JobName, Step, find, job_of_class
from plimsoll.validation.killed_job import resumed
from plimsoll.validation.measuring import fail
from plimsoll.validation.scratch_volume import Left
from plimsoll.validation.steps import STEPS
from plimsoll.validation.thin_evidence import wants_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Concluded:
    """A run ended in a verdict."""

    run: MeasuringRun
    line: ValidationLine


@dataclass(frozen=True, slots=True, kw_only=True)
class NotConcluded:
    """A run ended without a verdict; the others go on."""

    run: MeasuringRun
    error: PlimsollError


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A recommendation before and after what was measured; `asked` is what was to be validated in its place, None where
    that was the recommendation itself."""

    before: RecommendationRecord
    after: RecommendationRecord
    asked: VolumeSpec | None = None


Event = Concluded | NotConcluded | Decided | Left


def validate_volume(job: Job, context: Context) -> Iterator[Event]:
    """Validates a volume's target; where it fails, the next that is then recommended, as far as the budget goes.

    Where nothing could be measured nothing new is known, and nothing else is tried.
    """
    with resumed(job, context) as found:
        job = decide(found, context)
        while job.run is not None:
            job = yield from measure(job, context)
            if job.note is not None:
                break
            job = decide(job, context)
    if job.before is not None:
        yield Decided(before=job.before, after=job.after or job.before, asked=job.asked_spec)


def measure(job: Job, context: Context) -> Generator[Event, None, Job]:
    """Carries out what a job proposes, step by step, until there is a verdict or it has failed.

    Nothing is left behind but what an event names, also after an error and Ctrl-C.
    """
    run, left = job.run, dict[str | None, Left]()
    if run is None:
        return job
    context = replace(context, left=lambda one: left.update({one.volume_id: one}))
    event: Event | None = None
    try:
        job = _stepped(job, context)
        event = Concluded(run=run, line=job.lines[-1])
    except PlimsollError as error:
        job = _failed(job, error, context)
        event = NotConcluded(run=run, error=error)
    except BaseException as error:
        _failed(job, error, context)
        yield from left.values()
        raise
    yield event
    yield from left.values()
    return job


def _stepped(job: Job, context: Context) -> Job:
    """The job after its verdict. A step that comes again is waited for."""
    while (step := job.next) not in {Step.DECIDE, Step.DONE}:
        job = STEPS[step](job, context)
        if job.next is step:
            context.patience.pause(context.patience.every_s)
    return job


def _failed(job: Job, error: BaseException, context: Context) -> Job:
    """The job as it was kept last, ended and cleaned up after."""
    return fail(find(job.name, context.jobs) or job, str(error), context)


@dataclass(slots=True, kw_only=True)
class RunValidation:
    """The validation of a run: all its recommendations whose evidence is thin, class by class, those with the most at
    stake first. What was measured is decided again, and what is thin then is measured in turn.

    `place` names the cloud; `least` is the grade that is enough, None for the policy's.
    """

    name: str
    place: Target
    now: datetime
    budget: Budget
    least: Grade | None
    context: Context
    _tried: dict[str, Job] = field(default_factory=dict, init=False)

    @property
    def runs(self) -> int:
        """How many measurements were begun."""
        return len(self._tried)

    def events(self, records: Sequence[RecommendationRecord]) -> Iterator[Event]:
        """What happens. A volume that cannot be read costs its own class only."""
        latest, unagreed = {record.volume_id: record for record in records}, self.context.agree
        for _ in range(MOST_ATTEMPTS):
            chosen = self._chosen(latest.values(), unagreed)
            if not chosen:
                return
            unagreed = agreed
            for run in chosen:
                yield from self._of_class(run)
            served = {want.volume_id for run in chosen for want in run.wants}
            for decided in self._decided_again(served, latest):
                latest[decided.after.volume_id] = decided.after
                yield decided

    def _chosen(self, latest: Iterable[RecommendationRecord], agree: Agree) -> Sequence[MeasuringRun]:
        """The runs that the rest of the budget allows, once they are agreed to."""
        context, prices = self.context, self.context.ports(self.place, self.now).prices
        wants = wants_in(latest, context.policy, self.least, context.types)
        runs = [run for run in runs_for(wants) if run.class_key not in self._tried]
        plans = {
            run.class_key: planned(run, Mode.CANARY, usd_month_of(run, self._place_of(run), prices), context)
            for run in runs
        }
        spent = sum(job.usd for job in self._tried.values())
        rest = rest_of(self.budget, usd=spent, runs=len(self._tried))
        chosen, left = within(runs, lambda run: plans[run.class_key].usd or 0.0, rest)
        agree([plans[run.class_key] for run in chosen], left)
        return chosen

    def _place_of(self, run: MeasuringRun) -> Target:
        return replace(self.place, account=run.wants[0].account, region=run.wants[0].region)

    def _of_class(self, run: MeasuringRun) -> Iterator[Event]:
        """A run with the workload of its first want."""
        name = JobName(validation=self.name, index=len(self._tried))
        job = job_of_class(run, name, self._place_of(run), self.now, budget=Budget())
        self._tried[run.class_key] = job
        context = replace(self.context, agree=agreed)
        with resumed(job, context) as found:
            try:
                job = decide(found, context)
            except PlimsollError as error:
                yield NotConcluded(run=run, error=error)
                return
            self._tried[run.class_key] = yield from measure(job, context)

    def _decided_again(self, served: set[str], latest: Mapping[str, RecommendationRecord]) -> Iterator[Decided]:
        """The recommendations of some volumes, decided with what has been measured by now."""
        ports, others = self.context.ports(self.place, self.now), frozenset(latest) - served
        for outcome in audit(ports, self.context.policy, self.now, done=others):
            if isinstance(outcome, Answered) and outcome.recommendation.volume.id in served:
                after = record_of(outcome.recommendation, outcome.change, provider=self.place.provider)
                yield Decided(before=latest[after.volume_id], after=after)
