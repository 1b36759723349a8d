"""A connection to Google Cloud: the projects of a scope, and the ports over them."""

from collections.abc import Sequence
from dataclasses import replace

from plimsoll.clouds.cloud import Connection, Reach
from plimsoll.clouds.common.answers import Waits
from plimsoll.clouds.common.calls import Pacer
from plimsoll.clouds.common.dated_data import given_prices
from plimsoll.clouds.registry import GOOGLE
from plimsoll.clouds.scope import Scope
from plimsoll.model.errors import CloudError
from plimsoll.ports import FailedTarget
from plimsoll.settings import Settings
from plimsoll_google.audit_log import REQUESTS_A_SECOND
from plimsoll_google.bench import GoogleBench
from plimsoll_google.catalog import query_cost
from plimsoll_google.clients import Clients
from plimsoll_google.inventory import AttachedPlaces, GoogleInventory
from plimsoll_google.metrics import GoogleMetrics
from plimsoll_google.prices import GooglePrices
from plimsoll_google.projects import projects_in


def connect_scope(reach: Reach) -> Connection:
    """The ports over every project of a scope. Raises BadInput for a project that cannot be one."""
    return google_connection(google_clients(reach.settings), reach)


def google_clients(settings: Settings) -> Clients:
    """The clients of this machine's credentials, or of the simulated cloud that the settings name."""
    return Clients(
        url=settings.google_url,
        monitoring=settings.google_monitoring,
        attempts=settings.max_attempts,
        list_deadline_s=settings.list_deadline_s,
        waits=Waits.of(settings),
    )


def google_connection(clients: Clients, reach: Reach) -> Connection:
    """The ports over the projects that these clients reach."""
    scope, settings = reach.scope, reach.settings
    log_pacer = Pacer(reach.limit_rate(REQUESTS_A_SECOND))
    return Connection(
        inventory=replace(_inventory(clients, scope), log_days=reach.log_days, log_pacer=log_pacer),
        metrics=google_metrics(clients, reach),
        prices=GooglePrices(
            shipped=given_prices(scope.prices, GOOGLE),
            clients=None if scope.prices else clients,
            today=reach.today,
        ),
        bench=lambda: GoogleBench(clients=clients, tags=settings.tags),
    )


def google_metrics(clients: Clients, reach: Reach) -> GoogleMetrics:
    """The metrics of the projects that these clients reach."""
    settings, reckoned = reach.settings, query_cost(reach.settings)
    return GoogleMetrics(
        clients=clients,
        calls=Pacer(reach.limit_rate(reckoned.calls_per_s / reach.sharing)),
        parallel=settings.parallel_calls,
        query_cost=reckoned,
        attached=AttachedPlaces(clients=clients),
        read_deadline_s=settings.read_deadline_s,
        most_calls=settings.metric_calls_a_run,
    )


def inventory_in(
    clients: Clients,
    *,
    projects: Sequence[str] = (),
    folders: Sequence[str] = (),
    organizations: Sequence[str] = (),
    regions: Sequence[str] = (),
) -> GoogleInventory:
    """The inventory of named projects and of those in folders and organizations, as `projects_in` lists them.

    No `regions` are all. A project that only lies in a folder or an organization may have Compute Engine switched off.
    """
    named = projects_in(clients, projects=projects) if projects or not (folders or organizations) else []
    below = projects_in(clients, folders=folders, organizations=organizations) if folders or organizations else []
    entries = [*named, *(entry for entry in below if entry not in named)]
    return GoogleInventory(
        clients=clients,
        projects=[entry for entry in entries if isinstance(entry, str)],
        regions=regions or None,
        failed=[entry for entry in entries if isinstance(entry, FailedTarget)],
        named=[entry for entry in named if isinstance(entry, str)],
    )


def _inventory(clients: Clients, scope: Scope) -> GoogleInventory:
    """The inventory of the scope. If its projects cannot be listed it is empty, with the reason.

    The other clouds of the same run are still read.
    """
    try:
        return inventory_in(
            clients,
            projects=scope.projects,
            folders=scope.folders,
            organizations=scope.google_organizations,
            regions=scope.regions_of(GOOGLE),
        )
    except CloudError as error:
        failed = FailedTarget(name="Google Cloud", error=error)
        return GoogleInventory(clients=clients, projects=(), failed=[failed])
