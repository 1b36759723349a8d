"""Targets: what a backtest has to show of the learned headroom, and what it came to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from plimsoll.backtesting.findings import Reliability, SameSaving
from plimsoll.backtesting.rules import LEARNED, MAX_AND_20
from plimsoll.domain.risk.calibration import LEVELS_PCT

TOO_SAFE: Final = 1 / 4
"""A promise of which less than this share is observed costs money for nothing."""


class Aim(StrEnum):
    """What is aimed at."""

    KEPT = "promise kept, in percent"
    MINUTES = "more minutes at the same saving"
    VOLUMES = "more volumes at the same saving"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A target of the learned rule: its figure is to be at least `least` (None: any) and at most `most`.

    Of a promise the figure is what was observed. Of the curve it is how much more is throttled than by the other rule,
    and the most is by how much resampled fleets lie below that. `against` is the promise in percent, or the other rule.
    `found` is None where nothing was promised; `reached` is None then, and where `too_few` volumes tell nothing.
    """

    aim: Aim
    against: str
    memory_days: float
    times: float | None
    found: float | None
    least: float | None
    most: float
    too_few: bool = False

    @property
    def reached(self) -> bool | None:
        """Whether the target was reached; None where that is not known."""
        if self.found is None or self.too_few:
            return None
        return (self.least is None or self.found >= self.least) and self.found <= self.most

    @property
    def verdict(self) -> str:
        """The same in words."""
        if self.found is None:
            return "no promise"
        return {None: "too few to tell", True: "reached", False: "missed"}[self.reached]


def targets_of(reliability: Sequence[Reliability], same_saving: Sequence[SameSaving]) -> list[Target]:
    """All targets of a backtest: promises at every level of a table, and the curve against the common rule."""
    return [*_promises(reliability), *_curve(same_saving)]


def _promises(reliability: Sequence[Reliability]) -> Iterator[Target]:
    together = [one for one in reliability if one.times is None] or reliability
    for one in together:
        if one.rule == LEARNED and one.promised_pct in LEVELS_PCT:
            least = TOO_SAFE * one.promised_pct
            yield Target(
                aim=Aim.KEPT,
                against=f"{one.promised_pct:g} %",
                memory_days=one.memory_days,
                times=one.times,
                found=one.observed_pct,
                least=least,
                most=one.promised_pct,
                # One volume more or less must not decide whether a promise is too safe.
                too_few=one.volumes * least / 100 < 1,
            )


def _curve(same_saving: Sequence[SameSaving]) -> Iterator[Target]:
    for one in same_saving:
        if (one.rule, one.other) != (LEARNED, MAX_AND_20):
            continue
        for aim, figure, other, low in (
            (Aim.MINUTES, one.throttled_minutes, one.other_throttled_minutes, one.minutes_low),
            (Aim.VOLUMES, one.over_budget_volumes, one.other_over_budget_volumes, one.volumes_low),
        ):
            yield Target(
                aim=aim,
                against=one.other,
                memory_days=one.memory_days,
                times=one.times,
                found=round(figure - other, 1),
                least=None,
                most=round(figure - other - low, 1),
            )
