"""Small clouds for audits under faults: `python -m tests.faults.simulated aws|google NOW` serves one until its standard
input ends, and first prints where it is and what is in it."""

import json
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from cloud_simulator.aws.fleet import Fleet
from cloud_simulator.aws.organization import ACCOUNTS, AWS_REGIONS
from cloud_simulator.aws.volume_maker import VolumeMaker, change, gp2, gp3, io
from cloud_simulator.metrics.workloads import Archetype
from cloud_simulator.units import ago
from plimsoll.domain.volume import VolumeSpec


def organization(now: datetime) -> Fleet:
    """Two accounts in two regions: a volume of every kind whose answer differs, and as few of each as that takes."""
    places = [(account, region) for account in ACCOUNTS[:2] for region in AWS_REGIONS]
    makers = [VolumeMaker(now, account, region, 700 + index) for index, (account, region) in enumerate(places)]
    for maker, scene in zip(makers, (_home, _shared, _plain, _odd), strict=True):
        scene(maker)
    return Fleet(
        now=now,
        accounts=ACCOUNTS[:2],
        regions=AWS_REGIONS,
        volumes=tuple(volume for maker in makers for volume in maker.volumes),
        automated=frozenset({ACCOUNTS[1]}),
    )


def _home(maker: VolumeMaker) -> None:
    maker.volume(gp2(500), Archetype.DIURNAL, "app", low=120, high=1200)
    maker.volume(gp2(1500), Archetype.NIGHTLY, "batch", low=40, high=1900)
    maker.volume(gp2(334), Archetype.BURSTS, "bursts", low=20, high=700)
    maker.volume(io("io2", 800, 12_000), Archetype.STEADY, "orders-db", low=150, high=900)
    maker.volume(io("io1", 1000, 30_000), Archetype.DIURNAL, "ledger-db", low=2000, high=9000)
    maker.volume(gp3(600, 12_000, 500), Archetype.DIURNAL, "cache", low=100, high=2200)
    maker.volume(gp3(200), Archetype.THROTTLED_IOPS, "queue", low=300)
    maker.volume(gp2(100), Archetype.STARVED, "jenkins", low=40)


def _shared(maker: VolumeMaker) -> None:
    small = maker.host("t3.medium")
    for part in ("a", "b", "c"):
        maker.volume(gp2(500), Archetype.HOST_BOUND, f"node-{part}", low=20, high=1320, io_kib=64, hosts=(small,))
    maker.volume(gp3(500, 6000, 125), Archetype.THROTTLED_THROUGHPUT, "media", low=20, io_kib=128)
    maker.volume(gp2(400), Archetype.STEADY, "stack", tags={"aws:cloudformation:stack-name": "billing"})


def _plain(maker: VolumeMaker) -> None:
    maker.volume(gp2(250), Archetype.STEADY, "web", low=20, high=200)
    maker.volume(gp2(2000), Archetype.SEQUENTIAL, "log-archive", low=8, high=760, io_kib=256)
    maker.volume(VolumeSpec(type="st1", size_gib=4000), Archetype.SEQUENTIAL, "hdfs", low=4, high=120, io_kib=1024)
    maker.volume(gp3(300, 3000, 125), Archetype.IDLE, "idle", high=80)


def _odd(maker: VolumeMaker) -> None:
    now, steady = maker.now, Archetype.STEADY
    both = maker.host(), maker.host()
    maker.volume(io("io2", 500, 6000), steady, "cluster-fs", high=900, hosts=both, multi_attach=True)
    maker.volume(gp2(700), None, "forgotten")
    maker.volume(gp2(300), steady, "young", created=ago(now, hours=10), attached=ago(now, hours=10))
    maker.volume(gp2(450), Archetype.GAPS, "patchy", low=40, high=300)
    maker.volume(gp2(900), steady, "left-alone", tags={"plimsoll:exclude": "true"})
    maker.volume(gp2(400), steady, "being-changed", modification=change("optimizing", ago(now, hours=2), 40))
    maker.volume(gp2(600), steady, "changed-yesterday", modification=change("completed", ago(now, hours=20), 100))
    maker.volume(gp2(120), steady, "managed", operator="eks.amazonaws.com")
    maker.volume(VolumeSpec(type="gp9", size_gib=100), steady, "from-the-future")


