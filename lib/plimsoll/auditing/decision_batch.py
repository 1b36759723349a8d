"""A decision batch: volumes that are decided on together, and all that their decisions rest on besides metrics."""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.domain.context import DecisionContext
from plimsoll.domain.errors import CloudError
from plimsoll.domain.groups.decide_stripes import make_units, reason_to_stay, volumes_free_to_change
from plimsoll.domain.groups.group import StripeSet, Takeover
from plimsoll.domain.groups.pool import pooled_volumes
from plimsoll.domain.metrics.reading_cost import QueryCost
from plimsoll.domain.metrics.sums import Segment
from plimsoll.domain.refine.judge import Fetch, judge
from plimsoll.domain.refine.member import Judged
from plimsoll.domain.volume import Volume

Decisions = dict[str, Judged | CloudError]
"""The decision on each volume, by id, or why its metrics could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionBatch:
    """The `pending` volumes are decided on; `volumes` are all on their hosts. `stripes` are the sets of any of them,
    `takeovers` what any takes over from.

    What else is there is as of `judge`.
    """

    volumes: Sequence[Volume]
    pending: Sequence[Volume]
    context: DecisionContext
    stripes: Sequence[StripeSet]
    takeovers: Sequence[Takeover] = ()
    segments: Sequence[Segment]
    memory: Sequence[Segment]
    query_cost: QueryCost
    every_minute: bool = False
    by_minutes: bool = False
    keep_demand: bool = False
    shown: frozenset[str] = frozenset()

    def decide(self, fetch: Fetch) -> Decisions:
        """The decisions, by metrics that are fetched as they need them."""
        context = self.context
        units = make_units(self.stripes, self.volumes, context)
        pooled = [
            volume
            for volume in pooled_volumes(self.volumes, context.market.types)
            if reason_to_stay(volume, context) is None
        ]
        return judge(
            {volume.id: context.of(volume) for volume in (*self.pending, *volumes_free_to_change(units), *pooled)},
            self.volumes,
            fetch,
            segments=self.segments,
            resolution_s=context.policy.resolution_s,
            query_cost=self.query_cost,
            memory=self.memory,
            units=units,
            takeovers=self.takeovers,
            every_minute=self.every_minute,
            by_minutes=self.by_minutes,
            keep_demand=self.keep_demand,
            shown=self.shown,
        )
