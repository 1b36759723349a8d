"""The projects: three in two regions, with every type, workload, owner and oddity."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml

from cloud_simulator.google.fleet import Attachment, GoogleFleet, SimulatedDisk, SimulatedVm
from cloud_simulator.metrics.workloads import Archetype, Workload
from cloud_simulator.published import Ceiling, VolumeSpec, disk_types, machine
from cloud_simulator.units import ago

ZONES: Final = {"us-central1": ("a", "b", "c"), "europe-west1": ("b", "c", "d")}
"""The zones of each region, by their last letters."""

_FILE: Final = Path(__file__).with_name("scenes.yaml")
_SPANS: Final = {"d": "days", "h": "hours", "min": "minutes"}
_AGO: Final = re.compile(r"(\d+)(d|h|min)(?: (\d\d):(\d\d):(\d\d))?")
_HELD: Final = re.compile(r"(\S+) ([\d+]+) in (\S+)")
_USUALLY: Final = "90d"
_DISK_FIELDS: Final = ("status", "description", "access_mode", "deleted", "secondary", "storage_pool")
"""When machines and disks were made, unless a scene says otherwise."""
_LARGEST_ID: Final = 9_000_000_000_000_000_000
"""Ids are unsigned numbers of up to 19 digits, as Compute's are."""
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
"""A machine or a disk of a scene, as scenes.yaml describes them."""


@cache
def scenes() -> tuple[tuple[Step, ...], ...]:
    """The steps of each scene, in the file's order."""
    return tuple(tuple(steps) for steps in yaml.safe_load(_FILE.read_text(encoding="utf-8")).values())