@contextmanager
def served_aws(now: datetime) -> Iterator[dict[str, Any]]:
    """The organization on loopback."""
    from cloud_simulator.aws.cloudwatch import CloudWatch
    from cloud_simulator.aws.server import Front, serve
    from cloud_simulator.devices.block_devices import Devices

    fleet = organization(now)
    front = Front(fleet, CloudWatch(fleet), devices=Devices(plain=True))
    server = serve(front)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield {"port": server.server_port}
    finally:
        front.close()


GOOGLE_SCENES: Sequence[Sequence[Mapping[str, Any]]] = (
    (
        {"vm": "shop-db", "type": "n2-standard-8", "boots": True},
        {"disk": "shop-db-a", "spec": ["pd-ssd", 200], "vm": "shop-db", "does": "diurnal", "low": 240, "high": 2400},
        {"disk": "shop-db-b", "spec": ["pd-ssd", 200], "vm": "shop-db", "does": "diurnal", "low": 90, "high": 900},
        {"disk": "left", "spec": ["pd-balanced", 300], "status": "READY"},
    ),
    (
        {"vm": "orders", "type": "n2-standard-64"},
        {"disk": "orders", "spec": ["pd-extreme", 1000, 20000], "vm": "orders", "does": "diurnal", "high": 4000},
        {"vm": "queue", "type": "c3-standard-8"},
        {"disk": "queue", "spec": ["hyperdisk-balanced", 200, 3000, 140], "vm": "queue", "does": "throttled-iops"},
    ),
    (
        {"vm": "journal", "type": "n1-standard-4"},
        {
            "disk": "journal",
            "spec": ["pd-standard", 600],
            "vm": "journal",
            "does": "throttled-iops",
            "read_share": 0.05,
        },
        {"vm": "patchy", "type": "e2-standard-4"},
        {"disk": "patchy", "spec": ["pd-balanced", 300], "vm": "patchy", "does": "with-gaps", "low": 40, "high": 300},
    ),
    (
        {"vm": "billing", "type": "n2-standard-8"},
        {"disk": "billing", "spec": ["regional-pd-ssd", 400], "vm": "billing", "does": "diurnal", "high": 1400},
        {"vm": "warehouse", "type": "n2-standard-2"},
        {
            "disk": "warehouse",
            "spec": ["pd-ssd", 2000],
            "vm": "warehouse",
            "does": "throttled-throughput",
            "io_kib": 256,
        },
    ),
)
"""Machines and disks of each project and region, as the simulator's own scenes describe them."""


@contextmanager
def served_google(now: datetime) -> Iterator[dict[str, Any]]:
    """Two projects on loopback."""
    from cloud_simulator.google.fleet import GoogleFleet
    from cloud_simulator.google.projects import GOOGLE_REGIONS, PROJECTS, DiskMaker
    from cloud_simulator.google.serving import Cloud, serve

    places = [(project, region) for project in PROJECTS[:2] for region in GOOGLE_REGIONS]
    makers = [DiskMaker(now, project, region, 700 + index) for index, (project, region) in enumerate(places)]
    for maker, scene in zip(makers, GOOGLE_SCENES, strict=True):
        maker.lay_out(scene)
    fleet = GoogleFleet(
        now=now,
        accounts=PROJECTS[:2],
        regions=GOOGLE_REGIONS,
        volumes=tuple(disk for maker in makers for disk in maker.disks),
        gone=tuple(disk for maker in makers for disk in maker.gone),
    )
    with serve(Cloud(fleet)) as (port, monitoring):
        yield {"port": port, "monitoring_port": monitoring}


def main() -> None:
    """Serves until standard input ends."""
    served = {"aws": served_aws, "google": served_google}[sys.argv[1]]
    with served(datetime.fromisoformat(sys.argv[2])) as place:
        sys.stdout.write(json.dumps(place) + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
