"""A validation in short steps: each call takes a step of a job and answers what comes next.

So a state machine can wait in between. What one step has to tell the next is kept in the store, one document for each
item, so that any step may be called again: what is done already is not done twice.
"""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from plimsoll.clouds.published import published_types
from plimsoll.model.errors import BadInput, CloudError
from plimsoll.ports import Target
from plimsoll.service.events import validation_event
from plimsoll.service.scratch_ledger import note_scratch, noted_targets
from plimsoll.service.service import Service
from plimsoll.service.shared_measurements import StoreVerdicts
from plimsoll.service.step_messages import StepError
from plimsoll.service.validation_messages import Cleaned, ConcludedJob, Looked, Proposed, SteppedJob
from plimsoll.validation import measuring
from plimsoll.validation.context import Context
from plimsoll.validation.job import Job, JobName, JobStep, MeasuringAttempt, find_job, load
from plimsoll.validation.patience import BenchPatience
from plimsoll.validation.scratch_volume import Left, clean
from plimsoll.validation.steps import JOB_STEPS

if TYPE_CHECKING:
    from plimsoll.auditing.ports import AuditPorts

_log = logging.getLogger(__name__)

_LOOKS: Final[Mapping[str, tuple[JobStep, Callable[[MeasuringAttempt], bool]]]] = {
    "volume": (JobStep.LOOK_AT_VOLUME, lambda attempt: attempt.made),
    "attachment": (JobStep.LOOK_AT_ATTACHMENT, lambda attempt: attempt.attached),
    "command": (JobStep.LOOK_AT_COMMAND, lambda attempt: attempt.outcome is not None),
}
"""The step that looks at each part of a job, and the test that it is there."""


def propose_measurement(service: Service, name: JobName) -> Proposed:
    """Decides the next measurement of a job, and prepares it; a prepared one stays as it is."""
    context, job = validation_context(service), load(name, service.store)
    while job.next in {JobStep.DECIDE, JobStep.PROPOSE}:
        step = job.next
        job = JOB_STEPS[step](job, context)
        if job.next is step:
            return Proposed(job=name.key, next="wait")
    if job.attempt is None:
        return Proposed(job=name.key, next="done")
    return Proposed(job=name.key, next="send" if job.attempt.prepared.order is None else "create")


def create_scratch(service: Service, name: JobName) -> SteppedJob:
    """Begins to make the proposed scratch volume, after noting its target in the ledger."""
    job = load(name, service.store)
    order = job.current_attempt.prepared.order
    if order is not None:
        note_scratch(service.store, job.place, order.deadline)
    return _take_step(service, name, JobStep.CREATE)


def attach_scratch(service: Service, name: JobName) -> SteppedJob:
    """Begins to attach the scratch volume to the bench host."""
    return _take_step(service, name, JobStep.ATTACH)


def command_key(service: Service, name: JobName) -> dict[str, str | int]:
    """The key of a command that is sent once: the job and its present measurement."""
    return {"job": name.key, "attempt": load(name, service.store).current_attempt.number}


def send_command(service: Service, name: JobName) -> SteppedJob:
    """Sends the command that measures, once."""
    return _take_step(service, name, JobStep.SEND)


def look_at_job(service: Service, name: JobName, at: str) -> Looked:
    """Looks once at the job's `volume`, its `attachment` or its `command`; ready if that is there, or ended."""
    step, is_ready = _LOOKS[at]
    job = JOB_STEPS[step](load(name, service.store), validation_context(service))
    return Looked(job=name.key, ready=is_ready(job.current_attempt))


def conclude_job(service: Service, name: JobName) -> ConcludedJob:
    """Judges a measurement, and decides again."""
    context = validation_context(service)
    job = JOB_STEPS[JobStep.CONCLUDE](load(name, service.store), context)
    if job.bench_limits:
        return ConcludedJob(job=name.key, again=True)
    job, last = JOB_STEPS[JobStep.DECIDE](job, context), job.lines[-1]
    return ConcludedJob(job=name.key, again=job.run is not None, passed=last.passed, campaign=last.campaign)


def clean_up_job(service: Service, name: JobName, error: StepError | None = None) -> Cleaned:
    """Deletes everything that a job made, by its tag, whatever its document says or lacks.

    With an `error` the job has failed: that is noted, and its class and its host are free again. Raises CloudError that
    says what is left, so that this is tried again.
    """
    left: list[Left] = []
    job, context = _find_job(name, service), validation_context(service, left.append)
    if job is None:
        for place in noted_targets(service.store):
            left.extend(clean(name.scratch_id, place, bench=service.places.bench(place), patience=context.patience))
    elif error is None:
        measuring.clean_up_run(job, context)
    else:
        measuring.fail(job, error.sentence, context)
    texts = [leftover.text for leftover in left]
    if texts and error is not None:
        raise CloudError(" ".join(texts))
    return Cleaned(job=name.key, left=texts)


def _take_step(service: Service, name: JobName, step: JobStep) -> SteppedJob:
    JOB_STEPS[step](load(name, service.store), validation_context(service))
    return SteppedJob(job=name.key)


def _find_job(name: JobName, service: Service) -> Job | None:
    try:
        return find_job(name, service.store)
    except BadInput:
        return None  # what is left of it on the bench is found by its tag all the same


def step_patience(service: Service) -> BenchPatience:
    """The time limits of the steps."""
    return BenchPatience.from_settings(service.settings, now=service.clock.now, pause=service.pause)


def validation_context(service: Service, left: Callable[[Left], None] = lambda _left: None) -> Context:
    """The tools of a validation's steps; `left` receives scratch volumes that could not be deleted."""
    settings = service.settings

    def ports(place: Target, now: datetime) -> "AuditPorts":
        from plimsoll.service.target_ports import ports_at  # noqa: PLC0415  # most steps decide on nothing

        return ports_at(place, now, service)

    return Context(
        bench=service.places.bench,
        ports=ports,
        types=published_types(),
        verdicts=StoreVerdicts(service.store),
        claims=service.claims,
        jobs=service.store,
        policy=service.config.parsed_policy,
        patience=step_patience(service),
        runtime_s=settings.benchmark_runtime_s,
        ramp_s=settings.benchmark_ramp_s,
        say=_log.info,
        host_ids=service.config.validation.bench_hosts,
        in_place_file_mib=settings.in_place_file_mib,
        scratch_bounds=service.config.validation.scratch_bounds,
        report=lambda line: service.events.send([validation_event(line)]),
        left=left,
    )
