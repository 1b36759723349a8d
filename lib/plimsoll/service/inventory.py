"""The inventory of one account, target by target: volumes in batches, prices, and what is to be known of each.

What makes a target's whole is kept last, so that half an inventory is none. What was kept can be audited in parts.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from plimsoll.auditing.audit import audit
from plimsoll.auditing.inventory import Listing, list_volumes, notices_of, with_stripes_of
from plimsoll.auditing.ports import BATCH_VOLUMES, AuditPorts
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.stripe_book import sets_adapter
from plimsoll.domain.errors import PASSING, CloudError
from plimsoll.domain.groups.hosting import by_host
from plimsoll.domain.groups.takeover import takeovers_of
from plimsoll.domain.prices import PriceBook
from plimsoll.domain.volume import Volume
from plimsoll.ports import FailedTarget, RunStore, Target, UnreadVolume, Usage
from plimsoll.reports.totals import Totals
from plimsoll.service.planning import RunOrder, order_of
from plimsoll.service.service import Service
from plimsoll.service.shared_measurements import bring
from plimsoll.service.step_messages import AccountMessage, Taken
from plimsoll.service.store_keys import Batch, RunKeys, ledger_key
from plimsoll.service.stored_results import Listed, Spent, book_out, found_targets, targets_out, totals_out, volumes_out
from plimsoll.service.target_ports import ledger_in


def take_inventory(
    service: Service,
    message: AccountMessage,
    *,
    stop: Callable[[], bool] = lambda: False,
    batch_volumes: int = BATCH_VOLUMES,
) -> Taken:
    """Takes the inventories of an account's targets that are not taken yet, in batches of about so many volumes.

    Once `stop` says so no other target is begun; the next call goes on from there. Raises Throttled and Unreachable
    when all targets were tried. Every other CloudError is kept as the target's failure, with the volumes that were
    listed before it.
    """
    account, keys = message.account.account, RunKeys(run_id=message.run_id)
    if service.store.get(keys.whole_account(account)) is not None:
        return Taken(left=0)
    order = order_of(service.store, message.run_id)
    targets = _targets(service, keys, account)
    left = [target for target in targets if not _has_ended(service.store, keys, target)]
    bring(service.store, service.measured)
    passing: CloudError | None = None
    for done, target in enumerate(left):
        if done and stop():
            if passing is not None:
                raise passing
            return Taken(left=len(left) - done)
        try:
            _take(service, keys, target, order, batch_volumes)
        except PASSING as error:
            passing = passing or error
    if passing is not None:
        raise passing
    if all(service.store.get(key) is not None for key in (keys.targets(account), *map(keys.listed, targets))):
        service.store.put(keys.whole_account(account), b"")
    return Taken(left=0)


def _targets(service: Service, keys: RunKeys, account: str) -> Sequence[Target]:
    """The account's targets, as they were found first. What cannot be entered is kept as a failure."""
    known = found_targets(service.store, keys, account)
    if known is not None:
        return known
    found = service.places.targets(account)
    failed = [one for one in found if isinstance(one, FailedTarget)]
    for one in failed:
        if isinstance(one.error, PASSING):
            raise one.error
    targets = [one for one in found if isinstance(one, Target)]
    if failed:
        service.store.put(keys.failed_account(account), totals_out(Totals.of(failed)))
    else:
        service.store.put(keys.targets(account), targets_out(targets))
    return targets


def _has_ended(store: RunStore, keys: RunKeys, target: Target) -> bool:
    return any(store.get(key) is not None for key in (keys.listed(target), keys.failed_target(target)))


