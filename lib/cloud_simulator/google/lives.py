"""Lives: scenes of disks that moved, were shared, deleted, left behind or belong to somebody."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Final

from cloud_simulator.google.disk_maker import Doing, Maker
from cloud_simulator.google.fleet import Seat, SimulatedVm
from cloud_simulator.google.scenes import hyperdisk, pd
from cloud_simulator.metrics.workloads import Archetype
from cloud_simulator.published import VolumeSpec
from cloud_simulator.units import ago

_QUIET: Final = Doing(archetype=Archetype.STEADY)


def _at(now: datetime, days: int, hour: int, minute: int, second: int = 0) -> datetime:
    """A time of day so many days before `now`."""
    return ago(now, days=days).replace(hour=hour, minute=minute, second=second, microsecond=0)


def claims(maker: Maker) -> None:
    """Claims of a cluster: one that stays, one that moved to another node, one whose former node is deleted."""
    zone, labels = maker.zones[0], (("goog-k8s-cluster-name", "prod"), ("goog-k8s-node-pool-name", "pool-1"))
    nodes = [
        maker.vm(
            f"gke-prod-pool-1-{name}",
            "e2-standard-4",
            zone=zone,
            labels=labels,
            deleted=name == "c3d4",
            manager="gke-prod-pool-1",
        )
        for name in ("a1b2", "b2c3", "c3d4")
    ]
    for node in nodes[:2]:
        maker.disk(pd("balanced", 100), _QUIET, node.name, node, device="persistent-disk-0", boot=True)
    since, moved, left = ago(maker.now, days=60), _at(maker.now, 5, 10, 7), _at(maker.now, 3, 22, 41)
    _claim(maker, "4f1c2a9e", "postgres-0", ((nodes[0], since, None),))
    _claim(maker, "7be20d41", "postgres-1", ((nodes[0], since, moved), (nodes[1], _at(maker.now, 5, 10, 10, 20), None)))
    _claim(maker, "c0ffee12", "postgres-2", ((nodes[2], since, left), (nodes[1], _at(maker.now, 3, 22, 44, 9), None)))


def _claim(
    maker: Maker, number: str, claim: str, stays: tuple[tuple[SimulatedVm, datetime, datetime | None], ...]
) -> None:
    name = f"pvc-{number}-0d3b-4c55-9a77-6a1f0e2b8d10"
    written = {
        "kubernetes.io/created-for/pv/name": name,
        "kubernetes.io/created-for/pvc/name": f"data-{claim}",
        "kubernetes.io/created-for/pvc/namespace": "shop",
        "storage.gke.io/created-by": "pd.csi.storage.gke.io",
    }
    maker.disk(
        pd("ssd", 120),
        Doing(archetype=Archetype.DIURNAL, low=40, high=500),
        name,
        seats=tuple(Seat(vm=vm, device=name, since=since, until=until) for vm, since, until in stays),
        labels={"goog-gke-volume": "", "goog-k8s-cluster-name": "prod", "goog-k8s-cluster-location": maker.region},
        description=json.dumps(written),
    )


def device_names(maker: Maker) -> None:
    """Devices of the usual names, which other disks had before: one deleted since, one detached."""
    vm = maker.vm("legacy", "n1-standard-4")
    first, second = _at(maker.now, 20, 8, 0), _at(maker.now, 6, 11, 20)
    device = "persistent-disk-1"
    maker.disk(pd("standard", 50), _QUIET, "legacy", vm, device="persistent-disk-0", boot=True)
    spare = Seat(vm=vm, device=device, since=ago(maker.now, days=90), until=first)
    maker.disk(pd("standard", 300), Doing(archetype=Archetype.STEADY, low=90, high=140), "legacy-spare", seats=(spare,))
    old = Seat(vm=vm, device=device, since=_at(maker.now, 20, 8, 30), until=second)
    busy = Doing(archetype=Archetype.STEADY, low=200, high=280)
    maker.disk(pd("standard", 500), busy, "legacy-old", seats=(old,), deleted=True)
    doing = Doing(archetype=Archetype.STEADY, low=10, high=60)
    maker.disk(pd("standard", 500), doing, "legacy-data", vm, device=device, since=_at(maker.now, 6, 11, 34, 27))
    batch = maker.vm("batch-77", "e2-standard-4", deleted=True)
    seat = Seat(vm=batch, device="batch-77", since=ago(maker.now, days=12), until=_at(maker.now, 2, 3, 15))
    maker.disk(pd("balanced", 80), _QUIET, "batch-77", seats=(seat,), deleted=True)


def shared(maker: Maker) -> None:
    """A disk that two machines write, and one that three only read."""
    zone = maker.zones[0]
    writers = [maker.vm(f"cluster-fs-{number}", "c3-standard-8", zone=zone) for number in (1, 2)]
    readers = [maker.vm(f"model-{number}", "c3-standard-22", zone=zone) for number in (1, 2, 3)]
    for vm in (*writers, *readers):
        maker.boot(vm)
    since = ago(maker.now, days=40)
    parts = ((0.0, 0.6), (0.6, 1.0))
    maker.disk(
        hyperdisk("balanced", 500, 6000, 300),
        Doing(archetype=Archetype.DIURNAL, low=100, high=1200),
        "cluster-fs",
        seats=tuple(
            Seat(vm=vm, device="cluster-fs", since=since, part=part) for vm, part in zip(writers, parts, strict=True)
        ),
        access_mode="READ_WRITE_MANY",
    )
    thirds = ((0.0, 0.34), (0.34, 0.67), (0.67, 1.0))
    maker.disk(
        hyperdisk("ml", 200, None, 600),
        Doing(archetype=Archetype.NIGHTLY, low=10, high=900, io_kib=128, read_share=1.0),
        "model",
        seats=tuple(
            Seat(vm=vm, device="model", since=since, part=part) for vm, part in zip(readers, thirds, strict=True)
        ),
        access_mode="READ_ONLY_MANY",
    )


def states(maker: Maker) -> None:
    """What is attached to nothing, stopped, young, unknown, on the way or not to be touched."""
    maker.disk(pd("ssd", 700), None, "forgotten")
    for name, days in (("batch-old", 60), ("batch-week", 4)):
        vm = maker.vm(name, "n2-standard-4", stopped=_at(maker.now, days, 6, 30))
        maker.disk(pd("balanced", 250), _QUIET, name, vm, boot=True)
    vm = maker.vm("young", "e2-standard-4")
    maker.boot(vm)
    maker.disk(pd("ssd", 300), _QUIET, "young-data", vm, since=ago(maker.now, hours=10))
    new = maker.vm("experiment", "x9-standard-4")
    maker.disk(pd("balanced", 60), _QUIET, "experiment", new, boot=True)
    maker.disk(pd("ssd", 240), _QUIET, "experiment-data", new)
    odd = maker.vm("preview", "c3-standard-8")
    maker.boot(odd)
    maker.disk(VolumeSpec(type="pd-quantum", size_gib=100), _QUIET, "preview-data", odd)
    tuned = maker.vm("left-alone", "n2-standard-4")
    maker.disk(pd("ssd", 900), _QUIET, "left-alone", tuned, boot=True, labels={"plimsoll-exclude": "true"})
    maker.disk(pd("balanced", 10), None, "being-born", status="CREATING", created=ago(maker.now, minutes=1))
    maker.disk(pd("balanced", 30), None, "broken", status="FAILED")


def owners(maker: Maker) -> None:
    """A disk of every kind of owner, and one whose label is in no English."""
    for name, labels in (
        ("tf-data", {"goog-terraform-provisioned": "true", "team": "data"}),
        ("stack-data", {"goog-dm": "billing"}),
        ("hadoop-w-0", {"goog-dataproc-cluster-name": "hadoop", "goog-dataproc-cluster-uuid": "0a1b2c3d"}),
        ("by-hand", {"team": "\uac00\ub098\ub2e4-\u00e9t\u00e9", "cost-center": "4711"}),
    ):
        vm = maker.vm(f"{name}-vm", "n2-standard-4", labels=tuple(labels.items()))
        maker.disk(pd("ssd", 150), _QUIET, name, vm, boot=True, labels=labels)
    worker = maker.vm("workers-x1y2", "n2-standard-4", manager="workers")
    maker.disk(pd("balanced", 80), _QUIET, worker.name, worker, device="persistent-disk-0", boot=True)


LIVES: Final[tuple[Callable[[Maker], None], ...]] = (claims, device_names, shared, states, owners)
