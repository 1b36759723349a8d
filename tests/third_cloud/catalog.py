"""What the third cloud publishes."""

from dataclasses import replace

from plimsoll.clouds.cloud import Published
from tests.builders import TYPES, a_tariff
from tests.in_memory.ports import MemoryCatalog

_KINDS = [replace(kind, name=f"third-{name}") for name, kind in TYPES.items()]

PUBLISHED_FACTS = Published(
    catalog=MemoryCatalog(
        types={f"third-{name}": replace(kind, name=f"third-{name}") for name, kind in TYPES.items()}, provider="third"
    ),
    query_cost=lambda _settings: a_tariff(),
    console_link=lambda volume, _window, _period_s: f"https://third.example/{volume.account}/{volume.volume_id}",
)
