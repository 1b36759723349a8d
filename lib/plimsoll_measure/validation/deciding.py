"""Deciding: the recommendation for a job's volume with all measurements so far, and the next run."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from plimsoll.auditing.explain import Explained, explain_volume
from plimsoll.decide.answer import (
    Change,
    Comparison,
    InsufficientData,
    Keep,
    Migrate,
    Reprovision,
    Unweighed,
    Upgrade,
    Wait,
)
from plimsoll.demand.demand import IOPS, MIB_S, Demand
from plimsoll.demand.workload import recount_need, shape_of
from plimsoll.model.ceiling import Need
from plimsoll.model.errors import BadInput, NotMeasured
from plimsoll.model.market import Provisioned, VolumeType
from plimsoll.model.policy import Grade, Headroom, Policy
from plimsoll.model.volume import Volume, VolumeSpec
from plimsoll.outcomes import Answered, FailedVolume
from plimsoll.ports import Bench, Prices, Target
from plimsoll.reports.answers import record_of
from plimsoll_measure.runs import MeasuringRun, Mode, Want, plan_runs, split_by_budget
from plimsoll_measure.validation.context import Context
from plimsoll_measure.validation.fio_job import plan_run
from plimsoll_measure.validation.job import Job, Proposal, Subject

MOST_ATTEMPTS: Final = 3
"""The most runs of a job: after them no new answer is measured."""

NO_BUDGET: Final = "nothing was measured: the budget allows no run of it. Allow more with validation.max_usd."

FLIP: Final = "flip"
"""The target of a bare change of type, without IOPS or throughput of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighedVolume:
    """A volume with its answer and the demand behind it."""

    answer: Migrate | Reprovision | Upgrade | Keep | Wait
    demand: Demand

    @property
    def volume(self) -> Volume:
        return self.answer.volume

    @property
    def comparison(self) -> Comparison:
        return self.answer.comparison


def decide_run(job: Job, context: Context) -> Job:
    """Decides the job's volume, and the next run within its budget. The user must agree to the first plan.

    Other volumes that a measurement serves are decided again by its caller. Raises BadInput or NotMeasured if nothing
    can be validated, and CloudError.
    """
    if not job.to_decide:
        return job
    ports = context.ports(job.place, job.now)
    weighed = weigh_answer(explain_volume(ports, job.volume_id, context.policy, job.now), job.volume_id)
    record = record_of(weighed.answer, provider=job.place.provider)
    types = ports.catalog.types
    place = replace(job.place, account=weighed.volume.account, region=weighed.volume.region)
    known = replace(job, place=place, to_decide=False, before=job.before or record)
    if job.tried:
        run = next_run(weighed, job, types)
        known = replace(known, after=record)
    else:
        run = job.following or target_run(weighed, job.asked, job.mode, types)
        known = replace(known, asked_spec=None if job.asked is None else run.spec)
    if run is not None:
        known = _propose(known, run, weighed, usd_month_of(run, place, ports.prices), context)
    return known


def usd_month_of(run: MeasuringRun, place: Target, prices: Prices) -> float | None:
    """The list price of a run's spec in a place. None if it is unknown."""
    book = prices.book(place)
    return None if book is None else book.usd_month(run.spec)


def next_run(weighed: WeighedVolume, job: Job, types: Mapping[str, VolumeType]) -> MeasuringRun | None:
    """The run for the recommendation after a target failed. None if it is not new, or proved already."""
    if job.lines and job.lines[-1].passed:
        return None
    if job.mode is Mode.IN_PLACE or not isinstance(weighed.answer, Change) or weighed.answer.evidence.grade is Grade.A:
        return None
    run = target_run(weighed, None, job.mode, types)
    return None if run.class_key in job.tried or len(job.tried) >= MOST_ATTEMPTS else run


