"""The shape of fio's JSON, 2.x to 3.x: what is read of it, every number as printed."""

from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from plimsoll.envelopes.figures import number_in


def _number(value: object) -> object:
    """The text of a number, so that no digit is lost; None for what fio had no number for (NaN)."""
    if value is not None:
        number_in(str(value))
    return value


Number = Annotated[str | None, BeforeValidator(_number)]

NUMBERS: Final = {"min": "min", "max": "max", "mean": "avg", "stddev": "stdev"}
"""fio's names in its JSON, and a campaign's, which are those of its normal output."""


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", defer_build=True, populate_by_name=True)


class Spread(_Lenient):
    """A latency: its spread and percentiles. json+ adds bins, which are not kept."""

    min: Number = None
    max: Number = None
    mean: Number = None
    stddev: Number = None
    percentile: dict[str, Number] = Field(default_factory=dict)


class SideEntry(_Lenient):
    """Reads or writes of a job: bandwidth in KiB/s and, from 3.2 on, in bytes, runtime in milliseconds."""

    bw: Number = None
    bw_bytes: Number = None
    iops: Number = None
    runtime: Number = None
    total_ios: Number = None
    slat: Spread | None = None
    clat: Spread | None = None
    lat: Spread | None = None
    slat_ns: Spread | None = None
    clat_ns: Spread | None = None
    lat_ns: Spread | None = None
    bw_min: Number = None
    bw_max: Number = None
    bw_agg: Number = None
    bw_mean: Number = None
    bw_dev: Number = None
    bw_samples: Number = None
    iops_min: Number = None
    iops_max: Number = None
    iops_mean: Number = None
    iops_stddev: Number = None
    iops_samples: Number = None


class DiskEntry(_Lenient):
    """What a device itself counted over the whole run; `aggr_*` are those of an md device's members."""

    name: str = ""
    read_ios: Number = None
    write_ios: Number = None
    read_merges: Number = None
    write_merges: Number = None
    read_ticks: Number = None
    write_ticks: Number = None
    in_queue: Number = None
    util: Number = None
    aggr_read_ios: Number = None


class FioJob(_Lenient):
    """A job, or where group_reporting is set all jobs of a group."""

    jobname: str = ""
    groupid: int = Field(default=0, ge=0, lt=1 << 31)
    error: int = Field(default=0, ge=0, lt=1 << 31)
    hostname: str | None = None
    options: dict[str, str | None] | None = Field(default=None, alias="job options")
    read: SideEntry = Field(default_factory=SideEntry)
    write: SideEntry = Field(default_factory=SideEntry)
    usr_cpu: Number = None
    sys_cpu: Number = None
    ctx: Number = None
    majf: Number = None
    minf: Number = None
    iodepth_level: dict[str, Number] = Field(default_factory=dict)
    disk_util: list[DiskEntry] = Field(default_factory=list)


class FioOutput(_Lenient):
    """A whole output; `client_stats` stands for jobs where fio ran them on other machines."""

    version: str | None = Field(default=None, alias="fio version")
    time: str | None = None
    options: dict[str, str | None] = Field(default_factory=dict, alias="global options")
    jobs: list[FioJob] = Field(default_factory=list)
    client_stats: list[FioJob] = Field(default_factory=list)
    disk_util: list[DiskEntry] = Field(default_factory=list)
