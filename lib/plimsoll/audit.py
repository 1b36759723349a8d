"""The audit: from the volumes of every target to one outcome each, as a stream."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import takewhile

from plimsoll.ahead import ahead
from plimsoll.domain.branch_and_bound import Ask, Found, Judged, judge
from plimsoll.domain.case import DecisionContext
from plimsoll.domain.decide import is_detached, recommend_detached
from plimsoll.domain.demand import Demand
from plimsoll.domain.demand_profile import DemandProfile
from plimsoll.domain.envelope import Envelope
from plimsoll.domain.errors import CloudError, UnknownVolumeType
from plimsoll.domain.hosting import by_host, with_neighbors
from plimsoll.domain.offer import Market, check_types
from plimsoll.domain.plan import Plan, plan_of
from plimsoll.domain.policy import Policy
from plimsoll.domain.pool import in_shared_pools
from plimsoll.domain.prices import PriceBook
from plimsoll.domain.query_cost import QueryCost
from plimsoll.domain.recommendation import Change, Recommendation
from plimsoll.domain.stripes import StripeSet, standing
from plimsoll.domain.sums import Segment, Window, segments
from plimsoll.domain.together import free_to_change, units_of, untouchable
from plimsoll.domain.verdict import FailedMeasurement
from plimsoll.domain.volume import Volume
from plimsoll.domain.volume_types import type_of
from plimsoll.outcomes import Answered, FailedVolume, Notice, Outcome, Planned, Priced, Seen, Skipped
from plimsoll.ports import Catalog, FailedTarget, Inventory, Metrics, Prices, Target
from plimsoll.telemetry import Stages

BATCH_VOLUMES = 500
"""Volumes whose metrics are read together; a host's volumes stay together, so a batch can be larger."""

EVERY_MINUTE_BATCH_VOLUMES = 100
"""The same where every minute of many is read, or may be because types are pooled: about 3 MB a volume meanwhile."""

BATCHES_AT_ONCE = 2
"""Batches under way at once, so that one is decided while another waits for its metrics."""

PRICES_AGE_DAYS = 365
"""Prices older than this are worth a notice."""

ANSWERED_BEFORE = "answered by an earlier part of this run"

EXCLUDED = "excluded by somebody"
"""What volumes are counted under that people left out: who and why is said of each."""


