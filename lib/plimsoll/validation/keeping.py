"""Keeping: what was measured, as a campaign of the library, and its verdict, as a line of the book."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from plimsoll.clouds.validation_book import SpecLine, ValidationLine
from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.envelope import BoundBy
from plimsoll.domain.validation import MeasuringRun, Mode, short, usd_for
from plimsoll.domain.verdict import Verdict
from plimsoll.envelopes.campaign_file import HostEntry
from plimsoll.envelopes.new_campaigns import NewCampaign, NewResult, add_campaign, as_measured
from plimsoll.envelopes.results import Result
from plimsoll.ports import BenchHost
from plimsoll.validation.desk import Desk, Subject
from plimsoll.validation.judging import as_counted, judged, results_of
from plimsoll.validation.measuring import Measured

SIMULATED_TOOL: Final = "simulated fio"
"""What measured where no device stood behind the volume; evidence names it in its text."""

NEAR: Final = (0.9, 1.1)
"""An unbounded job within these shares of what is published was stopped by that."""


def conclude(
    run: MeasuringRun,
    subject: Subject,
    mode: Mode,
    measured: Measured,
    desk: Desk,
    *,
    validation_id: str,
    key: str,
    usd_month: float | None,
) -> ValidationLine:
    """The verdict on what was measured, which is a campaign of the library from now on.

    `usd_month` is the list price of its spec, None where none is known. NotMeasured where nothing can be concluded.
    """
    results = results_of(measured, run)
    verdict = judged(results, run, subject, mode, measured.volumes, desk)
    _add_to_library(run, mode, results, measured, desk)
    return _line_of(run, subject, mode, verdict, measured, validation_id=validation_id, key=key, usd_month=usd_month)


def _campaign_name(run: MeasuringRun, at: datetime) -> str:
    """The name of the campaign of a run that was measured at that time."""
    return f"{run.spec.type}-{run.wants[0].region}-{at:%Y%m%dt%H%M%S}-{short(run.class_key)}"


def _add_to_library(run: MeasuringRun, mode: Mode, results: Sequence[Result], measured: Measured, desk: Desk) -> None:
    """Adds what was measured to the library, as a campaign of its own; BadInput where it cannot be."""
    first, name = run.wants[0], _campaign_name(run, measured.at)
    tool = SIMULATED_TOOL if measured.answer.simulated else results[0].tool
    add_campaign(
        desk.measured_dir,
        NewCampaign(
            name=name,
            title=f"{run.spec} in {measured.host.zone}, measured by Plimsoll ({mode.value})",
            source=f"plimsoll validate, {mode.value} on {measured.host.host.id}",
            tool=tool,
            tool_version=results[0].tool_version,
            measured_on=f"{measured.at:%Y-%m-%d}",
            provider=desk.provider,
            account=first.account,
            region=first.region,
            host=_host(measured.host),
            system=name,
            spec=run.spec,
            volumes=measured.volumes,
            note=_note(run, mode, measured, desk),
            results=tuple(_measured(replace(one, tool=tool), run.ceiling) for one in results),
        ),
        desk.types,
    )


def _note(run: MeasuringRun, mode: Mode, measured: Measured, desk: Desk) -> str | None:
    """What one must know of the figures: a simulated device, a capped run, a burst."""
    told = []
    if measured.answer.simulated:
        told.append("simulated: a plain file with fio's own rate limits stood for the volume")
    if mode is Mode.IN_PLACE:
        told.append("measured in place beside its own workload: no worse than this")
    if run.ceiling.burst_s > desk.runtime_s:
        told.append(
            f"measured for {desk.runtime_s:,} s a job: this is the burst, which lasts {run.ceiling.burst_s:,.0f} s "
            f"from full credits; for ever it carries {run.ceiling.sustained_iops:,.0f} IOPS and "
            f"{run.ceiling.sustained_throughput_mib_s:,.0f} MiB/s"
        )
    return "; ".join(told) or None


def _measured(one: Result, ceiling: Ceiling) -> NewResult:
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


def _line_of(
    run: MeasuringRun,
    subject: Subject,
    mode: Mode,
    verdict: Verdict,
    measured: Measured,
    *,
    validation_id: str,
    key: str,
    usd_month: float | None,
) -> ValidationLine:
    return ValidationLine(
        id=validation_id,
        at=measured.at,
        class_key=key,
        mode=mode.value,
        account=subject.volume.account,
        region=subject.volume.region,
        zone=measured.host.zone,
        volume_id=subject.volume.id,
        serves=[want.volume_id for want in run.wants],
        spec=SpecLine(
            type=run.spec.type,
            size_gib=run.spec.size_gib,
            iops=run.spec.iops,
            throughput_mib_s=run.spec.throughput_mib_s,
        ),
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
        usd=None if usd_month is None or mode is Mode.IN_PLACE else usd_for(usd_month, measured.seconds),
        seconds=measured.seconds,
    )
