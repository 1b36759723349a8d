"""Neighbors: scenes of machines on which what one disk may become depends on the others."""

from collections.abc import Callable
from typing import Final

from cloud_simulator.google.disk_maker import Doing, Maker, ceilings
from cloud_simulator.google.fleet import Seat
from cloud_simulator.google.scenes import hyperdisk, pd
from cloud_simulator.metrics.workloads import Archetype
from cloud_simulator.published import Ceiling, VolumeSpec
from cloud_simulator.units import ago


def _quiet(high: float, archetype: Archetype = Archetype.DIURNAL, held: tuple[Ceiling, ...] = ()) -> Doing:
    return Doing(archetype=archetype, low=high / 10, high=high, ceilings=held)


def _busy(kind: str, sizes_gib: list[int], machine_type: str, *, read_share: float = 0.6, share: float = 1.0) -> Doing:
    """At the ceiling that Persistent Disks of a kind have together in a machine, in office hours."""
    held = ceilings(f"pd-{kind}", [pd(kind, size_gib) for size_gib in sizes_gib], machine_type)
    return Doing(archetype=Archetype.THROTTLED_IOPS, low=20, read_share=read_share, ceilings=held, share=share)


def joining(maker: Maker) -> None:
    """Disks that are to become what others of their machine are: with room there, and beside ones at their ceiling,
    which may want more than could be seen."""
    web = maker.vm("web", "n2-standard-8")
    maker.boot(web)
    maker.disk(pd("balanced", 400), _quiet(300), "web-logs", web)
    maker.disk(pd("ssd", 300), _quiet(900), "web-data", web)
    feed = maker.vm("feed", "n2-standard-8")
    maker.boot(feed)
    maker.disk(pd("balanced", 480), _busy("balanced", [20, 480], feed.type), "feed-log", feed)
    maker.disk(pd("ssd", 600), _quiet(4500, Archetype.NIGHTLY), "feed-data", feed)


def waiting(maker: Maker) -> None:
    """Several pools of one machine that would become the same type, or each other's: only one may at a time."""
    depot = maker.vm("depot", "n1-standard-8")
    maker.boot(depot)
    maker.disk(pd("standard", 500), _busy("standard", [500], depot.type), "depot-archive", depot)
    maker.disk(pd("ssd", 500), _quiet(400), "depot-data", depot)
    swap = maker.vm("swap", "n2-standard-8")
    maker.boot(swap)
    maker.disk(pd("balanced", 100), _busy("balanced", [20, 100], swap.type), "swap-log", swap)
    maker.disk(pd("ssd", 2000), _quiet(300), "swap-data", swap)
    desk = maker.vm("desk", "n2-standard-64")
    maker.boot(desk)
    maker.disk(VolumeSpec(type="pd-extreme", size_gib=500, iops=10_000), _quiet(900), "desk-extreme", desk)
    maker.disk(pd("ssd", 500), _quiet(700), "desk-data", desk)


def staying(maker: Maker) -> None:
    """Pools of which one disk is excluded, which what stays must carry; and one of which a disk is too young."""
    out = {"plimsoll-exclude": "true"}
    erp = maker.vm("erp", "n2-standard-8")
    maker.boot(erp)
    maker.disk(pd("ssd", 500), _quiet(300), "erp-data", erp)
    maker.disk(pd("ssd", 300), _quiet(200), "erp-left-alone", erp, labels=out)
    mill = maker.vm("mill", "n2-standard-8")
    maker.boot(mill)
    maker.disk(pd("ssd", 1000), _quiet(300), "mill-data", mill)
    held = ceilings("pd-ssd", [pd("ssd", 1000), pd("ssd", 20)], mill.type)
    maker.disk(pd("ssd", 20), _quiet(9000, held=held), "mill-left-alone", mill, labels=out)
    plant = maker.vm("plant", "n2-standard-8")
    maker.boot(plant)
    maker.disk(pd("ssd", 500), _quiet(300), "plant-data", plant)
    doing = _busy("ssd", [500, 1000], plant.type, share=0.97)
    maker.disk(pd("ssd", 1000), doing, "plant-left-alone", plant, labels=out)
    growing = maker.vm("growing", "n2-standard-8")
    maker.boot(growing)
    maker.disk(pd("ssd", 300), _quiet(300), "growing-data", growing)
    maker.disk(pd("ssd", 300), _quiet(300), "growing-more", growing, since=ago(maker.now, hours=10))


