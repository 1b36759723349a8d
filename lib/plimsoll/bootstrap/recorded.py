"""Worlds that a recording has, and worlds that are recorded as they are read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Final

from plimsoll.audit import World
from plimsoll.bootstrap.measured import envelope_library, validation_book
from plimsoll.clouds.aws.catalog import AwsCatalog
from plimsoll.clouds.google.catalog import GoogleCatalog
from plimsoll.clouds.published import published_types
from plimsoll.clouds.recorder import Recorder, RecordingInventory, RecordingMetrics, RecordingPrices
from plimsoll.clouds.recording import Recording
from plimsoll.clouds.stripes import StripeBook
from plimsoll.clouds.tariffs import tariff_of
from plimsoll.domain.errors import BadInput
from plimsoll.ports import Catalog
from plimsoll.settings import Settings

_CATALOGS: Final[Mapping[str, type[Catalog]]] = {catalog().provider: catalog for catalog in (AwsCatalog, GoogleCatalog)}


def recorded_worlds(recordings: Sequence[Recording], settings: Settings, stripes: StripeBook) -> list[World]:
    """A world for each cloud that a recording has, with what has been measured by now; BadInput for an unknown one."""
    for recording in recordings:
        if recording.provider not in _CATALOGS:
            raise BadInput(
                f"{recording.path} is a recording of the cloud {recording.provider!r}, which Plimsoll "
                f"{version('plimsoll')} does not know: it was made by version {recording.version}; decide by that one."
            )
    envelopes = tuple(envelope_library(settings.measured_dir).envelopes.values())
    return [
        World(
            inventory=recording,
            metrics=recording,
            prices=recording,
            catalog=_CATALOGS[recording.provider](),
            envelopes=envelopes,
            tariff=tariff_of(recording.provider, settings),
            every_minute=True,
            refutations=validation_book(settings).refutations(),
            stripes=stripes.sets,
            sold_elsewhere=frozenset(published_types()),
        )
        for recording in recordings
    ]


def recording_world(world: World, recorder: Recorder) -> World:
    """The same world, recorded as it is read: every minute, so that another policy can decide by it as well."""
    provider = world.catalog.provider
    return replace(
        world,
        inventory=RecordingInventory(inventory=world.inventory, recorder=recorder, provider=provider),
        metrics=RecordingMetrics(metrics=world.metrics, recorder=recorder),
        prices=RecordingPrices(prices=world.prices, recorder=recorder),
        every_minute=True,
    )