def never() -> bool:
    """Nothing ends the audit but its end."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPorts:
    """The ports an audit reads from, what was measured before, and which configurations that has refuted.

    Metrics are read as finely as the decisions need, weighed by the `query_cost`; with `every_minute`, whole.
    The volumes of known `stripes` are decided on together. They are read of about `batch_volumes` volumes at once.
    `excluded` are volumes that people left out, by id, each with why: they have no answer, and load their hosts.
    `sold_elsewhere` are the types of other clouds.
    """

    inventory: Inventory
    metrics: Metrics
    prices: Prices
    catalog: Catalog
    envelopes: Sequence[Envelope]
    query_cost: QueryCost
    stages: Stages = field(default_factory=Stages)
    every_minute: bool = False
    failed_measurements: tuple[FailedMeasurement, ...] = ()
    stripes: Sequence[StripeSet] = ()
    batch_volumes: int = BATCH_VOLUMES
    excluded: Mapping[str, str] = field(default_factory=dict)
    sold_elsewhere: frozenset[str] = frozenset()

    @property
    def known_types(self) -> frozenset[str]:
        """The types that a policy may name: one policy serves several clouds."""
        return self.sold_elsewhere.union(self.catalog.types)


def audit(
    ports: AuditPorts,
    policy: Policy,
    now: datetime,
    *,
    done: frozenset[str] = frozenset(),
    stop: Callable[[], bool] = never,
) -> Iterator[Outcome]:
    """One outcome for every volume in scope, target by target; volumes in `done` are left alone.

    A failing target costs itself only. Once `stop` says so nothing new is begun; what is under way is answered, and the
    other volumes have no outcome.
    """
    check_types(policy, ports.known_types)
    with ports.stages.stage("inventory"):
        targets = ports.inventory.targets()
    for target in takewhile(lambda _: not stop(), targets):
        if isinstance(target, FailedTarget):
            yield target
        else:
            yield from audit_target(target, ports, policy, now, done=done, stop=stop)


def audit_target(
    target: Target,
    ports: AuditPorts,
    policy: Policy,
    now: datetime,
    *,
    done: frozenset[str] = frozenset(),
    stop: Callable[[], bool] = never,
) -> Iterator[Outcome]:
    """The outcomes of one target: its failure or notices, and one outcome for each volume that was listed.

    `stop` is as of `audit`.
    """
    volumes, error = listed(target, ports)
    yield Seen(target=target, volumes=len(volumes))
    if error is not None:
        yield FailedTarget(name=str(target), error=error)
        yield from (_unanswered(target, volume, error, done) for volume in volumes)
        return
    ports, void = _standing(target, volumes, ports)
    yield Planned(target=target, plan=_plan(volumes, ports, policy, now, done))
    yield from (*_notices(target, ports), *void)
    market, unpriced = _market(target, ports, policy, now)
    yield from _priced(target, market.book, unpriced, now)
    context = _basis(market, ports, policy, now)
    batches = takewhile(
        lambda batch: done.issuperset(volume.id for volume in batch) or not stop(),
        by_host(volumes, _batch_volumes(ports)),
    )
    for outcomes in ahead(
        lambda batch: list(_audit_batch(target, batch, ports, context, done)), batches, BATCHES_AT_ONCE
    ):
        yield from outcomes
    yield from (Notice(target=target, text=text) for text in ports.metrics.remarks(target))


def planned(ports: AuditPorts, policy: Policy, now: datetime) -> Iterator[Seen | Planned | FailedTarget]:
    """What an audit is expected to take, target by target; only the inventory is read."""
    check_types(policy, ports.known_types)
    for target in ports.inventory.targets():
        if isinstance(target, FailedTarget):
            yield target
            continue
        volumes, error = listed(target, ports)
        yield Seen(target=target, volumes=len(volumes))
        if error is not None:
            yield FailedTarget(name=str(target), error=error)
        else:
            there = _standing(target, volumes, ports)[0]
            yield Planned(target=target, plan=_plan(volumes, there, policy, now, frozenset()))


def _standing(target: Target, volumes: Sequence[Volume], ports: AuditPorts) -> tuple[AuditPorts, list[Notice]]:
    """The ports with the stripe sets of that target that are still what was found, and a notice of each that is not."""
    stripes, void = standing(ports.stripes, volumes, account=target.account, region=target.region)
    return replace(ports, stripes=stripes), [Notice(target=target, text=text) for text in void]


def _batch_volumes(ports: AuditPorts) -> int:
    members = sum(len(stripes.members) for stripes in ports.stripes)
    pooled = any(kind.pooled for kind in ports.catalog.types.values())
    many_whole = ports.every_minute or pooled or members > EVERY_MINUTE_BATCH_VOLUMES
    return min(ports.batch_volumes, EVERY_MINUTE_BATCH_VOLUMES) if many_whole else ports.batch_volumes


def listed(target: Target, ports: AuditPorts) -> tuple[list[Volume], CloudError | None]:
    """The target's volumes; on an error those listed before it, since a host's traffic needs all of them."""
    volumes: dict[str, Volume] = {}
    try:
        with ports.stages.stage("inventory"):
            for volume in ports.inventory.volumes(target):
                volumes[volume.id] = volume  # a volume that moves between pages can be listed twice
    except CloudError as error:
        return list(volumes.values()), error
    return list(volumes.values()), None


def _unanswered(target: Target, volume: Volume, error: CloudError, done: frozenset[str]) -> Outcome:
    if volume.id in done:
        return Skipped(target=target, volume_id=volume.id, reason=ANSWERED_BEFORE)
    return FailedVolume(target=target, volume_id=volume.id, reason=str(error))


def notices(target: Target, ports: AuditPorts) -> Sequence[str]:
    """The target's notices, or why there are none to be had."""
    try:
        return ports.inventory.notices(target)
    except CloudError as error:
        return (str(error),)


def _notices(target: Target, ports: AuditPorts) -> Iterator[Notice]:
    yield from (Notice(target=target, text=text) for text in notices(target, ports))


def _priced(target: Target, book: PriceBook, unpriced: CloudError | None, now: datetime) -> Iterator[Outcome]:
    if unpriced is not None:
        yield FailedTarget(name=f"prices of {target}", error=unpriced)
    yield Priced(target=target, source=book.source, as_of=book.as_of)
    if book.as_of is not None and (now.date() - book.as_of).days > PRICES_AGE_DAYS:
        text = f"the prices known here are of {book.as_of}: savings may have changed since."
        yield Notice(target=target, text=text)


