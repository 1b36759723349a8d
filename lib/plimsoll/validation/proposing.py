"""Proposing: a measurement is prepared once its class and its bench host are the job's own.

Of two jobs that would measure the same class, the second waits and takes the verdict of the first.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.domain.validation import MeasuringRun
from plimsoll.ports import BenchHost
from plimsoll.validation.context import Context
from plimsoll.validation.fio_job import expected_seconds
from plimsoll.validation.job import Attempt, Job, Prepared
from plimsoll.validation.preparing import prepare

CLAIMED: Final = "another validation of the same class has not ended: try again when it has."
"""What is said where another's measurement of a class takes longer than is waited for."""

BUSY: Final = "the bench host has been measuring for other validations all the time: try again, or tag another host."


def propose(job: Job, context: Context) -> Job:
    """Prepares what is measured next; what is prepared already stays as it is.

    The job stays as it is while another measures the same class, or on the same host. BadInput, NotMeasured or
    CloudError where there is nothing to measure, or nothing to measure with.
    """
    proposal = job.proposal
    if proposal is None or _is_anothers(job, context):
        return job
    waited = job.waiting_since is not None
    job, is_ours = _claim_class(job, proposal.run, context)
    if not is_ours:
        return job
    shared = _shared(job, context) if waited else None
    if shared is not None:
        job.release(context.claims)
        return context.keep(job.ended(lines=(*job.lines, shared)))
    prepared = prepare(job, proposal, context, is_free=lambda host: _is_free(host, job, context))
    job, is_ours = _claim_host(job, prepared, context)
    if not is_ours:
        return job
    attempt = Attempt(number=len(job.tried) + 1, proposal=proposal, prepared=prepared)
    return context.keep(replace(job, attempt=attempt, proposal=None))


def _claim_class(job: Job, run: MeasuringRun, context: Context) -> tuple[Job, bool]:
    """Claims the class of a run for as long as it can take, and says whether it is the job's.

    It is noted first, so that the clean-up knows what to release whatever happens.
    """
    now, key, is_first = context.now(), job.claim_on(run), job.waiting_since is None
    job = context.keep(replace(job, claimed=key, waiting_since=job.waiting_since or now))
    longest = context.patience.longest(expected_seconds(run, job.mode, context) + context.patience.setting_up_s)
    until = now + max(timedelta(hours=context.policy.scratch_hours), longest)
    is_ours = context.claims.claim(key, job.name.holder, until, now)
    if is_first and not is_ours:
        context.say("this class is being measured by another validation: waiting for its result")
    return job, is_ours


def _claim_host(job: Job, prepared: Prepared, context: Context) -> tuple[Job, bool]:
    """Claims the host of what is prepared, as `_claim_class` does a class; another that was claimed is given up."""
    now, key, before = context.now(), _host_key(prepared.host), job.claimed_host
    if before not in {None, key}:
        context.claims.release(str(before), job.name.holder)
    job = context.keep(replace(job, claimed_host=key))
    is_ours = context.claims.claim(key, job.name.holder, now + context.patience.longest(prepared.task.limit_s), now)
    if before != key and not is_ours:
        context.say(f"{prepared.host.host.id} is measuring for another validation: waiting until it is free")
    return job, is_ours


def _host_key(host: BenchHost) -> str:
    return f"host/{host.account}/{host.region}/{host.host.id}"


def _is_free(host: BenchHost, job: Job, context: Context) -> bool:
    return context.claims.holder(_host_key(host), context.now()) in {None, job.name.holder}


def _is_anothers(job: Job, context: Context) -> bool:
    """Whether another still has what the job waits for; NotMeasured where it has it for too long."""
    if job.waiting_since is None:
        return False
    others = [key for key in job.claims if context.claims.holder(key, context.now()) not in {None, job.name.holder}]
    if not others:
        return False
    otherwise = CLAIMED if job.claimed in others else BUSY
    context.patience.check(job.waiting_since, limit_s=context.patience.claim_s, otherwise=otherwise)
    return True


def _shared(job: Job, context: Context) -> ValidationLine | None:
    """The verdict that another gave on the class while the job waited for it."""
    since = job.waiting_since or context.now()
    found = [line for line in context.verdicts.lines() if line.class_key == job.claimed and line.at >= since]
    return found[-1] if found else None
