"""The composition root: the only place that chooses which implementation fulfills which port."""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path

from plimsoll.auditing.ports import AuditPorts
from plimsoll.clouds.cloud import Connection
from plimsoll.clouds.folder import FileClaims, FolderStore
from plimsoll.clouds.ledger import Ledger, NotedInventory
from plimsoll.clouds.probe_book import ProbeBook
from plimsoll.clouds.published import host_cap, published_types, query_cost_of
from plimsoll.clouds.recorder import RecordedPorts, Recorder
from plimsoll.clouds.recording import open_recording
from plimsoll.clouds.registry import AWS as AWS
from plimsoll.clouds.registry import CLOUDS
from plimsoll.clouds.registry import GOOGLE as GOOGLE
from plimsoll.clouds.scope import Scope as Scope
from plimsoll.clouds.stripes import StripeBook
from plimsoll.clouds.validation_book import ValidationBook
from plimsoll.domain.errors import BadInput
from plimsoll.domain.metrics.sums import Window
from plimsoll.domain.policy import Policy
from plimsoll.domain.risk.table import LearnedTable
from plimsoll.domain.units import HOUR_S
from plimsoll.envelopes.library import EnvelopeLibrary, load_library, shipped_campaigns
from plimsoll.learned_table import load_table, table_or_none
from plimsoll.ports import Bench, Claims, Clock, Inventory, Metrics, Prices, RunStore
from plimsoll.reports.record import RecommendationRecord
from plimsoll.settings import Settings
from plimsoll.validation.job import JOBS
from plimsoll.validation.patience import Patience

LEDGER = "ledger.json"
STRIPES = "stripes.json"
LEARNED = "learned.json"
LEARNED_HERE = "learned-here.json"
"""The ledger of changes, the book of stripe sets, a learned table of one's own, and the one that runs have learned by
themselves, in the folder of runs."""
CLAIMS = "claims"
"""The folder of claims, in the folder of what was measured."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """The present, in UTC."""
        return datetime.now(UTC)


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
    return _ports(cloud, inventory, connection.metrics, connection.prices, settings)


def recorded_ports(path: Path, settings: Settings) -> tuple[list[AuditPorts], datetime]:
    """The ports of each cloud that a recording has, and when it was made; BadInput for a file that is no recording."""
    recordings = open_recording(path)
    for recording in recordings:
        if recording.provider not in CLOUDS:
            raise BadInput(
                f"{recording.path} is a recording of the cloud {recording.provider!r}, which Plimsoll "
                f"{version('plimsoll')} does not know: it was made by version {recording.version}; decide by that one."
            )
    ports = [replace(_ports(one.provider, one, one, one, settings), every_minute=True) for one in recordings]
    return ports, recordings[0].now


def recording_ports(ports: AuditPorts, recorder: Recorder) -> AuditPorts:
    """The same ports, recorded as they are read: every minute, so that another policy can decide by it as well."""
    through = RecordedPorts(
        inventory=ports.inventory,
        metrics=ports.metrics,
        prices=ports.prices,
        recorder=recorder,
        provider=ports.catalog.provider,
    )
    return replace(ports, inventory=through, metrics=through, prices=through, every_minute=True)


def measured_again(ports: AuditPorts, settings: Settings) -> AuditPorts:
    """The same ports with all that has been measured by now."""
    return replace(
        ports,
        envelopes=tuple(envelope_library(settings.measured_dir).envelopes.values()),
        failed_measurements=validation_book(settings).failed_measurements(),
    )


def envelope_library(measured: Path | None = None) -> EnvelopeLibrary:
    """Every measured campaign that ships, and those measured here, in that folder."""
    return load_library([measured] if measured else [], published_types(), host_cap, beside=_shipped_library())


@cache
def _shipped_library() -> EnvelopeLibrary:
    """What ships does not change while this runs, and every target of an organization wants it."""
    return load_library([shipped_campaigns()], published_types(), host_cap)


def own_or_public(settings: Settings) -> LearnedTable:
    """What was learned of a fleet of one's own: the table that the settings name, or that `plimsoll learn` left in the
    folder of runs, or that the runs there have learned by themselves; else what public fleets showed. BadInput for a
    table of people's that cannot be used."""
    named, here = settings.learned_table or settings.runs_dir / LEARNED, settings.runs_dir / LEARNED_HERE
    if settings.learned_table is not None or named.exists():
        return load_table(named)
    learned = table_or_none(here.read_text(encoding="utf-8", errors="replace") if here.exists() else None)
    return load_table() if learned is None else learned


def validation_book(settings: Settings) -> ValidationBook:
    """The book of validations."""
    return ValidationBook(folder=settings.measured_dir)


def probe_book(settings: Settings) -> ProbeBook:
    """The book of probes."""
    return ProbeBook(folder=settings.measured_dir)


def probe_store(settings: Settings) -> RunStore:
    """The documents of probes that are under way."""
    return FolderStore(settings.runs_dir)


def change_ledger(settings: Settings) -> Ledger:
    """The ledger of changes; BadInput where it is damaged."""
    return Ledger.at(settings.runs_dir / LEDGER)


def stripe_book(settings: Settings) -> StripeBook:
    """The book of stripe sets; BadInput where it is damaged."""
    return StripeBook.load(settings.runs_dir / STRIPES)


def validation_claims(settings: Settings) -> Claims:
    """Who is measuring which class of volumes now."""
    return FileClaims(folder=settings.measured_dir / CLAIMS)


def validation_jobs(settings: Settings) -> RunStore:
    """The documents of validations that are under way, or whose process was killed."""
    for emptied in (settings.runs_dir / JOBS).glob("*"):
        with suppress(OSError):  # one that is not empty, or that another process removed
            if time.time() - emptied.stat().st_mtime > HOUR_S:
                emptied.rmdir()
    return FolderStore(settings.runs_dir)


def patience_of(settings: Settings) -> Patience:
    """How long a bench is waited for."""
    return Patience.of(settings, now=clock().now, pause=time.sleep)


def console_link(volume: RecommendationRecord, policy: Policy, now: datetime) -> str:
    """Where the volume's demand over the policy's window can be seen in its cloud's own console.

    Empty for a cloud that is not in the registry: a record may be from another version.
    """
    cloud = CLOUDS.get(volume.provider)
    if cloud is None:
        return ""
    window = Window.before(now, days=policy.lookback_days)
    return cloud.published.console_link(volume, window, policy.resolution_s)


def clock() -> Clock:
    """The clock that runs go by."""
    return SystemClock()


def _ports(cloud: str, inventory: Inventory, metrics: Metrics, prices: Prices, settings: Settings) -> AuditPorts:
    """The ports of a cloud with what has been measured by now."""
    return AuditPorts(
        inventory=inventory,
        metrics=metrics,
        prices=prices,
        catalog=CLOUDS[cloud].published.catalog,
        envelopes=tuple(envelope_library(settings.measured_dir).envelopes.values()),
        query_cost=query_cost_of(cloud, settings),
        failed_measurements=validation_book(settings).failed_measurements(),
        stripes=stripe_book(settings).sets,
        sold_elsewhere=frozenset(published_types()),
        learned=own_or_public(settings),
        seen=probe_book(settings).latest_of_each(),
    )