def directions(maker: Maker) -> None:
    """Reads and writes that have limits of their own: of a disk, of a pool that does both, and of C2's machines."""
    journal = maker.vm("audit-trail", "n2-standard-4")
    maker.boot(journal)
    maker.disk(pd("standard", 400), _busy("standard", [400], journal.type, read_share=0.0), "audit-trail-data", journal)
    tapes = maker.vm("tapes", "n2-standard-8")
    maker.boot(tapes)
    for part, read_share in (("in", 0.0), ("out", 1.0)):
        doing = _busy("standard", [600, 600], tapes.type, read_share=read_share, share=0.5)
        maker.disk(pd("standard", 600), doing, f"tapes-{part}", tapes)
    writer = maker.vm("hpc-writer", "c2-standard-16")
    doing = _busy("ssd", [2000], writer.type, read_share=0.0)
    maker.disk(pd("ssd", 2000), doing, "hpc-writer", writer, boot=True)
    mixed = maker.vm("hpc-mixed", "c2-standard-30")
    maker.boot(mixed)
    maker.disk(pd("ssd", 1000), _busy("ssd", [1000], mixed.type, read_share=0.5), "hpc-mixed-data", mixed)


def seconds(maker: Maker) -> None:
    """Disks whose busiest seconds are far above any minute: under their ceilings they size the offer, and one's stand
    at its own."""
    held = ceilings("pd-balanced", [pd("balanced", 200)], "n2-standard-8")
    bursting = Doing(archetype=Archetype.MICRO_BURSTS, low=40, high=300, ceilings=held)
    auction = maker.vm("auction", "c3-standard-8")
    maker.boot(auction)
    maker.disk(hyperdisk("balanced", 200, 9000, 400), bursting, "auction-data", auction)
    lottery = maker.vm("lottery", "n2-standard-8")
    maker.boot(lottery)
    maker.disk(pd("ssd", 200), bursting, "lottery-data", lottery)
    quotes = maker.vm("quotes", "n2-standard-8")
    maker.boot(quotes)
    doing = Doing(archetype=Archetype.MICRO_BURSTS, low=40, high=300, read_share=1.0)
    maker.disk(VolumeSpec(type="regional-pd-balanced", size_gib=200), doing, "quotes-data", quotes)
    render = maker.vm("render", "c3-standard-8")
    maker.boot(render)
    for part in ("a", "b"):
        doing = Doing(archetype=Archetype.SEQUENTIAL, low=4, high=1400, io_kib=256)
        maker.disk(hyperdisk("balanced", 400, 6000, 500), doing, f"render-{part}", render)


def capped(maker: Maker) -> None:
    """A disk that a cheaper type would carry, in a machine that lets no more pass of that type."""
    vault = maker.vm("vault", "c4-standard-192")
    maker.disk(hyperdisk("balanced", 20, 3000, 140), Doing(archetype=Archetype.IDLE), vault.name, vault, boot=True)
    for part in ("a", "b"):
        doing = Doing(archetype=Archetype.STEADY, low=100_000, high=120_000, io_kib=4)
        maker.disk(hyperdisk("balanced", 1000, 160_000, 1200), doing, f"vault-{part}", vault)
    doing = Doing(archetype=Archetype.STEADY, low=50_000, high=60_000, io_kib=4)
    maker.disk(hyperdisk("extreme", 1000, 90_000), doing, "vault-hot", vault)


def split(maker: Maker) -> None:
    """A disk that two machines write, of which neither lets so much pass alone."""
    writers = [maker.vm(f"farm-{number}", "c3-standard-8", zone=maker.zones[0]) for number in (1, 2)]
    for vm in writers:
        maker.boot(vm)
    since = ago(maker.now, days=40)
    halves = zip(writers, ((0.0, 0.5), (0.5, 1.0)), strict=True)
    maker.disk(
        hyperdisk("balanced", 1000, 12_000, 2000),
        Doing(archetype=Archetype.DIURNAL, low=500, high=5200, io_kib=256),
        "farm",
        seats=tuple(Seat(vm=vm, device="farm", since=since, part=part) for vm, part in halves),
        access_mode="READ_WRITE_MANY",
    )


NEIGHBORS: Final[tuple[Callable[[Maker], None], ...]] = (
    *(split, staying, waiting, directions),
    *(seconds, capped, joining),
)
"""Every other place is in the region where Hyperdisks have a price."""
