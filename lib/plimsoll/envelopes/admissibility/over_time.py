"""Rules about time: whether what was seen lasts, or was a burst of the volume or of its host."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from plimsoll.envelopes.admissibility.rule import Finding, Rule, SystemLimits, side_of
from plimsoll.envelopes.levels import TokenFit, fit_levels
from plimsoll.model.ceiling import Resource, TokenBucket
from plimsoll.model.envelope import DELIVERED, Admission, Lasting, Measurement
from plimsoll.model.units import MINUTE_S

OVER_TIME: Final = "over-time"

SHORT_S: Final = 10.0
"""Runs up to this long are known to overshoot what is provisioned."""

LEAST_LASTING_S: Final = 60.0
LEAST_LASTING_POINTS: Final = 5
"""A sustained rate must have lasted this long, and have this many points."""

HOST_BURST_S: Final = 1_800.0
"""Seconds for which a host of AWS carries its maximum at least once a day (Amazon EC2 User Guide, "Amazon EBS-optimized
instances")."""


def lastings(measurement: Measurement, limits: SystemLimits) -> tuple[Lasting, ...]:
    """The burst and the sustained rate of each side, fitted to the measurement's series. Empty without a series."""
    if measurement.series is None:
        return ()
    fits = ((side, fit_levels(measurement.series.rates(side), measurement.series.step_s)) for side in Resource)
    return tuple(_lasting(measurement, side, fitted, limits) for side, fitted in fits if fitted is not None)


def _lasting(measurement: Measurement, side: Resource, fitted: TokenFit, limits: SystemLimits) -> Lasting:
    """The rate that one side sustained over time, with the burst before it; no rate if something speaks against it."""
    why = next(_doubts(measurement, side, fitted, limits), None)
    sustained = fitted.last.rate if why is None else None
    return Lasting(
        side=side,
        burst_rate=fitted.burst_rate,
        sustained_rate=sustained,
        credits=fitted.capacity,
        spent_at_s=fitted.spent_at_s,
        text=_text(side, fitted, why),
    )


def _text(side: Resource, fitted: TokenFit, why: str | None) -> str:
    """The sentence about a side's rates over time: its levels, and what is sustained or `why` nothing is."""
    if not fitted.steady:
        return f"its {side.unit} fell and rose again over {_time(fitted.last.end_s)}: no sustained figure, as {why}"
    levels = ", then ".join(f"{level.rate:,.0f} for {_time(level.length_s)}" for level in fitted.levels)
    spent = "" if fitted.capacity is None else f", {fitted.capacity:,.0f} {_credits(side)} above that"
    end = f"{fitted.last.rate:,.0f} are sustained{spent}" if why is None else f"no sustained figure, as {why}"
    return f"over time it did {levels} ({side.unit}): {end}"


def _credits(side: Resource) -> str:
    return "operations" if side is Resource.IOPS else "MiB"


def _time(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds < 10 * MINUTE_S else f"{seconds / MINUTE_S:,.0f} min"


def _doubts(measurement: Measurement, side: Resource, fitted: TokenFit, limits: SystemLimits) -> Iterator[str]:
    """The reasons why the last level of a series is no sustained rate."""
    last, step_s = fitted.last, measurement.series.step_s if measurement.series is not None else 0.0
    if not fitted.steady:
        yield "a load that asks for all it gets does not rise again"
    if last.length_s < LEAST_LASTING_S or last.length_s < LEAST_LASTING_POINTS * step_s:
        yield f"its last level lasted for only {_time(last.length_s)}"
    for whose, bucket in _buckets(side, limits):
        spent = _spent_credits(measurement, side, bucket)
        if DELIVERED * last.rate > bucket.sustained_rate and spent < DELIVERED * bucket.capacity:
            yield (
                f"{whose} has {bucket.capacity:,.0f} burst credits above {bucket.sustained_rate:,.0f} {side.unit}, of "
                f"which only {spent:,.0f} were spent"
            )
    if _may_burst_unseen(measurement, limits) and last.length_s < HOST_BURST_S:
        yield "its host is not known, and may burst for 30 minutes"


def _may_burst_unseen(measurement: Measurement, limits: SystemLimits) -> bool:
    unknown = np.isinf(limits.host_baseline.iops) and np.isinf(limits.host_baseline.throughput_mib_s)
    return bool(unknown) and measurement.provenance.provider == "aws" and not measurement.provenance.placed


def _buckets(side: Resource, limits: SystemLimits) -> Iterator[tuple[str, TokenBucket]]:
    """The published token buckets that a run must empty before its rate is sustained: the volume's and its host's."""
    yield from (("the volume", bucket) for bucket in limits.volume.buckets if bucket.resource is side)
    baseline, most = side_of(limits.host_baseline, side), side_of(limits.host, side)
    if baseline < most < float("inf"):
        capacity = (most - baseline) * HOST_BURST_S
        yield "its host", TokenBucket(resource=side, free_rate=baseline, refill_rate=0.0, capacity=capacity)


def _spent_credits(measurement: Measurement, side: Resource, bucket: TokenBucket) -> float:
    """The credits of a bucket that a series has spent."""
    rates: Sequence[float] = () if measurement.series is None else measurement.series.rates(side)
    above = np.maximum(0.0, np.asarray(rates) - bucket.sustained_rate)
    return float(above.sum()) * (0.0 if measurement.series is None else measurement.series.step_s)


def _find_lastings(measurement: Measurement, limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements that show over time what lasts; such a finding bounds the figure by that."""
    for lasting in lastings(measurement, limits):
        whole = lasting.sustained_rate is not None and lasting.spent_at_s is None
        yield Finding(
            admission=Admission.COUNTS if whole else Admission.BOUNDED,
            text=lasting.text,
            sides=frozenset({lasting.side}),
            lasting_most=lasting.sustained_rate or 0.0,
        )


def _short(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements that ran too short to show what lasts, or do not say for how long."""
    runtime_s = measurement.job.runtime_s
    if runtime_s is None:
        yield Finding(
            admission=Admission.UNKNOWN,
            text="nothing says for how long it ran, and seconds show a burst: import an output that has its run time",
            lasting_most=0.0,
        )
    elif runtime_s <= SHORT_S:
        yield Finding(
            admission=Admission.UNKNOWN,
            text=f"runs of {SHORT_S:g} s or less overstate by 4 to 10 %, at times more: measure for three minutes",
            lasting_most=0.0,
        )


def _volume_burst(measurement: Measurement, limits: SystemLimits) -> Iterator[Finding]:
    """A run that spent all credits shows the sustained rate: its work, less the credits, over its time."""
    for bucket in limits.volume.buckets:
        counted = measurement.device_iops if bucket.resource is Resource.IOPS else None
        seen = max((rate for rate in (measurement.figure(bucket.resource), counted) if rate is not None), default=0.0)
        if seen > bucket.sustained_rate:
            if measurement.series is not None and measurement.series.rates(bucket.resource):
                continue  # the series tells it better (`over_time`)
            spent = 0.0 if measurement.job.runtime_s is None else seen - bucket.capacity / measurement.job.runtime_s
            yield Finding(
                admission=Admission.BOUNDED,
                text=f"above {bucket.sustained_rate:,.0f} {bucket.resource.unit} this {measurement.spec.type} spent "
                "burst credits: what it sustains is less",
                sides=frozenset({bucket.resource}),
                lasting_most=max(0.0, spent),
            )


def _host_burst(measurement: Measurement, limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements above the host's baseline, which it carries for 30 minutes a day."""
    for side in Resource:
        seen, sustained = measurement.figure(side), side_of(limits.host_baseline, side)
        if seen is not None and sustained < seen and sustained < side_of(limits.host, side):
            yield Finding(
                admission=Admission.BOUNDED,
                text=f"above {sustained:,.0f} {side.unit} the host {measurement.host_type} bursts, as it can for 30 "
                "minutes a day",
                sides=frozenset({side}),
            )


TIME_RULES: Final = (
    Rule(
        name="short-run",
        law="Ten seconds overstate what lasts.",
        source="the campaigns aws-gp3-io2-2020 and google-pd-n1",
        find=_short,
        of_a_volume=True,
    ),
    Rule(
        name="volume-burst",
        law="Above what lasts a volume spends credits.",
        source="EBS User Guide, I/O credits and burst performance",
        find=_volume_burst,
    ),
    Rule(
        name="host-burst",
        law="Above its baseline a host bursts.",
        source="Amazon EC2 User Guide, Amazon EBS-optimized instances",
        find=_host_burst,
    ),
    Rule(
        name=OVER_TIME,
        law="Only the level that remains when all credits are spent lasts.",
        source="the series of the run, and EBS User Guide, I/O credits and burst performance",
        find=_find_lastings,
    ),
)
