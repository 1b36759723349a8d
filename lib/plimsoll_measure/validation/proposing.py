"""Proposing: a measurement is prepared once its class and its bench host are the job's own.

Of two jobs that would measure the same class, the second waits and takes the verdict of the first.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.model.ceiling import Ceiling
from plimsoll.model.errors import NotMeasured
from plimsoll.model.task import ScratchOrder, Task, TaskMode
from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import BenchHost
from plimsoll_measure.runs import MeasuringRun, Mode
from plimsoll_measure.validation.command import stripe_sets
from plimsoll_measure.validation.context import Context
from plimsoll_measure.validation.fio_job import expected_seconds, fio_job, seconds_of
from plimsoll_measure.validation.job import Job, MeasuringAttempt, Prepared, Proposal, Subject

CLAIMED: Final = "another validation of the same class has not ended: try again when it has."
"""The sentence after another's measurement of a class took longer than the patience."""

BENCH_BUSY: Final = (
    "the bench host has been measuring for other validations all the time: try again, or tag another host."
)


def propose_run(job: Job, context: Context) -> Job:
    """Prepares the next measurement. A prepared one stays as it is.

    The job stays as it is while another measures the same class, or on the same host. Raises BadInput, NotMeasured or
    CloudError if there is nothing to measure, or nothing to measure with.
    """
    proposal = job.proposal
    if proposal is None or _is_claimed_elsewhere(job, context):
        return job
    waited = job.waiting_since is not None
    job, is_ours = _claim_class(job, proposal.run, context)
    if not is_ours:
        return job
    shared = _shared_verdict(job, context) if waited else None
    if shared is not None:
        job.release(context.claims)
        return job.end_run(lines=(*job.lines, shared))
    prepared = prepare(job, proposal, context, is_free=lambda host: _is_free(host, job, context))
    job, is_ours = _claim_host(job, prepared, context)
    if not is_ours:
        return job
    attempt = MeasuringAttempt(number=len(job.tried) + len(job.vain_usd) + 1, proposal=proposal, prepared=prepared)
    return replace(job, attempt=attempt, proposal=None)


def _claim_class(job: Job, run: MeasuringRun, context: Context) -> tuple[Job, bool]:
    """Claims the class of a run for its longest time. The second value is True if the claim is the job's.

    The job notes the claim first, so that the clean-up releases it whatever happens.
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
    """Claims the host of a prepared run, as `_claim_class` does a class, and releases another claimed host."""
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


def _is_claimed_elsewhere(job: Job, context: Context) -> bool:
    """Another job holds a claim that this one waits for. Raises NotMeasured if that takes too long."""
    if job.waiting_since is None:
        return False
    others = [key for key in job.claims if context.claims.holder(key, context.now()) not in {None, job.name.holder}]
    if not others:
        return False
    otherwise = CLAIMED if job.claimed in others else BENCH_BUSY
    context.patience.check(job.waiting_since, limit_s=context.patience.claim_s, otherwise=otherwise)
    return True


def _shared_verdict(job: Job, context: Context) -> ValidationLine | None:
    """Another job's verdict on the class, given while this one waited. None if there is none."""
    since = job.waiting_since or context.now()
    lines = [line for line in context.verdicts.lines() if line.class_key == job.claimed and line.at >= since]
    return lines[-1] if lines else None


IsFree = Callable[[BenchHost], bool]
"""True if no other validation measures on a host. Other hosts are chosen last."""


def prepare(job: Job, proposal: Proposal, context: Context, *, is_free: IsFree) -> Prepared:
    """Chooses the host and writes the fio job of a proposal. Nothing is made yet.

    Raises NotMeasured or CloudError if there is no host, or no workload to measure by.
    """
    text = fio_job(proposal, job.mode, context)
    limit_s = round(seconds_of(text, proposal.run, job.mode, context) + context.patience.setting_up_s)
    if job.mode is Mode.IN_PLACE:
        return _prepare_in_place(job, text, limit_s, proposal.subject, context)
    return _on_scratch(job, text, limit_s, proposal, context, is_free)


def _on_scratch(job: Job, text: str, limit_s: int, proposal: Proposal, context: Context, is_free: IsFree) -> Prepared:
    run, copied = proposal.run, proposal.subject if job.mode is Mode.COPY else None
    _check_makeable(run, context)
    if copied is not None:
        _check_not_modifying(copied)
    zones = run.zones if copied is None else (copied.volume.zone,)
    tags = () if context.host_ids else context.policy.bench_hosts
    hosts = context.bench(job.place).hosts(job.place, tags, context.host_ids)
    host = choose_host(hosts, run.spec, run.ceiling, zones, is_free)
    began = context.now()
    order = ScratchOrder(
        validation_id=job.name.scratch_id,
        account=job.place.account,
        region=job.place.region,
        zone=host.zone,
        spec=run.spec,
        deadline=began + max(timedelta(hours=context.policy.scratch_hours), context.patience.longest(limit_s)),
        source=None if copied is None else copied.volume.id,
    )
    task = Task(
        mode=TaskMode.DEVICE,
        job=text,
        limit_s=limit_s,
        initialize=copied is not None,
        alarm=context.policy.bench_alarm,
    )
    return Prepared(host=host, task=task, began=began, order=order)


