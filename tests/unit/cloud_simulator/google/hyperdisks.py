"""A project with one machine and the disks that a test wants there."""

from datetime import UTC, datetime

from cloud_simulator.google.fleet import GoogleFleet
from cloud_simulator.google.projects import GOOGLE_REGIONS, PROJECTS, DiskMaker
from plimsoll.ports import Target

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
HERE = Target(account=PROJECTS[0], region=GOOGLE_REGIONS[0], provider="google")
REQUEST, OTHER = (f"00000000-0000-4000-8000-00000000000{number}" for number in (1, 2))
HOST = {"vm": "cache", "type": "c3-standard-8"}
CACHE = {"disk": "cache-data", "spec": ["hyperdisk-balanced", 600, 9000, 400], "vm": "cache", "does": "steady"}
LOGS = {"disk": "logs", "spec": ["pd-ssd", 500], "vm": "cache", "does": "steady"}
LAKE = {"disk": "lake", "spec": ["hyperdisk-throughput", 4096, None, 200], "vm": "cache", "does": "steady"}
TWO_ZONES = {"disk": "pair", "spec": ["hyperdisk-balanced-high-availability", 100, 4000, 200]}


def a_fleet(*steps):
    maker = DiskMaker(NOW, HERE.account, HERE.region, 7)
    maker.lay_out([HOST, *steps])
    return GoogleFleet(now=NOW, accounts=PROJECTS, regions=GOOGLE_REGIONS, volumes=tuple(maker.disks))


def id_of(cloud, name="cache-data"):
    return next(disk.id for disk in cloud.fleet.volumes if disk.name == name)
