"""The audit: from the volumes of every target to one outcome for each, as a stream.

For each target, in this order: inventory, prices, metrics plan, then by batch demand and decision. Whoever takes the
stream reports it (`plimsoll.run`). `plimsoll.auditing` has a module for each step.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile

from plimsoll.auditing.at_once import BATCHES_AT_ONCE, ahead, begin, side_by_side
from plimsoll.auditing.batch import context_of
from plimsoll.auditing.decide import batch_by_host, batch_size, decide_batch, shown_first
from plimsoll.auditing.list import (
    DENIED_AS_EXPECTED,
    Listing,
    is_expected,
    list_targets,
    list_volumes,
    listings,
    notices_of,
    unread_outcomes,
    with_stripes_of,
)
from plimsoll.auditing.ports import AuditPorts
from plimsoll.auditing.price import market_of, price_outcomes
from plimsoll.auditing.read import ByTheMinute
from plimsoll.decide.groups import find_takeovers, takeovers_by_volume
from plimsoll.decide.offers import Market, check_types
from plimsoll.model.errors import CloudError
from plimsoll.model.policy import Policy
from plimsoll.model.volume import Volume
from plimsoll.outcomes import InScope, Notice, Outcome, Planned, VolumesSeen
from plimsoll.ports import FailedTarget, Target, UnreadVolume


def no_stop() -> bool:
    """Nothing stops the audit before its end."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRead:
    """A target's volumes, and its notices and its market, which are asked for while the volumes are listed."""

    listing: Listing
    notices: Future[Sequence[str]]
    market: Future[tuple[Market, CloudError | None]]

    @classmethod
    def from_target(cls, target: Target, ports: AuditPorts, policy: Policy, now: datetime) -> "TargetRead":
        """The target, as its cloud tells it."""
        notices = begin(lambda _: notices_of(target, ports), None)
        market = begin(lambda _: market_of(target, ports, policy, now), None)
        return cls(listing=list_volumes(target, ports), notices=notices, market=market)


def run_audit(
    ports: AuditPorts,
    policy: Policy,
    now: datetime,
    *,
    done: frozenset[str] = frozenset(),
    stop: Callable[[], bool] = no_stop,
) -> Iterator[Outcome]:
    """One outcome for every volume in scope, target by target, after the scope itself. Volumes in `done` are skipped.

    A target that fails does not end the others. Once `stop` returns True nothing new begins: what is under way is
    answered, and the remaining volumes have no outcome. Raises PolicyError for a type that no cloud sells.
    """
    check_types(policy, ports.known_types)
    targets = list_targets(ports)
    yield InScope(targets=tuple(target for target in targets if isinstance(target, Target)))
    reading = ByTheMinute(left_s=ports.by_minutes_s, targets=len(targets))

    def read(target: Target | FailedTarget) -> TargetRead | FailedTarget:
        return target if isinstance(target, FailedTarget) else TargetRead.from_target(target, ports, policy, now)

    for target in takewhile(lambda _: not stop(), side_by_side(read, targets)):
        if isinstance(target, FailedTarget):
            yield target
        else:
            yield from audit_target(target, ports, policy, now, reading, done=done, stop=stop)


def audit_target(
    read: TargetRead,
    ports: AuditPorts,
    policy: Policy,
    now: datetime,
    reading: ByTheMinute,
    *,
    done: frozenset[str] = frozenset(),
    stop: Callable[[], bool] = no_stop,
) -> Iterator[Outcome]:
    """The outcomes of one target: its failure or its notices, and one for each volume that was listed."""
    listing = read.listing
    target, volumes = listing.target, listing.volumes
    yield VolumesSeen(target=target, volumes=listing.count)
    if listing.error is not None:
        yield from _failure_outcomes(listing, listing.error, ports, done)
        return
    ports, changed_stripes = with_stripes_of(listing, ports)
    ports, plan = reading.choose(volumes, ports, policy, now, done)
    yield Planned(target=target, plan=plan)
    yield from _notices(target, read.notices.result())
    yield from changed_stripes
    yield from unread_outcomes(listing, done)

    deciders = ports.deciders.begin(len(volumes))
    market, unpriced = read.market.result()
    yield from price_outcomes(target, market.book, unpriced, now)

    context = context_of(market, ports, policy, now)
    ports = replace(ports, shown=shown_first(volumes, ports, context, done))
    size = batch_size(ports, len(volumes), deciders)
    known = find_takeovers(volumes, policy.takeover_tags)
    takeovers, together = takeovers_by_volume(known), [takeover.volumes for takeover in known]
    batches = takewhile(lambda batch: _is_done(batch, done) or not stop(), batch_by_host(volumes, size, together))
    at_once = max(BATCHES_AT_ONCE, deciders)
    for outcomes in ahead(lambda batch: decide_batch(target, batch, ports, context, done, takeovers), batches, at_once):
        yield from outcomes
    yield from _notices(target, ports.metrics.remarks(target))


def plan_audit(ports: AuditPorts, policy: Policy, now: datetime) -> Iterator[VolumesSeen | Planned | FailedTarget]:
    """The expected reading of an audit, target by target. Reads the inventory only."""
    check_types(policy, ports.known_types)
    targets = list_targets(ports)
    reading = ByTheMinute(left_s=ports.by_minutes_s, targets=len(targets))
    for listing in listings(ports, targets):
        if isinstance(listing, FailedTarget):
            yield listing
            continue
        target, volumes = listing.target, listing.volumes
        yield VolumesSeen(target=target, volumes=listing.count)
        if is_expected(listing, ports):
            continue
        if listing.error is not None:
            yield FailedTarget(name=str(target), error=listing.error)
        else:
            unchanged, _ = with_stripes_of(listing, ports)
            _, plan = reading.choose(volumes, unchanged, policy, now, frozenset())
            yield Planned(target=target, plan=plan)


def _failure_outcomes(
    listing: Listing, error: CloudError, ports: AuditPorts, done: frozenset[str]
) -> Iterator[Outcome]:
    if is_expected(listing, ports):
        yield Notice(target=listing.target, text=DENIED_AS_EXPECTED)
        return
    yield FailedTarget(name=str(listing.target), error=error)
    unread = [*listing.unread, *(UnreadVolume(id=volume.id, error=error) for volume in listing.volumes)]
    yield from unread_outcomes(replace(listing, unread=unread), done)


def _notices(target: Target, texts: Iterable[str]) -> Iterator[Notice]:
    yield from (Notice(target=target, text=text) for text in texts)


def _is_done(batch: list[Volume], done: frozenset[str]) -> bool:
    return done.issuperset(volume.id for volume in batch)
