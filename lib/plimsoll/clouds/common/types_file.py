"""Type files: the published limits of a cloud's volume types, into the domain's volume types."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

from plimsoll.domain.ceiling import Resource
from plimsoll.domain.volume_types import (
    Based,
    Burst,
    ChangeLimit,
    FromIops,
    FromThroughput,
    LatencyClass,
    Provisioned,
    Sized,
    Stepped,
    VolumeType,
)


def _rule(written: Any) -> Any:
    """The formula that a mapping's keys belong to."""
    if not isinstance(written, Mapping):
        return written
    if "steps" in written:
        return Stepped(steps=tuple((up_to, figure) for up_to, figure in written["steps"]))
    if "bands" in written:
        return FromIops(bands=tuple((up_to, per_iops, cap) for up_to, per_iops, cap in written["bands"]))
    if "per_mib_s" in written:
        return TypeAdapter(FromThroughput).validate_python(written)
    kind = Provisioned if "least" in written else Based if "base" in written else Sized
    return TypeAdapter(kind).validate_python(written)


def _latency(written: Any) -> Any:
    return LatencyClass[written.upper().replace("-", "_")] if isinstance(written, str) else written


class _Burst(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)
    resource: Resource
    rate: Annotated[Sized, BeforeValidator(_rule)]
    credits: float = 0.0
    credits_per_gib: float = 0.0
    least_charge_mib: float = 0.0


class _Type(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True, arbitrary_types_allowed=True)
    source: str
    size_gib: tuple[int, int]
    io_kib: float | None
    iops: Annotated[Sized | Based | Provisioned | FromThroughput, BeforeValidator(_rule)]
    throughput_mib_s: Annotated[Sized | Based | Stepped | Provisioned | FromIops, BeforeValidator(_rule)]
    burst: _Burst | None = None
    older_host_iops: float = float("inf")
    latency: Annotated[LatencyClass, BeforeValidator(_latency)]
    durability_pct: float
    boots: bool
    multi_attach: bool
    sold: bool = True
    billed_per_io: bool = False
    write_iops_cost: float = 1.0
    write_throughput_cost: float = 1.0
    pooled: bool = False
    zones: int = 1
    target: bool = False
    in_place: bool = True
    changes: ChangeLimit | None = None

    def named(self, name: str) -> VolumeType:
        """The domain's volume type of this name."""
        return VolumeType(
            name=name,
            least_size_gib=self.size_gib[0],
            most_size_gib=self.size_gib[1],
            iops=self.iops,
            throughput=self.throughput_mib_s,
            burst=Burst(**dict(self.burst)) if self.burst else None,
            changes=self.changes,
            **self.model_dump(include=_SAME_NAME),
        )


_SAME_NAME = {
    "io_kib",
    "older_host_iops",
    "latency",
    "durability_pct",
    "boots",
    "multi_attach",
    "sold",
    "billed_per_io",
    "write_iops_cost",
    "write_throughput_cost",
    "pooled",
    "zones",
    "target",
    "in_place",
}


class TypesFile(BaseModel):
    """When the figures were last held against their sources, and the types by name."""

    model_config = ConfigDict(extra="forbid", defer_build=True)
    verified_on: date
    types: dict[str, _Type] = Field(min_length=1)

    @property
    def named(self) -> Mapping[str, VolumeType]:
        """The domain's volume types by name."""
        return {name: found.named(name) for name, found in self.types.items()}
