"""Concluding: what was measured is judged, becomes a campaign of the library, and its verdict a line of the book."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from plimsoll.bench.answer import BenchAnswer
from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.domain.ceiling import UNBOUNDED, Accounting, Ceiling
from plimsoll.domain.demand.need import Need
from plimsoll.domain.errors import BadInput, BenchWasTheLimit, NotMeasured
from plimsoll.domain.evidence.bench_excuse import BenchExcuse, BenchLimit, bench_excuse
from plimsoll.domain.evidence.envelope import SIMULATED_TOOL, BoundBy
from plimsoll.domain.evidence.measuring_runs import MeasuringRun, short, usd_for, within
from plimsoll.domain.evidence.validation_order import Mode
from plimsoll.domain.evidence.verdict import Shown, Verdict, verdict, verdict_in_place
from plimsoll.envelopes.campaigns import HostEntry
from plimsoll.envelopes.library import NewCampaign, NewResult, add_campaign, to_new_result
from plimsoll.envelopes.reading import read_results
from plimsoll.envelopes.results import BenchResult
from plimsoll.ports import BenchHost
from plimsoll.validation.context import Context
from plimsoll.validation.deciding import planned, rest_of
from plimsoll.validation.fio_job import within_headroom
from plimsoll.validation.job import Attempt, Job, Subject
from plimsoll.validation.measuring import command_of

BENCH_TRIES: Final = 3
"""How often a run is measured whose bench was the limit."""

NEAR: Final = (0.9, 1.1)
"""An unbounded job within these shares of what is published was stopped by that."""


def conclude(job: Job, context: Context) -> Job:
    """Judges what was measured, keeps it with its verdict, frees the class and the host, and reports the verdict.

    Each of that once, however often it is called. Where the bench was the limit there is no verdict: the run is
    proposed again, a few times. NotMeasured where nothing can be concluded; CloudError.
    """
    if job.attempt is None and (job.lines or job.bench_limits):
        return job
    at = job.under_way.judged or context.now()
    job = context.keep(job.having(judged=at))
    answer = _answer_of(job)
    results = _results_of(answer, job.under_way)
    verdict = _verdict_on(results, job, context)
    excuse = bench_excuse(
        verdict,
        _wanted(job, context),
        ceiling=job.under_way.proposal.run.ceiling,
        host=_bench_ceiling(job.under_way),
        load=answer.load,
    )
    if excuse.limits:
        return _tried_again(job, at, excuse.limits, context)
    line = _line_of(job, at, verdict, excuse, simulated=answer.simulated)
    with TemporaryDirectory() as folder:
        new = _campaign(job, line, results, context)
        context.verdicts.keep(add_campaign(Path(folder), new, context.types), line)
    job.release(context.claims)
    if not job.under_way.reported:
        context.report(line)
        job = context.keep(job.having(reported=True))
    return context.keep(job.ended(lines=(*job.lines, line)))


def _bench_ceiling(attempt: Attempt) -> Ceiling:
    """What the host carries; nothing is held against it where the volume's own stripe set is on its other disks."""
    return attempt.prepared.host.host.ceiling if attempt.prepared.volumes == 1 else UNBOUNDED


def _tried_again(job: Job, at: datetime, limits: Sequence[BenchLimit], context: Context) -> Job:
    """The job with its run proposed once more; BenchWasTheLimit after the last try, or without the budget for it."""
    attempt = job.under_way
    host, tries = attempt.prepared.host, job.bench_limits + 1
    codes = tuple(dict.fromkeys(limit.code.value for limit in limits))
    because = "; ".join(f"{limit.text} ({limit.code.value})" for limit in limits)
    was = f"the bench was the limit: {host.host.id} ({host.host.type}) could not have delivered more, since {because}"
    spent = _usd_of(job, at)
    vain = replace(job, vain_usd=(*job.vain_usd, spent), bench_limits=tries)
    if tries >= BENCH_TRIES or not _affords(vain, attempt, context):
        times = "once" if tries == 1 else f"{tries} times"
        raise BenchWasTheLimit(
            f"{was}. This was seen {times}, and says nothing of {attempt.proposal.run.spec}. End other work on that "
            "host, or name an idle one (--bench-host).",
            codes,
        )
    context.say(f"{was}; measuring again ({tries + 1} of {BENCH_TRIES})")
    return context.keep(replace(vain, attempt=None, proposal=attempt.proposal))


def _affords(job: Job, attempt: Attempt, context: Context) -> bool:
    """Whether the job's budget has room for one more try of the same."""
    plan = planned(attempt.proposal.run, job.mode, attempt.proposal.usd_month, context)
    return bool(within([plan.run], lambda _run: plan.usd or 0.0, rest_of(job.budget, usd=job.usd, runs=0))[0])


def _answer_of(job: Job) -> BenchAnswer:
    outcome = job.under_way.outcome
    if outcome is None:
        raise BadInput(f"the command of {job.name.key} has not ended: look at it until it has.")
    return command_of(job).answer(outcome)


