"""The inventory of one account, target by target: volumes in batches, prices and notices.

The mark of a whole target is kept last, so that half an inventory is none. Kept batches can be audited in parts.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from plimsoll.auditing.audit import run_audit
from plimsoll.auditing.decide import batch_by_host
from plimsoll.auditing.list import Listing, list_volumes, notices_of, with_stripes_of
from plimsoll.auditing.ports import BATCH_VOLUMES, AuditPorts
from plimsoll.clouds.ledger import Ledger
from plimsoll.decide.groups import StripeSet, find_takeovers
from plimsoll.jobs.document import StoredDocument
from plimsoll.model.errors import PASSING, CloudError
from plimsoll.model.market import PriceBook
from plimsoll.model.volume import Volume
from plimsoll.ports import FailedTarget, RunStore, Target, UnreadVolume, Usage
from plimsoll.reports.totals import RunTotals
from plimsoll_service.planning import RunOrder, order_of
from plimsoll_service.service import Service
from plimsoll_service.shared_measurements import bring_measurements
from plimsoll_service.step_messages import AccountMessage, TakenInventory, TargetItem
from plimsoll_service.store_keys import RunKeys, VolumeBatch, ledger_key
from plimsoll_service.stored_results import (
    BookRecord,
    ListedTarget,
    Spent,
    find_targets,
    put_volumes,
    targets_document,
)
from plimsoll_service.target_ports import ledger_in


def take_inventory(
    service: Service,
    message: AccountMessage,
    *,
    stop: Callable[[], bool] = lambda: False,
    batch_volumes: int = BATCH_VOLUMES,
) -> TakenInventory:
    """Takes the missing inventories of an account's targets, in batches of about `batch_volumes` volumes.

    Once `stop` says so no other target is begun; the next call goes on from there. Raises Throttled and Unreachable
    when all targets were tried. Every other CloudError is kept as the target's failure, with the volumes that were
    listed before it.
    """
    account, keys = message.account.account, RunKeys(run_id=message.run_id)
    if service.store.get(keys.account_mark(account)) is not None:
        return TakenInventory(left=0)
    order = order_of(service.store, message.run_id)
    targets = _targets(service, keys, account)
    left = [target for target in targets if not _is_over(service.store, keys, target)]
    bring_measurements(service.store, service.measured)
    passing: CloudError | None = None
    for done, target in enumerate(left):
        if done and stop():
            if passing is not None:
                raise passing
            return TakenInventory(left=len(left) - done)
        try:
            _take(service, keys, target, order, batch_volumes)
        except PASSING as error:
            passing = passing or error
    if passing is not None:
        raise passing
    if all(service.store.get(key) is not None for key in (keys.targets(account), *map(keys.listed_key, targets))):
        service.store.put(keys.account_mark(account), b"")
    return TakenInventory(left=0)


def _targets(service: Service, keys: RunKeys, account: str) -> Sequence[Target]:
    """The account's targets, as they were found first. A target that cannot be entered is kept as a failure."""
    known = find_targets(service.store, keys, account)
    if known is not None:
        return known
    entries = service.places.targets(account)
    failed = [entry for entry in entries if isinstance(entry, FailedTarget)]
    for entry in failed:
        if isinstance(entry.error, PASSING):
            raise entry.error
    targets = [entry for entry in entries if isinstance(entry, Target)]
    if failed:
        StoredDocument(keys.failed_account(account), RunTotals).put(service.store, RunTotals.add_up(failed))
    else:
        items = [TargetItem.from_target(target) for target in targets]
        targets_document(keys, account).put(service.store, items)
    return targets


def _is_over(store: RunStore, keys: RunKeys, target: Target) -> bool:
    return any(store.get(key) is not None for key in (keys.listed_key(target), keys.failed_target(target)))


