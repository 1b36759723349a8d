"""Policy: what an organization wants decided how. Every knob has a bound, a default and a sentence.

The grade of an answer's evidence.

Headroom: the share above what was seen that a configuration must carry.

It is made here alone, from the policy, from what was learned, and from growth. No policy is changed for it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime
from enum import IntEnum, StrEnum
from typing import Annotated, Any, Final, TypeVar

from plimsoll.model.ceiling import LatencyClass
from plimsoll.model.errors import PolicyError
from plimsoll.model.units import DAY_S
from plimsoll.model.volume import NAME_TAG, Volume


class Grade(IntEnum):
    """The grades: C for published limits alone, B for measurements elsewhere or longer ago, A for ones made here
    lately."""

    C = 1
    B = 2
    A = 3


Mark = TypeVar("Mark")


class SizeOn(StrEnum):
    """Which rate of a bucket sizes an offer: its average; its busiest second where the cloud publishes that, else its
    average; or that second, else the most that its busy time allows for."""

    AVERAGE = "average"
    PEAK_SECOND = "peak-second"
    BUSY_TIME = "busy-time"


class HeadroomFrom(StrEnum):
    """The source of the headroom."""

    FIXED = "fixed"
    LEARNED = "learned"


@dataclass(frozen=True, slots=True, kw_only=True)
class TagMatch:
    """A tag by key, with any value when `value` is None."""

    tag: str
    value: str | None = None

    def __str__(self) -> str:
        return self.tag if self.value is None else f"{self.tag}={self.value}"

    def is_match(self, tags: Mapping[str, str]) -> bool:
        """True if the tags have this key, and this value unless any value will do."""
        return self.tag in tags and self.value in (None, tags[self.tag])


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """Other values of some keys for the volumes with a tag."""

    match: TagMatch
    policy: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """Volumes that are left out: those with a tag, or those of an id or a name; with why, and through which day."""

    match: TagMatch | None = None
    volume: str | None = None
    reason: str = ""
    until: date | None = None

    def __str__(self) -> str:
        which = f"tag {self.match}" if self.match is not None else f"volume {self.volume}"
        ends = f" (until {self.until})" if self.until is not None else ""
        return f"{which}{ends}{f': {self.reason}' if self.reason else ''}"

    def holds_for(self, volume: Volume, now: datetime) -> bool:
        """True if the volume is left out at that time: through the whole last day, in UTC."""
        if self.until is not None and now.astimezone(UTC).date() > self.until:
            return False
        if self.match is not None:
            return self.match.is_match(volume.tags)
        called = {volume.id, " ".join((volume.name or "").split())} - {""}
        return (self.volume or "").strip().removeprefix(f"{volume.account}/{volume.region}/") in called


OPT_OUT = Exclusion(match=TagMatch(tag="plimsoll:exclude", value="true"))
USUAL_TAGS = (NAME_TAG, "Owner", "owner", "Team", "team")
"""What most organizations call a volume's name, and who is asked about it."""
TAKEOVER_TAGS = ("plimsoll:takeover",)
"""Volumes with the same value of one of these tags take over from one another."""
BENCH_TAG = TagMatch(tag="plimsoll:bench", value="true")


ANY_RISK_PCT: Final = 100.0
"""The `risk_pct` of an owner who takes any risk, also one that is not known."""

EXAMPLE_KEY: Final = "headroom_pct"
"""The key that messages show."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the most that a key may be."""

    least: float
    most: float


