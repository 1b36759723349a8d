"""Places in memory, and volumes for them: what the service's parts are tried on without a cloud."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

from plimsoll.auditing.ports import AuditPorts
from plimsoll.clouds.ledger import NotedInventory
from plimsoll.clouds.stripes import StripeBook
from plimsoll.domain.errors import CloudError
from plimsoll.service.config import ServiceConfig
from tests.builders import NOW, TYPES, US_EAST_1, a_host, a_tariff, a_volume, some_sums
from tests.in_memory.ports import MemoryCatalog, MemoryInventory, MemoryMetrics, MemoryPrices
from tests.service_loop import a_service

ACCOUNT = "111111111111"
DAYS = 2


@dataclass(slots=True)
class CountedMetrics(MemoryMetrics):
    """Metrics in memory that also know whose were asked for."""

    asked: list[str] = field(default_factory=list)

    def read(self, asks):
        self.asked += [ask.volume.id for ask in asks]
        return MemoryMetrics.read(self, asks)


@dataclass(slots=True, kw_only=True)
class MemoryPlaces:
    """One ports of volumes in memory, entered target by target; `locked` targets cannot be entered at all."""

    inventory: MemoryInventory
    metrics: CountedMetrics
    locked: dict[object, CloudError] = field(default_factory=dict)

    def targets(self):
        return self.inventory.targets()

    def ports(self, target, *, now, measured, ledger):
        if target in self.locked:
            raise self.locked[target]
        return AuditPorts(
            query_cost=a_tariff(),
            inventory=NotedInventory(inventory=self.inventory, ledger=ledger),
            metrics=replace(self.metrics, usage=replace(self.metrics.usage)),
            prices=MemoryPrices(books={"us-east-1": US_EAST_1}),
            catalog=MemoryCatalog(types=TYPES, provider="aws"),
            envelopes=(),
            stripes=StripeBook.load(measured / "stripes.json").sets,
        )

    def bench(self, target):
        raise AssertionError(f"nothing is measured in {target}")

    def prober(self, target):
        raise AssertionError(f"nothing is probed in {target}")

    def unmeasured(self, target):
        return None if target.provider == "aws" else f"nothing is measured in {target}"


def volumes(count, region="us-east-1", **fields):
    """Volumes that are each alone on a host."""
    return [
        a_volume(
            "gp2",
            500,
            id=f"vol-{region}-{number:03d}",
            on=a_host(id=f"i-{region}-{number}"),
            region=region,
            account=ACCOUNT,
            **fields,
        )
        for number in range(count)
    ]


def places_of(given, *, broken_metrics=None, locked=None, **inventory):
    start_s = int((NOW - timedelta(days=DAYS)).timestamp())
    sums = some_sums(start_s=start_s, buckets=DAYS * 1440, read_ops=60 * 200.0, read_bytes=60 * 4.0 * 2**20)
    return MemoryPlaces(
        inventory=MemoryInventory(given=given, **inventory),
        metrics=CountedMetrics(given={volume.id: sums for volume in given}, broken=broken_metrics or {}),
        locked=locked or {},
    )


def service_of(places, folder, **config):
    return a_service(ServiceConfig.parsed({"policy": {"lookback_days": DAYS}, **config}), places, folder, NOW)
