"""What the third cloud publishes."""

from plimsoll.clouds.cloud import Published
from plimsoll.clouds.common.dated_data import volume_types
from tests.builders import a_tariff
from tests.in_memory.ports import MemoryCatalog

PUBLISHED_FACTS = Published(
    catalog=MemoryCatalog(types=volume_types("third"), provider="third"),
    query_cost=lambda _settings: a_tariff(),
    console_link=lambda volume, _window, _period_s: f"https://third.example/{volume.account}/{volume.volume_id}",
)
