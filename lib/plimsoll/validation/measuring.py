"""Measuring: the job of a run, carried out on a scratch volume, on a copy, or where the volume is."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from plimsoll.bench.answer import BenchAnswer
from plimsoll.bench.corners import corner_jobs
from plimsoll.bench.jobs import head, job_seconds, workload_job
from plimsoll.domain.errors import NotMeasured
from plimsoll.domain.scratch import ScratchOrder
from plimsoll.domain.task import Task, TaskMode
from plimsoll.domain.units import HOUR_S, MIB_PER_GIB
from plimsoll.domain.validation import MeasuringRun, Mode
from plimsoll.domain.workload import Moment, WorkloadShape
from plimsoll.ports import BenchHost, Target
from plimsoll.reports.wording import duration
from plimsoll.validation.desk import Desk, Subject
from plimsoll.validation.hosts import choose
from plimsoll.validation.inspecting import stripe_sets
from plimsoll.validation.scratch_volume import Left, scratch_volume
from plimsoll.validation.tasks import run_task

PACED_JOBS: Final = 2
MOST_JOBS: Final = 6
"""Four of a workload's shape and the two corners of the ceiling."""

AROUND_S: Final = 120
"""What making, attaching, detaching and deleting a scratch volume usually take together."""

LAID_OUT_MIB_S: Final = 25
"""The pace at which the document writes the file of a volume in use (bench/script/filesystem.sh)."""

LONGEST_TASK_S: Final = 99_000
"""The document's LimitSeconds has five digits."""

INITIALISED_MIB_S: Final = 100.0
"""The pace at which a copy is read first, at least: a volume from a snapshot initialises at 100 to 300 MiB/s (EC2
CreateVolume, VolumeInitializationRate)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a bench host printed, the host, and for how long a scratch volume was paid.

    `volumes` are those that carried the load together, more than one where a volume in use is one of a stripe set.
    """

    answer: BenchAnswer
    host: BenchHost
    seconds: float
    volumes: int = 1


def job_of(run: MeasuringRun, subject: Subject, mode: Mode, desk: Desk) -> str:
    """The text of the fio job that a run needs."""
    times = {"runtime_s": desk.runtime_s, "ramp_s": desk.ramp_s}
    shape = subject.shape
    if shape is None and mode is not Mode.CANARY:
        raise NotMeasured(f"{subject.volume.id} had no operations in the window: there is nothing to measure by.")
    if shape is not None and mode is Mode.IN_PLACE:
        return _paced_only(workload_job(within_headroom(shape, run, subject, desk), **times))
    if shape is not None and mode is Mode.COPY:
        shape = _reads_of(shape)
    own = head(**times) if shape is None else workload_job(shape, **times)
    return "\n".join([own, *corner_jobs(run.ceiling, shape)])


def expected_seconds(run: MeasuringRun, mode: Mode, desk: Desk) -> float:
    """About how long a run takes, before its workload is known: at most six jobs, and what goes before and after."""
    jobs = PACED_JOBS if mode is Mode.IN_PLACE else MOST_JOBS
    return jobs * (desk.runtime_s + desk.ramp_s) + AROUND_S + _filling_s(run, mode, desk)


def seconds_of(job: str, run: MeasuringRun, mode: Mode, desk: Desk) -> float:
    """About how long the task of a job takes on its host; NotMeasured where that is longer than a task may."""
    seconds = job_seconds(job) + _filling_s(run, mode, desk)
    if seconds + desk.patience.setting_up_s > LONGEST_TASK_S:
        raise NotMeasured(
            f"measuring {run.spec} as a {mode.value} takes about {seconds / HOUR_S:,.0f} hours, longer than one "
            "command may: use --mode canary, or shorten PLIMSOLL_BENCHMARK_RUNTIME_S."
        )
    return seconds


def _filling_s(run: MeasuringRun, mode: Mode, desk: Desk) -> float:
    """How long it takes to read a copy once, or to write the file of a volume in use."""
    match mode:
        case Mode.COPY:
            return run.spec.size_gib * MIB_PER_GIB / INITIALISED_MIB_S
        case Mode.IN_PLACE:
            return desk.in_place_file_mib / LAID_OUT_MIB_S
        case Mode.CANARY:
            return 0.0


def measure(run: MeasuringRun, subject: Subject, mode: Mode, desk: Desk, left: Callable[[Left], None]) -> Measured:
    """Carries out a run; NotMeasured or CloudError where that fails, with nothing left behind but what `left` hears."""
    job = job_of(run, subject, mode, desk)
    limit_s = round(seconds_of(job, run, mode, desk) + desk.patience.setting_up_s)
    if mode is Mode.IN_PLACE:
        return _in_place(job, limit_s, subject, desk)
    return _on_scratch(run, job, limit_s, subject if mode is Mode.COPY else None, desk, left)


