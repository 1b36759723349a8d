"""Bench hosts: the instances that every zone with volumes has for measuring, a large one and one too small for most."""

import hashlib
from collections.abc import Iterable
from typing import Final

from cloud_simulator.fleet import SimulatedHost, SimulatedVolume, StandingHost

BENCH_TAG: Final = "plimsoll:bench"
SMALL_BENCH_TAG: Final = "plimsoll:bench-small"
_KINDS: Final = ((BENCH_TAG, "m5.24xlarge"), (SMALL_BENCH_TAG, "m5.large"))
"""The large one carries 80,000 IOPS and 2,375 MB/s for ever, the small one 3,600 and 81.25."""


def bench_hosts(volumes: Iterable[SimulatedVolume]) -> tuple[StandingHost, ...]:
    """The bench hosts of every account and zone that has volumes; the same places give the same hosts."""
    places = sorted({(volume.account, volume.region, volume.zone) for volume in volumes})
    return tuple(
        StandingHost(account=account, region=region, zone=zone, host=_host(account, zone, tag, type_name))
        for account, region, zone in places
        for tag, type_name in _KINDS
    )


def _host(account: str, zone: str, tag: str, type_name: str) -> SimulatedHost:
    number = hashlib.sha256(f"{account}/{zone}/{tag}".encode()).hexdigest()[:17]
    return SimulatedHost(id=f"i-{number}", type=type_name, tags=(("Name", f"bench-{zone}"), (tag, "true")))