@dataclass(slots=True)
class DiskMaker:
    """Makes the machines and disks of one project and region, each with an id and a workload of its own.

    `disks` are those made so far, `gone` the deleted ones, `vms` the machines by name.
    """

    now: datetime
    project: str
    region: str
    seed: int
    made: int = 0
    disks: list[SimulatedDisk] = field(default_factory=list)
    gone: list[SimulatedDisk] = field(default_factory=list)
    vms: dict[str, SimulatedVm] = field(default_factory=dict)

    @property
    def zones(self) -> tuple[str, ...]:
        """The zones of the region."""
        return tuple(f"{self.region}-{letter}" for letter in ZONES[self.region])

    def lay_out(self, scene: Sequence[Step]) -> None:
        """Makes a scene's machines and disks."""
        for step in scene:
            if "disk" in step:
                self._disk(step)
            elif "vm" in step:
                self.vm(step)
            else:
                self._boot(step["boot"])

    def vm(self, step: Step) -> SimulatedVm:
        """A virtual machine of its own; its zones go round unless its zone is numbered."""
        self.made += 1
        self.vms[step["vm"]] = made = SimulatedVm(
            id=str(self._number()),
            name=step["vm"],
            project=self.project,
            zone=self.zones[step.get("zone", self.made % 3)],
            type=step["type"],
            created=self._time(_USUALLY),
            labels=tuple(step.get("labels", {}).items()),
            stopped=self._time(step["stopped"]) if "stopped" in step else None,
            deleted=step.get("deleted", False),
            manager=step.get("manager"),
        )
        if step.get("boots"):
            self._boot(made.name)
        return made

    def _boot(self, name: str) -> None:
        """A machine's boot disk, which does little."""
        quiet = {"does": Archetype.STEADY, "low": 1, "high": 12}
        self._disk({"disk": name, "spec": ["pd-balanced", 20], "vm": name, "boot": True, **quiet})

    def _disk(self, step: Step) -> None:
        self.made += 1
        type_name, size_gib, iops, throughput_mib_s = [*step["spec"], None, None][:4]
        spec = VolumeSpec(type=type_name, size_gib=size_gib, iops=iops, throughput_mib_s=throughput_mib_s)
        attachments = self._attachments(step)
        number, usually = self._number(), self._time(_USUALLY)
        begun = min([usually, *(attachment.since for attachment in attachments)])
        disk = SimulatedDisk(
            id=str(number),
            name=step["disk"],
            project=self.project,
            region=self.region,
            zones=self._zones(spec, attachments),
            spec=spec,
            created=self._time(step["created"]) if "created" in step else begun,
            labels=tuple(step.get("labels", {}).items()),
            attachments=attachments,
            workload=_workload(step, spec, number, attachments) if "does" in step else None,
            **{name: step[name] for name in _DISK_FIELDS if name in step},
        )
        (self.gone if disk.deleted else self.disks).append(disk)

    def _attachments(self, step: Step) -> tuple[Attachment, ...]:
        """A disk's former and present attachments. A device has its disk's name unless it is named."""
        return tuple(
            Attachment(
                vm=self.vms[entry["vm"]],
                device=entry.get("device", step["disk"]),
                since=self._time(entry.get("since", _USUALLY)),
                until=self._time(entry["until"]) if "until" in entry else None,
                boot=entry.get("boot", False),
                part=tuple(entry.get("part", (0.0, 1.0))),
            )
            for entry in step.get("attachments", [step] if "vm" in step else [])
        )

    def _zones(self, spec: VolumeSpec, attachments: Sequence[Attachment]) -> tuple[str, ...]:
        zone = attachments[-1].vm.zone if attachments else self.zones[self.made % 3]
        if not spec.type.startswith("regional-") and spec.type != "hyperdisk-balanced-high-availability":
            return (zone,)
        return zone, next(other for other in self.zones if other != zone)

    def _number(self) -> int:
        return (self.seed * 1_000_003 + self.made) * 6_364_136_223_846_793_005 % (_LARGEST_ID - 10**18) + 10**18

    def _time(self, text: str) -> datetime:
        """A time before now: `10h`, or `5d 10:07:00` for that time of the day five days ago."""
        match = _AGO.fullmatch(text)
        if match is None:
            raise ValueError(f"scenes.yaml: {text!r} is no time before now")
        then = ago(self.now, **{_SPANS[match[2]]: float(match[1])})
        if match[3] is None:
            return then
        return then.replace(hour=int(match[3]), minute=int(match[4]), second=int(match[5]), microsecond=0)


def _workload(step: Step, spec: VolumeSpec, number: int, attachments: Sequence[Attachment]) -> Workload:
    """The workload of a step's disk. It is throttled by `held`, else by its type's limits in its machine."""
    held = _ceilings(spec.type, [spec], attachments[-1].vm.type) if attachments else ()
    if "held" in step:
        held = _parse_held(step["held"])
    read_share, share = step.get("read_share", 0.6), step.get("share", 1.0)
    iops, mib_s = _carried_rates(held, read_share) if held else (0.0, 0.0)
    return Workload(
        archetype=Archetype(step["does"]),
        seed=number,
        low_iops=step.get("low", 20.0),
        high_iops=step.get("high", 100.0),
        io_kib=step.get("io_kib", 16.0),
        read_share=read_share,
        ceiling_iops=iops * share,
        ceiling_throughput_mib_s=mib_s * share,
    )


def _parse_held(text: str) -> tuple[Ceiling, ...]:
    """The ceilings in a text: `pd-ssd 500+1000 in n2-standard-8`."""
    match = _HELD.fullmatch(text)
    if match is None:
        raise ValueError(f"scenes.yaml: {text!r} is not of the form `TYPE GIB+GIB in MACHINE`")
    specs = [VolumeSpec(type=match[1], size_gib=int(size)) for size in match[2].split("+")]
    return _ceilings(match[1], specs, match[3])


