"""The accounts of the third cloud: one tenant with one volume that costs more than it needs."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from plimsoll.clouds.cloud import Connection
from tests.builders import US_EAST_1, a_host, a_volume, some_sums
from tests.in_memory.ports import MemoryInventory, MemoryMetrics, MemoryPrices

TENANT, REGION, DISK = "TENANT-1", "zone-north", "disk-1"
DAYS = 3


def connect_scope(reach):
    assert reach.scope.clouds == ("third",)
    today = reach.today
    start = datetime(today.year, today.month, today.day, tzinfo=UTC) - timedelta(days=DAYS)
    sums = some_sums(
        start_s=int(start.timestamp()), buckets=(DAYS + 1) * 1440, read_ops=60 * 200.0, read_bytes=60 * 4.0 * 2**20
    )
    volume = a_volume("gp2", 500, id=DISK, on=a_host(), account=TENANT, region=REGION)
    volume = replace(volume, spec=replace(volume.spec, type="third-gp2"))
    prices = {f"third-{name}": price for name, price in US_EAST_1.types.items()}
    return Connection(
        inventory=MemoryInventory(given=[volume], provider="third"),
        metrics=MemoryMetrics(given={DISK: sums}),
        prices=MemoryPrices(books={REGION: replace(US_EAST_1, region=REGION, types=prices)}),
        bench=lambda: None,
    )
