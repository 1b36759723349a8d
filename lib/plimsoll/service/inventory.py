"""The inventory of one target: its volumes in batches, its prices, and what is to be known of it.

What makes it whole is kept last, so that half an inventory is none.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from plimsoll.audit import audit
from plimsoll.auditing.inventory import Listing, list_volumes, notices_of, with_stripes_of
from plimsoll.auditing.ports import BATCH_VOLUMES, AuditPorts
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.stored_ports import StoredInventory, StoredPrices
from plimsoll.clouds.stripes import sets_adapter
from plimsoll.domain.errors import CloudError, Throttled, Unreachable
from plimsoll.domain.hosting import by_host
from plimsoll.domain.prices import PriceBook
from plimsoll.domain.volume import Volume
from plimsoll.ports import FailedTarget, RunStore, Target, UnreadVolume, Usage
from plimsoll.reports.totals import Totals
from plimsoll.service.planning import RunOrder, order_of
from plimsoll.service.service import Service
from plimsoll.service.shared_measurements import bring
from plimsoll.service.step_messages import TargetMessage
from plimsoll.service.store_keys import Batch, RunKeys, ledger_key
from plimsoll.service.stored_results import Listed, Spent, book_out, ledger_in, totals_out, volumes_out

PASSING = (Throttled, Unreachable)
"""What may be over soon, so that the same call is worth another attempt; anything else is the target's answer."""


def take_inventory(service: Service, told: TargetMessage, *, batch_volumes: int = BATCH_VOLUMES) -> None:
    """Takes the inventory of a target unless that is done already, in batches of about so many volumes.

    Raises Throttled and Unreachable. Every other CloudError is kept as the target's failure, with the volumes that were
    listed before it.
    """
    target, keys = told.target.target, RunKeys(run_id=told.run_id)
    if service.store.get(keys.listed(target)) is not None:
        return
    order = order_of(service.store, told.run_id)
    bring(service.store, service.measured)
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
        count = _keep_batches(service.store, keys, target, listing.volumes, batch_volumes)
        totals = _keep_rest(service.store, keys, listing, ports, order)
        made = Listed(batches=count, totals=totals, spent=Spent.of(Usage(), ports.stages.seconds))
        service.store.put(keys.listed(target), made.model_dump_json().encode())


def _entered(service: Service, target: Target, order: RunOrder, ledger: Ledger) -> AuditPorts | CloudError:
    try:
        return service.places.ports(target, now=order.now, measured=service.measured, ledger=ledger)
    except CloudError as error:
        return error


def _keep_batches(store: RunStore, keys: RunKeys, target: Target, volumes: list[Volume], size: int) -> int:
    """Keeps the batches in the place of those of an inventory that was not whole, and says how many they are."""
    for key in list(store.keys(keys.batches(target))):
        store.delete(key)
    batches = list(by_host(volumes, size))
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
