"""Targets: what a backtest has to show of the learned headroom, and what it came to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from plimsoll.backtesting.findings import Reliability, SameSaving
from plimsoll.backtesting.rules import LEARNED, MAX_AND_20

NEAR: Final = 1.5
"""How many times 10 % may be observed where 10 % was promised."""

FEWER: Final = 2 / 3
"""The share that is left of what the other rule throttles: a third fewer."""

_PROMISED_PCT: Final = (1.0, 5.0, 10.0)
_NEAR_PCT: Final = 10.0


class Aim(StrEnum):
    """What is aimed at."""

    KEPT = "promise kept"
    MINUTES = "minutes at the same saving"
    VOLUMES = "volumes at the same saving"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A target of the learned rule: its figure is to be at most `most`. `against` is the promise in percent, or the
    rule that is compared. `found` is None where nothing was promised; then `reached` is None."""

    aim: Aim
    against: str
    memory_days: float
    times: float | None
    found: float | None
    most: float

    @property
    def reached(self) -> bool | None:
        """Whether the target was reached; None where there is no figure."""
        return None if self.found is None else self.found <= self.most


def targets_of(reliability: Sequence[Reliability], same_saving: Sequence[SameSaving]) -> list[Target]:
    """All targets of a backtest: promises of 1, 5 and 10 %, and the curve against each other rule."""
    return [*_promises(reliability), *_curve([one for one in same_saving if one.rule == LEARNED])]


def _promises(reliability: Sequence[Reliability]) -> Iterator[Target]:
    together = [one for one in reliability if one.times is None] or reliability
    for one in together:
        if one.rule == LEARNED and one.promised_pct in _PROMISED_PCT:
            most = one.most_pct or 0.0
            yield Target(
                aim=Aim.KEPT,
                against=f"{one.promised_pct:g} %",
                memory_days=one.memory_days,
                times=one.times,
                found=one.observed_pct,
                most=min(most, NEAR * _NEAR_PCT) if one.promised_pct == _NEAR_PCT else most,
            )


def _curve(same_saving: Sequence[SameSaving]) -> Iterator[Target]:
    for one in same_saving:
        share = FEWER if one.other == MAX_AND_20 else 1.0
        found = [(Aim.MINUTES, one.throttled_minutes, one.other_throttled_minutes)]
        if one.other == MAX_AND_20:
            found.append((Aim.VOLUMES, one.over_budget_volumes, one.other_over_budget_volumes))
        for aim, figure, other in found:
            yield Target(
                aim=aim,
                against=one.other,
                memory_days=one.memory_days,
                times=one.times,
                found=figure,
                most=round(share * other, 1),
            )
