"""A decision batch: volumes that are decided on together, and all that their decisions rest on besides metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType

from plimsoll.auditing.ports import AuditPorts
from plimsoll.auditing.read import metrics_segments, past_segments
from plimsoll.decide.case import DecisionContext
from plimsoll.decide.decide import kind_by_state
from plimsoll.decide.groups import StripeSet, Takeover
from plimsoll.decide.hosting import pooled_volumes, with_neighbors
from plimsoll.decide.offers import Market
from plimsoll.decide.products import Shelf
from plimsoll.decide.stripes import make_units, reason_to_stay, volumes_free_to_change
from plimsoll.model.errors import CloudError
from plimsoll.model.policy import Headrooms, Policy
from plimsoll.model.volume import Volume
from plimsoll.reading.cost import QueryCost
from plimsoll.reading.known import Ask, Fetch, Found
from plimsoll.reading.window import Segment
from plimsoll.refine.judge import judge
from plimsoll.refine.member import Judged


def context_of(market: Market, ports: AuditPorts, policy: Policy, now: datetime) -> DecisionContext:
    """The context that every decision at a target shares."""
    return DecisionContext(
        market=market,
        envelopes=ports.envelopes,
        policy=policy,
        headrooms=Headrooms.from_policy(policy),
        now=now,
        excluded=ports.excluded,
        learned=ports.learned,
    )


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

    def without_kept(self) -> "DecisionBatch":
        """The batch without what its context keeps between decisions, which is of one process."""
        return replace(self, context=replace(self.context, shelf=Shelf(), rankings={}))

    def with_kept_of(self, earlier: "DecisionBatch | None") -> "DecisionBatch":
        """The batch with what the equal context of an earlier one keeps."""
        return self if earlier is None or earlier.context != self.context else replace(self, context=earlier.context)


def decide(
    pending: Sequence[Volume],
    volumes: Sequence[Volume],
    ports: AuditPorts,
    context: DecisionContext,
    takeovers: Mapping[str, Takeover] = MappingProxyType({}),
    *,
    keep_demand: bool = False,
) -> Mapping[str, Judged | CloudError]:
    """The decision on each pending volume, or why its metrics could not be read.

    Among the `volumes` are all on their hosts, and those that they take over from, by `takeovers`, with all on theirs.
    """
    by_volume = (takeovers.get(volume.id) for volume in pending)
    whole = list({id(takeover): takeover for takeover in by_volume if takeover is not None}.values())
    peers = [volume for takeover in whole for volume in takeover.volumes if is_judged(volume, context)]
    pending = list({volume.id: volume for volume in (*pending, *peers)}.values())
    wanted = {volume.id for volume in pending}
    batch = DecisionBatch(
        volumes=with_neighbors(pending, volumes),
        pending=pending,
        takeovers=whole,
        context=context,
        stripes=[stripes for stripes in ports.stripes if wanted & set(stripes.members)],
        segments=metrics_segments(ports, context.policy, context.now),
        memory=past_segments(ports, context.policy, context.now),
        query_cost=ports.query_cost,
        every_minute=ports.every_minute,
        by_minutes=ports.by_minutes,
        keep_demand=keep_demand,
        shown=ports.shown & wanted,
    )
    with ports.stages.stage("decide"):
        return ports.deciders.decide(batch, lambda asks: _read_metrics(asks, ports))


def is_judged(volume: Volume, context: DecisionContext) -> bool:
    """True for a volume whose answer rests on its metrics."""
    return kind_by_state(volume) is None and reason_to_stay(volume, context) is None


def _read_metrics(asks: Sequence[Ask], ports: AuditPorts) -> Sequence[Found | CloudError]:
    with ports.stages.stage("metrics", within="decide"):
        try:
            return ports.metrics.read(asks)
        except CloudError as error:
            return [error] * len(asks)
