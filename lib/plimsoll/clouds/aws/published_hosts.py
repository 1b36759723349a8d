"""Hosts as they are published: what the volumes of an instance carry together by its type, from data/hosts.yaml.

An audit asks DescribeInstanceTypes (`hosts`). This is for measurements, whose host need not exist any more.
"""

from datetime import date
from functools import cache
from typing import Final

from pydantic import BaseModel, ConfigDict

from plimsoll.clouds.cloud import PublishedHost
from plimsoll.clouds.common.dated_data import read_data
from plimsoll.clouds.registry import AWS
from plimsoll.model.units import mib_s_from_mb_s
from plimsoll.model.volume import HostLimits

BURST_S: Final = 30 * 60
"""A host whose maximum exceeds its baseline carries the maximum for 30 minutes at least once in 24 hours (Amazon EC2
User Guide, "Amazon EBS-optimized instances", read 2026-11-20)."""


class _Hosts(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)
    verified_on: date
    source: str
    hosts: dict[str, tuple[float, float, float, float] | None]


def published_host(host_type: str) -> PublishedHost | None:
    """The published limits of a type of instance; None if nothing is published, or the type is not known."""
    figures = _hosts().hosts.get(host_type)
    if figures is None:
        return None
    baseline_iops, maximum_iops, baseline_mb_s, maximum_mb_s = figures
    limits = HostLimits(
        baseline_iops=baseline_iops,
        baseline_throughput_mib_s=mib_s_from_mb_s(baseline_mb_s),
        maximum_iops=maximum_iops,
        maximum_throughput_mib_s=mib_s_from_mb_s(maximum_mb_s),
        burst_s=BURST_S,
    )
    return PublishedHost(limits=limits, source=f"{_hosts().source}, {_hosts().verified_on}")


def verified_on() -> date:
    """When the figures were last held against their source."""
    return _hosts().verified_on


@cache
def _hosts() -> _Hosts:
    return _Hosts.model_validate(read_data(AWS, "hosts.yaml"))
