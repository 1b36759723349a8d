"""The plan of an audit: whether it goes on now, and which targets it takes the inventory of."""

import json

from plimsoll.clouds.published import published_types
from plimsoll.domain.offer import check_types
from plimsoll.ports import FailedTarget, RunStore, Target
from plimsoll.reports.totals import Totals
from plimsoll.service.kept import totals_out
from plimsoll.service.layout import RunKeys
from plimsoll.service.messages import AuditPlan, PlanMessage, TargetItem
from plimsoll.service.orders import begin
from plimsoll.service.service import Service


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
