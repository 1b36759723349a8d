"""The projects: three in two regions, with every type, workload, owner and oddity."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml

from cloud_simulator.google.disk_maker import ZONES, Doing, Maker, carried, ceilings
from cloud_simulator.google.fleet import Attachment, Folder, GoogleFleet, SimulatedVm
from cloud_simulator.metrics.workloads import Archetype
from cloud_simulator.published import Ceiling, VolumeSpec
from cloud_simulator.units import ago

_FILE: Final = Path(__file__).with_name("scenes.yaml")
_SPANS: Final = {"d": "days", "h": "hours", "min": "minutes"}
_AGO: Final = re.compile(r"(\d+)(d|h|min)(?: (\d\d):(\d\d):(\d\d))?")
_HELD: Final = re.compile(r"(\S+) ([\d+]+) in (\S+)")
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

Step = Mapping[str, Any]


@cache
def scenes() -> tuple[tuple[Step, ...], ...]:
    """The steps of each scene, in the file's order."""
    return tuple(tuple(steps) for steps in yaml.safe_load(_FILE.read_text(encoding="utf-8")).values())


def lay_out(scene: tuple[Step, ...], maker: Maker) -> None:
    """Makes a scene's machines and disks."""
    vms: dict[str, SimulatedVm] = {}
    for step in scene:
        if "disk" in step:
            _disk(step, maker, vms)
        elif "vm" in step:
            vms[step["vm"]] = _vm(step, maker)
        else:
            maker.boot(vms[step["boot"]])


def _vm(step: Step, maker: Maker) -> SimulatedVm:
    zone = maker.zones[step["zone"]] if "zone" in step else None
    changes: dict[str, Any] = {name: step[name] for name in ("deleted", "manager") if name in step}
    if "stopped" in step:
        changes["stopped"] = _time(step["stopped"], maker.now)
    made = maker.vm(step["vm"], step["type"], zone=zone, labels=tuple(step.get("labels", {}).items()), **changes)
    if step.get("boots"):
        maker.boot(made)
    return made


def _disk(step: Step, maker: Maker, vms: Mapping[str, SimulatedVm]) -> None:
    changes = {name: step[name] for name in ("status", "description", "access_mode", "deleted") if name in step}
    if "created" in step:
        changes["created"] = _time(step["created"], maker.now)
    type_name, size_gib, iops, throughput_mib_s = [*step["spec"], None, None][:4]
    maker.disk(
        VolumeSpec(type=type_name, size_gib=size_gib, iops=iops, throughput_mib_s=throughput_mib_s),
        _doing(step) if "does" in step else None,
        step["disk"],
        vms[step["vm"]] if "vm" in step else None,
        device=step.get("device"),
        boot=step.get("boot", False),
        since=_time(step["since"], maker.now) if "since" in step else None,
        attachments=tuple(_attachment(step, one, maker, vms) for one in step["attachments"])
        if "attachments" in step
        else None,
        labels=step.get("labels"),
        **changes,
    )


def _doing(step: Step) -> Doing:
    figures = {name: step[name] for name in ("low", "high", "io_kib", "read_share", "share") if name in step}
    return Doing(archetype=Archetype(step["does"]), ceilings=_held(step["held"]) if "held" in step else (), **figures)


def _held(text: str) -> tuple[Ceiling, ...]:
    """What disks of a type and these sizes are held to together: `pd-ssd 500+1000 in n2-standard-8`."""
    found = _HELD.fullmatch(text)
    if found is None:
        raise ValueError(f"scenes.yaml: {text!r} is not of the form `TYPE GIB+GIB in MACHINE`")
    specs = [VolumeSpec(type=found[1], size_gib=int(size)) for size in found[2].split("+")]
    return ceilings(found[1], specs, found[3])


def _attachment(step: Step, attachment: Step, maker: Maker, vms: Mapping[str, SimulatedVm]) -> Attachment:
    return Attachment(
        vm=vms[attachment["vm"]],
        device=attachment.get("device", step["disk"]),
        since=_time(attachment["since"], maker.now),
        until=_time(attachment["until"], maker.now) if "until" in attachment else None,
        part=tuple(attachment.get("part", (0.0, 1.0))),
    )


def _time(text: str, now: datetime) -> datetime:
    """A time before now: `10h`, or `5d 10:07:00` for that time of the day five days ago."""
    found = _AGO.fullmatch(text)
    if found is None:
        raise ValueError(f"scenes.yaml: {text!r} is no time before now")
    then = ago(now, **{_SPANS[found[2]]: float(found[1])})
    if found[3] is None:
        return then
    return then.replace(hour=int(found[3]), minute=int(found[4]), second=int(found[5]), microsecond=0)


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
