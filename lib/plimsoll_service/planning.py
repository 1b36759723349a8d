"""The plan of an audit: whether it goes on now, its accounts, and the batches it audits next.

A run's order is fixed when it is begun, so that every part of it decides by the same.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from plimsoll.clouds.published import published_types
from plimsoll.clouds.registry import AWS, GOOGLE
from plimsoll.decide.offers import check_types
from plimsoll.jobs.document import StoredDocument
from plimsoll.model.policy import Policy
from plimsoll.orders import Order
from plimsoll.policy_file import dump_policy, parse_policy
from plimsoll.ports import FailedTarget, RunStore
from plimsoll.reports.totals import RunTotals
from plimsoll_service.config import ServiceConfig
from plimsoll_service.lots import lots_of
from plimsoll_service.service import Service
from plimsoll_service.shards import plan_shards, take_apart
from plimsoll_service.step_messages import AccountItem, AuditPlan, Pending, PendingMessage, PlanMessage
from plimsoll_service.store_keys import RunKeys
from plimsoll_service.streams import put_items, read_items


class RunOrder(BaseModel):
    """The order for a run: its scope, its policy, and its time."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    run_id: str
    now: datetime
    scope: Mapping[str, Any]
    policy: Mapping[str, Any]

    @property
    def parsed_policy(self) -> Policy:
        return parse_policy(self.policy)

    def order_in(self, folder: Path) -> Order:
        """The order of a run in a folder that holds this run, or a part of it, under its name."""
        return Order(folder=folder / self.run_id, scope=self.scope, policy=self.parsed_policy, now=self.now)


def order_of(store: RunStore, run_id: str) -> RunOrder:
    """The order of a run. Raises BadInput if it was never begun."""
    return _order_document(run_id).require(store)


def begin_run(store: RunStore, config: ServiceConfig, run_id: str, started: datetime) -> RunOrder:
    """Begins a run of a configuration; one that was begun before keeps its order."""
    document = _order_document(run_id)
    order = RunOrder(run_id=run_id, now=started, scope=_scope(config), policy=dump_policy(config.parsed_policy))
    return document.get(store) or document.put(store, order)


def _order_document(run_id: str) -> StoredDocument[RunOrder]:
    return StoredDocument(RunKeys(run_id).order, RunOrder, noun=f"run {run_id} at")


def plan(service: Service, message: PlanMessage) -> AuditPlan:
    """Plans an audit, or goes on with one that was begun under the same name; only missing parts are planned again.

    No account is entered: each is an item of the map that takes their inventories. Raises BadInput for a region that
    does not exist, PolicyError for a policy that names a type that does not.
    """
    keys = RunKeys(run_id=message.run_id)
    busy = service.executions.older(message.execution, message.started)
    if busy is not None:
        return AuditPlan(
            run_id=message.run_id,
            state=service.config.when_busy,
            busy_with=busy,
            accounts_key=keys.accounts,
            accounts=0,
        )
    order = begin_run(service.store, service.config, message.run_id, message.started)
    check_types(order.parsed_policy, published_types())
    _try_again(service.store, keys)
    missing = _list_missing(service, keys)
    return AuditPlan(run_id=message.run_id, state="go", busy_with=None, accounts_key=keys.accounts, accounts=missing)


def find_pending(service: Service, message: PendingMessage) -> Pending:
    """Lists batches without a whole answer and without a failure in this attempt, in lots for the next map.

    A batch that one function could not finish in its time is listed again. If no batch is left, the shards are listed
    in which the answers are combined.
    """
    store, keys = service.store, RunKeys(run_id=message.run_id)
    ended = {*keys.answered_batches(store), *keys.failed_batches(store)}
    pending = {batch: size for batch, size in keys.listed_batches(store).items() if batch not in ended}
    lots = lots_of(pending, at_once=message.at_once, alone=keys.batches_alone(store))
    put_items(store, keys.pending, lots)
    day = order_of(store, message.run_id).now.date()
    return Pending(
        run_id=message.run_id,
        pending_key=keys.pending,
        pending=len(pending),
        shards_key=keys.shards_to_combine,
        shards=0 if pending else plan_shards(store, keys, day),
    )


def _try_again(store: RunStore, keys: RunKeys) -> None:
    """Lets failed parts of an earlier attempt be asked again; answers stay.

    A batch with volumes that failed counts as answered until this takes its result away.
    """
    incomplete = keys.incomplete_batches(store)
    take_apart(store, keys, incomplete)
    for batch in incomplete:
        store.delete(keys.result(batch))
    for key in list(store.keys(keys.failures)):
        store.delete(key)


def _list_missing(service: Service, keys: RunKeys) -> int:
    """Keeps a list of accounts with a target without an inventory, for the map, and returns their number."""
    store, unnamed, missing = service.store, list[FailedTarget](), list[str]()
    whole = keys.complete_accounts(store)
    for account in service.places.accounts():
        if isinstance(account, FailedTarget):
            unnamed.append(account)
        elif account not in whole:
            missing.append(account)
    StoredDocument(keys.unnamed, RunTotals).put(store, RunTotals.add_up(unnamed))
    put_items(store, keys.accounts, (AccountItem(account=account) for account in missing))
    return len(missing)


def planned_accounts(store: RunStore, keys: RunKeys) -> Iterator[str]:
    """The accounts whose inventory the last plan wanted."""
    return (item.account for item in read_items(store, keys.accounts, AccountItem))


def _scope(config: ServiceConfig) -> dict[str, Any]:
    """The accounts and regions in scope, as the command line notes them of its runs."""
    return {
        "profiles": [],
        "role_arns": [],
        "asks_external_id": config.external_id is not None,
        "organization": config.organization,
        "units": list(config.organizational_units),
        "accounts": list(config.accounts),
        "role_name": config.role_name,
        "regions": [*config.regions, *config.google_regions],
        "prices": None,
        "clouds": [AWS, GOOGLE] if config.audits_google else [AWS],
        "projects": list(config.google_projects),
        "folders": list(config.google_folders),
        "google_organizations": list(config.google_organizations),
    }
