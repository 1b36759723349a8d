"""The audit: from the volumes of every target to one outcome each, as a stream."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from plimsoll.domain.case import Basis
from plimsoll.domain.decide import is_detached, recommend, recommend_detached
from plimsoll.domain.demand import Demand, demand_of
from plimsoll.domain.envelope import Envelope
from plimsoll.domain.errors import CloudError, PolicyError, Unexpected, UnknownVolumeType
from plimsoll.domain.hosting import by_host, host_loads, sole_host
from plimsoll.domain.offer import Market
from plimsoll.domain.policy import Policy
from plimsoll.domain.prices import PriceBook
from plimsoll.domain.recommendation import Change
from plimsoll.domain.saturation import HostLoad
from plimsoll.domain.sums import Sums, Window, segments
from plimsoll.domain.volume import Volume
from plimsoll.domain.volume_types import VolumeType, type_of
from plimsoll.outcomes import Answered, FailedVolume, Notice, Outcome, Priced, Seen, Skipped
from plimsoll.ports import Catalogue, FailedTarget, Inventory, Metrics, Prices, Target
from plimsoll.telemetry import Stages

BATCH_VOLUMES = 100
"""Volumes whose minutes are in memory at once; a host's volumes stay together, so a batch can be larger."""


PRICES_AGE_DAYS = 365
"""Prices older than this are worth a notice."""

ANSWERED_BEFORE = "answered by an earlier part of this run"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The ports an audit reads from, and what was measured before."""

    inventory: Inventory
    metrics: Metrics
    prices: Prices
    catalogue: Catalogue
    envelopes: Sequence[Envelope]
    stages: Stages = field(default_factory=Stages)


def audit(world: World, policy: Policy, now: datetime, *, done: frozenset[str] = frozenset()) -> Iterator[Outcome]:
    """One outcome for every volume in scope, target by target; volumes in `done` are left alone.

    A failing target costs itself only.
    """
    check_types(policy, world.catalogue.types)
    with world.stages.stage("inventory"):
        targets = world.inventory.targets()
    for target in targets:
        if isinstance(target, FailedTarget):
            yield target
        else:
            yield from audit_target(target, world, policy, now, done=done)


def audit_target(
    target: Target, world: World, policy: Policy, now: datetime, *, done: frozenset[str] = frozenset()
) -> Iterator[Outcome]:
    """The outcomes of one target: its failure or notices, and one outcome for each volume that was listed."""
    volumes, error = _listed(target, world)
    yield Seen(target=target, volumes=len(volumes))
    if error is not None:
        yield FailedTarget(name=str(target), error=error)
        yield from (_unanswered(target, volume, error, done) for volume in volumes)
        return
    yield from _notices(target, world)
    market, unpriced = _market(target, world)
    yield from _priced(target, market.book, unpriced, now)
    basis = Basis(market=market, envelopes=world.envelopes, policy=policy, now=now)
    for batch in by_host(volumes, BATCH_VOLUMES):
        yield from _audit_batch(target, batch, world, basis, done)


def check_types(policy: Policy, types: Mapping[str, VolumeType]) -> None:
    """PolicyError for a target type that the cloud does not publish, here or in an override."""
    for found in (policy, *(policy.for_tags({one.match.tag: one.match.value or ""}) for one in policy.overrides)):
        for name in found.target_types:
            if name not in types:
                known = ", ".join(types)
                raise PolicyError(f"policy key target_types names {name}, which is no volume type: it knows {known}.")


def _listed(target: Target, world: World) -> tuple[list[Volume], CloudError | None]:
    """The target's volumes; on an error those listed before it, since a host's traffic needs all of them."""
    volumes: dict[str, Volume] = {}
    try:
        with world.stages.stage("inventory"):
            for volume in world.inventory.volumes(target):
                volumes[volume.id] = volume  # a volume that moves between pages can be listed twice
    except CloudError as error:
        return list(volumes.values()), error
    return list(volumes.values()), None


def _unanswered(target: Target, volume: Volume, error: CloudError, done: frozenset[str]) -> Outcome:
    if volume.id in done:
        return Skipped(target=target, volume_id=volume.id, reason=ANSWERED_BEFORE)
    return FailedVolume(target=target, volume_id=volume.id, reason=str(error))


def _notices(target: Target, world: World) -> Iterator[Notice]:
    try:
        texts: Sequence[str] = world.inventory.notices(target)
    except CloudError as error:
        texts = (str(error),)
    yield from (Notice(target=target, text=text) for text in texts)


def _priced(target: Target, book: PriceBook, unpriced: CloudError | None, now: datetime) -> Iterator[Outcome]:
    if unpriced is not None:
        yield FailedTarget(name=f"prices of {target}", error=unpriced)
    yield Priced(target=target, source=book.source, as_of=book.as_of)
    if book.as_of is not None and (now.date() - book.as_of).days > PRICES_AGE_DAYS:
        text = f"the prices known here are of {book.as_of}: savings may have changed since."
        yield Notice(target=target, text=text)


def _market(target: Target, world: World) -> tuple[Market, CloudError | None]:
    """What is sold at a target; without prices, and why, where they could not be read."""
    error = None
    book = None
    try:
        with world.stages.stage("prices"):
            book = world.prices.book(target)
    except CloudError as raised:
        error = raised
    if book is None:
        book = PriceBook(region=target.region, source="none", as_of=None, types={})
    return Market(provider=world.catalogue.provider, types=world.catalogue.types, book=book), error


def _audit_batch(
    target: Target, batch: list[Volume], world: World, basis: Basis, done: frozenset[str]
) -> Iterator[Outcome]:
    settled = {volume.id: _without_metrics(target, volume, basis, done) for volume in batch}
    yield from (outcome for outcome in settled.values() if outcome is not None)
    pending = [volume for volume in batch if settled[volume.id] is None]
    if not pending:
        return
    shared = {host.id for host in map(sole_host, pending) if host}
    siblings = [volume for volume in batch if (host := sole_host(volume)) and host.id in shared]
    read = _read(list({volume.id: volume for volume in (*pending, *siblings)}.values()), world, basis)
    yield from (_decided(target, volume, read, world, basis) for volume in pending)


def _without_metrics(
    target: Target, volume: Volume, basis: Basis, done: frozenset[str]
) -> Answered | Skipped | FailedVolume | None:
    """The outcome of a volume that needs no metrics, None for one that does."""
    if volume.id in done:
        return Skipped(target=target, volume_id=volume.id, reason=ANSWERED_BEFORE)
    match = basis.policy.excluding(volume.tags)
    if match is not None:
        return Skipped(target=target, volume_id=volume.id, reason=f"excluded by the policy: tag {match}")
    try:
        if is_detached(volume):
            return Answered(target=target, recommendation=recommend_detached(volume, _own(volume, basis)))
        type_of(volume.spec, basis.market.types)
    except UnknownVolumeType as error:
        return FailedVolume(target=target, volume_id=volume.id, reason=str(error))
    return None


def _own(volume: Volume, basis: Basis) -> Basis:
    """The basis with the policy that applies to the volume, its discounts included."""
    policy = basis.policy.for_tags(volume.tags)
    book = replace(basis.market.book, discounts_pct=policy.discounts_pct)
    return replace(basis, policy=policy, market=replace(basis.market, book=book))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What metrics gave for a batch: the demand or the error of each volume, and the traffic of their hosts."""

    demands: Mapping[str, Demand]
    failed: Mapping[str, CloudError]
    loads: Mapping[str, HostLoad]


