"""Resuming: a job whose process was killed is gone on with by the next one that asks for the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Final

from plimsoll.domain.errors import BadInput
from plimsoll.domain.scratch import ScratchOrder
from plimsoll.validation.context import Context
from plimsoll.validation.deciding import planned
from plimsoll.validation.job import JOBS, Attempt, Job, JobName, find
from plimsoll.validation.measuring import fail

LONGEST: Final = timedelta(days=7)
"""How long the document of a killed process is kept: no scratch volume may be needed for longer."""

_ALIVE: Final = {"creating", "available", "in-use"}


@contextmanager
def resumed(job: Job, context: Context) -> Iterator[Job]:
    """The job, or an earlier one that asked for the same and whose process was killed while it measured.

    Going on has to be agreed to as a new plan has. The document goes with the block, unless this process is killed too.
    """
    me, found = job.name.holder, _killed(job, context)
    if found is not None and _can_go_on(found, context):
        proposal = found.under_way.proposal
        context.agree([planned(proposal.run, found.mode, proposal.usd_month, context)], [])
    if found is not None and _claim(found, me, context):
        job = _taken_over(found, job, me, context)
    _claim(job, me, context)
    try:
        yield job
    finally:
        context.jobs.delete(job.name.key)
        context.claims.release(_process_of(job), me)


def _killed(job: Job, context: Context) -> Job | None:
    """The earlier job that asked for the same, None where there is none; documents past their time are deleted."""
    for key in list(context.jobs.keys(JOBS)):
        found = _found(key, context)
        if found is None or found.now + LONGEST < job.now:
            context.jobs.delete(key)
        elif _asks(found) == _asks(job) and context.claims.holder(_process_of(found), context.now()) is None:
            return found
    return None


def _found(key: str, context: Context) -> Job | None:
    try:
        return find(JobName.of(key), context.jobs)
    except BadInput:
        return None  # it is of no use to anybody; the sweep has what it made


def _asks(job: Job) -> tuple[object, ...]:
    chosen = None if job.following is None else job.following.class_key
    return job.place.provider, job.volume_id, job.mode, job.asked, chosen


def _process_of(job: Job) -> str:
    """What the process claims that drives a job: a claim in a folder ends with its process."""
    return f"job/{job.name.holder}"


def _claim(job: Job, me: str, context: Context) -> bool:
    return context.claims.claim(_process_of(job), me, context.now() + LONGEST, context.now())


def _can_go_on(job: Job, context: Context) -> bool:
    """Whether what was begun is still there, and nobody else measures the same or on the same host."""
    if job.attempt is None or not _is_under_way(job, job.attempt, context):
        return False
    holders = {context.claims.holder(key, context.now()) for key in job.claims}
    return holders <= {None, job.name.holder}


def _is_under_way(job: Job, attempt: Attempt, context: Context) -> bool:
    order: ScratchOrder | None = attempt.prepared.order
    if attempt.outcome is not None:
        return True  # all that is left to do is to judge and to clean up
    if order is None:
        return attempt.command_id is not None
    if attempt.volume_id is None or context.now() >= order.deadline:
        return False
    found = context.bench(job.place).scratch(job.place, volume_id=attempt.volume_id)
    return any(volume.state in _ALIVE for volume in found)


def _taken_over(found: Job, job: Job, me: str, context: Context) -> Job:
    """The found job with what it had claimed; where it cannot be gone on with, the new one, and nothing left of it."""
    if not _can_go_on(found, context):
        fail(found, "its process was killed", context)
        context.jobs.delete(found.name.key)
        context.claims.release(_process_of(found), me)
        return job
    context.say(f"going on with the validation {found.name.validation}, whose process was killed: {found.next.value}")
    until = context.now() + context.patience.longest(found.under_way.prepared.task.limit_s)
    for key in found.claims:
        context.claims.claim(key, found.name.holder, until, context.now())
    return replace(found, budget=job.budget)
