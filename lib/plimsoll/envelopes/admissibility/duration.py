"""Rules about time: whether what was seen lasts, or was a burst of the volume or of its host."""

from collections.abc import Iterator
from typing import Final

from plimsoll.domain.ceiling import Resource
from plimsoll.domain.evidence.envelope import Admission, Measurement
from plimsoll.envelopes.admissibility.rule import Finding, Limits, Rule, side_of

SHORT_S: Final = 10.0
"""Runs up to this long are known to overshoot what is provisioned."""


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
        source="the campaigns aws-gp3-io2-2020 and google-pd-n1",
        find=_short,
        of_a_volume=True,
    ),
    Rule(name="volume-burst", source="EBS User Guide, I/O credits and burst performance", find=_volume_burst),
    Rule(name="host-burst", source="Amazon EC2 User Guide, Amazon EBS-optimized instances", find=_host_burst),
)
