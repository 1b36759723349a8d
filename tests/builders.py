"""Builders: the nouns of the domain with everything filled in that a test does not care about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from cloud_simulator.metrics.sums import Sums
from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.decide.answer import Recommendation
from plimsoll.decide.case import Case, DecisionContext
from plimsoll.decide.case_maker import case_of
from plimsoll.decide.decide import answer
from plimsoll.decide.evidence import FailedMeasurement
from plimsoll.decide.groups import StripeSet
from plimsoll.decide.offers import Market
from plimsoll.demand.demand import Demand
from plimsoll.demand.from_metrics import demand_of
from plimsoll.demand.host_room import HostLoad, host_loads
from plimsoll.model.ceiling import Ceiling, Resource
from plimsoll.model.envelope import Envelope
from plimsoll.model.errors import CloudError
from plimsoll.model.market import PriceBook, Provisioned, TypePrice, VolumeType
from plimsoll.model.policy import ANY_RISK_PCT, HeadroomFrom, Headrooms, Policy
from plimsoll.model.series import SERIES, WORK_SERIES, Role, names_with
from plimsoll.model.units import mib_s_from_mb_s
from plimsoll.model.volume import Attachment, Host, HostLimits, Volume, VolumeSpec, VolumeState, sole_host
from plimsoll.ports import Metrics
from plimsoll.reading.cost import Closer, QueryCost
from plimsoll.reading.known import Ask, Knowledge, Look
from plimsoll.reading.window import Segment, Window

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=400)

TYPES: Mapping[str, VolumeType] = volume_types("aws")

US_EAST_1 = PriceBook(
    region="us-east-1",
    source="facts.md, section 1.2",
    as_of=date(2026, 11, 20),
    types={
        "gp2": TypePrice(gib_month=0.10),
        "gp3": TypePrice(
            gib_month=0.08,
            iops_tiers=((None, 0.005),),
            included_iops=3000,
            throughput_mib_s_month=0.04,
            included_throughput_mib_s=125,
        ),
        "io1": TypePrice(gib_month=0.125, iops_tiers=((None, 0.065),)),
        "io2": TypePrice(gib_month=0.125, iops_tiers=((32_000, 0.065), (64_000, 0.0455), (None, 0.03185))),
        "st1": TypePrice(gib_month=0.045),
        "sc1": TypePrice(gib_month=0.015),
        "standard": TypePrice(gib_month=0.05, million_io=0.05),
    },
)

# Baseline IOPS and MB/s, maximum IOPS and MB/s, as DescribeInstanceTypes gives them.
HOST_FIGURES: Mapping[str, tuple[float, float, float, float] | None] = {
    "m5.large": (3_600, 81.25, 18_750, 593.75),
    "m5.xlarge": (6_000, 143.75, 18_750, 593.75),
    "m5.2xlarge": (12_000, 287.5, 18_750, 593.75),
    "r5b.large": (5_417, 156.25, 43_333, 1_250.0),
    "t3.micro": (500, 10.875, 11_800, 260.625),
    "m5.24xlarge": (80_000, 2_375.0, 80_000, 2_375.0),
    "r5b.24xlarge": (260_000, 7_500.0, 260_000, 7_500.0),
    "m4.large": (3_600, 56.25, 3_600, 56.25),
    "t2.micro": None,
}
OLDER_HOSTS = {"m4.large", "t2.micro"}


def a_host(type: str = "m5.24xlarge", *, id: str = "i-1") -> Host:  # noqa: A002  # as people say it
    return Host(id=id, type=type, limits=_limits(type), nitro=type not in OLDER_HOSTS)


def _limits(host_type: str) -> HostLimits | None:
    figures = HOST_FIGURES[host_type]
    if figures is None:
        return None
    baseline_iops, baseline_mb_s, maximum_iops, maximum_mb_s = figures
    return HostLimits(
        baseline_iops=baseline_iops,
        baseline_throughput_mib_s=mib_s_from_mb_s(baseline_mb_s),
        maximum_iops=maximum_iops,
        maximum_throughput_mib_s=mib_s_from_mb_s(maximum_mb_s),
        burst_s=1800,
    )


def a_spec(
    type: str,  # noqa: A002  # as people say it
    size_gib: int = 500,
    *,
    iops: int | None = None,
    throughput_mib_s: int | None = None,
) -> VolumeSpec:
    """A spec as a cloud describes it: what the type provisions is given, at its default where the test does not say."""
    kind = TYPES.get(type)
    if kind and isinstance(kind.iops, Provisioned):
        iops = iops or max(kind.iops.included, kind.iops.least)
    if kind and isinstance(kind.throughput, Provisioned):
        throughput_mib_s = throughput_mib_s or max(kind.throughput.included, kind.throughput.least)
    return VolumeSpec(type=type, size_gib=size_gib, iops=iops, throughput_mib_s=throughput_mib_s)


def a_volume(
    type: str = "gp2",  # noqa: A002  # as people say it
    size_gib: int = 500,
    *,
    iops: int | None = None,
    throughput_mib_s: int | None = None,
    on: Host | Sequence[Host | None] | None = None,
    boot: bool = False,
    id: str = "vol-1",  # noqa: A002  # as people say it
    region: str = "us-east-1",
    account: str = "111122223333",
    **fields: object,
) -> Volume:
    """A volume in use on one large host, or `on` the hosts given."""
    hosts = [on or a_host()] if on is None or isinstance(on, Host) else on
    attachments = tuple(Attachment(host=host, device="/dev/sdf", since=LONG_AGO, boot=boot) for host in hosts)
    return Volume(
        **{
            "id": id,
            "account": account,
            "region": region,
            "zone": f"{region}a",
            "spec": a_spec(type, size_gib, iops=iops, throughput_mib_s=throughput_mib_s),
            "state": VolumeState.IN_USE if hosts else VolumeState.AVAILABLE,
            "created": LONG_AGO,
            "attachments": attachments,
            **fields,
        }
    )


def a_stripe_set(*members: str, **fields: object) -> StripeSet:
    """These volumes, striped on the host that volumes are on where nothing is said of it."""
    return StripeSet(
        **{
            "name": "md0",
            "account": "111122223333",
            "region": "us-east-1",
            "host_id": "i-1",
            "members": members,
            "level": "raid0",
            "found": date(2026, 11, 1),
            **fields,
        }
    )


def ceiling_of(volume: Volume) -> Ceiling:
    """What is published for the volume, whatever its hosts."""
    return TYPES[volume.spec.type].ceiling(volume.spec)


def a_demand(
    iops: float | Sequence[float] = 0.0,
    throughput_mib_s: float | Sequence[float] = 0.0,
    *,
    buckets: int | None = None,
    resolution_s: int = 60,
    **fields: object,
) -> Demand:
    """A demand over two days, or over as many buckets as a list has; lists go on with zero up to `buckets`.

    Rates are zero where nothing is `observed`.
    """
    given = [len(rate) for rate in (iops, throughput_mib_s) if isinstance(rate, Sequence)]
    length = buckets or max(given, default=2 * 86_400 // resolution_s)
    lists = {
        name: value
        if name == "start_s"
        else np.resize(np.asarray(value), length)
        if np.ndim(value) == 0
        else np.asarray(value)
        for name, value in fields.items()
    }
    lists = fields_of(lists)
    observed = lists.pop("observed", np.ones(length, dtype=np.bool_))
    totals = np.stack([_series(iops, length), _series(throughput_mib_s, length)]) * observed
    reads = np.stack([lists.pop(f"read_{side}", np.zeros(length)) for side in ("iops", "throughput_mib_s")])
    return Demand(
        **{
            "start_s": 0,
            "resolution_s": resolution_s,
            "coarsest_s": resolution_s,
            "rates": np.stack([totals, reads], axis=1),
            "observed": observed,
            **lists,
        }
    )


def rates_of(iops: np.ndarray, throughput_mib_s: np.ndarray, read_share: float = 0.5) -> np.ndarray:
    """Rates of which that share is reads."""
    totals = np.stack([iops, throughput_mib_s]).astype(np.float64)
    return np.stack([totals, totals * read_share], axis=1)


def fields_of(series: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a demand that have the checks and the balance among some series, beside the others."""
    fields = {name: values for name, values in series.items() if name not in SERIES}
    fields["exceeded"] = {SERIES[name].side: series[name] for name in names_with(Role.CHECK) if name in series}
    balances = [series[name] for name in names_with(Role.BALANCE) if name in series]
    return fields | {"balance_pct": balances[0] if balances else None}


