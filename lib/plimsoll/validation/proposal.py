"""Proposals: which configuration is to be validated for one volume, from what was decided of it or what was asked."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.demand import Demand
from plimsoll.domain.errors import BadInput, CloudError, NotMeasured
from plimsoll.domain.need import Need
from plimsoll.domain.policy import Policy
from plimsoll.domain.recommendation import (
    Change,
    Comparison,
    Detached,
    InsufficientData,
    Keep,
    Migrate,
    Reprovision,
    Upgrade,
)
from plimsoll.domain.validation import MeasuringRun, Mode, Want, runs_for
from plimsoll.domain.volume import Volume, VolumeSpec
from plimsoll.domain.volume_types import Provisioned, VolumeType
from plimsoll.domain.workload import recounted, shape_of
from plimsoll.explain import Explained
from plimsoll.outcomes import Answered, FailedVolume
from plimsoll.ports import Bench, Target
from plimsoll.validation.job import Subject

FLIP: Final = "flip"
"""The target that a bare change of type gives, without asking for IOPS or throughput."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A volume that was decided upon, with the demand behind it."""

    answer: Migrate | Reprovision | Upgrade | Keep
    demand: Demand

    @property
    def volume(self) -> Volume:
        """The volume."""
        return self.answer.volume

    @property
    def comparison(self) -> Comparison:
        """What was weighed."""
        return self.answer.comparison


def weighed(found: Explained | None, volume_id: str) -> Weighed:
    """What a validation can stand on; BadInput or NotMeasured says why there is nothing."""
    if found is None:
        raise BadInput(f"there is no volume {volume_id} in these accounts and regions: check them, and its id.")
    outcome = found.outcome
    if isinstance(outcome, FailedVolume):
        raise NotMeasured(f"{volume_id}: {outcome.reason}")
    if not isinstance(outcome, Answered):
        raise BadInput(f"{volume_id} is left out: {outcome.reason}.")
    answer = outcome.recommendation
    if isinstance(answer, Detached | InsufficientData) or found.demand is None:
        raise BadInput(f"{volume_id} has no target to validate ({answer.action}): {'; '.join(answer.reasons)}")
    return Weighed(answer=answer, demand=found.demand)


def wanted(found: Weighed, target: str | None, mode: Mode, types: Mapping[str, VolumeType]) -> MeasuringRun:
    """The run for what was asked (`flip`, or TYPE[:IOPS[:MIB_S]]), else for what is recommended; in place for what the
    volume is. BadInput where nothing is recommended and nothing was asked."""
    spec = _spec(found, target, mode, types)
    pool_gib = _pool_gib(found, spec.type)
    if pool_gib is not None:
        spec = _as_pool(found.volume.id, spec, pool_gib, mode)
    ceiling = found.comparison.present if spec == found.volume.spec else types[spec.type].ceiling(spec)
    saved = found.answer.usd_month_saved if isinstance(found.answer, Change) else 0.0
    return runs_for([want_of(found.volume, spec, ceiling, saved)])[0]


def _pool_gib(found: Weighed, type_name: str) -> int | None:
    """The size of all volumes that would share one pool of that type with a volume, None where it would be alone."""
    pool_gib = found.comparison.offer(type_name).pool_gib
    return None if pool_gib == found.volume.spec.size_gib else pool_gib


def _as_pool(volume_id: str, spec: VolumeSpec, pool_gib: int, mode: Mode) -> VolumeSpec:
    """One volume as large as a pool, which carries what all in it do together; BadInput in other modes."""
    if mode is not Mode.CANARY:
        raise BadInput(
            f"{volume_id} shares what {pool_gib:,} GiB of {spec.type} on its host carry: a {mode.value} of it alone "
            "shows nothing of that. Use the mode canary, which measures one volume as large as all of them."
        )
    return replace(spec, size_gib=pool_gib)


def want_of(volume: Volume, spec: VolumeSpec, ceiling: Ceiling, saved_usd_month: float) -> Want:
    """A want to measure that spec for a volume."""
    return Want(
        volume_id=volume.id,
        account=volume.account,
        region=volume.region,
        zone=volume.zone,
        spec=spec,
        ceiling=ceiling,
        saved_usd_month=saved_usd_month,
    )


