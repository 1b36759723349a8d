"""The frontier: what each budget of throttled minutes would cost, as reports show it."""

from collections.abc import Sequence
from typing import Final

from plimsoll.domain.recommendation import FrontierStep
from plimsoll.reports.record import FrontierStepRecord
from plimsoll.reports.wording import duration, usd

LEAST_USD_MONTH: Final = 5.0
LEAST_SHARE: Final = 0.05
"""What a step has to save of the first one's price to be shown."""

HEADS: Final = ("throttled minutes in 30 days", "cheapest that does it", "USD a month", "longest wait")
"""The columns of a table of it: the first figure and the last two are numbers."""


def worth_showing(steps: Sequence[FrontierStep]) -> bool:
    """Whether letting more minutes be throttled than the first step does saves at least $5 and 5 % a month."""
    if not steps:
        return False
    first, least = steps[0].usd_month, min(step.usd_month for step in steps)
    return first - least >= max(LEAST_USD_MONTH, LEAST_SHARE * first)


def price_text(step: FrontierStepRecord) -> str:
    """What a step costs, in words."""
    return f"{_bound(step)}{usd(step.monthly_usd)}"


def longest_wait_text(step: FrontierStepRecord) -> str:
    """The longest wait of a step, in words."""
    return "none" if step.longest_wait_s <= 0 else f"{_bound(step)}{duration(step.longest_wait_s)}"


def _bound(step: FrontierStepRecord) -> str:
    return "at most " if step.at_most else ""
