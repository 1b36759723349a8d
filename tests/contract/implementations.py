"""Every implementation of the ports that an audit reads from, each over a small ports of its own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from cloud_simulator.aws.organization import ACCOUNTS
from cloud_simulator.faults import Fault
from cloud_simulator.google.projects import GOOGLE_REGIONS as PROJECT_REGIONS
from cloud_simulator.google.projects import PROJECTS
from cloud_simulator.running import running, running_google
from plimsoll.clouds.aws.inventory import AwsInventory
from plimsoll.clouds.aws.metrics import AwsMetrics
from plimsoll.clouds.aws.prices import AwsPrices
from plimsoll.clouds.aws.sessions import Credential, Sessions
from plimsoll.clouds.common.calls import Pacer
from plimsoll.clouds.common.dated_data import shipped_prices
from plimsoll.clouds.recorder import RecordedPorts, Recorder
from plimsoll.clouds.recording import open_recording
from plimsoll.model.errors import AccessDenied, BadCredentials, CloudError
from plimsoll.model.volume import Volume, VolumeSpec, VolumeState
from plimsoll.ports import FailedTarget, Inventory, Metrics, Prices, Target
from plimsoll.reading.window import Window
from plimsoll_google.clients import Clients
from plimsoll_google.inventory import AttachedPlaces, GoogleInventory
from plimsoll_google.metrics import GoogleMetrics
from plimsoll_google.prices import GooglePrices
from tests.builders import US_EAST_1, a_host, a_tariff, a_volume, read, some_sums
from tests.in_memory.ports import MemoryInventory, MemoryMetrics, MemoryPrices

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
WINDOW = Window.before(NOW, days=2)
LATE = Window(start_s=WINDOW.start_s + 86_400, end_s=WINDOW.end_s)
READS = ((WINDOW, 60), (WINDOW, 300), (LATE, 60))
"""What the contract asks of metrics, so that a recording can hold it."""

HOME = Target(account=ACCOUNTS[0], region="us-east-1")
DENIED = Target(account=ACCOUNTS[1], region="us-east-1")
UNPRICED = Target(account=ACCOUNTS[0], region="mx-central-1")


def _gp3(iops: int) -> VolumeSpec:
    return VolumeSpec(type="gp3", size_gib=100, iops=iops, throughput_mib_s=125)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """One implementation of the three ports, and places of its ports: one that answers, one that may not be listed and
    one without prices; and two specs of which the second buys more."""

    inventory: Inventory
    metrics: Metrics
    prices: Prices
    home: Target = HOME
    denied: Target = DENIED
    unpriced: Target = UNPRICED
    less_and_more: tuple[VolumeSpec, VolumeSpec] = (_gp3(3000), _gp3(6000))


@contextmanager
def in_memory(_folder: Path) -> Iterator[Ports]:
    """The reference, over a few volumes of which one cannot be read and one was never measured."""
    buckets = WINDOW.buckets(60)
    random = np.random.default_rng(3)
    ops = random.integers(0, 9000, buckets).astype(np.float64)
    ops[random.integers(0, buckets, 90)] = np.nan
    sums = some_sums(
        start_s=WINDOW.start_s,
        read_ops=ops,
        write_ops=ops,
        read_bytes=ops * 4096,
        idle_s=ops / 9000 * 60,
        buckets=buckets,
    )
    place = {"account": HOME.account, "region": HOME.region}
    volumes = [
        a_volume("gp2", 300, id="vol-busy", **place),
        a_volume("gp3", 300, id="vol-new", on=a_host(id="i-2"), **place),
        a_volume("gp2", 100, id="vol-refused", on=a_host(id="i-3"), **place),
        a_volume("gp2", 100, id="vol-detached", on=(), **place),
        a_volume("gp2", 50, id="vol-elsewhere", account=HOME.account, region="eu-west-1"),
    ]
    yield Ports(
        inventory=MemoryInventory(
            given=volumes,
            unreachable=[FailedTarget(name="profile lost", error=BadCredentials("no usable credentials: sign in."))],
            broken={DENIED: AccessDenied(f"cannot read {DENIED}: not allowed.")},
            texts={HOME: ("another tool changes these volumes.",)},
        ),
        metrics=MemoryMetrics(
            given={"vol-busy": sums}, broken={"vol-refused": AccessDenied("cannot read vol-refused: not allowed.")}
        ),
        prices=MemoryPrices(books={"us-east-1": US_EAST_1}),
    )


@contextmanager
def recorded(folder: Path) -> Iterator[Ports]:
    """A recording of what the one in memory answers."""
    path = folder / "contract.zip"
    with in_memory(folder) as ports, Recorder(path, NOW, "1", {"aws": ports.metrics.retention_days}) as recorder:
        through = RecordedPorts(
            inventory=ports.inventory, metrics=ports.metrics, prices=ports.prices, recorder=recorder, provider="aws"
        )
        for target in [found for found in through.targets() if isinstance(found, Target)]:
            volumes, _ = listed(through, target)
            through.notices(target)
            through.book(target)
            for window, period_s in READS:
                read(through, volumes, window, period_s)
        through.book(UNPRICED)
    (recording,) = open_recording(path)
    yield Ports(inventory=recording, metrics=recording, prices=recording)


@contextmanager
def aws(_folder: Path) -> Iterator[Ports]:
    """The AWS adapter over the simulated organization, of which one account may not be listed."""
    faults = [Fault(code="UnauthorizedOperation", operation="DescribeVolumes", account=DENIED.account, status=403)]
    with running(NOW, faults=faults) as organization:
        before = dict(os.environ)
        os.environ.update(organization.environment)
        try:
            sessions = Sessions(attempts=2, connections=6)
            roles = [Credential(role_arn=arn) for arn in organization.role_arns]
            sessions.sign_in([Credential(), *roles, Credential(profile="lost")])
            yield Ports(
                inventory=AwsInventory(sessions=sessions, regions=organization.fleet.regions),
                metrics=AwsMetrics(
                    sessions=sessions, calls=Pacer(1e9), datapoints=Pacer(1e9), parallel=4, query_cost=a_tariff()
                ),
                prices=AwsPrices(shipped=shipped_prices("aws"), sessions=sessions, today=NOW.date()),
            )
        finally:
            os.environ.clear()
            os.environ.update(before)


@contextmanager
def google(_folder: Path) -> Iterator[Ports]:
    """Google's adapter over the simulated projects, of which one's disks may not be listed and one is none."""
    home, denied = (Target(account=name, region="europe-west1", provider="google") for name in PROJECTS[:2])
    faults = [Fault(code="PERMISSION_DENIED", operation="disks.aggregatedList", account=denied.account, status=403)]
    with running_google(NOW, faults=faults) as there:
        clients = Clients(url=there.url, monitoring=there.monitoring, attempts=2)
        lost = FailedTarget(name="folders/lost", error=AccessDenied("cannot list the projects of folders/lost: no."))
        try:
            yield Ports(
                inventory=GoogleInventory(
                    clients=clients, projects=there.projects, regions=PROJECT_REGIONS, failed=[lost]
                ),
                metrics=GoogleMetrics(
                    clients=clients,
                    calls=Pacer(1e9),
                    parallel=4,
                    query_cost=a_tariff(),
                    attached=AttachedPlaces(clients=clients),
                ),
                prices=GooglePrices(shipped=shipped_prices("google"), clients=clients, today=NOW.date()),
                home=home,
                denied=denied,
                unpriced=Target(account=home.account, region="antarctica-south1", provider="google"),
                less_and_more=(VolumeSpec(type="pd-ssd", size_gib=100), VolumeSpec(type="pd-ssd", size_gib=200)),
            )
        finally:
            clients.close()


def listed(inventory: Inventory, target: Target) -> tuple[list[Volume], CloudError | None]:
    """A target's volumes, and the error that ended them if one did."""
    found: list[Volume] = []
    try:
        found.extend(inventory.volumes(target))
    except CloudError as error:
        return found, error
    return found, None


def attached(volumes: list[Volume]) -> list[Volume]:
    """Those that are in use."""
    return [volume for volume in volumes if volume.state is VolumeState.IN_USE]