def _prepare_in_place(job: Job, text: str, limit_s: int, subject: Subject, context: Context) -> Prepared:
    volume, policy, bench = subject.volume, context.policy, context.bench(job.place)
    _check_not_modifying(subject)
    if len(volume.hosts) != 1:
        raise NotMeasured(f"{volume.id} is not attached to exactly one known host: measure it with the mode canary.")
    (host,) = bench.hosts(job.place, (), (volume.hosts[0].id,))
    if not host.ready:
        raise NotMeasured(host.not_ready)
    began = context.now()
    sets = stripe_sets(host.host.id, job.place, began.date(), bench=bench, patience=context.patience)
    task = Task(
        mode=TaskMode.FILE,
        volume_id=volume.id,
        job=text,
        limit_s=limit_s,
        file_size_mib=context.in_place_file_mib,
        most_queue=policy.in_place_most_queue,
        most_latency_us=policy.in_place_most_latency_us,
        alarm=policy.bench_alarm,
    )
    members = next((stripe_set.members for stripe_set in sets if volume.id in stripe_set.members), (volume.id,))
    return Prepared(host=host, task=task, began=began, members=members)


def _check_makeable(run: MeasuringRun, context: Context) -> None:
    """Raises NotMeasured if no scratch volume can show the run: it is one volume, in one zone."""
    kind = context.types[run.spec.type]
    if kind.zones > 1:
        raise NotMeasured(
            f"{kind.name} is kept in {kind.zones} zones, and a scratch volume is made in one: {run.spec} is not "
            "measured."
        )
    if run.spec.size_gib > kind.most_size_gib:
        raise NotMeasured(
            f"{run.wants[0].volume_id} is to share what {run.spec.size_gib:,} GiB of {kind.name} on its host carry, "
            f"and one volume has at most {kind.most_size_gib:,} GiB: none can show it."
        )

    excess = None if context.scratch_bounds is None else context.scratch_bounds.excess(run.spec)
    if excess is not None:
        raise NotMeasured(f"a scratch volume of {run.spec} is larger than the settings allow: {excess}.")


def _check_not_modifying(subject: Subject) -> None:
    """Raises NotMeasured during a modification: the volume then has neither its old nor its new performance."""
    latest = subject.volume.modification
    if latest is not None and latest.is_running:
        raise NotMeasured(f"{subject.volume.id} is being modified ({latest.state}): measure it when that is completed.")


def choose_host(
    hosts: Sequence[BenchHost],
    spec: VolumeSpec,
    ceiling: Ceiling,
    zones: Sequence[str],
    is_free: IsFree,
) -> BenchHost:
    """The smallest host that is ready and sustains the ceiling, in the first zone that has one. Free hosts go first.

    Raises NotMeasured with each host's refusal: a host whose own ceiling is under the target's would measure itself.
    """
    for zone in zones:
        fit = [host for host in hosts if host.zone == zone and not any(_refusals(host, spec, ceiling))]
        if fit:
            free = [host for host in fit if is_free(host)]
            return min(free or fit, key=lambda host: (host.host.ceiling.sustained_throughput_mib_s, host.host.id))
    refusals = [why for host in hosts if host.zone in zones for why in _refusals(host, spec, ceiling)]
    refusals += [f"{host.host.id} is in {host.zone}" for host in hosts if host.zone not in zones]
    reasons = f": {'; '.join(refusals)}" if refusals else ""
    raise NotMeasured(
        f"no bench host in {' or '.join(zones)} can measure {spec}{reasons}. Tag a running instance there that takes "
        "commands with plimsoll:bench=true (where keys have no colon, plimsoll-bench=true; docs/validation.md says how "
        "it takes them), or name one (--bench-host; in the service, validation.bench_hosts)."
    )


def _refusals(host: BenchHost, spec: VolumeSpec, ceiling: Ceiling) -> Iterator[str]:
    """Yields the reasons why a host cannot measure a spec; none if it can."""
    name = f"{host.host.id} ({host.host.type})"
    if not host.ready:
        yield host.not_ready.rstrip(".")
    if spec.type in host.shares:
        yield f"{name} has a volume of {spec.type} already, with which another would share its performance"
    if host.host.limits is None:
        yield f"{name} publishes no storage limits, so it could itself be the limit"
        return
    cap = host.host.cap(spec.type)
    if cap is None:
        yield f"{name} takes no volume of {spec.type}"
        return
    named = ""
    for (unit, carries), wanted in zip(
        _figures(host.host.ceiling & cap).items(), _figures(ceiling).values(), strict=True
    ):
        if carries < wanted and not (named and unit.endswith(named)):
            named = unit
            yield f"{name} sustains {carries:,.0f} {unit}, less than the {wanted:,.0f} to be measured"


def _figures(ceiling: Ceiling) -> Mapping[str, float]:
    """The sustained rates of a ceiling, for reads and for writes: they may have limits of their own."""
    iops, throughput_mib_s = ceiling.sustained_iops, ceiling.sustained_throughput_mib_s
    return {
        "IOPS": iops,
        "written IOPS": iops / ceiling.write_iops_cost,
        "MiB/s": throughput_mib_s,
        "written MiB/s": throughput_mib_s / ceiling.write_throughput_cost,
    }
