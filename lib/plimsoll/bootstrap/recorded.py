"""Worlds that a recording has, and audits that are recorded as they are read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Final

from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap.measured import envelope_library, validation_book
from plimsoll.clouds.aws.catalog import AwsCatalog
from plimsoll.clouds.google.catalog import GoogleCatalog
from plimsoll.clouds.published import published_types
from plimsoll.clouds.query_costs import query_cost_of
from plimsoll.clouds.recorder import Recorder, RecordingInventory, RecordingMetrics, RecordingPrices
from plimsoll.clouds.recording import Recording
from plimsoll.clouds.stripes import StripeBook
from plimsoll.domain.errors import BadInput
from plimsoll.ports import Catalog
from plimsoll.settings import Settings

_CATALOGS: Final[Mapping[str, type[Catalog]]] = {catalog().provider: catalog for catalog in (AwsCatalog, GoogleCatalog)}


def ports_recorded(recordings: Sequence[Recording], settings: Settings, stripes: StripeBook) -> list[AuditPorts]:
    """A ports for each cloud that a recording has, with what has been measured by now; BadInput for an unknown one."""
    for recording in recordings:
        if recording.provider not in _CATALOGS:
            raise BadInput(
                f"{recording.path} is a recording of the cloud {recording.provider!r}, which Plimsoll "
                f"{version('plimsoll')} does not know: it was made by version {recording.version}; decide by that one."
            )
    envelopes = tuple(envelope_library(settings.measured_dir).envelopes.values())
    return [
        AuditPorts(
            inventory=recording,
            metrics=recording,
            prices=recording,
            catalog=_CATALOGS[recording.provider](),
            envelopes=envelopes,
            query_cost=query_cost_of(recording.provider, settings),
            every_minute=True,
            failed_measurements=validation_book(settings).failed_measurements(),
            stripes=stripes.sets,
            sold_elsewhere=frozenset(published_types()),
        )
        for recording in recordings
    ]


def recording_ports(ports: AuditPorts, recorder: Recorder) -> AuditPorts:
    """The same ports, recorded as it is read: every minute, so that another policy can decide by it as well."""
    provider = ports.catalog.provider
    return replace(
        ports,
        inventory=RecordingInventory(inventory=ports.inventory, recorder=recorder, provider=provider),
        metrics=RecordingMetrics(metrics=ports.metrics, recorder=recorder),
        prices=RecordingPrices(prices=ports.prices, recorder=recorder),
        every_minute=True,
    )
