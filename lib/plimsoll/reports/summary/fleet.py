"""The fleet: what a run's records add up to, by step and by cloud, account, region, owner and type, from one pass."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Final

from plimsoll.reports.cloud_words import words_of
from plimsoll.reports.money import Money, money_of
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.steps import Step, step_of
from plimsoll.reports.summary.matched import Matched
from plimsoll.reports.tally import Tally
from plimsoll.reports.wording import owner_text

FIRST: Final = 3
"""How many volumes of a step are named."""


@dataclass(slots=True)
class StepSum:
    """The volumes of one step: the money they add up to, and those that matter most, the greatest first."""

    tally: Tally = field(default_factory=Tally)
    first: list[RecommendationRecord] = field(default_factory=list)
    blocked: int = 0

    def count(self, record: RecommendationRecord) -> None:
        """Counts a recommendation of the step."""
        self.blocked += bool(record.blockers)
        self.tally.count(record)
        self.first = nlargest(FIRST, [*self.first, record], key=lambda one: (_weight(one), one.volume_id))


@dataclass(slots=True)
class Group:
    """What the volumes with one value in common cost and can save."""

    volumes: int = 0
    money: Money = field(default_factory=Money)

    def add(self, money: Money, volumes: int) -> None:
        """Adds the money of so many volumes."""
        self.volumes += volumes
        self.money += money


@dataclass(slots=True)
class Fleet:
    """A run's records added up; it grows with clouds, accounts, regions, owners and types, not with the volumes."""

    tally: Tally = field(default_factory=Tally)
    unpriced: int = 0
    steps: dict[Step, StepSum] = field(default_factory=dict)
    groups: dict[str, dict[str, Group]] = field(
        default_factory=lambda: {"cloud": {}, "account": {}, "region": {}, "owner": {}, "type": {}}
    )

    def count(self, record: RecommendationRecord) -> None:
        """Counts a recommendation everywhere that it belongs."""
        self.tally.count(record)
        self.unpriced += record.monthly_usd_now is None
        self.steps.setdefault(step_of(record), StepSum()).count(record)
        money = money_of(record)
        for dimension, value in _values(record):
            self.groups[dimension].setdefault(value, Group()).add(money, 1)


def counted(volumes: Iterable[Matched], fleet: Fleet) -> Iterator[Matched]:
    """The same volumes, each counted as it goes by."""
    for volume in volumes:
        fleet.count(volume[0])
        yield volume


def _values(record: RecommendationRecord) -> Iterator[tuple[str, str]]:
    """A volume's values in each dimension that savings are broken down by."""
    yield "cloud", words_of(record.provider).cloud
    yield "account", record.account
    yield "region", record.region
    yield "owner", owner_text(record.owner)
    yield "type", record.current.type


def _weight(record: RecommendationRecord) -> float:
    """By what a volume comes first in its step: the minutes it was throttled, what it costs, or what it saves."""
    if record.action == "upgrade":
        return record.demand.throttled_minutes if record.demand else 0.0
    return (record.monthly_usd_now or 0.0) if record.action == "detached" else record.monthly_usd_saved
