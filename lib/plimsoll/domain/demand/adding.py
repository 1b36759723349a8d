"""The sum of several volumes' demands."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from plimsoll.domain.arrays import BoolArray
from plimsoll.domain.demand.busiest import at_once
from plimsoll.domain.demand.demand import Demand, Spread


def together(demands: Sequence[Demand]) -> Demand:
    """The demand of several volumes together, from demands on one grid.

    Exceeded checks, burst balances, idle time, coverage and the host are left out, since they have no sum. The busiest
    seconds of all volumes are taken to be the same second.
    """
    first = demands[0]
    return replace(
        first,
        coarsest_s=max(demand.coarsest_s for demand in demands),
        iops=np.sum([demand.iops for demand in demands], axis=0),
        throughput_mib_s=np.sum([demand.throughput_mib_s for demand in demands], axis=0),
        read_iops=np.sum([demand.read_iops for demand in demands], axis=0),
        read_throughput_mib_s=np.sum([demand.read_throughput_mib_s for demand in demands], axis=0),
        observed=np.logical_or.reduce([demand.observed for demand in demands]),
        busy_share=None,
        balance_pct=None,
        exceeded={},
        busiest=at_once([demand.busiest for demand in demands if demand.busiest is not None]),
        spread=_spread(demands),
        whole=all(demand.whole for demand in demands),
        coverage=None,
        host=None,
        summed=_anywhere([demand.summed for demand in demands]),
        undecided=_anywhere([demand.undecided for demand in demands]),
    )


def _anywhere(some: Sequence[BoolArray | None]) -> BoolArray | None:
    known = [where for where in some if where is not None]
    return np.logical_or.reduce(known) if known else None


def _spread(demands: Sequence[Demand]) -> Spread | None:
    """What is known of the buckets of a sum: no bucket had more than the most of each, and some bucket had as much as
    any of them surely had."""
    spreads = [demand.spread for demand in demands if demand.spread is not None]
    if not spreads:
        return None
    first = demands[0]
    return Spread(
        lengths_s=np.broadcast_to(first.lengths_s, first.iops.shape),
        most_iops=np.sum([demand.most_iops for demand in demands], axis=0),
        most_throughput_mib_s=np.sum([demand.most_throughput_mib_s for demand in demands], axis=0),
        most_read_iops=np.sum([demand.most_read_iops for demand in demands], axis=0),
        most_read_throughput_mib_s=np.sum([demand.most_read_throughput_mib_s for demand in demands], axis=0),
        begins_iops=np.logical_and.reduce([spread.begins_iops for spread in spreads]),
        begins_throughput=np.logical_and.reduce([spread.begins_throughput for spread in spreads]),
        least_iops=np.maximum.reduce([spread.least_iops for spread in spreads]),
        least_throughput_mib_s=np.maximum.reduce([spread.least_throughput_mib_s for spread in spreads]),
        unread_iops=np.logical_or.reduce([spread.unread_iops for spread in spreads]),
        unread_throughput=np.logical_or.reduce([spread.unread_throughput for spread in spreads]),
    )
