"""A case: everything known of one volume when it is decided upon."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from plimsoll.domain.ceiling import PLAIN, Ceiling
from plimsoll.domain.demand import Demand
from plimsoll.domain.envelope import Envelope
from plimsoll.domain.evidence import Rankings
from plimsoll.domain.need import Need, NeedBy, needing, usable
from plimsoll.domain.offer import Market, Share, ceiling_on_hosts
from plimsoll.domain.period import io_size_kib
from plimsoll.domain.policy import Policy, SizeOn
from plimsoll.domain.received import Coverage
from plimsoll.domain.recommendation import DemandSummary
from plimsoll.domain.replay import Replay
from plimsoll.domain.saturation import HostLoad, Saturation, saturation
from plimsoll.domain.units import MIB
from plimsoll.domain.volume import Volume
from plimsoll.domain.volume_types import type_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionContext:
    """What decisions rest on besides the volume: what is sold, what was measured, the policy and the time.

    `excluded` are volumes that people left out, by id, each with why. `rankings` keeps what the envelopes say of an
    offer.
    """

    market: Market
    envelopes: Sequence[Envelope]
    policy: Policy
    now: datetime
    excluded: Mapping[str, str] = field(default_factory=dict)
    rankings: Rankings = field(default_factory=dict, repr=False, compare=False)

    def of(self, volume: Volume) -> "DecisionContext":
        """The context with the policy that applies to a volume, its discounts included."""
        policy = self.policy.for_tags(volume.tags)
        book = replace(self.market.book, discounts_pct=policy.discounts_pct)
        return replace(self, policy=policy, market=replace(self.market, book=book))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One volume's demand, its ceilings now, and how the one stood to the other.

    Where it is one of a pool, `present` is the pool's ceiling and `stood` how the pool's demand stood to that; `shares`
    are what it would carry together with others, by type, `pool_gib` is the size of all that change together, and
    `replay_now` the replay of the pool (None: the volume's own).
    """

    volume: Volume
    context: DecisionContext
    demand: Demand
    present: Ceiling
    hosts: Ceiling
    stood: Saturation
    summary: DemandSummary
    need_by: NeedBy
    shares: Mapping[str, Sequence[Share]] = field(default_factory=dict)
    pool_gib: int
    replay_now: Replay | None = None

    @property
    def policy(self) -> Policy:
        """The policy that applies to this volume."""
        return self.context.policy

    @property
    def market(self) -> Market:
        """What is sold where the volume is."""
        return self.context.market

    def need(self, type_name: str) -> Need:
        """What a volume of that type must carry, as the type counts."""
        return self.need_by(self.market.types[type_name].accounting)


def case_of(volume: Volume, demand: Demand, host: HostLoad | None, context: DecisionContext) -> Case:
    """The case of a volume; `host` is the traffic of its only host, None where it has several or an unknown one."""
    policy, types = context.policy, context.market.types
    present = ceiling_on_hosts(type_of(volume.spec, types), volume.spec, volume)
    hosts = usable(volume)
    stood = saturation(demand, present, host, policy)
    return Case(
        volume=volume,
        context=context,
        demand=demand,
        present=present,
        hosts=hosts,
        stood=stood,
        summary=summary_of(demand, stood, policy),
        need_by=needing(demand, present=present, stood=stood, hosts=hosts, policy=policy),
        pool_gib=volume.spec.size_gib,
    )


def summary_of(demand: Demand, stood: Saturation, policy: Policy) -> DemandSummary:
    """A demand in numbers, and how it stood to its ceilings."""
    iops, throughput, seconds = demand.iops, demand.throughput_mib_s, demand.busiest
    busy = demand.busy_share is not None and (demand.whole or policy.size_on is SizeOn.BUSY_TIME)
    operations, moved = demand.total(iops), np.array(demand.total(throughput) * MIB)
    return DemandSummary(
        peak_iops=demand.peak(demand.most_iops, policy.peak_quantile),
        peak_throughput_mib_s=demand.peak(demand.most_throughput_mib_s, policy.peak_quantile),
        least_peak_iops=demand.peak(iops, policy.peak_quantile),
        least_peak_throughput_mib_s=demand.peak(throughput, policy.peak_quantile),
        peak_busy_iops=demand.peak(demand.busy(iops), policy.peak_quantile) if busy else None,
        peak_busy_throughput_mib_s=demand.peak(demand.busy(throughput), policy.peak_quantile) if busy else None,
        peak_second_iops=None if seconds is None else float(seconds.counted_iops(PLAIN).max(initial=0.0)),
        peak_second_throughput_mib_s=(
            None if seconds is None else float(seconds.counted_throughput_mib_s(PLAIN).max(initial=0.0))
        ),
        mean_iops=demand.mean(iops),
        mean_throughput_mib_s=demand.mean(throughput),
        mean_io_size_kib=float(io_size_kib(moved, np.array(operations))) if operations else None,
        read_share=demand.total(demand.read_iops) / operations if operations else None,
        resolution_s=demand.coarsest_s,
        hours_observed=demand.hours_observed,
        gap_hours=demand.gap_hours,
        censored=stood.censored,
        throttled_minutes=stood.throttled_minutes,
        host_bound_minutes=stood.host_minutes,
        coverage=demand.coverage
        or Coverage(hours_expected=demand.hours_observed, hours_observed=demand.hours_observed),
    )
