"""An organization by arithmetic: what a volume is and did follows from its number, so that none of them is kept.

Each target repeats the 59 workloads of one, of the mix of an ordinary fleet: 48 quiet gp2, 2 everyday gp2, 3 gp3, and
one each of a busy gp3, an io1, a volume out of credits, a throttled one, a sequential one and a forgotten one.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from cloud_simulator.aws.cloudwatch import CloudWatch
from cloud_simulator.aws.fleet import Fleet, SimulatedVolume
from cloud_simulator.aws.living import LivingFleet
from cloud_simulator.aws.organization import Mix, fleet_of
from cloud_simulator.aws.scratch_volumes import AccountRegion, Scratch
from cloud_simulator.devices.block_devices import Devices
from cloud_simulator.metrics.history import History, Remembered
from cloud_simulator.units import FloatArray

REGIONS: Final = ("us-east-1", "us-west-2", "eu-west-1", "ap-northeast-1")
ACCOUNTS: Final = 4_250
"""Of the whole organization; with `REGIONS` they are 17,000 targets."""

TARGET_VOLUMES: Final = 59
"""Of each target: together a million and three thousand."""

_FIRST_ACCOUNT: Final = 100_000_000_000
_PLACES_KEPT: Final = 8
_BUCKETS_BYTES: Final = 96 << 20


def accounts_of(share: float) -> tuple[str, ...]:
    """The ids of that share of the whole organization's accounts, one at least."""
    return tuple(account_of(number) for number in range(max(1, round(share * ACCOUNTS))))


def account_of(number: int) -> str:
    """The id of the account of that number."""
    return str(_FIRST_ACCOUNT + number)


def number_of(account: str) -> int:
    """The number of an account."""
    return int(account) - _FIRST_ACCOUNT


@dataclass(slots=True)
class Patterns:
    """The simulated volumes whose workloads all others repeat; it answers as their history."""

    volumes: Sequence[SimulatedVolume]
    _history: History[SimulatedVolume]
    _kept: Remembered[tuple[object, ...], FloatArray] = field(default_factory=lambda: Remembered(_BUCKETS_BYTES))

    @classmethod
    def as_of(cls, now: datetime) -> "Patterns":
        """The patterns of a run that begins then."""
        fleet = fleet_of(TARGET_VOLUMES, now, mix=Mix.EVERYDAY)
        return cls(fleet.volumes, CloudWatch(fleet).history)

    def buckets(
        self, volume: SimulatedVolume, series: str, stat: str, start_s: int, count: int, period_s: int
    ) -> FloatArray:
        """As `History.buckets`, of the pattern that the volume repeats."""
        pattern = int(volume.id.removeprefix("vol-"), 16) % len(self.volumes)
        key = (pattern, series, stat, start_s, count, period_s)
        found = self._kept.get(key)
        if found is None:
            found = self._history.buckets(self.volumes[pattern], series, stat, start_s, count, period_s)
            self._kept.put(key, found, found.nbytes)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One account in one region, as EC2 and CloudWatch have it."""

    here: AccountRegion
    cloudwatch: CloudWatch


@dataclass(slots=True, kw_only=True)
class Organization:
    """So many accounts; the places that were asked about last are kept, a few of them."""

    now: datetime
    accounts: Sequence[str]
    patterns: Patterns
    clock: Callable[[], float]
    _places: OrderedDict[tuple[str, str], Place] = field(default_factory=OrderedDict)

    def place(self, account: str, region: str) -> Place:
        """One account in one region."""
        key = (account, region)
        found = self._places.get(key)
        if found is None:
            fleet = LivingFleet.begin(self._fleet(account, region))
            here = AccountRegion(
                fleet=fleet, scratch=Scratch(fleet, Devices(plain=True)), account=account, region=region
            )
            history: History[SimulatedVolume] = self.patterns  # type: ignore[assignment]  # it answers as one
            found = Place(here=here, cloudwatch=CloudWatch(fleet, clock=self.clock, history=history))
            self._places[key] = found
            while len(self._places) > _PLACES_KEPT:
                self._places.popitem(last=False)
        return found

    def _fleet(self, account: str, region: str) -> Fleet:
        first = (number_of(account) * len(REGIONS) + REGIONS.index(region)) * TARGET_VOLUMES
        volumes = tuple(self._volume(first + place, account, region) for place in range(TARGET_VOLUMES))
        return Fleet(now=self.now, accounts=(account,), regions=REGIONS, volumes=volumes)

    def _volume(self, number: int, account: str, region: str) -> SimulatedVolume:
        like = self.patterns.volumes[number % len(self.patterns.volumes)]
        return replace(
            like,
            id=f"vol-{number:017x}",
            account=account,
            region=region,
            zone=f"{region}{like.zone[-1]}",
            hosts=tuple(replace(host, id=f"i-{number:017x}") for host in like.hosts),
        )
