"""An audit of simulated clouds in this process, at a time of the test's choosing."""

import os
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from cloud_simulator.running import Running, RunningProjects
from plimsoll.bootstrap.clouds import ports_of
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.registry import AWS, GOOGLE
from plimsoll.clouds.scope import Scope
from plimsoll.model.policy import Policy
from plimsoll.orders import Order
from plimsoll.run import carry_out
from plimsoll.settings import Settings


def audited(
    organization: Running,
    folder: Path,
    now: datetime,
    policy: Policy | None = None,
    *,
    every_minute: bool = False,
    prices: str | None = None,
) -> dict[str, Any]:
    """Audits an organization by the ordinary path over HTTP into a folder, and gives run.json's content."""
    scope = Scope(role_arns=organization.role_arns, regions=organization.fleet.regions, prices=prices)
    order = Order(folder=folder, scope={}, policy=policy or Policy(), now=now, every_minute=every_minute)
    return _carried_out(order, scope, organization.environment)


def audited_projects(
    projects: RunningProjects, folder: Path, now: datetime, policy: Policy | None = None
) -> dict[str, Any]:
    """As `audited`, of Google's projects, over HTTP and gRPC."""
    order = Order(folder=folder, scope={}, policy=policy or Policy(), now=now)
    return _carried_out(order, Scope(clouds=(GOOGLE,), projects=projects.projects), projects.environment)


def audited_both(
    organization: Running, projects: RunningProjects, folder: Path, now: datetime, policy: Policy | None = None
) -> dict[str, Any]:
    """As `audited`, of both in one run."""
    scope = Scope(
        clouds=(AWS, GOOGLE),
        role_arns=organization.role_arns,
        regions=(*organization.fleet.regions, *projects.fleet.regions),
        projects=projects.projects,
    )
    order = Order(folder=folder, scope={}, policy=policy or Policy(), now=now)
    return _carried_out(order, scope, {**organization.environment, **projects.environment})


def _carried_out(order: Order, scope: Scope, environment: dict[str, str]) -> dict[str, Any]:
    with patch.dict(os.environ, environment):
        ledger = Ledger(path=order.folder / "ledger.json")
        worlds = ports_of(scope, Settings(), today=order.now.date(), ledger=ledger, paced=False)
        return carry_out(order, worlds, lambda _progress, _outcome: None)[0].plain
