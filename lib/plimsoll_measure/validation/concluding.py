"""Concluding: a measurement is judged, becomes a campaign of the library, and its verdict a line of the book."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from plimsoll.clouds.local_store import shorten_key
from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.envelopes.campaigns import HostEntry
from plimsoll.model.ceiling import UNBOUNDED, Accounting, Ceiling, Need
from plimsoll.model.envelope import SIMULATED_TOOL, BoundBy
from plimsoll.model.errors import BadInput, BenchWasTheLimit, NotMeasured
from plimsoll.ports import BenchHost
from plimsoll_measure.adding import NewCampaign, NewResult, add_campaign, to_new_result
from plimsoll_measure.bench.answer import BenchAnswer
from plimsoll_measure.readers.reading import read_results
from plimsoll_measure.readers.results import BenchResult
from plimsoll_measure.runs import MeasuringRun, Mode, split_by_budget, usd_for
from plimsoll_measure.validation.context import Context
from plimsoll_measure.validation.fio_job import fit_headroom, plan_run
from plimsoll_measure.validation.job import Job, MeasuringAttempt, Subject
from plimsoll_measure.validation.measuring import command_of
from plimsoll_measure.verdict import BenchExcuse, BenchLimit, Shown, Verdict, bench_excuse, judge_in_place, judge_need

BENCH_TRIES: Final = 3
"""The most tries of a run whose bench was the limit."""

NEAR_PUBLISHED: Final = (0.9, 1.1)
"""An unbounded job within these shares of a published limit was stopped by it."""


def conclude_run(job: Job, context: Context) -> Job:
    """Judges a measurement, keeps it with its verdict, frees the class and the host, and reports the verdict.

    Each happens once, however often it is called. If the bench was the limit there is no verdict: the run is proposed
    again, a few times. Raises NotMeasured if nothing can be concluded, and CloudError.
    """
    if job.attempt is None and (job.lines or job.bench_limits):
        return job
    at = job.current_attempt.judged or context.now()
    job = context.keep(job.update_attempt(judged=at))
    answer = _answer_of(job)
    results = _results_of(answer, job.current_attempt)
    verdict = _verdict_on(results, job, context)
    excuse = bench_excuse(
        verdict,
        _need_to_show(job, context),
        ceiling=job.current_attempt.proposal.run.ceiling,
        host=_bench_ceiling(job.current_attempt),
        load=answer.load,
    )
    if excuse.limits:
        return _try_again(job, at, excuse.limits, context)
    line = _line_of(job, at, verdict, excuse, simulated=answer.simulated)
    with TemporaryDirectory() as folder:
        new = _campaign(job, line, results, context)
        context.verdicts.keep(add_campaign(Path(folder), new, context.types), line)
    job.release(context.claims)
    if not job.current_attempt.reported:
        context.report(line)
        job = context.keep(job.update_attempt(reported=True))
    return job.end_run(lines=(*job.lines, line))


def _bench_ceiling(attempt: MeasuringAttempt) -> Ceiling:
    """The ceiling of the bench host. Unbounded if the volume's stripe set is on the host's other disks."""
    return attempt.prepared.host.host.ceiling if attempt.prepared.volumes == 1 else UNBOUNDED


def _try_again(job: Job, at: datetime, limits: Sequence[BenchLimit], context: Context) -> Job:
    """The job with its run proposed once more. Raises BenchWasTheLimit after the last try or without the budget."""
    attempt = job.current_attempt
    host, tries = attempt.prepared.host, job.bench_limits + 1
    codes = tuple(dict.fromkeys(limit.code.value for limit in limits))
    because = "; ".join(f"{limit.text} ({limit.code.value})" for limit in limits)
    was = f"the bench was the limit: {host.host.id} ({host.host.type}) could not have delivered more, since {because}"
    spent = _usd_of(job, at)
    vain = replace(job, vain_usd=(*job.vain_usd, spent), bench_limits=tries)
    if tries >= BENCH_TRIES or not _affords(vain, attempt, context):
        times = "once" if tries == 1 else f"{tries} times"
        raise BenchWasTheLimit(
            f"{was}. This was seen {times}, and proves nothing about {attempt.proposal.run.spec}. End other work on "
            "that host, or name an idle one (--bench-host).",
            codes,
        )
    context.say(f"{was}; measuring again ({tries + 1} of {BENCH_TRIES})")
    return replace(vain, attempt=None, proposal=attempt.proposal)


def _affords(job: Job, attempt: MeasuringAttempt, context: Context) -> bool:
    """The job's budget has room for one more try of the run."""
    plan = plan_run(attempt.proposal.run, job.mode, attempt.proposal.usd_month, context)
    return bool(
        split_by_budget([plan.run], lambda _run: plan.usd or 0.0, job.budget.rest_after(usd=job.usd, runs=0))[0]
    )


def _answer_of(job: Job) -> BenchAnswer:
    """The bench's answer to the ended command of a job. Raises BadInput while the command runs."""
    outcome = job.current_attempt.outcome
    if outcome is None:
        raise BadInput(f"the command of {job.name.key} has not ended: look at it until it has.")
    return command_of(job).answer(outcome)