@dataclass(frozen=True, slots=True)
class OwnOption:
    """An option of the command line for one key, by the key's name unless it has another. Help adds the default."""

    help: str
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The owner's rules: how demand is judged, what may be offered, and when a change is worth it (docs/policy.md)."""

    lookback_days: Annotated[int, Bounds(1, 455), OwnOption("Days of metrics to judge by")] = 14
    memory_days: Annotated[int, Bounds(0, 455)] = 455
    resolution_s: int = 60
    headroom_pct: Annotated[float, Bounds(0, 400), OwnOption("Headroom over the peak, in percent")] = 20.0
    headroom_from: HeadroomFrom = HeadroomFrom.FIXED
    growth_days: Annotated[float, Bounds(0, 365)] = 120.0
    risk_pct: Annotated[float, Bounds(0.1, ANY_RISK_PCT)] = 5.0
    risk_days: Annotated[float, Bounds(1, 90)] = 30.0
    size_on: SizeOn = SizeOn.PEAK_SECOND
    min_hours: Annotated[float, Bounds(0, 24 * 455)] = 30.0
    min_coverage_pct: Annotated[float, Bounds(0, 100)] = 95.0
    saturation_pct: Annotated[float, Bounds(50, 100)] = 95.0
    empty_balance_pct: Annotated[float, Bounds(0, 50)] = 1.0
    upgrade_throttled_share_pct: Annotated[float, Bounds(0, 100)] = 0.5
    throttle_lift_pct: Annotated[float, Bounds(0, 400)] = 50.0
    throttle_budget_min: Annotated[float, Bounds(0, 43_200)] = 0.0
    max_wait_s: Annotated[float, Bounds(0, 86_400)] = 60.0
    iops_step: Annotated[int, Bounds(1, 10_000)] = 100
    throughput_step_mib_s: Annotated[int, Bounds(1, 1000)] = 5
    drop_in_share_pct: Annotated[float, Bounds(0, 100)] = 90.0
    settle_days: Annotated[float, Bounds(0, 90)] = 7.0
    idle_days: Annotated[float, Bounds(1, 455)] = 30.0
    read_audit_log: bool = False
    min_saving_usd_month: Annotated[
        float, Bounds(0, 1e9), OwnOption("Least saving worth a change, USD a month", name="min_saving")
    ] = 1.0
    target_types: tuple[str, ...] = ()
    latency_floor: LatencyClass | None = None
    durability_floor_pct: Annotated[float, Bounds(0, 100)] = 0.0
    require_evidence: Mapping[str, Grade] = field(default_factory=dict)
    evidence_max_age_days: Annotated[int, Bounds(1, 3650)] = 180
    max_p99_latency_us: Annotated[float, Bounds(1, 60_000_000)] = 10_000.0
    latency_slack_pct: Annotated[float, Bounds(0, 10_000)] = 25.0
    bench_hosts: tuple[TagMatch, ...] = (BENCH_TAG,)
    bench_alarm: str | None = None
    scratch_hours: Annotated[float, Bounds(0.1, 168)] = 4.0
    in_place_share_pct: Annotated[float, Bounds(1, 90)] = 50.0
    in_place_most_queue: Annotated[int, Bounds(1, 10_000)] = 32
    in_place_most_latency_us: Annotated[int, Bounds(1, 60_000_000)] = 20_000
    discounts_pct: Mapping[str, float] = field(default_factory=dict)
    exclude: tuple[Exclusion, ...] = (OPT_OUT,)
    takeover_tags: tuple[str, ...] = TAKEOVER_TAGS
    show_tags: tuple[str, ...] = USUAL_TAGS
    overrides: tuple[Override, ...] = ()

    def __post_init__(self) -> None:
        """Checks every bound. Raises PolicyError, which names the key, its value and its bounds."""
        for key, (least, most) in BOUNDS.items():
            value = getattr(self, key)
            if not least <= value <= most:
                raise PolicyError(f"policy key {key} is {value}; it must be from {least:g} to {most:g}.")
        if self.resolution_s not in RESOLUTIONS_S:
            raise PolicyError(f"policy key resolution_s is {self.resolution_s}; it must be one of {RESOLUTIONS_S}.")
        for name, discount_pct in self.discounts_pct.items():
            if not 0 <= discount_pct <= 100:
                raise PolicyError(f"policy key discounts_pct.{name} is {discount_pct}; it must be from 0 to 100.")

    @property
    def steps(self) -> tuple[int, int]:
        """The steps of the figures of an offer, IOPS and MiB/s."""
        return self.iops_step, self.throughput_step_mib_s

    @property
    def least_hours(self) -> float:
        """The observed hours that an answer needs: `min_hours`, but no more than the shortest window of `lookback_days`
        has (Window.before can leave out an hour)."""
        return min(self.min_hours, 24.0 * self.lookback_days - 1)

    def days_looked_back(self, created: datetime, now: datetime) -> float:
        """The days of the window in which a volume of that date existed."""
        return max(0.0, min(float(self.lookback_days), (now - created).total_seconds() / DAY_S))

    def filled_s(self, created: datetime) -> float:
        """The end (epoch seconds) of the time in which a restored volume may only fetch its snapshot's data.

        It was made at `created`, and has `settle_days` for that.
        """
        return created.timestamp() + self.settle_days * DAY_S

    def is_risk_allowed(self, promised_pct: float | None) -> bool:
        """True if a reduction with that risk, in percent, may be recommended.

        A risk that is not known (None) is allowed only if the owner takes any.
        """
        return self.risk_pct >= ANY_RISK_PCT or (promised_pct is not None and promised_pct <= self.risk_pct)

    @property
    def log_days(self) -> float:
        """The days for which the cloud's own log of changes is read, back from now; 0 if it is not read."""
        return float(self.lookback_days) if self.read_audit_log else 0.0

    def find_exclusion(self, volume: Volume, now: datetime) -> Exclusion | None:
        """The first exclusion that a volume falls under; None if it is audited."""
        return next((exclusion for exclusion in self.exclude if exclusion.holds_for(volume, now)), None)

    def pick_shown_tags(self, tags: Mapping[str, str]) -> dict[str, str]:
        """The tags that reports may show, in the order of the policy's list."""
        return {key: tags[key] for key in self.show_tags if key in tags}

    def apply_overrides(self, tags: Mapping[str, str]) -> "Policy":
        """The policy for a volume with these tags: every override that matches, in their order."""
        policy = self
        for override in self.overrides:
            if override.match.is_match(tags):
                policy = replace(policy, **override.policy)
        return policy


