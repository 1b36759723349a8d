"""The plan of an audit: whether it goes on now, which targets it lists volumes of, and which batches it audits next."""

import json
from collections.abc import Iterator

from plimsoll.clouds.published import published_types
from plimsoll.domain.offer import check_types
from plimsoll.ports import FailedTarget, RunStore, Target
from plimsoll.reports.totals import Totals
from plimsoll.service.run_orders import begin
from plimsoll.service.service import Service
from plimsoll.service.step_messages import AuditPlan, BatchItem, Pending, PlanMessage, RunMessage, TargetItem
from plimsoll.service.store_keys import RESULT, Batch, RunKeys
from plimsoll.service.stored_results import totals_out


def plan(service: Service, told: PlanMessage) -> AuditPlan:
    """Plans an audit, or goes on with one that was begun under the same name; only what is missing is planned again.

    BadInput for a region that does not exist, PolicyError for a policy that names a type that does not.
    """
    keys = RunKeys(run_id=told.run_id)
    busy = service.executions.older(told.execution, told.started)
    if busy is not None:
        return AuditPlan(
            run_id=told.run_id, state=service.config.when_busy, busy_with=busy, targets_key=keys.targets, targets=0
        )
    order = begin(service.store, service.config, told.run_id, told.started)
    check_types(order.parsed_policy, published_types())
    _try_again(service.store, keys)
    missing = _missing(service, keys)
    return AuditPlan(run_id=told.run_id, state="go", busy_with=None, targets_key=keys.targets, targets=len(missing))


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


def _try_again(store: RunStore, keys: RunKeys) -> None:
    """Lets what failed in an earlier attempt be asked again; what was answered stays answered.

    A batch with volumes that failed counts as answered until this takes its result away.
    """
    for batch in keys.batches_in(list(store.keys(keys.incomplete)), keys.incomplete, ""):
        store.delete(keys.result(batch))
    for key in list(store.keys(keys.failures)):
        store.delete(key)


def _missing(service: Service, keys: RunKeys) -> list[TargetItem]:
    """The targets without an inventory, which are kept as a list for the map; those without a name are kept as well."""
    store, unnamed, missing = service.store, list[FailedTarget](), list[TargetItem]()
    taken = set(keys.taken(store.keys(keys.inventories)))
    for found in service.places.targets():
        if isinstance(found, FailedTarget):
            unnamed.append(found)
        elif found not in taken:
            missing.append(TargetItem.of(found))
    store.put(keys.unnamed, totals_out(Totals.of(unnamed)))
    store.put(keys.targets, json.dumps([item.model_dump() for item in missing]).encode())
    return missing


def planned_targets(store: RunStore, keys: RunKeys) -> list[Target]:
    """The targets that the last plan wanted the inventory of."""
    content = store.get(keys.targets)
    return [TargetItem.model_validate(item).target for item in json.loads(content or b"[]")]