def _series(rate: float | Sequence[float], length: int) -> np.ndarray:
    if isinstance(rate, Sequence):
        return np.pad(np.asarray(rate, dtype=np.float64), (0, length - len(rate)))
    return np.full(length, float(rate))


def some_sums(*, start_s: int = 0, period_s: int = 60, buckets: int | None = None, **series: object) -> Sums:
    """Sums of lists or constants; the four counters are zero where nothing is said of them."""
    given = [len(values) for values in series.values() if isinstance(values, Sequence)]
    length = buckets or max(given, default=1)
    counters = {"read_ops": 0.0, "write_ops": 0.0, "read_bytes": 0.0, "write_bytes": 0.0}
    arrays = {
        name: np.resize(np.asarray(values, np.float64), length) for name, values in {**counters, **series}.items()
    }
    return Sums(start_s=start_s, period_s=period_s, **arrays)


@dataclass(frozen=True)
class Reading:
    """What metrics gave for some volumes over one window: their sums, and the errors of those without."""

    sums: dict[str, Sums]
    failed: dict[str, CloudError]


def read(metrics: Metrics, volumes: Sequence[Volume], window: Window, period_s: int) -> Reading:
    """All series of some volumes over one window; those without any point are None, as are those not published."""
    look = Look(window=window, period_s=period_s)
    answers = metrics.read([Ask(volume=volume, look=look) for volume in volumes])
    reading = Reading({}, {})
    for volume, found in zip(volumes, answers, strict=True):
        if isinstance(found, CloudError):
            reading.failed[volume.id] = found
            continue
        nothing = dict.fromkeys(WORK_SERIES, np.full(window.buckets(period_s), np.nan))
        shown = {name: values for name, values in found.items() if name in nothing or not np.isnan(values).all()}
        reading.sums[volume.id] = Sums(start_s=window.start_s, period_s=period_s, **{**nothing, **shown})
    return reading