def _take(service: Service, keys: RunKeys, target: Target, order: RunOrder, batch_volumes: int) -> None:
    """Takes the inventory of one target, or keeps its failure; raises an error that may pass soon."""
    with _open_ledger(service.store, target, order) as ledger:
        ports = _enter(service, target, order, ledger)
        if isinstance(ports, CloudError):
            listing = Listing(target=target, volumes=[], unread=[], error=ports)
        else:
            listing = list_volumes(target, ports)
    if isinstance(listing.error, PASSING):
        raise listing.error
    if isinstance(ports, CloudError):
        failed = RunTotals.add_up([FailedTarget(name=str(target), error=ports)])
        StoredDocument(keys.failed_target(target), RunTotals).put(service.store, failed)
    elif listing.error is not None:
        entries: list[Volume | UnreadVolume] = [*listing.volumes, *listing.unread]
        stored = replace(ports, inventory=StoredInventory(target=target, given=entries, error=listing.error))
        failed = RunTotals.add_up(run_audit(stored, order.parsed_policy, order.now))
        StoredDocument(keys.failed_target(target), RunTotals).put(service.store, failed)
    elif service.store.get(keys.listed_key(target)) is None:  # another attempt, given up for dead, may have been faster
        tags = order.parsed_policy.takeover_tags
        count = _keep_batches(service.store, keys, target, listing.volumes, batch_volumes, tags)
        totals = _keep_rest(service.store, keys, listing, ports, order)
        made = ListedTarget(batches=count, totals=totals, spent=Spent.from_usage(Usage(), ports.stages.seconds))
        StoredDocument(keys.listed_key(target), ListedTarget).put(service.store, made)


def _enter(service: Service, target: Target, order: RunOrder, ledger: Ledger) -> AuditPorts | CloudError:
    try:
        return service.places.ports(target, now=order.now, measured=service.measured, ledger=ledger)
    except CloudError as error:
        return error


def _keep_batches(
    store: RunStore, keys: RunKeys, target: Target, volumes: list[Volume], size: int, takeover_tags: Sequence[str]
) -> int:
    """Replaces the batches of an inventory that was not whole, and returns their number."""
    for key in list(store.keys(keys.batches(target))):
        store.delete(key)
    together = [takeover.volumes for takeover in find_takeovers(volumes, takeover_tags)]
    batches = list(batch_by_host(volumes, size, together))
    for number, batch in enumerate(batches):
        put_volumes(store, keys.volumes(VolumeBatch(target=target, number=number)), batch)
    return len(batches)


def _keep_rest(store: RunStore, keys: RunKeys, listing: Listing, ports: AuditPorts, order: RunOrder) -> RunTotals:
    """Keeps prices and stripe sets, and returns the notices about the target and the volumes that were not read."""
    target, book = listing.target, _book(listing.target, ports)
    StoredDocument(keys.prices(target), BookRecord).put(store, BookRecord.from_answer(book))
    here, changed = with_stripes_of(listing, ports)
    StoredDocument(keys.stripes(target), list[StripeSet]).put(store, list(here.stripes))
    texts = (*notices_of(target, ports), *(notice.text for notice in changed))
    stored = StoredInventory(target=target, given=listing.unread, texts=texts)
    without_volumes = replace(ports, inventory=stored, prices=StoredPrices(answer=book), stripes=())
    return RunTotals.add_up(run_audit(without_volumes, order.parsed_policy, order.now))


def _book(target: Target, ports: AuditPorts) -> PriceBook | CloudError | None:
    try:
        with ports.stages.stage("prices"):
            return ports.prices.book(target)
    except CloudError as error:
        return error


@contextmanager
def _open_ledger(store: RunStore, target: Target, order: RunOrder) -> Iterator[Ledger]:
    """The ledger of a target's changes, saved again after the block."""
    with TemporaryDirectory(prefix="plimsoll-") as temporary:
        ledger = ledger_in(store, target, Path(temporary))
        yield ledger
        ledger.save(order.now)
        store.put_file(ledger_key(target), ledger.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredInventory:
    """Some volumes of one target, the notices about it, and the error at the end of its list, if any."""

    target: Target
    given: Sequence[Volume | UnreadVolume]
    texts: Sequence[str] = ()
    error: CloudError | None = None

    def targets(self) -> Sequence[Target | FailedTarget]:
        return (self.target,)

    def volumes(self, _target: Target) -> Iterator[Volume | UnreadVolume]:
        """The volumes, then the error."""
        yield from self.given
        if self.error is not None:
            raise self.error

    def notices(self, _target: Target) -> Sequence[str]:
        return self.texts


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPrices:
    """The price book of one target; None if it has none, an error if it could not be read."""

    answer: PriceBook | CloudError | None

    def book(self, _target: Target) -> PriceBook | None:
        """The price book."""
        if isinstance(self.answer, CloudError):
            raise self.answer
        return self.answer
