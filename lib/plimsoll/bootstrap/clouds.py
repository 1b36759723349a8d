"""The ports of an audit over the accounts of a scope."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap.books import change_ledger, probe_book, stripe_book, validation_book
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.clouds.cloud import Connection, Reach, published_facts, scope_connector
from plimsoll.clouds.ledger import Ledger, NotedInventory
from plimsoll.clouds.published import published_types, query_cost_of
from plimsoll.clouds.registry import CLOUDS
from plimsoll.clouds.scope import Scope
from plimsoll.learned_table import kept_table, load_table
from plimsoll.model.envelope import Envelope
from plimsoll.ports import Bench, Inventory, Metrics, Prices
from plimsoll.risk.learn import LearnedTable
from plimsoll.settings import Settings

LEARNED_FILE: Final = "learned.json"
LEARNED_HERE_FILE: Final = "learned-here.json"
"""A learned table of one's own, and the one that runs have learned by themselves, in the folder of runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCloud:
    """A cloud over the accounts of a scope: the ports of its audit, and its connection."""

    ports: AuditPorts
    connection: Connection

    @property
    def bench(self) -> Bench:
        """The bench where volumes are measured."""
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
    """Each cloud of a scope, in the scope's order, with a ledger of changes (None: the one in the folder of runs).

    `paced`: keep to the quotas; a simulated cloud may have none. `log_days` is how far back the clouds' own logs of
    changes are read. Raises BadInput for a region, an account or a price file that cannot be used.
    """
    known = change_ledger(settings) if ledger is None else ledger
    for name in scope.clouds:
        alone = replace(scope, clouds=(name,), regions=scope.regions_of(name))
        reach = Reach(scope=alone, settings=settings, today=today, paced=paced, log_days=log_days)
        connection = scope_connector(CLOUDS[name])(reach)
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
    return [cloud.ports for cloud in opened]


def connected_ports(cloud: str, connection: Connection, settings: Settings, ledger: Ledger) -> AuditPorts:
    """The ports of a cloud over a connection, with the changes that the ledger knows."""
    inventory = NotedInventory(inventory=connection.inventory, ledger=ledger)
    return audit_ports(cloud, inventory, connection.metrics, connection.prices, settings)


def with_new_measurements(ports: AuditPorts, settings: Settings) -> AuditPorts:
    """The same ports with all measurements of now."""
    return replace(
        ports,
        envelopes=_envelopes_of(ports.catalog.provider, settings),
        failed_measurements=validation_book(settings).failed_measurements(),
    )


def _envelopes_of(cloud: str, settings: Settings) -> tuple[Envelope, ...]:
    return envelope_library(settings.measured_dir, settings.measured_at).envelopes_of(cloud)


def own_or_public(settings: Settings) -> LearnedTable:
    """The learned table that promises rest on: your own if there is one, else that of public fleets.

    Your own is the table that the settings name. Else it is the file that `plimsoll learn` left in the folder of runs.
    Else it is the table that the runs there have learned by themselves. Raises BadInput for a table that a person gave
    and that cannot be used.
    """
    named, here = settings.learned_table or settings.runs_dir / LEARNED_FILE, settings.runs_dir / LEARNED_HERE_FILE
    if settings.learned_table is not None or named.exists():
        return load_table(named)
    learned = kept_table(here)
    return load_table() if learned is None else learned


def audit_ports(cloud: str, inventory: Inventory, metrics: Metrics, prices: Prices, settings: Settings) -> AuditPorts:
    """The ports of a cloud with all measurements of now."""
    return AuditPorts(
        inventory=inventory,
        metrics=metrics,
        prices=prices,
        catalog=published_facts(CLOUDS[cloud]).catalog,
        envelopes=_envelopes_of(cloud, settings),
        query_cost=query_cost_of(cloud, settings),
        failed_measurements=validation_book(settings).failed_measurements(),
        stripes=stripe_book(settings).sets,
        sold_elsewhere=frozenset(published_types()),
        learned=own_or_public(settings),
        denied_places_expected=settings.denied_places_expected,
        seen=probe_book(settings).latest_of_each(),
    )
