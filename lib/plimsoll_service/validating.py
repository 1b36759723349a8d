"""A validation in short steps: each call takes a step of a job and answers what comes next.

So a state machine can wait in between. What one step has to tell the next is kept in the store, one document for each
item, so that any step may be called again: what is done already is not done twice.
"""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from plimsoll.clouds.published import published_types
from plimsoll.jobs.kernel import BenchPatience
from plimsoll.model.errors import CloudError
from plimsoll.ports import Target
from plimsoll_measure.validation import measuring
from plimsoll_measure.validation.context import VALIDATIONS, Context
from plimsoll_measure.validation.job import Job, JobStep, job_document
from plimsoll_measure.validation.scratch_volume import Left, clean
from plimsoll_service.events import validation_event
from plimsoll_service.scratch_ledger import note_scratch, noted_targets
from plimsoll_service.service import Service
from plimsoll_service.shared_measurements import StoreVerdicts
from plimsoll_service.validation_messages import (
    Cleaned,
    CleanUpMessage,
    ConcludedJob,
    JobMessage,
    Looked,
    LookMessage,
    Proposed,
    ProposeMessage,
    SteppedJob,
)

if TYPE_CHECKING:
    from plimsoll.auditing.ports import AuditPorts

_log = logging.getLogger(__name__)


def propose_measurement(service: Service, message: ProposeMessage) -> Proposed:
    """Decides the next measurement of a job, and prepares it; a prepared one stays as it is."""
    name = message.job
    job = job_document(name).require(service.store)
    job = VALIDATIONS.go_on(job, validation_context(service), (JobStep.DECIDE, JobStep.PROPOSE))
    if job.next is JobStep.PROPOSE:
        return Proposed(job=name.key, next="wait")
    if job.attempt is None:
        return Proposed(job=name.key, next="done")
    return Proposed(job=name.key, next="send" if job.attempt.prepared.order is None else "create")


def create_scratch(service: Service, message: JobMessage) -> SteppedJob:
    """Begins to make the proposed scratch volume, after noting its target in the ledger."""
    job = job_document(message.job).require(service.store)
    order = job.current_attempt.prepared.order
    if order is not None:
        note_scratch(service.store, job.place, order.deadline)
    return SteppedJob(job=_take_step(service, message, JobStep.CREATE).name.key)


def attach_scratch(service: Service, message: JobMessage) -> SteppedJob:
    """Begins to attach the scratch volume to the bench host."""
    return SteppedJob(job=_take_step(service, message, JobStep.ATTACH).name.key)


def command_key(service: Service, message: JobMessage) -> dict[str, str | int]:
    """The key of a command that is sent once: the job and its present measurement."""
    job = job_document(message.job).require(service.store)
    return {"job": job.name.key, "attempt": job.current_attempt.number}


def send_command(service: Service, message: JobMessage) -> SteppedJob:
    """Sends the command that measures, once."""
    return SteppedJob(job=_take_step(service, message, JobStep.SEND).name.key)


def look_at_job(service: Service, message: LookMessage) -> Looked:
    """Looks once at the job's `volume`, its `attachment` or its `command`; ready if that is there, or ended."""
    step = JobStep(f"look-at-{message.at}")
    job = _take_step(service, message, step)
    return Looked(job=job.name.key, ready=job.next is not step)


def conclude_job(service: Service, message: JobMessage) -> ConcludedJob:
    """Judges a measurement, and decides again."""
    job = _take_step(service, message, JobStep.CONCLUDE)
    if job.bench_limits:
        return ConcludedJob(job=job.name.key, again=True)
    job, last = VALIDATIONS.take(job, validation_context(service), JobStep.DECIDE), job.lines[-1]
    return ConcludedJob(job=job.name.key, again=job.run is not None, passed=last.passed, campaign=last.campaign)


def clean_up_job(service: Service, message: CleanUpMessage) -> Cleaned:
    """Deletes everything that a job made, by its tag, whatever its document says or lacks.

    With an `error` the job has failed: that is noted, and its class and its host are free again. Raises CloudError that
    says what is left, so that this is tried again.
    """
    left, name, error = list[Left](), message.job, message.error
    # What an unreadable document has left on the bench is found by its tag.
    job, context = job_document(name).find(service.store), validation_context(service, left.append)
    if job is None:
        for place in noted_targets(service.store):
            left.extend(clean(name.scratch_id, place, bench=service.places.bench(place), patience=context.patience))
    elif error is None:
        VALIDATIONS.take(job, context, JobStep.CLEAN_UP)
    else:
        measuring.fail(job, error.sentence, context)
    texts = [leftover.text for leftover in left]
    if texts and error is not None:
        raise CloudError(" ".join(texts))
    return Cleaned(job=name.key, left=texts)


def _take_step(service: Service, message: JobMessage, step: JobStep) -> Job:
    return VALIDATIONS.take(job_document(message.job).require(service.store), validation_context(service), step)


def step_patience(service: Service) -> BenchPatience:
    return BenchPatience.from_settings(service.settings, now=service.clock.now, pause=service.pause)


def validation_context(service: Service, left: Callable[[Left], None] = lambda _left: None) -> Context:
    """The tools of a validation's steps; `left` receives scratch volumes that could not be deleted."""
    settings = service.settings

    def ports(place: Target, now: datetime) -> "AuditPorts":
        from plimsoll_service.target_ports import ports_at  # noqa: PLC0415  # most steps decide on nothing

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
