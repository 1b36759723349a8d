"""The sweep of scratch volumes, an account at a time: at the targets of the ledger, or everywhere.

The result of an account's sweep is kept, so that the end of the sweep adds it up and misses none in silence.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from plimsoll.clouds.targets import named_target
from plimsoll.jobs.document import StoredDocument
from plimsoll.ports import FailedTarget, RunStore, Target
from plimsoll_measure.validation.scratch_volume import Swept, sweep_scratch_volumes
from plimsoll_service.scratch_ledger import forget_scratch, note_scratch, noted_targets
from plimsoll_service.service import Service
from plimsoll_service.streams import put_items, read_items
from plimsoll_service.validating import step_patience
from plimsoll_service.validation_messages import (
    SweepAccountMessage,
    SweepEndMessage,
    SweepItem,
    SweepMessage,
    SweepPlan,
    SweptAll,
)


def plan_sweep(service: Service, message: SweepMessage) -> SweepPlan:
    """Lists the accounts to sweep, for a map: those of the ledger, or all.

    Raises CloudError if all are to be swept and none can be listed.
    """
    key = _accounts_key(message.name)
    items = _all_items(service) if message.given.everywhere else _ledger_items(service.store)
    put_items(service.store, key, items)
    return SweepPlan(sweep=message.name, accounts_key=key, accounts=len(items))


def _ledger_items(store: RunStore) -> Sequence[SweepItem]:
    regions = defaultdict[str, list[str]](list)
    for target in noted_targets(store):
        regions[target.account].append(target.region)
    return [SweepItem(account=account, regions=names) for account, names in regions.items()]


def _all_items(service: Service) -> Sequence[SweepItem]:
    accounts = service.places.accounts()
    failed = [failure for failure in accounts if isinstance(failure, FailedTarget)]
    if failed and len(failed) == len(accounts):
        raise failed[0].error
    return [SweepItem(account=account) for account in accounts if isinstance(account, str)]


def sweep_account(service: Service, message: SweepAccountMessage) -> None:
    """Deletes the scratch volumes of an account that are past their deadline; a failing target stops no other.

    The ledger keeps the targets that have a scratch volume, and forgets the others.
    """
    store, now, account = service.store, service.clock.now(), message.account.account
    targets = list(_targets(service, message.account))
    made = list(sweep_scratch_volumes(targets, now, bench_at=service.places.bench, patience=step_patience(service)))
    for outcome in made:
        if isinstance(outcome, Swept) and not outcome.deleted:
            note_scratch(store, outcome.target, outcome.volume.deadline or now)
    unread = {outcome.name for outcome in made if isinstance(outcome, FailedTarget)}
    looked = {target for target in targets if isinstance(target, Target) and str(target) not in unread}
    noted = set(noted_targets(store, account))
    for target in noted & looked - {outcome.target for outcome in made if isinstance(outcome, Swept)}:
        forget_scratch(store, target, now)
    swept = _count_swept(made, unswept=len(noted - looked))
    _document(message.sweep, account).put(store, swept)


def _count_swept(made: Sequence[Swept | FailedTarget], *, unswept: int) -> SweptAll:
    counted = SweptAll(unswept=unswept)
    for outcome in made:
        if isinstance(outcome, FailedTarget):
            counted += SweptAll(failed=1, left_behind=[f"{outcome.name}: {outcome.error}"])
        elif outcome.left is not None:
            counted += SweptAll(left=1, left_behind=[outcome.left.text])
        else:
            counted += SweptAll(deleted=1) if outcome.deleted else SweptAll(alive=1)
    return counted


def _targets(service: Service, item: SweepItem) -> Iterator[Target | FailedTarget]:
    """The account in the regions of the ledger, or in all."""
    if item.regions is None:
        yield from service.places.targets(item.account)
    else:
        yield from (named_target(item.account, region) for region in item.regions)


def conclude_sweep(service: Service, message: SweepEndMessage) -> SweptAll:
    """Adds up the sweeps of the accounts. An account without a result could not be swept."""
    counted = SweptAll()
    for item in read_items(service.store, _accounts_key(message.sweep), SweepItem):
        swept = _document(message.sweep, item.account).get(service.store)
        counted += swept or _count_unswept(service.store, item.account)
    return counted


def _count_unswept(store: RunStore, account: str) -> SweptAll:
    why = f"{account}: its sweep did not end; look at the failed items of this execution."
    unswept = sum(1 for _ in noted_targets(store, account))
    return SweptAll(failed=1, unswept=unswept, left_behind=[why])


def _accounts_key(name: str) -> str:
    return f"sweeps/{name}/accounts.json"


def _document(name: str, account: str) -> StoredDocument[SweptAll]:
    return StoredDocument(f"sweeps/{name}/swept/{account}.json", SweptAll, remedy="sweep again")