def _read(volumes: Sequence[Volume], world: World, basis: Basis) -> _Read:
    policy = basis.policy
    window = Window.before(basis.now, days=policy.lookback_days, period_s=policy.resolution_s)
    parts = segments(window, policy.resolution_s, world.metrics.retention_days, basis.now.timestamp())
    sums: dict[str, list[Sums]] = {volume.id: [] for volume in volumes}
    failed: dict[str, CloudError] = {}
    with world.stages.stage("metrics"):
        for part in parts:
            try:
                reading = world.metrics.read(volumes, part.window, part.period_s)
            except CloudError as error:
                return _Read(demands={}, failed=dict.fromkeys(sums, error), loads={})
            failed.update(reading.failed)
            for volume_id, found in sums.items():
                if volume_id in reading.sums:
                    found.append(reading.sums[volume_id])
                elif volume_id not in failed:
                    failed[volume_id] = Unexpected(f"the metrics of {volume_id} were asked for and not answered.")
    demands = {
        name: demand_of(found, resolution_s=policy.resolution_s) for name, found in sums.items() if name not in failed
    }
    return _Read(demands=demands, failed=failed, loads=host_loads(volumes, demands))


def _decided(target: Target, volume: Volume, read: _Read, world: World, basis: Basis) -> Answered | FailedVolume:
    if volume.id in read.failed:
        return FailedVolume(target=target, volume_id=volume.id, reason=str(read.failed[volume.id]))
    host = sole_host(volume)
    load = read.loads.get(host.id) if host else None
    with world.stages.stage("decide"):
        recommendation = recommend(volume, read.demands[volume.id], load, _own(volume, basis))
    change = ""
    if isinstance(recommendation, Change):
        change = world.catalogue.change(volume, recommendation.target.spec)
    return Answered(target=target, recommendation=recommendation, change=change)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """One volume's outcome, with the demand it rests on (None where no metrics were needed or read)."""

    outcome: Answered | Skipped | FailedVolume
    demand: Demand | None


def explain(world: World, volume_id: str, policy: Policy, now: datetime) -> Explained | None:
    """The outcome of one volume, reading the metrics of its host's volumes alone; None where it is nowhere.

    Raises the CloudError of a target that could not be searched when the volume was not found elsewhere.
    """
    unsearched: CloudError | None = None
    for target in world.inventory.targets():
        volumes, error = ([], target.error) if isinstance(target, FailedTarget) else _listed(target, world)
        unsearched = error or unsearched
        for group in by_host(volumes, 1):
            volume = next((found for found in group if found.id == volume_id), None)
            if volume is not None and isinstance(target, Target):
                return _explained(target, volume, group, world, policy, now)
    if unsearched is not None:
        raise unsearched
    return None


def _explained(
    target: Target, volume: Volume, group: list[Volume], world: World, policy: Policy, now: datetime
) -> Explained:
    basis = Basis(market=_market(target, world)[0], envelopes=world.envelopes, policy=policy, now=now)
    settled = _without_metrics(target, volume, basis, frozenset())
    if settled is not None:
        return Explained(outcome=settled, demand=None)
    read = _read(group, world, basis)
    return Explained(outcome=_decided(target, volume, read, world, basis), demand=read.demands.get(volume.id))
