"""The limit of a host: what it could have let through in each bucket, and where that was the limit.

What the cloud measured goes before what is published, in both directions:

- A raised check: the host was the limit, whatever its published limit says. A mean hides bursts, and a published limit
  may not be the one in force.
- A check that is not raised: the maximum was not the limit. Only spent credits can have been.
- A balance: whether its credits were spent, which a replay that begins in the middle cannot know.

What was not measured is told by the token bucket of the published limits, replayed on what all volumes did. A host
without credits stands at its published baseline, whatever comes back to it meanwhile.
"""

from dataclasses import dataclass

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray
from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.demand.demand import Demand, SideSeen
from plimsoll.domain.demand.replay import credits_left, never_spent
from plimsoll.domain.policy import Policy

CREDITS_LEFT_PCT = 10.0
REFUTING_MINUTES = 3
"""A balance of so much, for so long, refutes a replay that has no credits left."""


@dataclass(frozen=True, slots=True)
class HostLimit:
    """One resource of a host in each bucket: what it could have let through of all its volumes (`carried`), IOPS or
    MiB/s.

    `modeled` is where the published limit was reached, by the balance where it is known, or by the replay. `at` is
    where the host was the limit, `raised` where its check says so, and `measured` where that or a balance does. What
    could still change with a finer reading is `check_open` and `balance_open`.
    """

    carried: FloatArray
    modeled: BoolArray
    at: BoolArray
    raised: BoolArray
    measured: BoolArray
    check_open: BoolArray
    balance_open: BoolArray

    @property
    def cleared(self) -> BoolArray:
        """Where the published limit was reached, and the cloud measured that it was not the limit."""
        return self.modeled & ~self.at


def host_limit(
    ceiling: Ceiling, resource: Resource, total: FloatArray, seen: SideSeen | None, demand: Demand, policy: Policy
) -> HostLimit:
    """The limit of a host with that ceiling whose volumes did so much in `total`, in the buckets of a demand."""
    share = policy.saturation_pct / 100
    replayed, stood = _replayed(ceiling, resource, total, demand, policy)
    by_replay = total >= share * stood
    nowhere = np.zeros_like(by_replay)
    if seen is None:
        return HostLimit(replayed, by_replay, by_replay, nowhere, nowhere, nowhere, nowhere)
    most, carried, empty, replayed_stood = ceiling.limit(resource), replayed, nowhere, stood
    for bucket in ceiling.buckets:
        if bucket.resource is resource:
            empty = seen.balance_pct < policy.empty_balance_pct
            by_balance = np.where(empty, bucket.free_rate, most)
            absent = np.isnan(seen.balance_pct)
            carried, stood = np.where(absent, replayed, by_balance), np.where(absent, stood, by_balance)
    reached = total >= share * stood
    at_most = reached & (carried >= most)
    at = (reached & ~(at_most & (seen.exceeded == 0))) | seen.raised
    return HostLimit(
        carried=carried,
        modeled=reached | by_replay,
        at=at,
        raised=seen.raised,
        measured=seen.raised | (at & empty),
        check_open=seen.check_unread & ((seen.exceeded > 0) | (at_most & (seen.exceeded == 0))),
        balance_open=seen.balance_unread & (empty | (~np.isnan(seen.balance_pct) & (replayed_stood < most))),
    )


def carried_in_relief(
    ceiling: Ceiling,
    resource: Resource,
    total: FloatArray,
    wanted: FloatArray,
    seen: SideSeen | None,
    demand: Demand,
    policy: Policy,
) -> FloatArray:
    """What a host lets through in each bucket if its volumes, which did so much in `total`, do what they `wanted`.

    Its credits are replayed with that. If a balance clearly showed credits where the replay of what was done has none,
    that replay is refuted: then the host carries its maximum, but where its balance was spent.
    """
    carried, _ = _replayed(ceiling, resource, wanted, demand, policy)
    for bucket in ceiling.buckets:
        if seen is not None and bucket.resource is resource and not never_spent(total, bucket, demand.lengths_s):
            empty = policy.empty_balance_pct / 100 * bucket.capacity
            spent = credits_left(total, bucket, demand.lengths_s) < empty
            if demand.minutes(spent & (seen.balance_pct >= CREDITS_LEFT_PCT)) >= REFUTING_MINUTES:
                is_empty = seen.balance_pct < policy.empty_balance_pct
                carried = np.where(is_empty, bucket.free_rate, ceiling.limit(resource))
    return carried


def sustained(ceiling: Ceiling, resource: Resource, total: FloatArray, policy: Policy) -> FloatArray:
    """What a host carries of a resource without credits: no more than was done in `total` where that is nearly all."""
    free_rates = (bucket.free_rate for bucket in ceiling.buckets if bucket.resource is resource)
    least = min([ceiling.limit(resource), *free_rates])
    return np.where(total >= policy.saturation_pct / 100 * least, total, least)


def _replayed(
    ceiling: Ceiling, resource: Resource, total: FloatArray, demand: Demand, policy: Policy
) -> tuple[FloatArray, FloatArray]:
    """What a host could have let through on a resource, its credits spent by what was done, and where it stood then: at
    its baseline while they are spent."""
    carried = np.full(len(total), ceiling.limit(resource))
    stood = carried
    for bucket in ceiling.buckets:
        if bucket.resource is resource and not never_spent(total, bucket, demand.lengths_s):
            left = credits_left(total, bucket, demand.lengths_s)
            carried = np.minimum(carried, bucket.sustained_rate + left / demand.resolution_s)
            empty = left < policy.empty_balance_pct / 100 * bucket.capacity
            stood = np.where(empty, np.minimum(carried, bucket.free_rate), carried)
    return carried, stood
