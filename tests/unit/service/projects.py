"""A cloud of projects beside one of accounts, both in memory, as the service enters them."""

from dataclasses import dataclass, replace

from plimsoll.ports import Target
from plimsoll_service.bootstrap.service import PlacesByCloud
from tests.builders import TYPES, US_EAST_1, a_host, a_volume
from tests.in_memory.ports import MemoryCatalog, MemoryPrices
from tests.unit.service.places import MemoryPlaces, places_of, volumes

PROJECT = "storage-prod"
REGION = "us-central1"
THERE = Target(account=PROJECT, region=REGION, provider="google")


def disks(count, project=PROJECT, region=REGION, **fields):
    """Disks that are each alone on an instance; their ids are numbers."""
    return [
        a_volume(
            "gp2",
            500,
            id=f"{len(project)}00000000000000{number:02d}",
            on=a_host(id=f"1{number:03d}"),
            region=region,
            account=project,
            **fields,
        )
        for number in range(count)
    ]


@dataclass(slots=True, kw_only=True)
class Projects:
    """Places in memory whose targets are of Google's cloud."""

    inside: MemoryPlaces

    def accounts(self):
        return self.inside.accounts()

    def targets(self, account):
        return [replace(one, provider="google") for one in self.inside.targets(account)]

    def ports(self, target, *, now, measured, ledger, sharing=1):
        assert target.provider == "google"
        return replace(
            self.inside.ports(target, now=now, measured=measured, ledger=ledger),
            catalog=MemoryCatalog(types=TYPES, provider="google"),
            prices=MemoryPrices(books={REGION: replace(US_EAST_1, region=REGION)}),
        )

    def bench(self, target):
        raise AssertionError(f"nothing is measured in {target}")

    def prober(self, target):
        raise AssertionError(f"nothing is probed in {target}")


def both(given=None, *, accounts=None, **facts):
    """Places of an account with volumes and of projects with disks."""
    projects = Projects(inside=places_of(disks(2) if given is None else given, **facts))
    return PlacesByCloud(clouds={"aws": places_of(volumes(2) if accounts is None else accounts), "google": projects})