RESOLUTIONS_S = (60, 300, 3600)


def _find_marks(kind: type[Mark]) -> dict[str, Mark]:
    """The keys whose declaration has a mark of a kind, each with it."""
    marks = {key.name: getattr(key.type, "__metadata__", ()) for key in fields(Policy)}
    return {name: mark for name, row in marks.items() for mark in row if isinstance(mark, kind)}


BOUNDS: Final[Mapping[str, tuple[float, float]]] = {
    key: (bounds.least, bounds.most) for key, bounds in _find_marks(Bounds).items()
}
"""The least and the most of each key that has them."""

OWN_OPTIONS: Final[Mapping[str, OwnOption]] = _find_marks(OwnOption)
"""The keys that are changed most, each with its option."""


MOST_HEADROOM_PCT: Final = BOUNDS["headroom_pct"][1]
"""The most that is learned, or made of growth: what would need more is not promised."""

MOST_FACTOR: Final = 1 + MOST_HEADROOM_PCT / 100
"""The same as a factor."""

LESS_RISK: Final = "a lower risk_pct or more headroom_pct"
"""The keys of a policy that make promises safer, in words."""


class OfferPurpose(StrEnum):
    """The purposes of another configuration: to cost less, to throttle less, or to cost less and throttle no more."""

    REDUCE = "reduce"
    RELIEVE = "relieve"
    HOLD = "hold"


class HeadroomSource(StrEnum):
    """The origin of a headroom before growth: the owner's figure, or a factor that was learned to keep a risk."""

    POLICY = "policy"
    LEARNED = "learned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """The growth of a volume's operations and bytes, in percent a day, over the `weeks` that count.

    0 where one of them does not grow. `times` is what that comes to in the `days` that there is room for.
    """

    iops_pct_a_day: float
    throughput_pct_a_day: float
    weeks: int
    days: float
    times: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """A share above what was seen, in percent: 20 is a factor of 1.2. `usual_pct` has no room for growth."""

    pct: float
    usual_pct: float
    source: HeadroomSource = field(default=HeadroomSource.POLICY, compare=False)

    @classmethod
    def from_policy(cls, policy: Policy) -> "Headroom":
        """The headroom that the owner asks for."""
        return cls(pct=policy.headroom_pct, usual_pct=policy.headroom_pct)

    @property
    def factor(self) -> float:
        """The factor on what was seen."""
        return 1 + self.pct / 100

    @property
    def usual(self) -> "Headroom":
        """The headroom without room for growth."""
        return self if self.pct == self.usual_pct else replace(self, pct=self.usual_pct)

    def raised_to(self, learned_factor: float) -> "Headroom":
        """The headroom, and no less than a learned factor.

        That is rounded up to a tenth of a percent: rounded down it would not keep its promise.
        """
        pct = math.ceil(1000 * max(0.0, learned_factor - 1) - 1e-6) / 10
        return self if pct <= self.pct else Headroom(pct=pct, usual_pct=pct, source=HeadroomSource.LEARNED)

    def with_room_for(self, growth: Growth) -> "Headroom":
        """The headroom with room for a growth, no more than any policy may ask for.

        It is rounded up to a tenth of a percent, so that rounding by machines never shows.
        """
        grown_pct = 100 * (self.usual.factor * growth.times - 1)
        pct = min(MOST_HEADROOM_PCT, max(self.usual_pct, math.ceil(10 * grown_pct - 1e-6) / 10))
        return replace(self, pct=pct)


@dataclass(frozen=True, slots=True, kw_only=True)
class Headrooms:
    """The headroom of relief, and of reductions: these alone ask for what was learned.

    Both have room for `growth` (None: for none).
    """

    relief: Headroom
    reducing: Headroom
    growth: Growth | None = None

    @classmethod
    def from_policy(cls, policy: Policy, learned_factor: float | None = None) -> "Headrooms":
        """The headrooms that the owner asks for; reductions have no less than a learned factor (None: none is)."""
        asked = Headroom.from_policy(policy)
        return cls(relief=asked, reducing=asked if learned_factor is None else asked.raised_to(learned_factor))

    def pick(self, purpose: OfferPurpose) -> Headroom:
        """The headroom of an offer for a purpose."""
        return self.relief if purpose is OfferPurpose.RELIEVE else self.reducing

    def with_room_for(self, growth: Growth) -> "Headrooms":
        """The headrooms with room for a growth."""
        relief, reducing = self.relief.with_room_for(growth), self.reducing.with_room_for(growth)
        return Headrooms(relief=relief, reducing=reducing, growth=growth)


MOST_GROWTH_TIMES: Final = 3.0
"""No more growth than to that many times is kept room for."""
