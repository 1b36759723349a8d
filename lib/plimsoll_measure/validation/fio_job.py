"""The fio job of a run, and the seconds that it takes."""

from dataclasses import replace
from typing import Final

from plimsoll.demand.workload import Moment, WorkloadShape
from plimsoll.model.errors import NotMeasured
from plimsoll.model.units import HOUR_S, MIB_PER_GIB
from plimsoll_measure.bench.jobs import corner_jobs, head, job_seconds, workload_job
from plimsoll_measure.runs import MeasuringRun, Mode, PlannedRun, usd_for
from plimsoll_measure.validation.context import Context
from plimsoll_measure.validation.job import Proposal, Subject

PACED_JOBS: Final = 2
MOST_JOBS: Final = 6
"""Four of a workload's shape and the two corners of the ceiling."""

AROUND_S: Final = 120
"""The usual time to make, attach, detach and delete a scratch volume."""

LAID_OUT_MIB_S: Final = 25
"""The pace at which the document writes the file of a volume in use (bench/script/filesystem.sh)."""

LONGEST_TASK_S: Final = 99_000
"""The document's LimitSeconds has five digits."""

INITIALISED_MIB_S: Final = 100.0
"""The pace at which a copy is read first, at least: a volume from a snapshot initializes at 100 to 300 MiB/s (EC2
CreateVolume, VolumeInitializationRate)."""


def fio_job(proposal: Proposal, mode: Mode, context: Context) -> str:
    """The text of the fio job of a proposal. Raises NotMeasured without a workload to measure by."""
    times = {"runtime_s": context.runtime_s, "ramp_s": context.ramp_s}
    run, subject, shape = proposal.run, proposal.subject, proposal.subject.shape
    if shape is None and mode is not Mode.CANARY:
        raise NotMeasured(f"{subject.volume.id} had no operations in the window: there is nothing to measure by.")
    if shape is not None and mode is Mode.IN_PLACE:
        return _pace_sections(workload_job(fit_headroom(shape, run, subject, context), **times))
    if shape is not None and mode is Mode.COPY:
        shape = _reads_of(shape)
    text = head(**times) if shape is None else workload_job(shape, **times)
    return "\n".join([text, *corner_jobs(run.ceiling, shape)])


def expected_seconds(run: MeasuringRun, mode: Mode, context: Context) -> float:
    """The estimated seconds of a run before its workload is known: six jobs at most, and setting up."""
    jobs = PACED_JOBS if mode is Mode.IN_PLACE else MOST_JOBS
    return _seconds_around(jobs, context.runtime_s, context.ramp_s) + _filling_s(run, mode, context)


def canary_seconds(*, runtime_s: int, ramp_s: int) -> float:
    """The estimated seconds of any run on a scratch volume, without filling it."""
    return _seconds_around(MOST_JOBS, runtime_s, ramp_s)


def _seconds_around(jobs: int, runtime_s: int, ramp_s: int) -> float:
    return jobs * (runtime_s + ramp_s) + AROUND_S


def seconds_of(job: str, run: MeasuringRun, mode: Mode, context: Context) -> float:
    """The estimated seconds of a job's task on its host. Raises NotMeasured if they exceed a task's limit."""
    seconds = job_seconds(job) + _filling_s(run, mode, context)
    if seconds + context.patience.setting_up_s > LONGEST_TASK_S:
        raise NotMeasured(
            f"measuring {run.spec} as a {mode.value} takes about {seconds / HOUR_S:,.0f} hours, longer than one "
            "command may: use the mode canary, or shorten PLIMSOLL_BENCHMARK_RUNTIME_S."
        )
    return seconds


def _filling_s(run: MeasuringRun, mode: Mode, context: Context) -> float:
    """Seconds to read a copy once, or to write the file of a volume in use."""
    match mode:
        case Mode.COPY:
            return run.spec.size_gib * MIB_PER_GIB / INITIALISED_MIB_S
        case Mode.IN_PLACE:
            return context.in_place_file_mib / LAID_OUT_MIB_S
        case Mode.CANARY:
            return 0.0


def fit_headroom(shape: WorkloadShape, run: MeasuringRun, subject: Subject, context: Context) -> WorkloadShape:
    """The shape at a rate within the policy's share of the volume's headroom at its peak.

    Raises NotMeasured if there is no headroom.
    """
    share, counted = context.policy.in_place_share_pct / 100, run.ceiling.accounting
    free_iops = share * (run.ceiling.iops - subject.peak_iops)
    free_throughput = share * (run.ceiling.throughput_mib_s - subject.peak_throughput_mib_s)
    if free_iops < 1 or free_throughput < 1:
        raise NotMeasured(
            f"{subject.volume.id} has no headroom free at its peak, so that measuring it there would throttle its "
            "workload: use the mode canary or copy."
        )

    def cap_moment(moment: Moment) -> Moment:
        iops = moment.iops * counted.mean_iops_cost(moment.read_share)
        throughput_mib_s = moment.throughput_mib_s * counted.mean_throughput_cost(moment.read_share)
        factor = min(1.0, free_iops / iops, free_throughput / throughput_mib_s)
        return replace(moment, iops=moment.iops * factor, throughput_mib_s=moment.throughput_mib_s * factor)

    return replace(
        shape, at_most_iops=cap_moment(shape.at_most_iops), at_most_throughput=cap_moment(shape.at_most_throughput)
    )


def _pace_sections(job: str) -> str:
    """A job without its unbounded sections: no load on a volume in use is unbounded."""
    head, *sections = job.split("\n[")
    return "\n[".join([head, *(section for section in sections if not section.startswith("unbounded"))])


def _reads_of(shape: WorkloadShape) -> WorkloadShape:
    """The same I/O as reads alone: a copy is never written."""

    def to_reads(moment: Moment) -> Moment:
        sizes = moment.read_sizes_kib or moment.write_sizes_kib
        return replace(moment, read_share=1.0, read_sizes_kib=sizes, write_sizes_kib=())

    return replace(
        shape, at_most_iops=to_reads(shape.at_most_iops), at_most_throughput=to_reads(shape.at_most_throughput)
    )


def plan_run(run: MeasuringRun, mode: Mode, usd_month: float | None, context: Context) -> PlannedRun:
    """The run with its cost by list price and its time. A run in place costs nothing."""
    seconds = expected_seconds(run, mode, context)
    usd = None if usd_month is None else usd_for(usd_month, seconds)
    return PlannedRun(run=run, usd=0.0 if mode is Mode.IN_PLACE else usd, seconds=seconds)