def _propose(job: Job, run: MeasuringRun, weighed: WeighedVolume, usd_month: float | None, context: Context) -> Job:
    """The job with that run proposed, if its budget allows it."""
    plan = plan_run(run, job.mode, usd_month, context)
    budget_left = job.budget.rest_after(usd=job.usd, runs=len(job.tried))
    chosen, left = split_by_budget([run], lambda _run: plan.usd or 0.0, budget_left)
    if not job.tried:
        context.agree([plan] if chosen else [], left)
    if not chosen:
        return job if job.tried else replace(job, note=NO_BUDGET)
    bench = context.bench(job.place)
    subject = subject_of(weighed, run, bench=bench, place=job.place, policy=context.policy, now=job.now)
    return replace(job, proposal=Proposal(run=run, subject=subject, usd_month=usd_month))


def weigh_answer(explained: Explained | None, volume_id: str) -> WeighedVolume:
    """The volume's answer and demand. Raises BadInput or NotMeasured, with the reason, if it has none to validate."""
    if explained is None:
        raise BadInput(f"there is no volume {volume_id} in these accounts and regions: check them, and its id.")
    outcome = explained.outcome
    if isinstance(outcome, FailedVolume):
        raise NotMeasured(f"{volume_id}: {outcome.reason}")
    if not isinstance(outcome, Answered):
        raise BadInput(f"{volume_id} is left out: {outcome.reason}.")
    answer = outcome.recommendation
    if isinstance(answer, Unweighed | InsufficientData) or explained.demand is None:
        raise BadInput(f"{volume_id} has no target to validate ({answer.action}): {'; '.join(answer.reasons)}")
    return WeighedVolume(answer=answer, demand=explained.demand)


def target_run(weighed: WeighedVolume, target: str | None, mode: Mode, types: Mapping[str, VolumeType]) -> MeasuringRun:
    """The run for a target: `flip`, TYPE[:IOPS[:MIB_S]], or None for the recommended one. In place for today's spec.

    Raises BadInput if nothing is recommended and no target is named.
    """
    spec = _spec(weighed, target, mode, types)
    pool_gib = _pool_gib(weighed, spec.type)
    if pool_gib is not None and mode is not Mode.CANARY:
        raise BadInput(
            f"{weighed.volume.id} shares one ceiling with all {pool_gib:,} GiB of {spec.type} on its host: to "
            f"measure it alone ({mode.value}) proves nothing. Use --mode canary, which measures one as large as all."
        )
    spec = spec if pool_gib is None else replace(spec, size_gib=pool_gib)
    ceiling = weighed.comparison.present if spec == weighed.volume.spec else types[spec.type].ceiling(spec)
    saved = weighed.answer.usd_month_saved if isinstance(weighed.answer, Change) else 0.0
    want = Want(
        volume_id=weighed.volume.id,
        account=weighed.volume.account,
        region=weighed.volume.region,
        zone=weighed.volume.zone,
        spec=spec,
        ceiling=ceiling,
        saved_usd_month=saved,
    )
    return plan_runs([want])[0]


def _pool_gib(weighed: WeighedVolume, type_name: str) -> int | None:
    """The size of all volumes that would share a pool of that type. None if the volume would be alone."""
    pool_gib = weighed.comparison.offer(type_name).pool_gib
    return None if pool_gib == weighed.volume.spec.size_gib else pool_gib


