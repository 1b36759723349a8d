"""A validation: one resumable job. A loop drives its steps here, and the service's state machine drives the same ones.

    decide -> propose -> create -> attach -> send -> clean up -> conclude -> decide again -> ...

with looks in between, until what was begun is there. Each step is a function of the job and the context, keeps the job
that comes of it, and may be called again. The job itself names its next step.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from plimsoll.auditing.audit import run_audit
from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.model.errors import PlimsollError
from plimsoll.model.policy import Grade
from plimsoll.model.volume import VolumeSpec
from plimsoll.outcomes import Answered
from plimsoll.ports import Target
from plimsoll.reports.answers import record_of
from plimsoll.reports.record import RecommendationRecord
from plimsoll_measure.runs import Budget, MeasuringRun, Mode, plan_runs, split_by_budget
from plimsoll_measure.validation.context import VALIDATIONS, Agree, Context, agree_to_all
from plimsoll_measure.validation.deciding import MOST_ATTEMPTS, usd_month_of
from plimsoll_measure.validation.fio_job import plan_run
from plimsoll_measure.validation.job import MEASURING_STEPS, Job, JobName, JobStep, job_of_class
from plimsoll_measure.validation.killed_job import resume_job
from plimsoll_measure.validation.scratch_volume import Left
from plimsoll_measure.validation.thin_evidence import wants_in


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcludedRun:
    """A run ended in a verdict."""

    run: MeasuringRun
    line: ValidationLine


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmeasuredRun:
    """A run ended without a verdict. The others go on."""

    run: MeasuringRun
    error: PlimsollError


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisedAnswer:
    """A recommendation before and after the measurements."""

    before: RecommendationRecord
    after: RecommendationRecord
    asked: VolumeSpec | None = None  # the target that was validated in its place, if any


RunEvent = ConcludedRun | UnmeasuredRun | RevisedAnswer | Left


def validate_volume(job: Job, context: Context) -> Iterator[RunEvent]:
    """Validates a volume's target. If it fails, the next recommended one, within the budget.

    After a run without a measurement nothing new is known, and nothing else is tried.
    """
    with resume_job(job, context) as resumed:
        job = VALIDATIONS.take(resumed, context, JobStep.DECIDE)
        while job.run is not None:
            job = yield from measure(job, context)
            if job.note is not None:
                break
            job = VALIDATIONS.take(job, context)
    if job.before is not None:
        yield RevisedAnswer(before=job.before, after=job.after or job.before, asked=job.asked_spec)


def measure(job: Job, context: Context) -> Generator[RunEvent, None, Job]:
    """Takes a job's steps until it has a verdict or has failed.

    Nothing is left behind but the volumes that events name, also after an error and Ctrl-C.
    """
    run, left = job.run, dict[str | None, Left]()
    if run is None:
        return job
    context = replace(context, left=lambda left_volume: left.update({left_volume.volume_id: left_volume}))
    try:
        (ended,) = VALIDATIONS.drive([job], context, MEASURING_STEPS)
    except BaseException:
        yield from left.values()
        raise
    if ended.error is None:
        yield ConcludedRun(run=run, line=ended.job.lines[-1])
    else:
        yield UnmeasuredRun(run=run, error=ended.error)
    yield from left.values()
    return ended.job


@dataclass(slots=True, kw_only=True)
class RunValidation:
    """The validation of a run: its recommendations with thin evidence, class by class, the largest stakes first.

    Measured volumes are decided again, and answers whose evidence is thin then are measured in turn.
    """

    name: str
    place: Target  # names the cloud
    now: datetime
    budget: Budget
    least: Grade | None  # the grade that is enough; None for the policy's
    context: Context
    _tried: dict[str, Job] = field(default_factory=dict, init=False)

    @property
    def runs(self) -> int:
        return len(self._tried)

    def events(self, records: Sequence[RecommendationRecord]) -> Iterator[RunEvent]:
        """The events of the validation. A volume that cannot be read costs its own class only."""
        latest, unagreed = {record.volume_id: record for record in records}, self.context.agree
        for _ in range(MOST_ATTEMPTS):
            chosen = self._choose_runs(latest.values(), unagreed)
            if not chosen:
                return
            unagreed = agree_to_all
            for run in chosen:
                yield from self._measure_class(run)
            served = {want.volume_id for run in chosen for want in run.wants}
            for decided in self._revise(served, latest):
                latest[decided.after.volume_id] = decided.after
                yield decided

    def _choose_runs(self, latest: Iterable[RecommendationRecord], agree: Agree) -> Sequence[MeasuringRun]:
        """The runs that the rest of the budget allows, after the user's agreement."""
        context, prices = self.context, self.context.ports(self.place, self.now).prices
        wants = wants_in(latest, context.policy, self.least, context.types)
        runs = [run for run in plan_runs(wants) if run.class_key not in self._tried]
        plans = {
            run.class_key: plan_run(run, Mode.CANARY, usd_month_of(run, self._place_of(run), prices), context)
            for run in runs
        }
        spent = sum(job.usd for job in self._tried.values())
        budget_left = self.budget.rest_after(usd=spent, runs=len(self._tried))
        chosen, left = split_by_budget(runs, lambda run: plans[run.class_key].usd or 0.0, budget_left)
        agree([plans[run.class_key] for run in chosen], left)
        return chosen

    def _place_of(self, run: MeasuringRun) -> Target:
        return replace(self.place, account=run.wants[0].account, region=run.wants[0].region)

    def _measure_class(self, run: MeasuringRun) -> Iterator[RunEvent]:
        """Yields the events of measuring one class, in a new job or in that of a killed process.

        The job is kept as tried, however it ends. A job that cannot be planned is one `UnmeasuredRun` with the error.
        Nobody is asked again: agreement was given for all classes.
        """
        name = JobName(validation=self.name, index=len(self._tried))
        job = job_of_class(run, name, self._place_of(run), self.now, budget=Budget())
        self._tried[run.class_key] = job
        context = replace(self.context, agree=agree_to_all)
        with resume_job(job, context) as resumed:
            try:
                job = VALIDATIONS.take(resumed, context, JobStep.DECIDE)
            except PlimsollError as error:
                yield UnmeasuredRun(run=run, error=error)
                return
            self._tried[run.class_key] = yield from measure(job, context)

    def _revise(self, served: set[str], latest: Mapping[str, RecommendationRecord]) -> Iterator[RevisedAnswer]:
        """The recommendations of the served volumes, decided with all measurements so far."""
        ports, others = self.context.ports(self.place, self.now), frozenset(latest) - served
        for outcome in run_audit(ports, self.context.policy, self.now, done=others):
            if isinstance(outcome, Answered) and outcome.recommendation.volume.id in served:
                after = record_of(outcome.recommendation, outcome.change, provider=self.place.provider)
                yield RevisedAnswer(before=latest[after.volume_id], after=after)
