"""Resuming: the next process that asks for the same goes on with a job whose process was killed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Final

from plimsoll.model.errors import BadInput, NotMeasured
from plimsoll.model.task import ScratchOrder
from plimsoll_measure.validation.context import VALIDATIONS, Context
from plimsoll_measure.validation.fio_job import plan_run
from plimsoll_measure.validation.job import JOBS, Job, JobName, MeasuringAttempt, job_document

LONGEST_KEPT: Final = timedelta(days=7)
"""The age at which the document of a killed process is deleted: no scratch volume is needed for longer."""

_ALIVE: Final = {"creating", "available", "in-use"}


@contextmanager
def resume_job(job: Job, context: Context) -> Iterator[Job]:
    """The job, or an earlier one for the same whose process was killed while it measured.

    The user must agree to go on, as to a new plan. The document is deleted with the block, unless this process is
    killed too.
    """
    me, earlier = job.name.holder, _find_killed_job(job, context)
    if earlier is not None and _can_go_on(earlier, context):
        proposal = earlier.current_attempt.proposal
        context.agree([plan_run(proposal.run, earlier.mode, proposal.usd_month, context)], [])
    if earlier is not None and _claim(earlier, me, context):
        job = _take_over(earlier, job, me, context)
    _claim(job, me, context)
    try:
        yield job
    finally:
        context.jobs.delete(job.name.key)
        context.claims.release(_process_of(job), me)


def _find_killed_job(job: Job, context: Context) -> Job | None:
    """The earlier job for the same, whose process was killed. None without one. Deletes documents past their time."""
    for key in list(context.jobs.keys(JOBS)):
        earlier = _load_or_none(key, context)
        if earlier is None or earlier.now + LONGEST_KEPT < job.now:
            context.jobs.delete(key)
        elif (
            _request_key(earlier) == _request_key(job)
            and context.claims.holder(_process_of(earlier), context.now()) is None
        ):
            return earlier
    return None


def _load_or_none(key: str, context: Context) -> Job | None:
    try:
        return job_document(JobName.from_key(key)).find(context.jobs)
    except BadInput:
        return None  # it is of no use to anybody; the sweep has what it made


def _request_key(job: Job) -> tuple[object, ...]:
    chosen = None if job.following is None else job.following.class_key
    return job.place.provider, job.volume_id, job.mode, job.asked, chosen


def _process_of(job: Job) -> str:
    """The claim of the process that drives a job. A claim in a folder ends with its process."""
    return f"job/{job.name.holder}"


def _claim(job: Job, me: str, context: Context) -> bool:
    return context.claims.claim(_process_of(job), me, context.now() + LONGEST_KEPT, context.now())


def _can_go_on(job: Job, context: Context) -> bool:
    """The job's volume or command is still there, and nobody else measures the same or on the same host."""
    if job.attempt is None or not _is_under_way(job, job.attempt, context):
        return False
    holders = {context.claims.holder(key, context.now()) for key in job.claims}
    return holders <= {None, job.name.holder}


def _is_under_way(job: Job, attempt: MeasuringAttempt, context: Context) -> bool:
    """True if a killed job's attempt can go on: its outcome is known, or its command or scratch volume is there.

    A command of a job without a scratch volume counts once it was sent. A scratch volume counts until its deadline, and
    only if the cloud still has it.
    """
    order: ScratchOrder | None = attempt.prepared.order
    if attempt.outcome is not None:
        return True  # all that is left to do is to judge and to clean up
    if order is None:
        return attempt.command_id is not None
    if attempt.volume_id is None or context.now() >= order.deadline:
        return False
    volumes = context.bench(job.place).scratch(job.place, volume_id=attempt.volume_id)
    return any(volume.state in _ALIVE for volume in volumes)


def _take_over(earlier: Job, job: Job, me: str, context: Context) -> Job:
    """The earlier job with its claims. If it cannot go on it is cleaned up, and the new job begins."""
    if not _can_go_on(earlier, context):
        VALIDATIONS.leave(earlier, NotMeasured("its process was killed"), context)
        context.jobs.delete(earlier.name.key)
        context.claims.release(_process_of(earlier), me)
        return job
    context.say(
        f"going on with the validation {earlier.name.validation}, whose process was killed: {earlier.next.value}"
    )
    until = context.now() + context.patience.longest(earlier.current_attempt.prepared.task.limit_s)
    for key in earlier.claims:
        context.claims.claim(key, earlier.name.holder, until, context.now())
    return replace(earlier, budget=job.budget)
