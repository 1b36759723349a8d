"""Compute Optimizer: recommendations for EBS volumes, by the means of five minutes of the last fortnight, in pages.

Its rules are plausible and simple: means hide bursts of a minute, and nothing is added to what was seen.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from cloud_simulator.aws.fleet import SimulatedVolume, served_minutes
from cloud_simulator.aws.scratch_volumes import AccountRegion
from cloud_simulator.faults import Refused
from cloud_simulator.paging import page_of
from cloud_simulator.published import TypePrice, VolumeSpec, aws_prices, ebs_types
from cloud_simulator.units import DAY_S, HOUR_S, MIB, MINUTE_S, FloatArray

_LOOK_BACK_DAYS: Final = 14
_LEAST_HOURS: Final = 30
_A_PAGE: Final = 1000
_FIVE_MINUTES: Final = 5
_TYPES: Final = frozenset({"gp2", "gp3", "io1", "io2"})
_MOST_OPTIONS: Final = 3


def recommend_volumes(asked: Mapping[str, Any], here: AccountRegion) -> Mapping[str, Any]:
    """The answer to GetEBSVolumeRecommendations; Refused in an account that has not opted in."""
    if here.account in here.fleet.opted_out:
        raise Refused(
            "OptInRequiredException", f"The account {here.account} is not registered for recommendations.", 400
        )
    wanted = set(asked.get("volumeArns") or ())
    volumes = [
        volume
        for volume in here.fleet.at(here.account, here.region)
        if _is_known(volume, here) and (not wanted or _arn(volume) in wanted)
    ]
    page, token = page_of(
        volumes, asked.get("nextToken"), asked.get("maxResults"), most=_A_PAGE, refusal="InvalidParameterValueException"
    )
    answers = [_recommend(volume, here) for volume in page]
    return {"volumeRecommendations": answers, "errors": [], **({"nextToken": token} if token else {})}


def _is_known(volume: SimulatedVolume, here: AccountRegion) -> bool:
    """True for a volume of a type that it knows, with enough hours of metrics."""
    known_s = here.fleet.now.timestamp() - volume.metrics_from_s
    return volume.spec.type in _TYPES and known_s >= _LEAST_HOURS * HOUR_S


def _arn(volume: SimulatedVolume) -> str:
    return f"arn:aws:ec2:{volume.region}:{volume.account}:volume/{volume.id}"


def _recommend(volume: SimulatedVolume, here: AccountRegion) -> dict[str, Any]:
    """The recommendation for a volume: the options that save, the cheapest first, or its present configuration."""
    book = aws_prices().book(volume.region)
    prices = {} if book is None else book.types
    now_usd = _price(volume.spec, prices)
    iops, throughput_mib_s = _peaks(volume, here)
    options = [
        (now_usd - usd, spec, risk)
        for spec, risk in _options(volume.spec, iops, throughput_mib_s)
        if now_usd is not None and (usd := _price(spec, prices)) is not None and usd < now_usd
    ]
    best = sorted(options, key=lambda option: -option[0])[:_MOST_OPTIONS] or [(0.0, volume.spec, 1.0)]
    return {
        "volumeArn": _arn(volume),
        "accountId": volume.account,
        "currentConfiguration": _configuration(volume.spec),
        "finding": "NotOptimized" if options else "Optimized",
        "lookBackPeriodInDays": float(_LOOK_BACK_DAYS),
        "volumeRecommendationOptions": [
            {
                "configuration": _configuration(spec),
                "performanceRisk": risk,
                "rank": rank,
                "savingsOpportunity": {
                    "savingsOpportunityPercentage": round(100 * saved / now_usd, 2) if now_usd else 0.0,
                    "estimatedMonthlySavings": {"currency": "USD", "value": round(saved, 4)},
                },
            }
            for rank, (saved, spec, risk) in enumerate(best, start=1)
        ],
        "currentPerformanceRisk": "VeryLow",
    }


def _peaks(volume: SimulatedVolume, here: AccountRegion) -> tuple[float, float]:
    """The highest means of five minutes, in IOPS and MiB/s."""
    count = _LOOK_BACK_DAYS * DAY_S // MINUTE_S
    first = int(here.fleet.now.timestamp()) // MINUTE_S // _FIVE_MINUTES * _FIVE_MINUTES - count
    made = served_minutes(volume, first, count)
    return (
        _highest(made["read_ops"] + made["write_ops"]),
        _highest(made["read_bytes"] + made["write_bytes"]) / MIB,
    )


def _highest(sums: FloatArray) -> float:
    means = np.nan_to_num(sums).reshape(-1, _FIVE_MINUTES).sum(axis=1) / (_FIVE_MINUTES * MINUTE_S)
    return float(means.max(initial=0.0))


def _options(spec: VolumeSpec, iops: float, throughput_mib_s: float) -> Iterator[tuple[VolumeSpec, float]]:
    """The configurations that carry these rates, with and without a fifth more, each with its performance risk."""
    for factor, risk in ((1.0, 3.0), (1.2, 1.0)):
        wanted_iops, wanted_mib_s = math.ceil(iops * factor), math.ceil(throughput_mib_s * factor)
        gp3_iops = max(3000, wanted_iops, 4 * wanted_mib_s)
        if gp3_iops <= min(16_000, max(3000, 500 * spec.size_gib)) and wanted_mib_s <= 1000:
            yield (
                VolumeSpec(type="gp3", size_gib=spec.size_gib, iops=gp3_iops, throughput_mib_s=max(125, wanted_mib_s)),
                risk,
            )
        if spec.type in {"io1", "io2"} and spec.size_gib >= 4:
            yield VolumeSpec(type=spec.type, size_gib=spec.size_gib, iops=max(100, wanted_iops)), risk


def _price(spec: VolumeSpec, prices: Mapping[str, TypePrice]) -> float | None:
    """USD a month of a configuration. None without a list price."""
    return prices[spec.type].usd_month(spec) if spec.type in prices else None


def _configuration(spec: VolumeSpec) -> dict[str, Any]:
    """A configuration as Compute Optimizer writes it: with the rates of types that sell none."""
    ceiling = ebs_types()[spec.type].ceiling(spec)
    return {
        "volumeType": spec.type,
        "volumeSize": spec.size_gib,
        "volumeBaselineIOPS": round(ceiling.sustained_iops),
        "volumeBurstIOPS": round(ceiling.iops),
        "volumeBaselineThroughput": round(ceiling.throughput_mib_s),
        "volumeBurstThroughput": round(ceiling.throughput_mib_s),
        "rootVolume": False,
    }
