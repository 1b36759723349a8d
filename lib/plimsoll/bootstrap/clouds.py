"""The ports of an audit over the accounts of a scope."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap.books import change_ledger, probe_book, stripe_book, validation_book
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.clouds.cloud import Connection
from plimsoll.clouds.ledger import Ledger, NotedInventory
from plimsoll.clouds.published import published_types, query_cost_of
from plimsoll.clouds.registry import CLOUDS
from plimsoll.clouds.scope import Scope
from plimsoll.domain.risk.table import LearnedTable
from plimsoll.learned_table import kept_table, load_table
from plimsoll.ports import Bench, Inventory, Metrics, Prices
from plimsoll.settings import Settings

LEARNED: Final = "learned.json"
LEARNED_HERE: Final = "learned-here.json"
"""A learned table of one's own, and the one that runs have learned by themselves, in the folder of runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCloud:
    """A cloud over the accounts of a scope: the ports of its audit, and what else is reached there."""

    ports: AuditPorts
    connection: Connection

    @property
    def bench(self) -> Bench:
        """Where volumes are measured."""
        return self.connection.bench()


def open_clouds(
    scope: Scope,
    settings: Settings,
    *,
    today: date,
    ledger: Ledger | None = None,
    paced: bool = True,
    log_days: float = 0.0,
) -> Iterator[OpenCloud]:
    """Each cloud of a scope, in the scope's order, by that ledger of changes (None: the one in the folder of runs).

    BadInput for a region, an account or a price file that cannot be used. `paced`: keep to the quotas; a
    simulated cloud may have none. `log_days` is how far back the clouds' own logs of changes are read.
    """
    known = change_ledger(settings) if ledger is None else ledger
    for name in scope.clouds:
        alone = replace(scope, clouds=(name,), regions=scope.regions_of(name))
        connection = CLOUDS[name].connect(alone, settings, today=today, paced=paced, log_days=log_days)
        yield OpenCloud(ports=connected_ports(name, connection, settings, known), connection=connection)


def ports_of(
    scope: Scope,
    settings: Settings,
    *,
    today: date,
    ledger: Ledger | None = None,
    paced: bool = True,
    log_days: float = 0.0,
) -> list[AuditPorts]:
    """The ports of each cloud of a scope, in the scope's order; errors as of `open_clouds`."""
    opened = open_clouds(scope, settings, today=today, ledger=ledger, paced=paced, log_days=log_days)
    return [one.ports for one in opened]


def connected_ports(cloud: str, connection: Connection, settings: Settings, ledger: Ledger) -> AuditPorts:
    """The ports of a cloud over a connection, with the changes that the ledger knows."""
    inventory = NotedInventory(inventory=connection.inventory, ledger=ledger)
    return audit_ports(cloud, inventory, connection.metrics, connection.prices, settings)


def measured_again(ports: AuditPorts, settings: Settings) -> AuditPorts:
    """The same ports with all that has been measured by now."""
    return replace(
        ports,
        envelopes=tuple(envelope_library(settings.measured_dir, settings.measured_at).envelopes.values()),
        failed_measurements=validation_book(settings).failed_measurements(),
    )


def own_or_public(settings: Settings) -> LearnedTable:
    """The learned table that promises rest on: one's own where there is one, else that of public fleets.

    One's own is the table that the settings name. Else it is what `plimsoll learn` left in the folder of runs. Else it
    is what the runs there have learned by themselves. BadInput for a table that a person gave and that cannot be used.
    """
    named, here = settings.learned_table or settings.runs_dir / LEARNED, settings.runs_dir / LEARNED_HERE
    if settings.learned_table is not None or named.exists():
        return load_table(named)
    learned = kept_table(here)
    return load_table() if learned is None else learned


def audit_ports(cloud: str, inventory: Inventory, metrics: Metrics, prices: Prices, settings: Settings) -> AuditPorts:
    """The ports of a cloud with what has been measured by now."""
    return AuditPorts(
        inventory=inventory,
        metrics=metrics,
        prices=prices,
        catalog=CLOUDS[cloud].published.catalog,
        envelopes=tuple(envelope_library(settings.measured_dir, settings.measured_at).envelopes.values()),
        query_cost=query_cost_of(cloud, settings),
        failed_measurements=validation_book(settings).failed_measurements(),
        stripes=stripe_book(settings).sets,
        sold_elsewhere=frozenset(published_types()),
        learned=own_or_public(settings),
        denied_places_expected=settings.denied_places_expected,
        seen=probe_book(settings).latest_of_each(),
    )