def _on_scratch(
    run: MeasuringRun, job: str, limit_s: int, copied: Subject | None, desk: Desk, left: Callable[[Left], None]
) -> Measured:
    first = run.wants[0]
    target = Target(account=first.account, region=first.region)
    if copied is not None:
        _settled(copied)
    zones = run.zones if copied is None else (copied.volume.zone,)
    tags = () if desk.host_ids else desk.policy.bench_hosts
    host = choose(desk.bench.hosts(target, tags, desk.host_ids), run.spec, run.ceiling, zones)
    began = desk.patience.now()
    order = ScratchOrder(
        validation_id=desk.new_id(),
        account=first.account,
        region=first.region,
        zone=host.zone,
        spec=run.spec,
        deadline=began + max(timedelta(hours=desk.policy.scratch_hours), desk.patience.longest(limit_s)),
        source=None if copied is None else copied.volume.id,
    )
    desk.tell(f"making a scratch volume of {run.spec} in {host.zone}, on {host.host.id} ({host.host.type})")
    with scratch_volume(order, host, bench=desk.bench, patience=desk.patience, left=left) as volume_id:
        desk.tell(f"measuring {volume_id} for about {duration(limit_s - desk.patience.setting_up_s)}")
        task = Task(
            mode=TaskMode.DEVICE,
            volume_id=volume_id,
            job=job,
            limit_s=limit_s,
            initialise=copied is not None,
            alarm=desk.policy.bench_alarm,
        )
        answer = run_task(task, host.host.id, target, bench=desk.bench, patience=desk.patience)
        desk.tell(f"measured; deleting {volume_id}")
    return Measured(answer=answer, host=host, seconds=(desk.patience.now() - began).total_seconds())


def _in_place(job: str, limit_s: int, subject: Subject, desk: Desk) -> Measured:
    volume, policy = subject.volume, desk.policy
    _settled(subject)
    if len(volume.hosts) != 1:
        raise NotMeasured(f"{volume.id} is not attached to exactly one known host: measure it with --mode canary.")
    target = Target(account=volume.account, region=volume.region)
    (host,) = desk.bench.hosts(target, (), (volume.hosts[0].id,))
    if not host.ready:
        raise NotMeasured(host.not_ready)
    sets = stripe_sets(host.host.id, target, desk.patience.now().date(), bench=desk.bench, patience=desk.patience)
    members = next((found.members for found in sets if volume.id in found.members), (volume.id,))
    what = volume.id if len(members) == 1 else f"the stripe set of {', '.join(members)}"
    desk.tell(f"measuring {what} where it is, on {host.host.id}, within the free headroom of {volume.id}")
    task = Task(
        mode=TaskMode.FILE,
        volume_id=volume.id,
        job=job,
        limit_s=limit_s,
        file_size_mib=desk.in_place_file_mib,
        most_queue=policy.in_place_most_queue,
        most_latency_us=policy.in_place_most_latency_us,
        alarm=policy.bench_alarm,
    )
    answer = run_task(task, host.host.id, target, bench=desk.bench, patience=desk.patience)
    return Measured(answer=answer, host=host, seconds=0.0, volumes=len(members))


def _settled(subject: Subject) -> None:
    """Refuses to measure what is still changing: during a modification a volume shows neither what it was nor is."""
    latest = subject.volume.modification
    if latest is not None and latest.in_progress:
        raise NotMeasured(f"{subject.volume.id} is being modified ({latest.state}): measure it when that is completed.")


def within_headroom(shape: WorkloadShape, run: MeasuringRun, subject: Subject, desk: Desk) -> WorkloadShape:
    """The shape at a rate within the policy's share of what the volume has free at its peak."""
    share = desk.policy.in_place_share_pct / 100
    free_iops = share * (run.ceiling.iops - subject.peak_iops)
    free_throughput = share * (run.ceiling.throughput_mib_s - subject.peak_throughput_mib_s)
    if free_iops < 1 or free_throughput < 1:
        raise NotMeasured(
            f"{subject.volume.id} has no headroom free at its peak, so that measuring it there would throttle its "
            "workload: use --mode canary or --mode copy."
        )

    def capped(moment: Moment) -> Moment:
        factor = min(1.0, free_iops / moment.iops, free_throughput / moment.throughput_mib_s)
        return replace(moment, iops=moment.iops * factor, throughput_mib_s=moment.throughput_mib_s * factor)

    return replace(shape, at_most_iops=capped(shape.at_most_iops), at_most_throughput=capped(shape.at_most_throughput))


def _paced_only(job: str) -> str:
    """A job without its unbounded sections: nothing on a volume in use goes unbounded."""
    head, *sections = job.split("\n[")
    return "\n[".join([head, *(found for found in sections if not found.startswith("unbounded"))])


def _reads_of(shape: WorkloadShape) -> WorkloadShape:
    """The same I/O as reads alone: a copy is read where its data are, and never written."""

    def reads(moment: Moment) -> Moment:
        sizes = moment.read_sizes_kib or moment.write_sizes_kib
        return replace(moment, read_share=1.0, read_sizes_kib=sizes, write_sizes_kib=())

    return replace(shape, at_most_iops=reads(shape.at_most_iops), at_most_throughput=reads(shape.at_most_throughput))
