"""Which batches of a run are still to be audited."""

import json
from collections.abc import Iterator

from plimsoll.ports import RunStore
from plimsoll.service.layout import RESULT, Batch, RunKeys
from plimsoll.service.messages import BatchItem, Pending, RunMessage
from plimsoll.service.service import Service


def find_pending(service: Service, told: RunMessage) -> Pending:
    """Lists the batches that have neither an answer as a whole nor failed in this attempt, for the next map.

    What one function could not finish in its time is listed again.
    """
    store, keys = service.store, RunKeys(run_id=told.run_id)
    answered = set(keys.batches_in(store.keys(keys.results), keys.results, f"/{RESULT}"))
    failed = set(keys.batches_in(store.keys(keys.failed_batches), keys.failed_batches, ".json"))
    pending = [batch for batch in all_batches(store, keys) if batch not in answered | failed]
    items = [BatchItem.of_batch(batch).model_dump() for batch in pending]
    store.put(keys.pending, json.dumps(items).encode())
    return Pending(run_id=told.run_id, pending_key=keys.pending, pending=len(pending))


def all_batches(store: RunStore, keys: RunKeys) -> Iterator[Batch]:
    """The batches of all whole inventories, in the order of their targets."""
    found = list(store.keys(keys.inventories))
    taken = set(keys.taken(found))
    batches = keys.batches_in(found, keys.inventories, ".jsonl")
    yield from sorted(batch for batch in batches if batch.target in taken)
