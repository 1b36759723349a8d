"""Places in memory, and volumes for them: what the service's parts are tried on without a cloud."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

from plimsoll.auditing.ports import AuditPorts
from plimsoll.clouds.ledger import NotedInventory
from plimsoll.clouds.stripe_book import StripeBook
from plimsoll.model.errors import CloudError
from plimsoll.ports import FailedTarget
from plimsoll_service.config import ServiceConfig
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
    """One ports of volumes in memory, entered account by account; `locked` targets cannot be entered at all.

    `lost` accounts cannot even be entered to find their targets. `entered` are the accounts that were, in order.
    """

    inventory: MemoryInventory
    metrics: CountedMetrics
    locked: dict[object, CloudError] = field(default_factory=dict)
    lost: dict[str, CloudError] = field(default_factory=dict)
    entered: list[str] = field(default_factory=list)
    denied_places_expected: bool = False

    def accounts(self):
        found = self.inventory.targets()
        named = dict.fromkeys(one.account for one in found if not isinstance(one, FailedTarget))
        return [*named, *self.lost, *(one for one in found if isinstance(one, FailedTarget))]

    def targets(self, account):
        self.entered.append(account)
        if account in self.lost:
            return [FailedTarget(name=f"the role of {account}", error=self.lost[account])]
        found = (one for one in self.inventory.targets() if not isinstance(one, FailedTarget))
        return [one for one in found if one.account == account]

    def ports(self, target, *, now, measured, ledger, sharing=1):
        if target in self.locked:
            raise self.locked[target]
        return AuditPorts(
            query_cost=a_tariff(),
            inventory=NotedInventory(inventory=self.inventory, ledger=ledger),
            metrics=replace(self.metrics, usage=replace(self.metrics.usage)),
            prices=MemoryPrices(books={"us-east-1": US_EAST_1}),
            catalog=MemoryCatalog(types=TYPES, provider="aws"),
            envelopes=(),
            denied_places_expected=self.denied_places_expected,
            stripes=StripeBook.load(measured / "stripes.json").sets,
        )

    def bench(self, target):
        raise AssertionError(f"nothing is measured in {target}")

    def prober(self, target):
        raise AssertionError(f"nothing is probed in {target}")


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


def places_of(given, *, broken_metrics=None, locked=None, lost=None, **inventory):
    start_s = int((NOW - timedelta(days=DAYS)).timestamp())
    sums = some_sums(start_s=start_s, buckets=DAYS * 1440, read_ops=60 * 200.0, read_bytes=60 * 4.0 * 2**20)
    return MemoryPlaces(
        inventory=MemoryInventory(given=given, **inventory),
        metrics=CountedMetrics(given={volume.id: sums for volume in given}, broken=broken_metrics or {}),
        locked=locked or {},
        lost=lost or {},
    )


def service_of(places, folder, **config):
    return a_service(ServiceConfig.parse({"policy": {"lookback_days": DAYS}, **config}), places, folder, NOW)
