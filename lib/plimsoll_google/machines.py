"""Machine types: the joint ceiling of a virtual machine's disks, from data/machines.yaml."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.clouds.common.dated_data import read_data
from plimsoll.clouds.registry import GOOGLE
from plimsoll.model.ceiling import Ceiling
from plimsoll.model.volume import HostLimits

REGIONAL: Final = "regional-"
"""The beginning of the names of Persistent Disk types that are kept in two zones."""

_CUSTOM_N1: Final = "custom-"
"""The beginning of the names of N1's custom machine types, which do not name their series."""

_OLD_NAMES: Final[Mapping[str, str]] = {"n1-megamem-": "m1-megamem-", "n1-ultramem-": "m1-ultramem-"}
"""Machine types of M1 that kept a name of N1."""

_NAME: Final = re.compile(r"(?P<series>[a-z]\d+[a-z]*)-(?P<kind>[a-z]+)(?:-(?P<size>\w+)(?:-(?P<rest>.+))?)?", re.ASCII)
_SPAN: Final = re.compile(r"(?P<least>\d+)(?:-(?P<most>\d+)|(?P<up>\+))?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine type: its vCPUs, the joint ceiling of its disks of each type, and that of all its disks."""

    vcpus: int
    limits: HostLimits
    caps: tuple[tuple[str, Ceiling], ...]


CapFigures = Annotated[
    tuple[float, float, float, float], Field(description="read and write IOPS, read and write MiB/s")
]


class _Series(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)
    regional: bool = False
    types: dict[str, dict[str, CapFigures]] = Field(min_length=1)


class _Machines(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)
    verified_on: date
    vcpus: dict[str, int]
    series: dict[str, _Series]


@dataclass(frozen=True, slots=True, kw_only=True)
class _NameParts:
    """The parts of a machine type's name."""

    series: str
    vcpus: int
    ends: tuple[str, ...]


def machines_verified_on() -> date:
    """The day when the figures were last held against their sources."""
    return _machines().verified_on


@cache
def machine(type_name: str) -> Machine | None:
    """The machine type of that name, predefined or custom. None if no figures of its series or size are known."""
    named = _read(type_name)
    series = _machines().series.get(named.series) if named else None
    if named is None or series is None:
        return None
    sized = {name: _cap(sizes, named) for name, sizes in series.types.items()}
    caps = {name: cap for name, cap in sized.items() if cap is not None}
    if not caps:
        return None
    if series.regional:
        caps |= {f"{REGIONAL}{name}": caps[name] for name in ("pd-standard", "pd-balanced", "pd-ssd") if name in caps}
    return Machine(vcpus=named.vcpus, limits=_limits(tuple(caps.values())), caps=tuple(caps.items()))


def machine_cap(host_type: str, type_name: str) -> Ceiling | None:
    """The joint ceiling of all disks of a type on a machine of a type. None if it is not published."""
    known = machine(host_type)
    return dict(known.caps).get(type_name) if known else None


@cache
def _machines() -> _Machines:
    return _Machines.model_validate(read_data(GOOGLE, "machines.yaml"))


def _read(type_name: str) -> _NameParts | None:
    """The parts of a name, for example n2-standard-8, custom-4-5120, n2-custom-8-16384-ext or e2-micro."""
    name = f"n1-{type_name}" if type_name.startswith(_CUSTOM_N1) else type_name
    for old, new in _OLD_NAMES.items():
        name = name.replace(old, new)
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    series, kind, size, ending = match["series"], match["kind"], match["size"], match["rest"]
    if size is not None and not size[0].isdigit():
        kind, size, ending = size, None, None
    shared = f"{series}-{kind}"
    ends = (name, f"{size}-{ending}", kind)
    vcpus = _machines().vcpus.get(name) or _machines().vcpus.get(shared)
    if vcpus is None and size is not None and size.isdigit():
        vcpus = int(size)
    return None if vcpus is None else _NameParts(series=series, vcpus=vcpus, ends=ends)


def _cap(sizes: Mapping[str, CapFigures], named: _NameParts) -> Ceiling | None:
    """The figures of the machine's size: by name, by the end of its name, or by its vCPUs."""
    exact = next((sizes[end] for end in named.ends if end in sizes), None)
    figures = exact or next((row for span, row in sizes.items() if _is_in_span(span, named.vcpus)), None)
    if figures is None:
        return None
    read_iops, write_iops, read_mib_s, write_mib_s = figures
    return Ceiling(
        iops=read_iops,
        throughput_mib_s=read_mib_s,
        write_iops_cost=read_iops / write_iops,
        write_throughput_cost=read_mib_s / write_mib_s,
    )


def _is_in_span(span: str, vcpus: int) -> bool:
    """True if a range, for example 2-7, 64+ or 4, holds a number of vCPUs."""
    match = _SPAN.fullmatch(span)
    if match is None:
        return False
    least = int(match["least"])
    most = int(match["most"]) if match["most"] else least
    return vcpus >= least and (bool(match["up"]) or vcpus <= most)


def _limits(caps: tuple[Ceiling, ...]) -> HostLimits:
    """The largest of the caps, on each side and in each direction: Persistent Disks and Hyperdisks share one limit."""
    iops = max(cap.iops for cap in caps)
    throughput_mib_s = max(cap.throughput_mib_s for cap in caps)
    return HostLimits(
        baseline_iops=iops,
        maximum_iops=iops,
        baseline_throughput_mib_s=throughput_mib_s,
        maximum_throughput_mib_s=throughput_mib_s,
        write_iops_cost=iops / max(cap.write_iops for cap in caps),
        write_throughput_cost=throughput_mib_s / max(cap.write_throughput_mib_s for cap in caps),
    )
