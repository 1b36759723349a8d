"""The summary of a run: the sum of its parts in the shape of every run.json, and its failures for good."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from plimsoll.clouds.published import query_cost_of
from plimsoll.clouds.targets import named_target
from plimsoll.jobs.document import StoredDocument
from plimsoll.learned_table import table_or_none, table_text
from plimsoll.model.errors import BadInput, CloudError
from plimsoll.orders import CloudRequests, Order, describe, end_status
from plimsoll.outcomes import FailedVolume, Outcome, VolumesSeen
from plimsoll.ports import FailedTarget, RunStore, Target
from plimsoll.reports.promises import learning_in_run, own_table, promises_in_run
from plimsoll.reports.run_reader import UnansweredRecord
from plimsoll.reports.totals import RunTotals
from plimsoll_service.events import ServiceEvent
from plimsoll_service.planning import order_of, planned_accounts
from plimsoll_service.service import Service
from plimsoll_service.shards import Covered, ShardSums, combined_document, find_covered
from plimsoll_service.shared_measurements import LEARNED_HERE_KEY
from plimsoll_service.step_messages import FailureMessage, RunMessage, Summarized
from plimsoll_service.store_keys import RunKeys, VolumeBatch
from plimsoll_service.stored_results import Spent, find_targets, require_volumes


def summarize(service: Service, message: RunMessage) -> Summarized:
    """Adds up a run's shards, and keeps the sum for the report."""
    store, keys = service.store, RunKeys(run_id=message.run_id)
    order = order_of(store, message.run_id).order_in(Path())
    whole = total(store, keys)
    status = end_status(whole.totals)
    run = describe(
        order,
        whole.totals,
        status=status,
        asked={
            cloud: CloudRequests(usage=spent.usage, query_cost=query_cost_of(cloud, service.settings))
            for cloud, spent in whole.spent.items()
        },
        seconds={"elapsed": 0.0, **sum(whole.spent.values(), Spent()).seconds},
    )
    run |= {"history": whole.totals.history(), **promises_in_run(whole.totals.promises)}
    run |= _keep_learned_table(store, whole.totals, order)
    StoredDocument(keys.news, list[ServiceEvent]).put(store, whole.news.items)
    store.put(keys.summary, json.dumps(run, ensure_ascii=False).encode())
    return Summarized(run_id=message.run_id, status=status)


def _keep_learned_table(store: RunStore, totals: RunTotals, order: Order) -> dict[str, Any]:
    """Keeps the table learned from the run's own volumes, and returns the part of run.json about it.

    If their history is too little, an earlier table stays.
    """
    kept = store.get(LEARNED_HERE_KEY)
    before = table_or_none(None if kept is None else kept.decode(errors="replace"))
    table = own_table(totals.lessons, order.now, order.policy, order.scope, before)
    if table is not None:
        store.put(LEARNED_HERE_KEY, table_text(table).encode())
    return learning_in_run(totals.lessons, table)


def total(store: RunStore, keys: RunKeys) -> ShardSums:
    """The sum of a run's shards and failures. Only sums are held: memory does not grow with the fleet."""
    whole = ShardSums(totals=StoredDocument(keys.unnamed, RunTotals).require(store))
    for number in keys.combined_shards(store):
        whole.merge(combined_document(keys, number).require(store))
    covered = find_covered(store, keys)
    for failed in failed_totals(store, keys, covered):
        whole.totals.merge(failed)
    for unaccounted in _missing_targets(store, keys, covered):
        whole.totals.add(unaccounted)
    return whole


def note_failure(service: Service, message: FailureMessage) -> None:
    """Keeps the failure of an account or a batch and why. Raises BadInput if neither is named.

    Of several batches that a function was given, nobody knows which one it failed on: each is tried once more, alone. A
    whole inventory or result has not failed, whatever became of the function that kept it.
    """
    store, keys, why = service.store, RunKeys(run_id=message.run_id), message.error.sentence
    if message.lot is not None:
        left = [item.as_batch for item in message.lot.batches if store.get(keys.result(item.as_batch)) is None]
        for batch in left:
            if len(left) > 1:
                store.put(keys.batch_alone(batch), b"")
            else:
                failed = RunTotals.add_up(_batch_outcomes(store, keys, batch, why))
                StoredDocument(keys.failed_batch(batch), RunTotals).put(store, failed)
    elif message.account is not None:
        taken = frozenset(keys.listed_targets(store, message.account.account))
        for key, target in _without_inventory(store, keys, message.account.account, taken, why):
            StoredDocument(key, RunTotals).put(store, RunTotals.add_up([target]))
    else:
        raise BadInput(f"a failure in run {message.run_id} names neither an account nor a batch: {why}")


def _without_inventory(
    store: RunStore, keys: RunKeys, account: str, taken: frozenset[Target], why: str
) -> Iterator[tuple[str, FailedTarget]]:
    """The failed targets of an account, each with the key of its failure.

    It is every target that is neither `taken` nor has a failure of its own, or the whole account if it was not entered.
    """
    targets = find_targets(store, keys, account)
    places = {keys.failed_account(account): account} if targets is None else {}
    places |= {keys.failed_target(target): str(target) for target in targets or () if target not in taken}
    for key, name in places.items():
        if store.get(key) is None:
            yield key, FailedTarget(name=name, error=CloudError(why))


def failed_totals(store: RunStore, keys: RunKeys, covered: Covered) -> Iterator[RunTotals]:
    """The unanswered volumes of each account, target and batch that failed in this attempt.

    One that was given up, and came to its end before the shards were made, has not failed: its volumes would count
    twice.
    """
    whole = {keys.failed_target(target) for target in covered.targets}
    failed = (key for key in store.keys(keys.failed_targets) if key not in whole)
    batches = (keys.failed_batch(batch) for batch in keys.failed_batches(store) if batch not in covered.batches)
    for key in chain(keys.failed_accounts(store), failed, batches):
        yield StoredDocument(key, RunTotals).require(store)


def find_unanswered(store: RunStore, keys: RunKeys, covered: Covered) -> Iterator[UnansweredRecord]:
    """Finds the volumes of the accounts, targets and batches that failed as a whole."""
    for failed in failed_totals(store, keys, covered):
        for place, reasons in failed.failed_volumes.items():
            account, region = place.split("/")
            provider = named_target(account, region).provider
            for reason, ids in reasons.items():
                for volume_id in ids:
                    yield UnansweredRecord(
                        account=account,
                        region=region,
                        volume_id=volume_id,
                        outcome="failed",
                        reason=reason,
                        provider=provider,
                    )


def _missing_targets(store: RunStore, keys: RunKeys, covered: Covered) -> Iterator[FailedTarget]:
    """The targets with neither an inventory nor a failure: nothing is missing in silence."""
    for account in planned_accounts(store, keys):
        why = (
            f"cannot read all of {account}: its inventory was begun, and nothing says how it ended. Look at the failed "
            f"items of this execution, and run again with the run id {keys.run_id}."
        )
        yield from (failed for _, failed in _without_inventory(store, keys, account, covered.targets, why))


def _batch_outcomes(store: RunStore, keys: RunKeys, batch: VolumeBatch, why: str) -> Iterable[Outcome]:
    volumes = require_volumes(store, keys.volumes(batch))
    yield VolumesSeen(target=batch.target, volumes=len(volumes))
    reason = f"batch {batch} could not be audited: {why}"
    yield from (FailedVolume(target=batch.target, volume_id=volume.id, reason=reason) for volume in volumes)