def subject_of(
    found: Weighed, run: MeasuringRun, *, bench: Bench, place: Target, policy: Policy, now: datetime
) -> Subject:
    """The subject of a run: its need, shape, peaks and latency today over the policy's window.

    The shape has the rates of the peaks themselves: with headroom an offer of just the right size would be asked for
    all that it carries, and then latency is that of a queue which the workload never makes.
    """
    volume, demand = found.volume, found.demand
    offer, counted = found.comparison.offer(run.spec.type), run.ceiling.accounting
    need = recounted(_finite(offer.need), demand, offer.ceiling.accounting, counted)
    try:
        today = bench.mean_latency_us(place, volume.id, now - timedelta(days=policy.lookback_days), now)
    except CloudError:
        today = None  # the verdict then rests on the policy's p99 alone, and says so
    return Subject(
        volume=volume,
        need=need,
        shape=shape_of(demand, _at_peak(need, policy), counted) if np.any(demand.iops > 0) else None,
        peak_iops=demand.peak(demand.counted_iops(replace(counted, io_kib=None))),
        peak_throughput_mib_s=demand.peak(demand.counted_throughput_mib_s(counted)),
        today_mean_latency_us=today,
        pool_gib=_pool_gib(found, run.spec.type),
    )


def _at_peak(need: Need, policy: Policy) -> Need:
    """The need without its headroom."""
    share = 1 / (1 + policy.headroom_pct / 100)
    return Need(iops=need.iops * share, throughput_mib_s=need.throughput_mib_s * share)


def _finite(need: Need) -> Need:
    if not (math.isfinite(need.iops) and math.isfinite(need.throughput_mib_s)):
        raise NotMeasured("the need has no bound, so that nothing could be shown to carry it.")
    return need


def _spec(found: Weighed, target: str | None, mode: Mode, types: Mapping[str, VolumeType]) -> VolumeSpec:
    if mode is Mode.IN_PLACE:
        if target is not None:
            raise BadInput("--mode in-place measures the volume as it is: leave out --target.")
        return found.volume.spec
    if target == FLIP:
        flip = found.comparison.flip
        if flip is None:
            raise BadInput(f"there is no bare flip for {found.volume.id}: name a target such as gp3:3000:125.")
        return flip.spec
    if target is not None:
        return parsed(target, found.volume.spec.size_gib, types)
    if isinstance(found.answer, Change):
        return found.answer.target.spec
    raise BadInput(
        f"{found.volume.id} is to be kept as it is: there is no target to validate. Name a target such as "
        "gp3:3000:125, or measure what it is with the mode in-place."
    )


def parsed(target: str, size_gib: int, types: Mapping[str, VolumeType]) -> VolumeSpec:
    """The spec that TYPE[:IOPS[:MIB_S]] names, of that size; what is left out is what the type includes."""
    name, *figures = target.split(":")
    kind = types.get(name)
    if kind is None:
        raise BadInput(f"--target {target}: there is no volume type {name}; it knows {', '.join(types)}.")
    try:
        given = [int(figure) for figure in figures]
    except ValueError as error:
        raise BadInput(f"--target {target} must be TYPE[:IOPS[:MIB_S]], such as gp3:3000:125.") from error
    iops, throughput = [*given, None, None][:2]
    bought = _provisioned(target, "IOPS", kind.iops, iops, size_gib)
    moved = _provisioned(target, "MiB/s", kind.throughput, throughput, size_gib, bought or 0)
    return VolumeSpec(type=name, size_gib=size_gib, iops=bought, throughput_mib_s=moved)


def _provisioned(target: str, unit: str, rule: object, asked: int | None, size_gib: int, iops: int = 0) -> int | None:
    if not isinstance(rule, Provisioned):
        if asked is not None:
            raise BadInput(f"--target {target}: {unit} cannot be provisioned for that type; leave them out.")
        return None
    least = rule.least_at(size_gib, iops)
    figure = least if asked is None else asked
    if not least <= figure <= rule.most:
        raise BadInput(f"--target {target}: {unit} must be from {least:,} to {rule.most:,}.")
    return figure
