"""The limit of a host: what it could have let through in each bucket, and where that was the limit.

What the cloud measured goes before what is published, in both directions:

- A raised check: the host was the limit, whatever its published limit says. A mean hides bursts, and a published limit
  may not be the one in force.
- A check that is not raised: the maximum was not the limit. Only spent credits can have been.
- A balance: whether its credits were spent, which a replay that begins in the middle cannot know.

What was not measured is told by the token bucket of the published limits, replayed on what all volumes did.
"""

from dataclasses import dataclass

import numpy as np

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.demand.replay import credits_left, never_spent
from plimsoll.domain.metrics.host_seen import SideSeen
from plimsoll.domain.metrics.knowledge import BoolArray
from plimsoll.domain.metrics.period import FloatArray
from plimsoll.domain.policy import Policy


@dataclass(frozen=True, slots=True)
class HostLimit:
    """One resource of a host in each bucket: what it could have let through of all its volumes (`carried`), and by the
    replay alone (`replayed`), IOPS or MiB/s.

    `modeled` is where the published limit was reached, by the balance where it is known, or by the replay. `at` is
    where the host was the limit, `raised` where its check says so, and `measured` where that or a balance does. What
    could still change with a finer reading is `check_open` and `balance_open`.
    """

    carried: FloatArray
    replayed: FloatArray
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
    replayed = _replayed(ceiling, resource, total, demand)
    by_replay = total >= share * replayed
    if seen is None:
        nowhere = np.zeros_like(by_replay)
        return HostLimit(replayed, replayed, by_replay, by_replay, nowhere, nowhere, nowhere, nowhere)
    most, carried, empty = ceiling.limit(resource), replayed, np.zeros_like(by_replay)
    for bucket in ceiling.buckets:
        if bucket.resource is resource:
            empty = seen.balance_pct < policy.empty_balance_pct
            by_balance = np.where(empty, min(most, bucket.sustained_rate), most)
            carried = np.where(np.isnan(seen.balance_pct), replayed, by_balance)
    reached = total >= share * carried
    at_most = reached & (carried >= most)
    at = (reached & ~(at_most & (seen.exceeded == 0))) | seen.raised
    return HostLimit(
        carried=carried,
        replayed=replayed,
        modeled=reached | by_replay,
        at=at,
        raised=seen.raised,
        measured=seen.raised | (at & empty),
        check_open=seen.check_unread & ((seen.exceeded > 0) | (at_most & (seen.exceeded == 0))),
        balance_open=seen.balance_unread & (empty | (~np.isnan(seen.balance_pct) & (replayed < most))),
    )


def _replayed(ceiling: Ceiling, resource: Resource, total: FloatArray, demand: Demand) -> FloatArray:
    """What a host could have let through on a resource, its credits spent by what was done."""
    carried = np.full(len(total), ceiling.limit(resource))
    for bucket in ceiling.buckets:
        if bucket.resource is resource and not never_spent(total, bucket, demand.lengths_s):
            left = credits_left(total, bucket, demand.lengths_s)
            carried = np.minimum(carried, bucket.sustained_rate + left / demand.resolution_s)
    return carried
