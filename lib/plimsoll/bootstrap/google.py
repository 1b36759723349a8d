"""The ports behind Google Cloud's APIs. Only a run that asks Google imports this: its libraries are slow to import."""

import math
from datetime import date
from pathlib import Path

from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap.measured import envelope_library, validation_book
from plimsoll.bootstrap.scope import GOOGLE, Scope
from plimsoll.clouds.google.audited import inventory_in
from plimsoll.clouds.google.catalog import GoogleCatalog
from plimsoll.clouds.google.clients import Clients
from plimsoll.clouds.google.held import Held
from plimsoll.clouds.google.inventory import GoogleInventory
from plimsoll.clouds.google.metrics import GoogleMetrics
from plimsoll.clouds.google.price_book import shipped_prices
from plimsoll.clouds.google.prices import GooglePrices
from plimsoll.clouds.google.query_cost import query_cost
from plimsoll.clouds.ledger import Ledger, NotedInventory
from plimsoll.clouds.pacing import Pacer
from plimsoll.clouds.price_file import load_prices
from plimsoll.clouds.published import published_types
from plimsoll.domain.errors import CloudError
from plimsoll.ports import FailedTarget
from plimsoll.settings import Settings


def google_ports(
    scope: Scope,
    settings: Settings,
    *,
    today: date,
    ledger: Ledger,
    paced: bool = True,
    clients: Clients | None = None,
) -> AuditPorts:
    """The ports behind Google's APIs; BadInput for a project that cannot be one, or a price file that is none.

    `paced`: keep to the quota of calls; simulated projects may have none. `clients`: those to ask by, where they are
    made already.
    """
    asked = clients or Clients(
        url=settings.google_url, monitoring=settings.google_monitoring, attempts=settings.max_attempts
    )
    reckoned = query_cost(settings)
    return AuditPorts(
        inventory=NotedInventory(inventory=_inventory(asked, scope), ledger=ledger),
        metrics=GoogleMetrics(
            clients=asked,
            calls=Pacer(reckoned.calls_per_s if paced else math.inf),
            parallel=settings.parallel_calls,
            query_cost=reckoned,
            held=Held(clients=asked),
        ),
        prices=GooglePrices(
            shipped=load_prices(Path(scope.prices)) if scope.prices else shipped_prices(),
            clients=None if scope.prices else asked,
            today=today,
        ),
        catalog=GoogleCatalog(),
        envelopes=tuple(envelope_library(settings.measured_dir).envelopes.values()),
        query_cost=reckoned,
        failed_measurements=validation_book(settings).failed_measurements(),
        sold_elsewhere=frozenset(published_types()),
    )


def _inventory(clients: Clients, scope: Scope) -> GoogleInventory:
    """The inventory of the scope; where no project can be told, of none, with why: other clouds of the same run are
    read all the same."""
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
