"""Planning: what a run would cost and take, what is left of a budget for it, and which run follows on another."""

from collections.abc import Collection
from typing import Final

from plimsoll.domain.evidence import Grade
from plimsoll.domain.recommendation import Change
from plimsoll.domain.validation import Budget, MeasuringRun, Mode, PlannedRun, usd_for
from plimsoll.ports import Prices
from plimsoll.validation.desk import Desk
from plimsoll.validation.jobs import expected_seconds
from plimsoll.validation.proposal import Weighed, wanted

MOST_ROUNDS: Final = 3
"""How often a new answer is measured in turn before the rest is left as it is."""


def usd_month_of(run: MeasuringRun, prices: Prices, desk: Desk) -> float | None:
    """The list price of a run's spec where it would be made, None where none is known."""
    book = prices.book(desk.target(run.wants[0].account, run.wants[0].region))
    return None if book is None else book.usd_month(run.spec)


def planned(run: MeasuringRun, mode: Mode, prices: Prices, desk: Desk) -> PlannedRun:
    """The run with its cost and its time; what is measured in place costs nothing."""
    seconds = expected_seconds(run, mode, desk)
    usd_month = None if mode is Mode.IN_PLACE else usd_month_of(run, prices, desk)
    free = 0.0 if mode is Mode.IN_PLACE else None
    return PlannedRun(run=run, usd=free if usd_month is None else usd_for(usd_month, seconds), seconds=seconds)


def rest_of(budget: Budget, *, usd: float, runs: int) -> Budget:
    """What is left of a budget when so much has been spent and so many runs were made."""
    return Budget(
        max_usd=None if budget.max_usd is None else budget.max_usd - usd,
        max_runs=None if budget.max_runs is None else budget.max_runs - runs,
    )


def next_run(found: Weighed, mode: Mode, tried: Collection[str], desk: Desk) -> MeasuringRun | None:
    """The run for what is recommended now, None where nothing new is, or where it is proved already."""
    if mode is Mode.IN_PLACE or not isinstance(found.answer, Change) or found.answer.evidence.grade is Grade.A:
        return None
    run = wanted(found, None, mode, desk.types)
    return None if run.class_key in tried or len(tried) >= MOST_ROUNDS else run