def _ceilings(type_name: str, specs: Sequence[VolumeSpec], machine_type: str) -> tuple[Ceiling, ...]:
    """The ceilings of a machine's disks of a type together: by their sizes, and by the machine."""
    kind, known = disk_types().get(type_name), machine(machine_type)
    whole = VolumeSpec(
        type=type_name,
        size_gib=sum(spec.size_gib for spec in specs),
        iops=specs[0].iops,
        throughput_mib_s=specs[0].throughput_mib_s,
    )
    caps = [cap for name, cap in (known.caps if known else ()) if name == type_name]
    return (*([kind.ceiling(whole)] if kind else []), *caps)


def _carried_rates(ceilings: Sequence[Ceiling], read_share: float) -> tuple[float, float]:
    """IOPS and MiB/s that all of the ceilings let pass at that share of reads."""
    iops = [ceiling.iops / (read_share + (1 - read_share) * ceiling.write_iops_cost) for ceiling in ceilings]
    mib_s = [
        ceiling.throughput_mib_s / (read_share + (1 - read_share) * ceiling.write_throughput_cost)
        for ceiling in ceilings
    ]
    return min(iops), min(mib_s)


def _everyday(maker: DiskMaker) -> Iterator[None]:
    """A machine with its boot disk and one of data a step, quiet as most of production is."""
    rng = np.random.default_rng(maker.seed)
    patterns = cycle((Archetype.DIURNAL, Archetype.STEADY, Archetype.NIGHTLY, Archetype.BURSTS, Archetype.IDLE))
    for number, ((kind, machine_type, size_gib), pattern) in enumerate(zip(cycle(_USUAL), patterns, strict=False)):
        most, _ = _carried_rates(_ceilings(kind, [VolumeSpec(type=kind, size_gib=size_gib)], machine_type), 0.6)
        high = min(0.5 * most, 20 + float(rng.lognormal(np.log(60), 1.0)))
        name, does = f"app-{number}", {"does": pattern, "low": high / 10, "high": high}
        maker.vm({"vm": name, "type": machine_type, "boots": True})
        maker.lay_out([{"disk": f"{name}-data", "spec": [kind, size_gib], "vm": name, **does}])
        yield


PROJECTS: Final = ("plimsoll-sim-shop", "plimsoll-sim-data", "plimsoll-sim-lab")
GOOGLE_REGIONS: Final = tuple(ZONES)
LEAST_DISKS: Final = 140


def projects_of(now: datetime, *, volumes: int = LEAST_DISKS, seed: int = 1) -> GoogleFleet:
    """Three projects in two regions with at least `volumes` disks; the last has nothing in the last region.

    What is more than the smallest is quiet, as most of production. The same arguments give the same fleet.
    """
    places = [(project, region) for project in PROJECTS for region in GOOGLE_REGIONS][:-1]
    makers = [DiskMaker(now, project, region, seed * 100 + index) for index, (project, region) in enumerate(places)]
    for number, scene in enumerate(scenes()):
        makers[number % len(makers)].lay_out(scene)
    steps = [_everyday(maker) for maker in makers]
    turn = 0
    while sum(len(maker.disks) for maker in makers) < volumes:
        next(steps[turn % len(steps)])
        turn += 1
    return GoogleFleet(
        now=now,
        accounts=PROJECTS,
        regions=GOOGLE_REGIONS,
        volumes=tuple(disk for maker in makers for disk in maker.disks),
        gone=tuple(disk for maker in makers for disk in maker.gone),
        standing=tuple(_benches(makers)),
    )


def _benches(makers: Iterable[DiskMaker]) -> Iterable[SimulatedVm]:
    """A machine to measure from in every zone of every project and region, which is attached to nothing audited."""
    for maker in makers:
        for number, zone in enumerate(maker.zones):
            for name, type_name in (("bench", "n2-standard-80"), ("bench-hyperdisk", "c3-standard-44")):
                labels = {"plimsoll-bench": "true"}
                yield maker.vm({"vm": f"{name}-{zone}", "type": type_name, "zone": number, "labels": labels})