def _results_of(answer: BenchAnswer, attempt: Attempt) -> Sequence[BenchResult]:
    """What the jobs of a run showed; NotMeasured where it was stopped, or one of them is no measurement."""
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
    for one in results:
        if one.fault is not None:
            raise NotMeasured(f"fio on {host_id}: {one.fault}. Nothing is concluded from it.")
        if one.has_rate_cap and one.latency.at(99.0) is None:
            raise NotMeasured(
                f"fio on {host_id} told no p99 latency of the job {one.name}, which the verdict rests on. Nothing is "
                "concluded from it."
            )
    return results


def _verdict_on(results: Sequence[BenchResult], job: Job, context: Context) -> Verdict:
    """The verdict on what a volume showed; in place, on whether it held what its free headroom allowed. All of it is
    counted as the ceiling of the run counts, for each of the volumes that carried the load together."""
    attempt = job.under_way
    run, subject, volumes = attempt.proposal.run, attempt.proposal.subject, attempt.prepared.volumes
    shown = [_shown(one, volumes, run.ceiling.accounting) for one in results]
    judge = verdict_in_place if job.mode is Mode.IN_PLACE else verdict
    found = judge(
        shown, _wanted(job, context), today_mean_latency_us=subject.today_mean_latency_us, policy=context.policy
    )
    return replace(found, reasons=(*found.reasons, *_remarks(run, subject)))


def _wanted(job: Job, context: Context) -> Need:
    """What is to be shown: the need, or in place what the free headroom allowed, of each of the volumes."""
    attempt = job.under_way
    run, subject, volumes = attempt.proposal.run, attempt.proposal.subject, attempt.prepared.volumes
    if job.mode is not Mode.IN_PLACE or subject.shape is None:
        return subject.need
    counted, rates = run.ceiling.accounting, within_headroom(subject.shape, run, subject, context)
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


def _shown(one: BenchResult, volumes: int, counted: Accounting) -> Shown:
    iops, throughput_mib_s = _as_counted(one, counted)
    return Shown(
        name=one.name,
        iops=None if iops is None else iops / volumes,
        throughput_mib_s=None if throughput_mib_s is None else throughput_mib_s / volumes,
        mean_latency_us=one.latency.mean_us,
        p99_latency_us=one.latency.at(99.0),
        paced=one.has_rate_cap,
    )


def _as_counted(one: BenchResult, counted: Accounting) -> tuple[float | None, float | None]:
    """The IOPS and MiB/s of a job's result, as an accounting counts what it wrote; None where it does not tell."""
    iops, throughput_mib_s, writes = one.iops, one.throughput_mib_s, one.directions.get("write")
    if writes is not None:
        iops = None if iops is None else iops + (counted.write_iops_cost - 1) * writes.iops
        more_mib_s = (counted.write_throughput_cost - 1) * writes.throughput_mib_s
        throughput_mib_s = None if throughput_mib_s is None else throughput_mib_s + more_mib_s
    return iops, throughput_mib_s


def _campaign(job: Job, line: ValidationLine, results: Sequence[BenchResult], context: Context) -> NewCampaign:
    """What was measured, as a campaign of its own."""
    attempt, mode = job.under_way, job.mode
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
        results=tuple(_result(replace(one, tool=tool), run.ceiling) for one in results),
    )


def _notes(run: MeasuringRun, mode: Mode, context: Context, *, simulated: bool) -> Iterator[str]:
    """What one must know of the figures: a simulated device, a capped run, a burst."""
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


def _result(one: BenchResult, ceiling: Ceiling) -> NewResult:
    """A job's result with what stopped it: its own rate, or what is published of the volume."""
    return to_new_result(one) if one.has_rate_cap else NewResult(result=one, bound_by=_bound_by(one, ceiling))


def _bound_by(one: BenchResult, ceiling: Ceiling) -> BoundBy:
    """What stopped an unbounded job: what is published of the volume, where it came that near."""
    least, most = NEAR
    iops, throughput_mib_s = _as_counted(one, ceiling.accounting)
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
    attempt, proposal, host = job.under_way, job.under_way.proposal, job.under_way.prepared.host
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
        campaign=f"{spec.type}-{run.wants[0].region}-{at:%Y%m%dt%H%M%S}-{short(run.class_key)}",
        usd=None if free else _usd_of(job, at),
        seconds=_paid_s(attempt, at),
    )


def _usd_of(job: Job, at: datetime) -> float:
    """What the scratch volume of the present try has cost, USD; 0 in place, and where no price is known."""
    attempt = job.under_way
    seconds, usd_month = _paid_s(attempt, at), attempt.proposal.usd_month
    return usd_for(usd_month, seconds) if usd_month is not None and attempt.prepared.order is not None else 0.0


def _paid_s(attempt: Attempt, at: datetime) -> float:
    if attempt.prepared.order is None:
        return 0.0
    return ((attempt.cleaned or at) - attempt.prepared.began).total_seconds()