def with_rates(ops: np.ndarray, moved: np.ndarray) -> dict[str, np.ndarray]:
    """The series of rates that a cloud publishes beside minutes of operations and bytes."""
    iops, mib_s = np.asarray(ops) / 60, np.asarray(moved) / 60 / 2**20
    return {
        "highest_iops": iops,
        "summed_iops": iops,
        "highest_throughput_mib_s": mib_s,
        "summed_throughput_mib_s": mib_s,
    }


def knowledge_of(segments: Sequence[Sums]) -> Knowledge:
    """What is known when consecutive segments of sums are all that the cloud keeps, oldest first."""
    looks = [
        Look(
            window=Window(start_s=sums.start_s, end_s=sums.start_s + sums.buckets * sums.period_s),
            period_s=sums.period_s,
        )
        for sums in segments
    ]
    knowledge = Knowledge([Segment(window=look.window, period_s=look.period_s) for look in looks])
    for look, sums in zip(looks, segments, strict=True):
        knowledge.learn(look, dict(sums.series.items()))
    return knowledge


def demand_from(segments: Sequence[Sums], *, resolution_s: int = 60) -> Demand:
    """The demand behind consecutive segments of sums, all read as finely as they are kept."""
    return demand_of(knowledge_of(segments), resolution_s=resolution_s)


def a_tariff(**figures: object) -> QueryCost:
    """GetMetricData's price and quotas, and an engineer's hour."""
    usual = {"usd_query": 1e-5, "calls_per_s": 500.0, "datapoints_per_s": 396_000.0, "usd_hour_waited": 100.0}
    usual["closer"] = Closer(datapoints=0.045, queries=0.9, queries_a_call=12)
    return QueryCost(**{**usual, **figures})


def a_policy(**keys: object) -> Policy:
    """A policy that takes any risk unless it says otherwise: a world of which nothing was learned promises nothing."""
    return Policy(**{"risk_pct": ANY_RISK_PCT, **keys})


def a_market(book: PriceBook = US_EAST_1) -> Market:
    return Market(provider="aws", types=TYPES, book=book)


def a_refutation(
    spec: VolumeSpec, delivered: Mapping[Resource, float], *, volume_id: str | None = None, **fields: object
) -> FailedMeasurement:
    """A spec that was measured where `a_volume` is, and delivered only so much."""
    return FailedMeasurement(
        **{
            "account": "111122223333",
            "region": "us-east-1",
            "spec": spec,
            "ceiling": TYPES[spec.type].ceiling(spec),
            "measured_on": NOW.date(),
            "delivered": delivered,
            "volume_id": volume_id,
            "source": "a-campaign",
            "text": f"{spec} was measured here and did not pass",
            **fields,
        }
    )


def a_basis(
    policy: Policy | None = None, *, market: Market | None = None, envelopes: Sequence[Envelope] = ()
) -> DecisionContext:
    """What decisions rest on. Nothing was learned, so that any risk is taken unless the policy says otherwise."""
    policy = policy or a_policy()
    if policy.headroom_from is HeadroomFrom.FIXED and policy.risk_pct == Policy().risk_pct:
        policy = replace(policy, risk_pct=ANY_RISK_PCT)
    return DecisionContext(
        market=market or a_market(),
        envelopes=envelopes,
        policy=policy,
        headrooms=Headrooms.from_policy(policy),
        now=NOW,
    )


def load_of(volume: Volume, demand: Demand) -> HostLoad | None:
    """The traffic of the volume's only host when it has no other volume."""
    host = sole_host(volume)
    return host_loads([volume], {volume.id: demand})[host.id] if host else None


def a_case(volume: Volume, demand: Demand, policy: Policy | None = None) -> Case:
    return case_of(volume, demand, load_of(volume, demand), a_basis(policy))


def decision(
    volume: Volume, demand: Demand, policy: Policy | None = None, *, market: Market | None = None
) -> Recommendation:
    """What is recommended for a volume that is alone on its host."""
    return answer(case_of(volume, demand, load_of(volume, demand), a_basis(policy, market=market)))