def _plan(volumes: Sequence[Volume], ports: AuditPorts, policy: Policy, now: datetime, done: frozenset[str]) -> Plan:
    """What reading the metrics of those volumes takes that need any, and of their neighbors on the same hosts."""
    pending = [
        volume
        for volume in volumes
        if volume.id not in done
        and policy.excluding(volume.tags) is None
        and volume.id not in ports.excluded
        and not is_detached(volume)
        and volume.spec.type in ports.catalog.types
    ]
    limits, read = ports.metrics.call_limits, with_neighbors(pending, volumes)
    whole = {name for stripes in ports.stripes for name in stripes.members}
    if any(policy.for_tags(volume.tags).peak_quantile < 1 for volume in read):
        whole.update(volume.id for volume in in_shared_pools(read, ports.catalog.types))
    return plan_of(
        [ports.metrics.series(volume) for volume in read if volume.id not in whole],
        _segments(ports, policy, now),
        whole=[ports.metrics.series(volume) for volume in read if volume.id in whole],
        every_minute=ports.every_minute,
        closer=ports.query_cost.closer,
        page=limits.datapoints,
        most_queries=limits.queries,
    )


def _segments(ports: AuditPorts, policy: Policy, now: datetime) -> list[Segment]:
    window = Window.before(now, days=policy.lookback_days, visible_after_s=ports.metrics.visible_after_s)
    return segments(window, policy.resolution_s, ports.metrics.retention_days, now.timestamp())


def _market(target: Target, ports: AuditPorts, policy: Policy, now: datetime) -> tuple[Market, CloudError | None]:
    """What is sold at a target; without prices, and why, where they could not be read."""
    error = None
    book = None
    try:
        with ports.stages.stage("prices"):
            book = ports.prices.book(target)
    except CloudError as raised:
        error = raised
    if book is None:
        book = PriceBook(region=target.region, source="none", as_of=None, types={})
    catalog = ports.catalog
    young = tuple(
        found
        for found in ports.failed_measurements
        if (now.date() - found.measured_on).days <= policy.evidence_max_age_days
        and (found.account, found.region) == (target.account, target.region)
    )
    return Market(provider=catalog.provider, types=catalog.types, book=book, failed_measurements=young), error


def _basis(market: Market, ports: AuditPorts, policy: Policy, now: datetime) -> DecisionContext:
    return DecisionContext(market=market, envelopes=ports.envelopes, policy=policy, now=now, excluded=ports.excluded)


def _audit_batch(
    target: Target, batch: list[Volume], ports: AuditPorts, context: DecisionContext, done: frozenset[str]
) -> Iterator[Outcome]:
    settled = {volume.id: _without_metrics(target, volume, context, done) for volume in batch}
    yield from (outcome for outcome in settled.values() if outcome is not None)
    pending = [volume for volume in batch if settled[volume.id] is None]
    if not pending:
        return
    read = _judged(with_neighbors(pending, batch), pending, ports, context)
    yield from (_outcome(target, volume, read[volume.id], ports, context.policy) for volume in pending)


def _without_metrics(
    target: Target, volume: Volume, context: DecisionContext, done: frozenset[str]
) -> Answered | Skipped | FailedVolume | None:
    """The outcome of a volume that needs no metrics, None for one that does."""
    if volume.id in done:
        return Skipped(target=target, volume_id=volume.id, reason=ANSWERED_BEFORE)
    match = context.policy.excluding(volume.tags)
    if match is not None:
        return Skipped(target=target, volume_id=volume.id, reason=f"excluded by the policy: tag {match}")
    if volume.id in context.excluded:
        return Skipped(target=target, volume_id=volume.id, reason=context.excluded[volume.id], kind=EXCLUDED)
    try:
        if is_detached(volume):
            return _answered(target, recommend_detached(volume, context.of(volume)), context.policy)
        type_of(volume.spec, context.market.types)
    except UnknownVolumeType as error:
        return FailedVolume(target=target, volume_id=volume.id, reason=str(error))
    return None


