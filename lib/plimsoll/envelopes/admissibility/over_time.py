"""Rules about time: whether what was seen lasts, or was a burst of the volume or of its host."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from plimsoll.domain.ceiling import Resource, TokenBucket
from plimsoll.domain.evidence.envelope import DELIVERED, Admission, Lasting, Measurement
from plimsoll.domain.evidence.token_fit import TokenFit, fit
from plimsoll.domain.units import MINUTE_S
from plimsoll.envelopes.admissibility.rule import Finding, Limits, Rule, side_of

NAME: Final = "over-time"

SHORT_S: Final = 10.0
"""Runs up to this long are known to overshoot what is provisioned."""

LEAST_LASTING_S: Final = 60.0
LEAST_LASTING_POINTS: Final = 5
"""What is to be called sustained must have lasted so long, and be told by so many points."""

HOST_BURST_S: Final = 1_800.0
"""How long a host of AWS carries its maximum at least once a day (Amazon EC2 User Guide, "Amazon EBS-optimized
instances")."""


def lastings(one: Measurement, limits: Limits) -> tuple[Lasting, ...]:
    """What the series of a measurement shows of each side."""
    if one.series is None:
        return ()
    found = ((side, fit(one.series.rates(side), one.series.step_s)) for side in Resource)
    return tuple(_lasting(one, side, fitted, limits) for side, fitted in found if fitted is not None)


def _lasting(one: Measurement, side: Resource, fitted: TokenFit, limits: Limits) -> Lasting:
    why = next(_doubts(one, side, fitted, limits), None)
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
    if not fitted.steady:
        return f"its {side.unit} fell and rose again over {_time(fitted.last.end_s)}: no sustained figure, as {why}"
    levels = ", then ".join(f"{one.rate:,.0f} for {_time(one.length_s)}" for one in fitted.levels)
    spent = "" if fitted.capacity is None else f", {fitted.capacity:,.0f} {_credits(side)} above that"
    end = f"{fitted.last.rate:,.0f} are sustained{spent}" if why is None else f"no sustained figure, as {why}"
    return f"over time it did {levels} ({side.unit}): {end}"


def _credits(side: Resource) -> str:
    return "operations" if side is Resource.IOPS else "MiB"


def _time(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds < 10 * MINUTE_S else f"{seconds / MINUTE_S:,.0f} min"


def _doubts(one: Measurement, side: Resource, fitted: TokenFit, limits: Limits) -> Iterator[str]:
    """Why the last level of a series is no figure that lasts."""
    last, step_s = fitted.last, one.series.step_s if one.series is not None else 0.0
    if not fitted.steady:
        yield "a load that asks for all it gets does not rise again"
    if last.length_s < LEAST_LASTING_S or last.length_s < LEAST_LASTING_POINTS * step_s:
        yield f"its last level lasted for only {_time(last.length_s)}"
    for whose, bucket in _buckets(side, limits):
        spent = _spent(one, side, bucket)
        if DELIVERED * last.rate > bucket.sustained_rate and spent < DELIVERED * bucket.capacity:
            yield (
                f"{whose} has {bucket.capacity:,.0f} burst credits above {bucket.sustained_rate:,.0f} {side.unit}, of "
                f"which only {spent:,.0f} were spent"
            )
    if _may_burst_unseen(one, limits) and last.length_s < HOST_BURST_S:
        yield "its host is not known, and may burst for 30 minutes"


def _may_burst_unseen(one: Measurement, limits: Limits) -> bool:
    unknown = np.isinf(limits.host_baseline.iops) and np.isinf(limits.host_baseline.throughput_mib_s)
    return bool(unknown) and one.provenance.provider == "aws" and not one.provenance.placed


def _buckets(side: Resource, limits: Limits) -> Iterator[tuple[str, TokenBucket]]:
    """The published buckets that a run has to empty before anything lasts: the volume's and its host's."""
    yield from (("the volume", bucket) for bucket in limits.volume.buckets if bucket.resource is side)
    baseline, most = side_of(limits.host_baseline, side), side_of(limits.host, side)
    if baseline < most < float("inf"):
        capacity = (most - baseline) * HOST_BURST_S
        yield "its host", TokenBucket(resource=side, free_rate=baseline, refill_rate=0.0, capacity=capacity)


def _spent(one: Measurement, side: Resource, bucket: TokenBucket) -> float:
    """The credits of a bucket that a series has spent."""
    rates: Sequence[float] = () if one.series is None else one.series.rates(side)
    above = np.maximum(0.0, np.asarray(rates) - bucket.sustained_rate)
    return float(above.sum()) * (0.0 if one.series is None else one.series.step_s)


def _over_time(one: Measurement, limits: Limits) -> Iterator[Finding]:
    for found in lastings(one, limits):
        whole = found.sustained_rate is not None and found.spent_at_s is None
        yield Finding(
            admission=Admission.COUNTS if whole else Admission.BOUNDED,
            text=found.text,
            sides=frozenset({found.side}),
            lasting_most=found.sustained_rate or 0.0,
        )


def _short(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    runtime_s = one.job.runtime_s
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


def _volume_burst(one: Measurement, limits: Limits) -> Iterator[Finding]:
    """A run that spent more than all credits showed what lasts: its work, less the credits, over its time."""
    for bucket in limits.volume.buckets:
        counted = one.device_iops if bucket.resource is Resource.IOPS else None
        seen = max((rate for rate in (one.figure(bucket.resource), counted) if rate is not None), default=0.0)
        if seen > bucket.sustained_rate:
            if one.series is not None and one.series.rates(bucket.resource):
                continue  # the series tells it better (`over_time`)
            spent = 0.0 if one.job.runtime_s is None else seen - bucket.capacity / one.job.runtime_s
            yield Finding(
                admission=Admission.BOUNDED,
                text=f"above {bucket.sustained_rate:,.0f} {bucket.resource.unit} this {one.spec.type} spent burst "
                "credits: what it sustains is less",
                sides=frozenset({bucket.resource}),
                lasting_most=max(0.0, spent),
            )


def _host_burst(one: Measurement, limits: Limits) -> Iterator[Finding]:
    for side in Resource:
        seen, sustained = one.figure(side), side_of(limits.host_baseline, side)
        if seen is not None and sustained < seen and sustained < side_of(limits.host, side):
            yield Finding(
                admission=Admission.BOUNDED,
                text=f"above {sustained:,.0f} {side.unit} the host {one.host_type} bursts, as it can for 30 minutes "
                "a day",
                sides=frozenset({side}),
            )


RULES: Final = (
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
        name=NAME,
        law="Only the level that remains when all credits are spent lasts.",
        source="the series of the run, and EBS User Guide, I/O credits and burst performance",
        find=_over_time,
    ),
)