def subject_of(
    weighed: WeighedVolume, run: MeasuringRun, *, bench: Bench, place: Target, policy: Policy, now: datetime
) -> Subject:
    """The subject of a run: its need, shape, peaks and latency today over the policy's window.

    The shape has the rates of the peaks themselves. With headroom an offer of just the right size would be asked for
    all that it carries. Its latency would then be that of a queue which the workload never makes. Raises CloudError
    if the latency of today cannot be read: without it a verdict would pass too easily.
    """
    volume, demand = weighed.volume, weighed.demand
    offer, counted = weighed.comparison.offer(run.spec.type), run.ceiling.accounting
    if not (math.isfinite(offer.need.iops) and math.isfinite(offer.need.throughput_mib_s)):
        raise NotMeasured("the need has no bound, so that nothing could be shown to carry it.")
    need = recount_need(offer.need, demand, offer.ceiling.accounting, counted)
    risk = weighed.answer.risk
    share = 1 / (Headroom.from_policy(policy) if risk is None else risk.headroom).factor
    at_peak = Need(iops=need.iops * share, throughput_mib_s=need.throughput_mib_s * share)
    today = bench.mean_latency_us(place, volume.id, now - timedelta(days=policy.lookback_days), now)
    return Subject(
        volume=volume,
        need=need,
        shape=shape_of(demand, at_peak, counted) if np.any(demand.iops > 0) else None,
        peak_iops=demand.peak(demand.count(counted.per_operation)[IOPS]),
        peak_throughput_mib_s=demand.peak(demand.count(counted.per_operation)[MIB_S]),
        today_mean_latency_us=today,
        pool_gib=_pool_gib(weighed, run.spec.type),
    )


def _spec(weighed: WeighedVolume, target: str | None, mode: Mode, types: Mapping[str, VolumeType]) -> VolumeSpec:
    """The spec to measure: the volume's own in place, else the named target, the bare change of type, or the answer's.

    Raises BadInput if there is no such spec.
    """
    if mode is Mode.IN_PLACE:
        if target is not None:
            raise BadInput("--mode in-place measures the volume's present configuration: leave out --target.")
        return weighed.volume.spec
    if target == FLIP:
        flip = weighed.comparison.flip
        if flip is None:
            raise BadInput(f"there is no bare flip for {weighed.volume.id}: name a target such as gp3:3000:125.")
        return flip.spec
    if target is not None:
        return parse_target(target, weighed.volume.spec.size_gib, types)
    if isinstance(weighed.answer, Change):
        return weighed.answer.target.spec
    if isinstance(weighed.answer, Wait):
        raise BadInput(
            f"{weighed.volume.id} cannot be judged before {weighed.answer.until}: there is no target to "
            "validate. Look again then, or name a target such as gp3:3000:125."
        )
    raise BadInput(
        f"{weighed.volume.id} has no recommended change to validate. Name a target such as --target gp3:3000:125, or "
        "measure the volume itself with --mode in-place."
    )


def parse_target(target: str, size_gib: int, types: Mapping[str, VolumeType]) -> VolumeSpec:
    """The spec that TYPE[:IOPS[:MIB_S]] names, of that size. A missing figure is the type's included one."""
    name, *figures = target.split(":")
    kind = types.get(name)
    if kind is None:
        raise BadInput(f"--target {target}: there is no volume type {name}; it knows {', '.join(types)}.")
    try:
        numbers = [int(figure) for figure in figures]
    except ValueError as error:
        raise BadInput(f"--target {target} must be TYPE[:IOPS[:MIB_S]], such as gp3:3000:125.") from error
    iops, throughput = [*numbers, None, None][:2]
    bought = _provisioned_figure(target, "IOPS", kind.iops, iops, size_gib)
    moved = _provisioned_figure(target, "MiB/s", kind.throughput, throughput, size_gib, bought or 0)
    return VolumeSpec(type=name, size_gib=size_gib, iops=bought, throughput_mib_s=moved)


def _provisioned_figure(
    target: str, unit: str, rule: object, asked: int | None, size_gib: int, iops: int = 0
) -> int | None:
    """The IOPS or MiB/s to provision for a target: those asked for, or the least; None if the type provisions none.

    Raises BadInput for a figure that cannot be bought.
    """
    if not isinstance(rule, Provisioned):
        if asked is not None:
            raise BadInput(f"--target {target}: {unit} cannot be provisioned for that type; leave them out.")
        return None
    least = rule.least_at(size_gib, iops)
    figure = least if asked is None else asked
    if not least <= figure <= rule.most:
        raise BadInput(f"--target {target}: {unit} must be from {least:,} to {rule.most:,}.")
    return figure