def _judged(
    volumes: Sequence[Volume],
    pending: Sequence[Volume],
    ports: AuditPorts,
    context: DecisionContext,
    *,
    keep_demand: bool = False,
) -> Mapping[str, Judged | CloudError]:
    """The answer to each pending volume, or why its metrics could not be read; `volumes` are all on their hosts."""
    policy, wanted = context.policy, {volume.id for volume in pending}
    units = units_of([stripes for stripes in ports.stripes if wanted & set(stripes.members)], volumes, context)
    pooled = [
        volume for volume in in_shared_pools(volumes, context.market.types) if untouchable(volume, context) is None
    ]
    bases = {volume.id: context.of(volume) for volume in (*pending, *free_to_change(units), *pooled)}
    with ports.stages.stage("decide"):
        return judge(
            bases,
            volumes,
            lambda asks: _fetched(asks, ports),
            segments=_segments(ports, policy, context.now),
            resolution_s=policy.resolution_s,
            query_cost=ports.query_cost,
            units=units,
            every_minute=ports.every_minute,
            keep_demand=keep_demand,
        )


def _fetched(asks: Sequence[Ask], ports: AuditPorts) -> Sequence[Found | CloudError]:
    with ports.stages.stage("metrics", within="decide"):
        try:
            return ports.metrics.read(asks)
        except CloudError as error:
            return [error] * len(asks)


def _outcome(
    target: Target, volume: Volume, judged: Judged | CloudError, ports: AuditPorts, policy: Policy
) -> Answered | FailedVolume:
    if isinstance(judged, CloudError):
        return FailedVolume(target=target, volume_id=volume.id, reason=str(judged))
    recommendation = judged.recommendation
    change = ""
    if isinstance(recommendation, Change):
        change = ports.catalog.change(volume, recommendation.target.spec)
    return _answered(target, recommendation, policy, change=change, profile=judged.profile)


def _answered(
    target: Target,
    recommendation: Recommendation,
    policy: Policy,
    *,
    change: str = "",
    profile: DemandProfile | None = None,
) -> Answered:
    """The answer as everybody may have it: of the volume's tags only those that the policy shows."""
    volume = replace(recommendation.volume, tags=policy.shown(recommendation.volume.tags))
    shown = replace(recommendation, volume=volume)
    return Answered(target=target, recommendation=shown, change=change, profile=profile)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """One volume's outcome, with the demand it rests on (None where no metrics were needed or read)."""

    outcome: Answered | Skipped | FailedVolume
    demand: Demand | None


def explain_anywhere(audits: Sequence[AuditPorts], volume_id: str, policy: Policy, now: datetime) -> Explained | None:
    """As `explain`, in the first of several clouds that has such a volume."""
    unsearched: CloudError | None = None
    for ports in audits:
        try:
            found = explain(ports, volume_id, policy, now)
        except CloudError as error:
            unsearched = unsearched or error
            continue
        if found is not None:
            return found
    if unsearched is not None:
        raise unsearched
    return None


def explain(ports: AuditPorts, volume_id: str, policy: Policy, now: datetime) -> Explained | None:
    """The outcome of one volume, reading every minute of its host's volumes alone; None where it is nowhere.

    Raises the CloudError of a target that could not be searched when the volume was not found elsewhere.
    """
    unsearched: CloudError | None = None
    for target in ports.inventory.targets():
        volumes, error = ([], target.error) if isinstance(target, FailedTarget) else listed(target, ports)
        unsearched = error or unsearched
        for group in by_host(volumes, 1):
            volume = next((found for found in group if found.id == volume_id), None)
            if volume is not None and isinstance(target, Target):
                return _explained(target, volume, group, _standing(target, volumes, ports)[0], policy, now)
    if unsearched is not None:
        raise unsearched
    return None


def _explained(
    target: Target, volume: Volume, group: list[Volume], ports: AuditPorts, policy: Policy, now: datetime
) -> Explained:
    context = _basis(_market(target, ports, policy, now)[0], ports, policy, now)
    settled = _without_metrics(target, volume, context, frozenset())
    if settled is not None:
        return Explained(outcome=settled, demand=None)
    judged = _judged(group, [volume], replace(ports, every_minute=True), context, keep_demand=True)[volume.id]
    demand = judged.demand if isinstance(judged, Judged) else None
    return Explained(outcome=_outcome(target, volume, judged, ports, policy), demand=demand)
