"""Measuring, step by step: make and attach a scratch volume, send the command, look at it, and clean up.

Each step may be called again, whatever ended it before: finished work is not done twice. The kernel keeps what comes
of it.
"""

from dataclasses import replace

from plimsoll.model.errors import BadInput, CloudError, NotMeasured, Unexpected, Unreachable
from plimsoll.reports.wording import duration
from plimsoll_measure.validation.command import HostCommand, command_s
from plimsoll_measure.validation.context import Context
from plimsoll_measure.validation.job import Job, MeasuringAttempt, job_document
from plimsoll_measure.validation.scratch_volume import clean, is_attached, is_made


def create(job: Job, context: Context) -> Job:
    """Begins to make the scratch volume of the job's order. The same order gives the same volume. Raises CloudError."""
    attempt = job.current_attempt
    order, host = attempt.prepared.order, attempt.prepared.host
    if order is None:
        raise BadInput(f"{job.volume_id} is measured in place: there is no scratch volume to make.")
    if attempt.volume_id is not None:
        return job
    pool_gib = attempt.proposal.subject.pool_gib
    if pool_gib is not None:
        context.say(
            f"{job.volume_id} is to share what {pool_gib:,} GiB of {order.spec.type} on its host carry: one volume as "
            "large is measured, and asked for what all of them need"
        )
    context.say(f"making a scratch volume of {order.spec} in {host.zone}, on {host.host.id} ({host.host.type})")
    volume_id = context.bench(job.place).create(order)
    return job.update_attempt(volume_id=volume_id, creating=context.now())


def look_at_volume(job: Job, context: Context) -> Job:
    """Looks once at the scratch volume while it is made. Raises NotMeasured if that takes too long, and CloudError."""
    attempt, bench, patience = job.current_attempt, context.bench(job.place), context.patience
    since = attempt.creating or context.now()
    if attempt.made or not is_made(_volume_of(job), job.place, since, bench=bench, patience=patience):
        return job
    return job.update_attempt(made=True)


def attach(job: Job, context: Context) -> Job:
    """Begins to attach the scratch volume to the bench host. A second call is no error. Raises CloudError."""
    attempt = job.current_attempt
    context.bench(job.place).attach(job.place, _volume_of(job), attempt.prepared.host.host.id)
    return job.update_attempt(attaching=attempt.attaching or context.now())


def look_at_attachment(job: Job, context: Context) -> Job:
    """Looks once at the volume while it is attached. Raises NotMeasured if that takes too long, and CloudError."""
    attempt, bench, patience = job.current_attempt, context.bench(job.place), context.patience
    since, host_id = attempt.attaching or context.now(), attempt.prepared.host.host.id
    if attempt.attached or not is_attached(_volume_of(job), job.place, host_id, since, bench=bench, patience=patience):
        return job
    return job.update_attempt(attached=True)


def send(job: Job, context: Context) -> Job:
    """Sends the command that measures, once.

    Raises CloudError if it was not sent, and NotMeasured if an earlier call may have sent it.
    """
    attempt = job.current_attempt
    host_id = attempt.prepared.host.host.id
    if attempt.command_id is not None:
        return job
    if attempt.sending is not None:
        raise NotMeasured(
            f"the command for {host_id} in {job.place} may have been sent already: its answer was lost. It is not "
            "sent twice; validate again."
        )
    task = attempt.prepared.task
    task = task if attempt.volume_id is None else replace(task, volume_id=attempt.volume_id)
    context.say(_measuring(job, attempt, context))
    job = context.keep(job.update_attempt(sending=context.now()))
    try:
        command_id = context.bench(job.place).send(job.place, host_id, task)
    except CloudError as error:
        if not isinstance(error, Unreachable | Unexpected):  # with these it may have arrived
            context.keep(job.update_attempt(sending=None))
        raise
    return job.update_attempt(command_id=command_id)


def look_at_command(job: Job, context: Context) -> Job:
    """Looks once at the command.

    Raises NotMeasured if it takes too long or ended badly, and CloudError if several looks in a row have failed.
    """
    attempt, command = job.current_attempt, command_of(job)
    if attempt.outcome is None:
        try:
            outcome = command.look(context.bench(job.place))
        except CloudError:
            context.keep(job.update_attempt(failed_looks=command.failed_looks))
            raise
        if (command.failed_looks, outcome) != (attempt.failed_looks, None):
            job = context.keep(job.update_attempt(failed_looks=command.failed_looks, outcome=outcome))
    if job.current_attempt.outcome is not None:
        command.answer(job.current_attempt.outcome)
        return job
    limit_s = command_s(attempt.prepared.task, context.patience)
    context.patience.check(attempt.sending or context.now(), limit_s=limit_s, otherwise=command.overdue(limit_s))
    return job


def clean_up_run(job: Job, context: Context) -> Job:
    """Stops the command and deletes the scratch volume.

    A volume that cannot be deleted is `left`: the sweep deletes it after its deadline, and its measurement counts.
    """
    attempt = job.attempt
    if attempt is not None and attempt.volume_id is not None and attempt.outcome is not None:
        context.say(f"measured; deleting {attempt.volume_id}")
    _stop(job, context)
    _clean(job, context)
    return job if attempt is None else job.update_attempt(cleaned=attempt.cleaned or context.now())


def fail_by(job: Job, error: BaseException, context: Context) -> Job:
    """Ends a measurement that an error stopped, as it was last kept."""
    return fail(job_document(job.name).find(context.jobs) or job, str(error), context)


def fail(job: Job, why: str, context: Context) -> Job:
    """Ends a measurement that failed: releases its claims, stops its command, deletes its scratch volume."""
    try:
        _stop(job, context)
    finally:
        job.release(context.claims)
    job = context.keep(job.end_run(note=why))
    _clean(job, context)
    return job


def command_of(job: Job) -> HostCommand:
    """The command that was sent for a job. Raises BadInput if there is none."""
    attempt = job.current_attempt
    if attempt.command_id is None:
        raise BadInput(f"no command was sent for {job.name.key}: send it first.")
    host_id = attempt.prepared.host.host.id
    return HostCommand(id=attempt.command_id, target=job.place, host_id=host_id, failed_looks=attempt.failed_looks)


def _stop(job: Job, context: Context) -> None:
    """Asks a command that has not ended to stop."""
    if job.attempt is not None and job.attempt.command_id is not None and job.attempt.outcome is None:
        command_of(job).give_up(context.bench(job.place))


def _clean(job: Job, context: Context) -> None:
    for left_volume in clean(job.name.scratch_id, job.place, bench=context.bench(job.place), patience=context.patience):
        context.left(left_volume)


def _volume_of(job: Job) -> str:
    """The scratch volume of a job. Raises BadInput if none was made."""
    volume_id = job.current_attempt.volume_id
    if volume_id is None:
        raise BadInput(f"no scratch volume was made for {job.name.key}: create it first.")
    return volume_id


def _measuring(job: Job, attempt: MeasuringAttempt, context: Context) -> str:
    prepared = attempt.prepared
    if prepared.order is not None:
        about = duration(prepared.task.limit_s - context.patience.setting_up_s)
        return f"measuring {attempt.volume_id} for about {about}"
    what = job.volume_id if prepared.volumes == 1 else f"the stripe set of {', '.join(prepared.members)}"
    return f"measuring {what} where it is, on {prepared.host.host.id}, within the free headroom of {job.volume_id}"
