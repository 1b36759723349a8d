"""Targets: what a backtest has to show of the learned headroom, and what it came to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from plimsoll.risk.learn import LEVELS_PCT
from plimsoll_backtest.findings import Reliability, SameSaving
from plimsoll_backtest.rules import LEARNED, MAX_AND_20

TOO_SAFE: Final = 1 / 4
"""A promise of which less than this share is observed costs money for nothing."""


class Aim(StrEnum):
    """The figure that a target aims at."""

    KEPT = "promise kept, in percent"
    MINUTES = "more minutes at the same saving"
    VOLUMES = "more volumes at the same saving"


@dataclass(frozen=True, slots=True, kw_only=True)
class AimOutcome:
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
    def is_reached(self) -> bool | None:
        """True if the target was reached; None if that is not known."""
        if self.found is None or self.too_few:
            return None
        return (self.least is None or self.found >= self.least) and self.found <= self.most

    @property
    def verdict(self) -> str:
        """The same in words."""
        if self.found is None:
            return "no promise"
        return {None: "too few to tell", True: "reached", False: "missed"}[self.is_reached]


def targets_of(reliability: Sequence[Reliability], same_saving: Sequence[SameSaving]) -> list[AimOutcome]:
    """All targets of a backtest: promises at every level of a table, and the curve against the common rule."""
    return [*_promises(reliability), *_curve(same_saving)]


def _promises(reliability: Sequence[Reliability]) -> Iterator[AimOutcome]:
    """Yields how well the learned rule kept each promise; over all factors of demand, where that is known."""
    rows = [row for row in reliability if row.times is None] or reliability
    for row in rows:
        if row.rule == LEARNED and row.promised_pct in LEVELS_PCT:
            least = TOO_SAFE * row.promised_pct
            yield AimOutcome(
                aim=Aim.KEPT,
                against=f"{row.promised_pct:g} %",
                memory_days=row.memory_days,
                times=row.times,
                found=row.observed_pct,
                least=least,
                most=row.promised_pct,
                # One volume more or less must not decide whether a promise is too safe.
                too_few=row.volumes * least / 100 < 1,
            )


def _curve(same_saving: Sequence[SameSaving]) -> Iterator[AimOutcome]:
    for row in same_saving:
        if (row.rule, row.other) != (LEARNED, MAX_AND_20):
            continue
        for aim, figure, other, low in (
            (Aim.MINUTES, row.throttled_minutes, row.other_throttled_minutes, row.minutes_low),
            (Aim.VOLUMES, row.over_budget_volumes, row.other_over_budget_volumes, row.volumes_low),
        ):
            yield AimOutcome(
                aim=aim,
                against=row.other,
                memory_days=row.memory_days,
                times=row.times,
                found=round(figure - other, 1),
                least=None,
                most=round(figure - other - low, 1),
            )