def _results_of(answer: BenchAnswer, attempt: MeasuringAttempt) -> Sequence[BenchResult]:
    """The results of a run's jobs. Raises NotMeasured if it was stopped, or one of them is no measurement."""
    host_id = attempt.prepared.host.host.id
    if answer.stopped is not None:
        raise NotMeasured(
            f"the run was stopped because the volume's {answer.stopped} rose above the policy's limit: it has no "
            "headroom to be measured in. Use the mode canary or copy."
        )
    if answer.fio is None:
        spec = attempt.proposal.run.spec
        raise NotMeasured(f"the document on {host_id} printed no result of fio for {spec}: try again.")
    results = read_results(answer.fio, name=f"fio on {host_id}")
    for result in results:
        if result.fault is not None:
            raise NotMeasured(f"fio on {host_id}: {result.fault}. Nothing is concluded from it.")
        if result.has_rate_cap and result.latency.percentile_us(99.0) is None:
            raise NotMeasured(
                f"fio on {host_id} reported no p99 latency of the job {result.name}, so there is no verdict."
            )
    return results


def _verdict_on(results: Sequence[BenchResult], job: Job, context: Context) -> Verdict:
    """The verdict on a volume's results. In place it judges only what the free headroom allowed.

    Figures are counted as the ceiling of the run counts, for each of the volumes that carried the load together.
    """
    attempt = job.current_attempt
    run, subject, volumes = attempt.proposal.run, attempt.proposal.subject, attempt.prepared.volumes
    shown = [_to_shown(result, volumes, run.ceiling.accounting) for result in results]
    judge = judge_in_place if job.mode is Mode.IN_PLACE else judge_need
    judgment = judge(
        shown, _need_to_show(job, context), today_mean_latency_us=subject.today_mean_latency_us, policy=context.policy
    )
    return replace(judgment, reasons=(*judgment.reasons, *_remarks(run, subject)))


def _need_to_show(job: Job, context: Context) -> Need:
    """The need that each volume must show. In place it is the load that the free headroom allowed."""
    attempt = job.current_attempt
    run, subject, volumes = attempt.proposal.run, attempt.proposal.subject, attempt.prepared.volumes
    if job.mode is not Mode.IN_PLACE or subject.shape is None:
        return subject.need
    counted, rates = run.ceiling.accounting, fit_headroom(subject.shape, run, subject, context)
    busy, wide = rates.at_most_iops, rates.at_most_throughput
    return Need(
        iops=busy.iops * counted.mean_iops_cost(busy.read_share) / volumes,
        throughput_mib_s=wide.throughput_mib_s * counted.mean_throughput_cost(wide.read_share) / volumes,
    )


def _remarks(run: MeasuringRun, subject: Subject) -> Iterator[str]:
    """Remarks without which the figures of a verdict mislead."""
    counted = run.ceiling.accounting
    if (counted.write_iops_cost, counted.write_throughput_cost) != (1, 1):
        yield (
            f"counted in reads: a written operation is {counted.write_iops_cost:g} of a read one, a written MiB "
            f"{counted.write_throughput_cost:g} of one read"
        )
    if subject.pool_gib is not None:
        yield f"one volume of {run.spec.size_gib:,} GiB, for all that would share its limit on their host"


def _to_shown(result: BenchResult, volumes: int, counted: Accounting) -> Shown:
    iops, throughput_mib_s = _count_result(result, counted)
    return Shown(
        name=result.name,
        iops=None if iops is None else iops / volumes,
        throughput_mib_s=None if throughput_mib_s is None else throughput_mib_s / volumes,
        mean_latency_us=result.latency.mean_us,
        p99_latency_us=result.latency.percentile_us(99.0),
        paced=result.has_rate_cap,
    )


def _count_result(result: BenchResult, counted: Accounting) -> tuple[float | None, float | None]:
    """The IOPS and MiB/s of a result, with writes at their cost. None if the result has no figure."""
    iops, throughput_mib_s, writes = result.iops, result.throughput_mib_s, result.directions.get("write")
    if writes is not None:
        iops = None if iops is None else iops + (counted.write_iops_cost - 1) * writes.iops
        more_mib_s = (counted.write_throughput_cost - 1) * writes.throughput_mib_s
        throughput_mib_s = None if throughput_mib_s is None else throughput_mib_s + more_mib_s
    return iops, throughput_mib_s


def _campaign(job: Job, line: ValidationLine, results: Sequence[BenchResult], context: Context) -> NewCampaign:
    """The campaign of a measurement."""
    attempt, mode = job.current_attempt, job.mode
    run, host = attempt.proposal.run, attempt.prepared.host
    tool = SIMULATED_TOOL if line.simulated else results[0].tool
    return NewCampaign(
        name=line.campaign,
        title=f"{run.spec} in {host.zone}, measured by Plimsoll ({mode.value})",
        cited=line.cited,
        source=f"plimsoll validate, {mode.value} on {host.host.id}",
        tool=tool,
        tool_version=results[0].tool_version,
        measured_on=f"{line.at:%Y-%m-%d}",
        provider=job.place.provider,
        account=run.wants[0].account,
        region=run.wants[0].region,
        host=_host(host),
        spec=run.spec,
        volumes=attempt.prepared.volumes,
        placed=True,
        note="; ".join(_notes(run, mode, context, simulated=line.simulated)) or None,
        results=tuple(_result(replace(result, tool=tool), run.ceiling) for result in results),
    )