def _take(service: Service, keys: RunKeys, target: Target, order: RunOrder, batch_volumes: int) -> None:
    """Takes the inventory of one target, or keeps its failure; raises what may be over soon."""
    with _noted(service.store, target, order) as ledger:
        ports = _entered(service, target, order, ledger)
        if isinstance(ports, CloudError):
            listing = Listing(target=target, volumes=[], unread=[], error=ports)
        else:
            listing = list_volumes(target, ports)
    if isinstance(listing.error, PASSING):
        raise listing.error
    if isinstance(ports, CloudError):
        failed = Totals.of([FailedTarget(name=str(target), error=ports)])
        service.store.put(keys.failed_target(target), totals_out(failed))
    elif listing.error is not None:
        given: list[Volume | UnreadVolume] = [*listing.volumes, *listing.unread]
        there = replace(ports, inventory=StoredInventory(target=target, given=given, error=listing.error))
        failed = Totals.of(audit(there, order.parsed_policy, order.now))
        service.store.put(keys.failed_target(target), totals_out(failed))
    elif service.store.get(keys.listed(target)) is None:  # another attempt, given up for dead, may have been faster
        tags = order.parsed_policy.takeover_tags
        count = _keep_batches(service.store, keys, target, listing.volumes, batch_volumes, tags)
        totals = _keep_rest(service.store, keys, listing, ports, order)
        made = Listed(batches=count, totals=totals, spent=Spent.of(Usage(), ports.stages.seconds))
        service.store.put(keys.listed(target), made.model_dump_json().encode())


def _entered(service: Service, target: Target, order: RunOrder, ledger: Ledger) -> AuditPorts | CloudError:
    try:
        return service.places.ports(target, now=order.now, measured=service.measured, ledger=ledger)
    except CloudError as error:
        return error


def _keep_batches(
    store: RunStore, keys: RunKeys, target: Target, volumes: list[Volume], size: int, takeover_tags: Sequence[str]
) -> int:
    """Keeps the batches in the place of those of an inventory that was not whole, and says how many they are."""
    for key in list(store.keys(keys.batches(target))):
        store.delete(key)
    together = [takeover.volumes for takeover in takeovers_of(volumes, takeover_tags)]
    batches = list(by_host(volumes, size, together))
    for number, batch in enumerate(batches):
        store.put(keys.volumes(Batch(target=target, number=number)), volumes_out(batch))
    return len(batches)


def _keep_rest(store: RunStore, keys: RunKeys, listing: Listing, ports: AuditPorts, order: RunOrder) -> Totals:
    """Keeps prices and stripe sets, and gives what is to be told of the target and of volumes that were not read."""
    target, book = listing.target, _book(listing.target, ports)
    store.put(keys.prices(target), book_out(book))
    here, changed = with_stripes_of(listing, ports)
    store.put(keys.stripes(target), sets_adapter().dump_json(list(here.stripes)))
    texts = (*notices_of(target, ports), *(notice.text for notice in changed))
    there = StoredInventory(target=target, given=listing.unread, texts=texts)
    without_volumes = replace(ports, inventory=there, prices=StoredPrices(answer=book), stripes=())
    return Totals.of(audit(without_volumes, order.parsed_policy, order.now))


def _book(target: Target, ports: AuditPorts) -> PriceBook | CloudError | None:
    try:
        with ports.stages.stage("prices"):
            return ports.prices.book(target)
    except CloudError as error:
        return error


@contextmanager
def _noted(store: RunStore, target: Target, order: RunOrder) -> Iterator[Ledger]:
    """The ledger of a target's changes, which is kept again with what the block notes."""
    with TemporaryDirectory(prefix="plimsoll-") as temporary:
        ledger = ledger_in(store, target, Path(temporary))
        yield ledger
        ledger.save(order.now)
        store.put_file(ledger_key(target), ledger.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredInventory:
    """Some volumes of one target, the notices about it, and the error that its list ended in, if it did."""

    target: Target
    given: Sequence[Volume | UnreadVolume]
    texts: Sequence[str] = ()
    error: CloudError | None = None

    def targets(self) -> Sequence[Target | FailedTarget]:
        """That target."""
        return (self.target,)

    def volumes(self, _target: Target) -> Iterator[Volume | UnreadVolume]:
        """Those volumes, then the error."""
        yield from self.given
        if self.error is not None:
            raise self.error

    def notices(self, _target: Target) -> Sequence[str]:
        """What is to be known of it."""
        return self.texts


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPrices:
    """The price book of one target; None where it has none, an error where it could not be read."""

    answer: PriceBook | CloudError | None

    def book(self, _target: Target) -> PriceBook | None:
        """That book."""
        if isinstance(self.answer, CloudError):
            raise self.answer
        return self.answer
