"""Concluding: what was measured becomes a campaign of the library, and its verdict a line of the book."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.envelope import BoundBy
from plimsoll.domain.errors import BadInput
from plimsoll.domain.validation import MeasuringRun, Mode, short, usd_for
from plimsoll.domain.verdict import Verdict
from plimsoll.envelopes.campaign_file import HostEntry
from plimsoll.envelopes.new_campaigns import NewCampaign, NewResult, add_campaign, as_measured
from plimsoll.envelopes.results import Result
from plimsoll.ports import BenchHost
from plimsoll.validation.context import Context
from plimsoll.validation.job import Job
from plimsoll.validation.judging import Measured, as_counted, judged, results_of
from plimsoll.validation.measuring import command_of

SIMULATED_TOOL: Final = "simulated fio"
"""What measured where no device stood behind the volume; evidence names it in its text."""

NEAR: Final = (0.9, 1.1)
"""An unbounded job within these shares of what is published was stopped by that."""


def conclude(job: Job, context: Context) -> Job:
    """Judges what was measured, keeps it with its verdict, frees the class and the host, and reports the verdict.

    Each of that once, however often it is called. NotMeasured where nothing can be concluded; CloudError.
    """
    if job.attempt is None and job.lines:
        return job
    job = context.keep(job.having(judged=job.under_way.judged or context.now()))
    with TemporaryDirectory() as name:
        folder = Path(name)
        line = _judged(job, folder, context)
        context.verdicts.keep(folder / f"{line.campaign}.yaml", line)
    job.release(context.claims)
    if not job.under_way.reported:
        context.report(line)
        job = context.keep(job.having(reported=True))
    return context.keep(job.ended(lines=(*job.lines, line)))


def _judged(job: Job, folder: Path, context: Context) -> ValidationLine:
    """The verdict, with its campaign in that folder: the same however often it is made."""
    proposal, measured = job.under_way.proposal, _measured(job)
    results = results_of(measured, proposal.run)
    verdict = judged(results, proposal.run, proposal.subject, job.mode, measured.volumes, context)
    _add_campaign(folder, proposal.run, job, results, measured, context)
    return _line_of(job, verdict, measured)


def _measured(job: Job) -> Measured:
    attempt, prepared = job.under_way, job.under_way.prepared
    if attempt.outcome is None or attempt.judged is None:
        raise BadInput(f"the command of {job.name.key} has not ended: look at it until it has.")
    paid_s = ((attempt.cleaned or attempt.judged) - prepared.began).total_seconds()
    return Measured(
        answer=command_of(job).answer(attempt.outcome),
        host=prepared.host,
        at=attempt.judged,
        seconds=0.0 if prepared.order is None else paid_s,
        volumes=prepared.volumes,
    )


def _campaign_name(run: MeasuringRun, at: datetime) -> str:
    """The name of the campaign of a run that was measured at that time."""
    return f"{run.spec.type}-{run.wants[0].region}-{at:%Y%m%dt%H%M%S}-{short(run.class_key)}"


def _add_campaign(
    folder: Path, run: MeasuringRun, job: Job, results: Sequence[Result], measured: Measured, context: Context
) -> None:
    """Writes what was measured as a campaign of its own; BadInput where it cannot be one."""
    mode, first, name = job.mode, run.wants[0], _campaign_name(run, measured.at)
    tool = SIMULATED_TOOL if measured.answer.simulated else results[0].tool
    add_campaign(
        folder,
        NewCampaign(
            name=name,
            title=f"{run.spec} in {measured.host.zone}, measured by Plimsoll ({mode.value})",
            source=f"plimsoll validate, {mode.value} on {measured.host.host.id}",
            tool=tool,
            tool_version=results[0].tool_version,
            measured_on=f"{measured.at:%Y-%m-%d}",
            provider=job.place.provider,
            account=first.account,
            region=first.region,
            host=_host(measured.host),
            system=name,
            spec=run.spec,
            volumes=measured.volumes,
            note=_note(run, mode, measured, context),
            results=tuple(_result(replace(one, tool=tool), run.ceiling) for one in results),
        ),
        context.types,
    )


def _note(run: MeasuringRun, mode: Mode, measured: Measured, context: Context) -> str | None:
    """What one must know of the figures: a simulated device, a capped run, a burst."""
    notes = []
    if measured.answer.simulated:
        notes.append("simulated: a plain file with fio's own rate limits stood for the volume")
    if mode is Mode.IN_PLACE:
        notes.append("measured in place beside its own workload: no worse than this")
    if run.ceiling.burst_s > context.runtime_s:
        notes.append(
            f"measured for {context.runtime_s:,} s a job: this is the burst, which lasts {run.ceiling.burst_s:,.0f} s "
            f"from full credits; for ever it carries {run.ceiling.sustained_iops:,.0f} IOPS and "
            f"{run.ceiling.sustained_throughput_mib_s:,.0f} MiB/s"
        )
    return "; ".join(notes) or None


def _result(one: Result, ceiling: Ceiling) -> NewResult:
    """A job's result with what stopped it: its own rate, or what is published of the volume."""
    return as_measured(one) if one.rate_capped else NewResult(result=one, bound_by=_bound_by(one, ceiling))


def _bound_by(one: Result, ceiling: Ceiling) -> BoundBy:
    """What stopped an unbounded job: what is published of the volume, where it came that near."""
    least, most = NEAR
    iops, throughput_mib_s = as_counted(one, ceiling.accounting)
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


def _line_of(job: Job, verdict: Verdict, measured: Measured) -> ValidationLine:
    attempt, proposal = job.under_way, job.under_way.proposal
    run, subject, spec = proposal.run, proposal.subject, proposal.run.spec
    free = proposal.usd_month is None or job.mode is Mode.IN_PLACE
    return ValidationLine(
        id=f"{job.name.scratch_id}-{attempt.number}",
        at=measured.at,
        class_key=job.claim_on(run),
        mode=job.mode.value,
        account=subject.volume.account,
        region=subject.volume.region,
        zone=measured.host.zone,
        volume_id=subject.volume.id,
        serves=[want.volume_id for want in run.wants],
        spec=spec,
        ceiling_iops=run.ceiling.iops,
        ceiling_throughput_mib_s=run.ceiling.throughput_mib_s,
        need_iops=subject.need.iops,
        need_throughput_mib_s=subject.need.throughput_mib_s,
        bench_host=measured.host.host.id,
        bench_host_type=measured.host.host.type,
        passed=verdict.passed,
        reasons=list(verdict.reasons),
        failures=list(verdict.failures),
        shown_iops=verdict.shown_iops,
        shown_throughput_mib_s=verdict.shown_throughput_mib_s,
        p99_latency_us=verdict.p99_latency_us,
        too_slow=verdict.too_slow,
        simulated=measured.answer.simulated,
        campaign=_campaign_name(run, measured.at),
        usd=None if free else usd_for(proposal.usd_month or 0.0, measured.seconds),
        seconds=measured.seconds,
    )