def _notes(run: MeasuringRun, mode: Mode, context: Context, *, simulated: bool) -> Iterator[str]:
    """Notes on the figures: a simulated device, a capped run, a burst."""
    if simulated:
        yield "simulated: a plain file with fio's own rate limits stood for the volume"
    if mode is Mode.IN_PLACE:
        yield "measured in place beside its own workload: no worse than this"
    if run.ceiling.burst_s > context.runtime_s:
        yield (
            f"measured for {context.runtime_s:,} s a job: this is the burst, which lasts {run.ceiling.burst_s:,.0f} s "
            f"from full credits; it sustains {run.ceiling.sustained_iops:,.0f} IOPS and "
            f"{run.ceiling.sustained_throughput_mib_s:,.0f} MiB/s"
        )


def _result(result: BenchResult, ceiling: Ceiling) -> NewResult:
    """A job's result with its limit: its own rate, or a published limit of the volume."""
    return (
        to_new_result(result) if result.has_rate_cap else NewResult(result=result, bound_by=_bound_by(result, ceiling))
    )


def _bound_by(result: BenchResult, ceiling: Ceiling) -> BoundBy:
    """The published limit of the volume that stopped an unbounded job; UNKNOWN if the result is near none.

    Near is `NEAR_PUBLISHED`. IOPS go before MiB/s, and a figure that the result lacks is near nothing.
    """
    least, most = NEAR_PUBLISHED
    iops, throughput_mib_s = _count_result(result, ceiling.accounting)
    if iops is not None and least * ceiling.iops <= iops <= most * ceiling.iops:
        return BoundBy.VOLUME_IOPS
    published = ceiling.throughput_mib_s
    if throughput_mib_s is not None and least * published <= throughput_mib_s <= most * published:
        return BoundBy.VOLUME_THROUGHPUT
    return BoundBy.UNKNOWN


def _host(host: BenchHost) -> HostEntry | None:
    limits = host.host.limits
    if limits is None:
        return HostEntry(type=host.host.type)
    return HostEntry(
        type=host.host.type,
        baseline_iops=limits.baseline_iops,
        maximum_iops=limits.maximum_iops,
        maximum_throughput_mib_s=limits.maximum_throughput_mib_s,
        source="the cloud's instance types",
    )


def _line_of(job: Job, at: datetime, verdict: Verdict, excuse: BenchExcuse, *, simulated: bool) -> ValidationLine:
    attempt, proposal, host = job.current_attempt, job.current_attempt.proposal, job.current_attempt.prepared.host
    run, subject, spec = proposal.run, proposal.subject, proposal.run.spec
    free = proposal.usd_month is None or job.mode is Mode.IN_PLACE
    return ValidationLine(
        id=f"{job.name.scratch_id}-{attempt.number}",
        at=at,
        class_key=job.claim_on(run),
        mode=job.mode.value,
        account=subject.volume.account,
        region=subject.volume.region,
        zone=host.zone,
        volume_id=subject.volume.id,
        serves=[want.volume_id for want in run.wants],
        spec=spec,
        ceiling_iops=run.ceiling.iops,
        ceiling_throughput_mib_s=run.ceiling.throughput_mib_s,
        need_iops=subject.need.iops,
        need_throughput_mib_s=subject.need.throughput_mib_s,
        bench_host=host.host.id,
        bench_host_type=host.host.type,
        passed=verdict.passed,
        reasons=list(verdict.reasons),
        failures=list(verdict.failures),
        shown_iops=verdict.shown_iops,
        shown_throughput_mib_s=verdict.shown_throughput_mib_s,
        p99_latency_us=verdict.p99_latency_us,
        too_slow=verdict.too_slow and not excuse.late,
        bench_limited=list(excuse.sides),
        simulated=simulated,
        campaign=f"{spec.type}-{run.wants[0].region}-{at:%Y%m%dt%H%M%S}-{shorten_key(run.class_key)}",
        usd=None if free else _usd_of(job, at),
        seconds=_paid_s(attempt, at),
    )


def _usd_of(job: Job, at: datetime) -> float:
    """The cost of the present try's scratch volume, USD. 0 in place, and without a known price."""
    attempt = job.current_attempt
    seconds, usd_month = _paid_s(attempt, at), attempt.proposal.usd_month
    return usd_for(usd_month, seconds) if usd_month is not None and attempt.prepared.order is not None else 0.0


def _paid_s(attempt: MeasuringAttempt, at: datetime) -> float:
    """The seconds that a scratch volume was paid for, until it was cleaned up; 0 without one."""
    if attempt.prepared.order is None:
        return 0.0
    return ((attempt.cleaned or at) - attempt.prepared.began).total_seconds()
