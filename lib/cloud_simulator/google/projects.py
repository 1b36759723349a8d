"""The projects: three in two regions, with every type, workload, owner and oddity there is."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from cloud_simulator.google.disk_maker import ZONES, Maker
from cloud_simulator.google.fleet import Folder, GoogleFleet, SimulatedVm
from cloud_simulator.google.scenes import everyday, lay_out, scenes

PROJECTS: Final = ("plimsoll-sim-shop", "plimsoll-sim-data", "plimsoll-sim-lab")
CLOSING: Final = "plimsoll-sim-closing"
REGIONS: Final = tuple(ZONES)
ORGANIZATION: Final = "organizations/100000000001"
FOLDERS: Final = (
    Folder(name="folders/200000000001", parent=ORGANIZATION, title="production"),
    Folder(name="folders/200000000002", parent="folders/200000000001", title="analytics"),
)
LEAST_DISKS: Final = 140


def projects_of(now: datetime, *, volumes: int = LEAST_DISKS, seed: int = 1) -> GoogleFleet:
    """Three projects in two regions with at least `volumes` disks; the last has nothing in the last region.

    What is more than the smallest is quiet, as most of production. The same arguments give the same fleet.
    """
    places = [(project, region) for project in PROJECTS for region in REGIONS][:-1]
    makers = [Maker(now, project, region, seed * 100 + index) for index, (project, region) in enumerate(places)]
    for number, scene in enumerate(scenes()):
        lay_out(scene, makers[number % len(makers)])
    steps = [everyday(maker) for maker in makers]
    turn = 0
    while sum(len(maker.disks) for maker in makers) < volumes:
        next(steps[turn % len(steps)])
        turn += 1
    return GoogleFleet(
        now=now,
        accounts=PROJECTS,
        regions=REGIONS,
        volumes=tuple(disk for maker in makers for disk in maker.disks),
        gone=tuple(disk for maker in makers for disk in maker.gone),
        standing=tuple(_benches(makers)),
        organization=ORGANIZATION,
        folders=FOLDERS,
        parents=tuple(zip(PROJECTS, (FOLDERS[0].name, FOLDERS[1].name, ORGANIZATION), strict=True)),
        closing=(CLOSING,),
    )


def _benches(makers: Iterable[Maker]) -> Iterable[SimulatedVm]:
    """A machine to measure from in every zone of every project and region, which is attached to nothing audited."""
    for maker in makers:
        for zone in maker.zones:
            for name, type_name in (("bench", "n2-standard-80"), ("bench-hyperdisk", "c3-standard-44")):
                yield maker.vm(f"{name}-{zone}", type_name, zone=zone, labels=(("plimsoll-bench", "true"),))
