"""Projects of Google Cloud as the service enters them: by the credentials of its configuration, shared by a process."""

from collections.abc import Sequence
from datetime import date
from functools import cache
from typing import Any

from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap.clouds import connected_ports
from plimsoll.clouds.cloud import Reach
from plimsoll.clouds.common.answers import Waits
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.registry import GOOGLE
from plimsoll.clouds.scope import Scope
from plimsoll.ports import FailedTarget, Target
from plimsoll.settings import Settings
from plimsoll_google.clients import Clients, keyless_credentials
from plimsoll_google.connection import google_connection, inventory_in
from plimsoll_google.federation import FederationConfig
from plimsoll_google.inventory import GoogleInventory
from plimsoll_service.config import ServiceConfig


def clients_of(config: ServiceConfig, settings: Settings) -> Clients:
    """The clients by which the service enters projects. Raises BadInput if its credentials cannot be used."""
    where = (config.google_credentials, settings.google_url, settings.google_monitoring)
    return _clients(*where, settings.max_attempts, settings.list_deadline_s, Waits.of(settings))


def projects_of(config: ServiceConfig, settings: Settings) -> Sequence[str | FailedTarget]:
    """Every project of the configuration, and each one that cannot be listed with its reason.

    Raises CloudError, and BadInput for a region that does not exist, which the first project is asked for.
    """
    listed = inventory_in(
        clients_of(config, settings),
        projects=config.google_projects,
        folders=config.google_folders,
        organizations=config.google_organizations,
    )
    if config.google_regions and listed.projects:
        project_targets(listed.projects[0], config, settings)
    return [*listed.projects, *listed.failed]


def project_targets(project: str, config: ServiceConfig, settings: Settings) -> Sequence[Target | FailedTarget]:
    """The project in each of its regions, or why it cannot be entered. Raises CloudError.

    None if Compute Engine is switched off in a project that only lies in a folder or an organization.
    """
    inventory = GoogleInventory(
        clients=clients_of(config, settings),
        projects=[project],
        regions=config.google_regions or None,
        named=[name for name in config.google_projects if name == project],
    )
    return inventory.targets()


def project_ports(
    target: Target,
    config: ServiceConfig,
    settings: Settings,
    *,
    today: date,
    ledger: Ledger,
    paced: bool,
    sharing: int = 1,
) -> AuditPorts:
    """The ports of one project in one region; `sharing` processes share the project's quota."""
    scope = Scope(clouds=(GOOGLE,), projects=(target.account,), regions=(target.region,))
    log_days = config.parsed_policy.log_days
    reach = Reach(scope=scope, settings=settings, today=today, paced=paced, log_days=log_days, sharing=sharing)
    connection = google_connection(clients_of(config, settings), reach)
    return connected_ports(GOOGLE, connection, settings, ledger)


@cache
def _clients(
    credentials: FederationConfig | None,
    url: str | None,
    monitoring: str | None,
    attempts: int,
    list_deadline_s: float,
    waits: Waits,
) -> Clients:
    """The clients of a process, so that a token serves until it expires; a simulated project is shown none."""
    bounds: dict[str, Any] = {"attempts": attempts, "list_deadline_s": list_deadline_s, "waits": waits}
    if credentials is None or url is not None:
        return Clients(url=url, monitoring=monitoring, **bounds)
    signed_in, quota = keyless_credentials(credentials), credentials.quota_project_id
    return Clients(credentials=signed_in, quota_project=quota, **bounds)
