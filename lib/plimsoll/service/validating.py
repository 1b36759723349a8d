"""A validation in short steps, each a call: the job is brought, a step of `plimsoll.validation.steps` is taken, and
what comes next is answered, so that a state machine can wait in between.

What one step has to tell the next is kept in the store, one document for each item, so that any step may be called
again: what is done already is not done twice.
"""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from plimsoll.clouds.published import published_types
from plimsoll.domain.errors import BadInput, CloudError
from plimsoll.ports import Target
from plimsoll.service.events import validation_completed
from plimsoll.service.scratch_ledger import note_scratch, noted_targets
from plimsoll.service.service import Service
from plimsoll.service.shared_measurements import StoreVerdicts
from plimsoll.service.step_messages import StepError
from plimsoll.service.validation_messages import Cleaned, Concluded, Looked, Proposed, Stepped
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
"""What is looked at, by which step, and whether it is there."""


def propose(service: Service, name: JobName) -> Proposed:
    """Decides what is measured next for a job, and prepares it; what is prepared already stays as it is."""
    context, job = context_of(service), load(name, service.store)
    while job.next in {JobStep.DECIDE, JobStep.PROPOSE}:
        step = job.next
        job = JOB_STEPS[step](job, context)
        if job.next is step:
            return Proposed(job=name.key, next="wait")
    if job.attempt is None:
        return Proposed(job=name.key, next="done")
    return Proposed(job=name.key, next="send" if job.attempt.prepared.order is None else "create")


def create_scratch(service: Service, name: JobName) -> Stepped:
    """Begins to make the scratch volume of what was proposed, and notes before that where it may be."""
    job = load(name, service.store)
    order = job.under_way.prepared.order
    if order is not None:
        note_scratch(service.store, job.place, order.deadline)
    return _stepped(service, name, JobStep.CREATE)


def attach_scratch(service: Service, name: JobName) -> Stepped:
    """Begins to attach the scratch volume to the bench host."""
    return _stepped(service, name, JobStep.ATTACH)


def sending_of(service: Service, name: JobName) -> dict[str, str | int]:
    """What is to be sent once: the command of that job's present measurement."""
    return {"job": name.key, "attempt": load(name, service.store).under_way.number}


def send_command(service: Service, name: JobName) -> Stepped:
    """Sends the command that measures, once."""
    return _stepped(service, name, JobStep.SEND)


def look(service: Service, name: JobName, at: str) -> Looked:
    """Looks once at the job's `volume`, its `attachment` or its `command`, and says whether that is there, or ended."""
    step, is_ready = _LOOKS[at]
    job = JOB_STEPS[step](load(name, service.store), context_of(service))
    return Looked(job=name.key, ready=is_ready(job.under_way))


def conclude(service: Service, name: JobName) -> Concluded:
    """Judges what was measured, and decides again."""
    context = context_of(service)
    job = JOB_STEPS[JobStep.CONCLUDE](load(name, service.store), context)
    if job.bench_limits:
        return Concluded(job=name.key, again=True)
    job, last = JOB_STEPS[JobStep.DECIDE](job, context), job.lines[-1]
    return Concluded(job=name.key, again=job.run is not None, passed=last.passed, campaign=last.campaign)


def clean_up(service: Service, name: JobName, error: StepError | None = None) -> Cleaned:
    """Takes away what a job made, by its tag, whatever its document says or lacks.

    With an `error` the job has failed: that is noted, and its class and its host are free again. CloudError says what
    is left, so that this is tried again.
    """
    left: list[Left] = []
    job, context = _known(name, service), context_of(service, left.append)
    if job is None:
        for place in noted_targets(service.store):
            left.extend(clean(name.scratch_id, place, bench=service.places.bench(place), patience=context.patience))
    elif error is None:
        measuring.clean_up_run(job, context)
    else:
        measuring.fail(job, error.sentence, context)
    texts = [one.text for one in left]
    if texts and error is not None:
        raise CloudError(" ".join(texts))
    return Cleaned(job=name.key, left=texts)


def _stepped(service: Service, name: JobName, step: JobStep) -> Stepped:
    JOB_STEPS[step](load(name, service.store), context_of(service))
    return Stepped(job=name.key)


def _known(name: JobName, service: Service) -> Job | None:
    try:
        return find_job(name, service.store)
    except BadInput:
        return None  # what is left of it on the bench is found by its tag all the same


def patience_of(service: Service) -> BenchPatience:
    """How long each step may take."""
    return BenchPatience.of(service.settings, now=service.clock.now, pause=service.pause)


def context_of(service: Service, left: Callable[[Left], None] = lambda _left: None) -> Context:
    """What the steps of a validation are given; `left` hears what could not be deleted."""
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
        patience=patience_of(service),
        runtime_s=settings.benchmark_runtime_s,
        ramp_s=settings.benchmark_ramp_s,
        say=_log.info,
        host_ids=service.config.validation.bench_hosts,
        in_place_file_mib=settings.in_place_file_mib,
        scratch_bounds=service.config.validation.scratch_bounds,
        report=lambda line: service.events.send([validation_completed(line)]),
        left=left,
    )
