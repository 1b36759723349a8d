"""Judging: the results of a run, and the verdict on them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from plimsoll.bench.answer import BenchAnswer
from plimsoll.domain.ceiling import Accounting
from plimsoll.domain.errors import NotMeasured
from plimsoll.domain.need import Need
from plimsoll.domain.validation import MeasuringRun, Mode
from plimsoll.domain.verdict import Shown, Verdict, verdict, verdict_in_place
from plimsoll.domain.workload import WorkloadShape
from plimsoll.envelopes.reading import read_results
from plimsoll.envelopes.results import Result
from plimsoll.ports import BenchHost
from plimsoll.validation.context import Context
from plimsoll.validation.fio_job import within_headroom
from plimsoll.validation.job import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a bench host printed, the host, when that was, and for how many seconds a scratch volume was paid.

    `volumes` are those that carried the load together, more than one where a volume in use is one of a stripe set.
    """

    answer: BenchAnswer
    host: BenchHost
    at: datetime
    seconds: float
    volumes: int = 1


def results_of(measured: Measured, run: MeasuringRun) -> Sequence[Result]:
    """What the jobs of a run showed; NotMeasured where it was stopped, or one of them is no measurement."""
    answer = measured.answer
    if answer.stopped is not None:
        raise NotMeasured(
            f"the run was stopped because the volume's {answer.stopped} rose above the policy's limit: it has no "
            "headroom to be measured in. Use the mode canary or copy."
        )
    if answer.fio is None:
        host_id = measured.host.host.id
        raise NotMeasured(f"the document on {host_id} printed no result of fio for {run.spec}: try again.")
    results = read_results(answer.fio, name=f"fio on {measured.host.host.id}")
    for one in results:
        if one.fault is not None:
            raise NotMeasured(f"fio on {measured.host.host.id}: {one.fault}. Nothing is concluded from it.")
    return results


def judged(
    results: Sequence[Result], run: MeasuringRun, subject: Subject, mode: Mode, volumes: int, context: Context
) -> Verdict:
    """The verdict on what a volume showed; in place, on whether it held what its free headroom allowed. All of it is
    counted as the ceiling of the run counts."""
    counted, today = run.ceiling.accounting, subject.today_mean_latency_us
    shown = [_shown(one, volumes, counted) for one in results]
    if mode is Mode.IN_PLACE and subject.shape is not None:
        asked = _asked(within_headroom(subject.shape, run, subject, context), volumes, counted)
        found = verdict_in_place(shown, asked, today_mean_latency_us=today, policy=context.policy)
    else:
        found = verdict(shown, subject.need, today_mean_latency_us=today, policy=context.policy)
    return replace(found, reasons=(*found.reasons, *_remarks(run, subject)))


def as_counted(one: Result, counted: Accounting) -> tuple[float | None, float | None]:
    """The IOPS and MiB/s of a job's result, as an accounting counts what it wrote; None where it does not tell."""
    writes = one.directions.get("write")
    written = (0.0, 0.0) if writes is None else (writes.iops, writes.throughput_mib_s)
    return (
        None if one.iops is None else one.iops + (counted.write_iops_cost - 1) * written[0],
        None
        if one.throughput_mib_s is None
        else one.throughput_mib_s + (counted.write_throughput_cost - 1) * written[1],
    )


def _asked(rates: WorkloadShape, volumes: int, counted: Accounting) -> Need:
    """What was asked of each of the volumes that carried a load together."""
    busy, wide = rates.at_most_iops, rates.at_most_throughput
    return Need(
        iops=busy.iops * counted.mean_iops_cost(busy.read_share) / volumes,
        throughput_mib_s=wide.throughput_mib_s * counted.mean_throughput_cost(wide.read_share) / volumes,
    )


def _remarks(run: MeasuringRun, subject: Subject) -> Iterator[str]:
    """What one must know to read the figures of a verdict."""
    counted = run.ceiling.accounting
    if (counted.write_iops_cost, counted.write_throughput_cost) != (1, 1):
        yield (
            f"counted in reads: a written operation is {counted.write_iops_cost:g} of a read one, a written MiB "
            f"{counted.write_throughput_cost:g} of one read"
        )
    if subject.pool_gib is not None:
        yield f"one volume of {run.spec.size_gib:,} GiB, for all that would share what they carry on their host"


def _shown(one: Result, volumes: int, counted: Accounting) -> Shown:
    """What a job showed of each of the volumes that carried it together."""
    iops, throughput_mib_s = as_counted(one, counted)
    return Shown(
        name=one.name,
        iops=None if iops is None else iops / volumes,
        throughput_mib_s=None if throughput_mib_s is None else throughput_mib_s / volumes,
        mean_latency_us=one.latency.mean_us,
        p99_latency_us=one.latency.at(99.0),
        paced=one.rate_capped,
    )
