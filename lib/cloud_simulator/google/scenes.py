"""Scenes: disks and machines of which each shows something that an audit of Google's projects must get right."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import cycle
from typing import Final

import numpy as np

from cloud_simulator.google.disk_maker import Doing, Maker, carried, ceilings
from cloud_simulator.metrics.workloads import Archetype
from cloud_simulator.published import VolumeSpec, machine
from cloud_simulator.units import KIB_PER_MIB

_USUAL: Final = (
    ("pd-ssd", "n2-standard-8", 500),
    ("pd-standard", "n1-standard-4", 1000),
    ("pd-balanced", "e2-standard-4", 200),
    ("pd-ssd", "n2-standard-2", 100),
    ("pd-standard", "e2-standard-8", 500),
    ("pd-balanced", "n2-standard-8", 1500),
    ("pd-ssd", "c3-standard-8", 1000),
    ("pd-standard", "n2-standard-4", 2000),
)
"""Type, machine and size of what most projects are made of."""


def pd(kind: str, size_gib: int) -> VolumeSpec:
    """The spec of a Persistent Disk."""
    return VolumeSpec(type=f"pd-{kind}", size_gib=size_gib)


def hyperdisk(kind: str, size_gib: int, iops: int | None = None, throughput_mib_s: int | None = None) -> VolumeSpec:
    """The spec of a Hyperdisk."""
    return VolumeSpec(type=f"hyperdisk-{kind}", size_gib=size_gib, iops=iops, throughput_mib_s=throughput_mib_s)


def everyday(maker: Maker) -> Iterator[None]:
    """A machine with its boot disk and one of data a step, quiet as most of production is."""
    rng = np.random.default_rng(maker.seed)
    patterns = cycle((Archetype.DIURNAL, Archetype.STEADY, Archetype.NIGHTLY, Archetype.BURSTS, Archetype.IDLE))
    for number, ((kind, machine_type, size_gib), pattern) in enumerate(zip(cycle(_USUAL), patterns, strict=False)):
        spec = VolumeSpec(type=kind, size_gib=size_gib)
        most, _ = carried(ceilings(kind, [spec], machine_type), 0.6)
        high = min(0.5 * most, 20 + float(rng.lognormal(np.log(60), 1.0)))
        vm = maker.vm(f"app-{number}", machine_type)
        maker.boot(vm)
        maker.disk(spec, Doing(archetype=pattern, low=high / 10, high=high), f"app-{number}-data", vm)
        yield


def pools(maker: Maker) -> None:
    """Siblings that share what the sum of their sizes gives: with room, at its IOPS, and at its MiB/s."""
    shop = maker.vm("shop-db", "n2-standard-8")
    maker.boot(shop)
    for part, high in (("a", 2400.0), ("b", 900.0)):
        doing = Doing(archetype=Archetype.DIURNAL, low=high / 10, high=high)
        maker.disk(pd("ssd", 200), doing, f"shop-db-{part}", shop)
    archive = maker.vm("archive", "n2-standard-2")
    maker.boot(archive)
    held = ceilings("pd-standard", [pd("standard", 200)] * 2, archive.type)
    for part, share in (("a", 0.7), ("b", 0.3)):
        doing = Doing(archetype=Archetype.THROTTLED_IOPS, low=20, ceilings=held, share=share)
        maker.disk(pd("standard", 200), doing, f"archive-{part}", archive)
    media = maker.vm("media", "n2-standard-8")
    sizes = [pd("balanced", 20), pd("balanced", 100), pd("balanced", 160)]
    maker.boot(media)
    held = ceilings("pd-balanced", sizes, media.type)
    for part, spec, share in (("a", sizes[1], 0.6), ("b", sizes[2], 0.4)):
        doing = Doing(archetype=Archetype.THROTTLED_THROUGHPUT, low=8, io_kib=256, ceilings=held, share=share)
        maker.disk(spec, doing, f"media-{part}", media)


def machine_caps(maker: Maker) -> None:
    """Disks that could do more than their machine lets pass, alone and together with another type's."""
    small = maker.vm("warehouse", "n2-standard-2")
    maker.boot(small)
    maker.disk(
        pd("ssd", 2000), Doing(archetype=Archetype.THROTTLED_THROUGHPUT, low=20, io_kib=256), "warehouse-data", small
    )
    shared = maker.vm("index", "e2-medium")
    maker.disk(pd("ssd", 500), Doing(archetype=Archetype.THROTTLED_IOPS, low=200), "index", shared, boot=True)
    both = maker.vm("cluster", "n1-standard-4")
    maker.boot(both)
    known = machine(both.type)
    most = known.limits.maximum_throughput_mib_s * KIB_PER_MIB / 64 if known else 0.0
    for kind, size_gib in (("ssd", 800), ("balanced", 1200)):
        doing = Doing(archetype=Archetype.HOST_BOUND, low=20, high=0.48 * most, io_kib=64, read_share=1.0)
        maker.disk(pd(kind, size_gib), doing, f"cluster-{kind}", both)


