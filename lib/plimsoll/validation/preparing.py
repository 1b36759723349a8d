"""Preparing: what a run needs before anything is made: its host, its task, and the order of its scratch volume."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta

from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.errors import NotMeasured
from plimsoll.domain.scratch import ScratchOrder
from plimsoll.domain.task import Task, TaskMode
from plimsoll.domain.validation import MeasuringRun, Mode
from plimsoll.domain.volume import VolumeSpec
from plimsoll.ports import BenchHost
from plimsoll.validation.context import Context
from plimsoll.validation.fio_job import fio_job, seconds_of
from plimsoll.validation.inspecting import stripe_sets
from plimsoll.validation.job import Job, Prepared, Proposal, Subject

IsFree = Callable[[BenchHost], bool]
"""Whether no other validation measures on a host; hosts that are not free are chosen last."""


def prepare(job: Job, proposal: Proposal, context: Context, *, is_free: IsFree) -> Prepared:
    """Chooses the host and writes the fio job of a proposal; nothing is made yet. NotMeasured or CloudError where there
    is no host, or nothing to measure by."""
    text = fio_job(proposal, job.mode, context)
    limit_s = round(seconds_of(text, proposal.run, job.mode, context) + context.patience.setting_up_s)
    if job.mode is Mode.IN_PLACE:
        return _in_place(job, text, limit_s, proposal.subject, context)
    return _on_scratch(job, text, limit_s, proposal, context, is_free)


def _on_scratch(job: Job, text: str, limit_s: int, proposal: Proposal, context: Context, is_free: IsFree) -> Prepared:
    run, copied = proposal.run, proposal.subject if job.mode is Mode.COPY else None
    _check_makeable(run, context)
    if copied is not None:
        _check_settled(copied)
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


def _in_place(job: Job, text: str, limit_s: int, subject: Subject, context: Context) -> Prepared:
    volume, policy, bench = subject.volume, context.policy, context.bench(job.place)
    _check_settled(subject)
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
    members = next((found.members for found in sets if volume.id in found.members), (volume.id,))
    return Prepared(host=host, task=task, began=began, members=members)


def _check_makeable(run: MeasuringRun, context: Context) -> None:
    """Refuses what no scratch volume can show: it is made in one zone, and as one volume."""
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


def _check_settled(subject: Subject) -> None:
    """Refuses to measure what is still changing: during a modification a volume shows neither what it was nor is."""
    latest = subject.volume.modification
    if latest is not None and latest.in_progress:
        raise NotMeasured(f"{subject.volume.id} is being modified ({latest.state}): measure it when that is completed.")


def choose_host(
    hosts: Sequence[BenchHost],
    spec: VolumeSpec,
    ceiling: Ceiling,
    zones: Sequence[str],
    is_free: IsFree,
) -> BenchHost:
    """The smallest host that is ready and sustains the ceiling, in the first zone that has one; of several there, one
    that is free, where any is.

    NotMeasured says of every host why it was refused: one whose own ceiling is under the target's measures itself.
    """
    for zone in zones:
        fit = [host for host in hosts if host.zone == zone and not any(_refused(host, spec, ceiling))]
        if fit:
            free = [host for host in fit if is_free(host)]
            return min(free or fit, key=lambda host: (host.host.ceiling.sustained_throughput_mib_s, host.host.id))
    refusals = [why for host in hosts if host.zone in zones for why in _refused(host, spec, ceiling)]
    refusals += [f"{host.host.id} is in {host.zone}" for host in hosts if host.zone not in zones]
    reasons = f": {'; '.join(refusals)}" if refusals else ""
    raise NotMeasured(
        f"no bench host in {' or '.join(zones)} can measure {spec}{reasons}. Tag a running instance there that takes "
        "commands with plimsoll:bench=true (where keys have no colon, plimsoll-bench=true; docs/validation.md says how "
        "it takes them), or name one (--bench-host; in the service, validation.bench_hosts)."
    )


def _refused(host: BenchHost, spec: VolumeSpec, ceiling: Ceiling) -> Iterator[str]:
    name = f"{host.host.id} ({host.host.type})"
    if not host.ready:
        yield host.not_ready.rstrip(".")
    if spec.type in host.shares:
        yield f"{name} has a volume of {spec.type} already, with which another would share its performance"
    if host.host.limits is None:
        yield f"{name} publishes no storage limits, so it could be what is measured"
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
    """What is sustained, of reads and of writes: they may have limits of their own."""
    iops, throughput_mib_s = ceiling.sustained_iops, ceiling.sustained_throughput_mib_s
    return {
        "IOPS": iops,
        "written IOPS": iops / ceiling.write_iops_cost,
        "MiB/s": throughput_mib_s,
        "written MiB/s": throughput_mib_s / ceiling.write_throughput_cost,
    }
