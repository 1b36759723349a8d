"""The order of a run of the service: fixed when it is begun, so that every part of it decides by the same."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from plimsoll.clouds.registry import AWS, GOOGLE
from plimsoll.domain.errors import BadInput
from plimsoll.domain.policy import Policy
from plimsoll.policy_file import dump_policy, parse_policy
from plimsoll.ports import RunStore
from plimsoll.run import Order
from plimsoll.service.config import ServiceConfig
from plimsoll.service.store_keys import RunKeys


class RunOrder(BaseModel):
    """What a run is to do: which accounts, by which policy, and as of when."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run_id: str
    now: datetime
    scope: Mapping[str, Any]
    policy: Mapping[str, Any]

    @property
    def parsed_policy(self) -> Policy:
        """The policy that is decided by."""
        return parse_policy(self.policy)

    def into(self, folder: Path) -> Order:
        """The order of a run into a folder in which this run, or a part of it, is kept under its name."""
        return Order(
            folder=folder / self.run_id,
            scope=self.scope,
            policy=self.parsed_policy,
            now=self.now,
        )


def kept_order(store: RunStore, run_id: str) -> RunOrder | None:
    """The order of a run that was begun, None where none was."""
    content = store.get(RunKeys(run_id=run_id).order)
    return None if content is None else RunOrder.model_validate_json(content)


def order_of(store: RunStore, run_id: str) -> RunOrder:
    """The order of a run; BadInput where it was never begun."""
    order = kept_order(store, run_id)
    if order is None:
        raise BadInput(f"there is no run {run_id}, or its work is gone after its month: begin a new audit.")
    return order


def begin(store: RunStore, config: ServiceConfig, run_id: str, started: datetime) -> RunOrder:
    """Begins a run of that configuration; one that was begun before keeps its order."""
    order = kept_order(store, run_id)
    if order is None:
        order = RunOrder(run_id=run_id, now=started, scope=_scope(config), policy=dump_policy(config.parsed_policy))
        store.put(RunKeys(run_id=run_id).order, order.model_dump_json().encode())
    return order


def _scope(config: ServiceConfig) -> dict[str, Any]:
    """Which accounts and regions were meant, as the command line notes it of its runs."""
    return {
        "profiles": [],
        "role_arns": [],
        "external_id": config.external_id,
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