def limits(maker: Maker) -> None:
    """Disks at the limit of reads, at that of writes, and at one for single seconds alone."""
    for name, read_share in (("reports", 0.95), ("journal", 0.05)):
        vm = maker.vm(name, "n1-standard-4")
        maker.boot(vm)
        doing = Doing(archetype=Archetype.THROTTLED_IOPS, low=20, read_share=read_share)
        maker.disk(pd("standard", 600), doing, f"{name}-data", vm)
    ticker = maker.vm("ticker", "n2-standard-8")
    maker.boot(ticker)
    maker.disk(pd("ssd", 100), Doing(archetype=Archetype.MICRO_BURSTS, low=40, high=600), "ticker-data", ticker)
    etl = maker.vm("etl", "n2-standard-16")
    maker.boot(etl)
    maker.disk(pd("ssd", 1500), Doing(archetype=Archetype.SEQUENTIAL, low=4, high=700, io_kib=512), "etl-data", etl)
    patchy = maker.vm("patchy", "e2-standard-4")
    maker.disk(pd("balanced", 300), Doing(archetype=Archetype.GAPS, low=40, high=300), "patchy", patchy, boot=True)


def provisioned(maker: Maker) -> None:
    """Disks that more was bought for than they use, and one that stands at what was bought."""
    big = maker.vm("orders", "n2-standard-64")
    maker.boot(big)
    maker.disk(
        replace(pd("extreme", 1000), iops=20_000),
        Doing(archetype=Archetype.DIURNAL, low=300, high=4000),
        "orders-data",
        big,
    )
    cache = maker.vm("cache", "c3-standard-8")
    maker.boot(cache)
    maker.disk(
        hyperdisk("balanced", 600, 9000, 400),
        Doing(archetype=Archetype.STEADY, low=100, high=1800),
        "cache-data",
        cache,
    )
    queue = maker.vm("queue", "c3-standard-8")
    maker.boot(queue)
    maker.disk(
        hyperdisk("balanced", 200, 3000, 140), Doing(archetype=Archetype.THROTTLED_IOPS, low=200), "queue-data", queue
    )
    ledger = maker.vm("ledger", "c4-standard-192")
    maker.disk(hyperdisk("balanced", 20, 3000, 140), Doing(archetype=Archetype.IDLE), ledger.name, ledger, boot=True)
    maker.disk(
        hyperdisk("extreme", 500, 40_000), Doing(archetype=Archetype.DIURNAL, low=800, high=9000), "ledger-data", ledger
    )
    lake = maker.vm("lake", "c3-standard-22")
    maker.boot(lake)
    doing = Doing(archetype=Archetype.SEQUENTIAL, low=2, high=80, io_kib=1024)
    maker.disk(hyperdisk("throughput", 4096, None, 200), doing, "lake-data", lake)


def regional(maker: Maker) -> None:
    """Disks that are kept in two zones."""
    vm = maker.vm("billing", "n2-standard-8")
    maker.boot(vm)
    maker.disk(
        VolumeSpec(type="regional-pd-ssd", size_gib=400),
        Doing(archetype=Archetype.DIURNAL, low=60, high=1400),
        "billing-data",
        vm,
    )
    maker.disk(
        VolumeSpec(type="regional-pd-balanced", size_gib=200),
        Doing(archetype=Archetype.NIGHTLY, low=5, high=300),
        "billing-log",
        vm,
    )


SCENES: Final[tuple[Callable[[Maker], None], ...]] = (pools, regional, provisioned, limits, machine_caps)
