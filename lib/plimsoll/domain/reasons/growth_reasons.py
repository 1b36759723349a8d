"""What is said of what a volume does over weeks: that it grows, and that more speed only ends its work earlier."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from plimsoll.domain.ceiling import Resource
from plimsoll.domain.memory.growth import MOST_TIMES
from plimsoll.domain.reason import Reason
from plimsoll.domain.recommendation import GrowthSummary

if TYPE_CHECKING:
    from plimsoll.domain.case import Case

_SIDES: Final = {Resource.IOPS: "IOPS", Resource.THROUGHPUT: "throughput"}


def growth_summary(case: "Case") -> GrowthSummary | None:
    """The growth that an answer keeps room for; None where it keeps none."""
    growth = case.context.growth
    if growth is None:
        return None
    return GrowthSummary(
        iops_pct_a_day=growth.iops_pct_a_day,
        throughput_pct_a_day=growth.throughput_pct_a_day,
        weeks=growth.weeks,
        headroom_pct=(case.policy if case.frequent else case.reducing).headroom_pct,
        usual_headroom_pct=case.context.usual_pct if case.frequent else case.context.usual_reducing_pct,
    )


def room_for_growth(case: "Case") -> Iterator[Reason]:
    """How fast demand grows, and what room is kept for that."""
    growth, found = growth_summary(case), case.context.growth
    if growth is None or found is None:
        return
    rates = ((growth.iops_pct_a_day, "operations"), (growth.throughput_pct_a_day, "bytes"))
    grown = " and ".join(f"{pct:.2g} % more {what} a day" for pct, what in rates if pct)
    yield Reason(
        "grows",
        f"Demand grows: {grown}, over {growth.weeks} weeks. With room for {found.days:g} more days "
        f"(growth_days), headroom is {growth.headroom_pct:g} % instead of {growth.usual_headroom_pct:g} %."
        + (f" Room is kept for at most {MOST_TIMES:g} times the demand." if found.times >= MOST_TIMES else ""),
    )


def takes_what_it_gets(case: "Case") -> Iterator[Reason]:
    """Why a volume that stands at its ceiling is not given more."""
    for resource in sorted(case.lifted.deferred):
        yield Reason(
            "takes-what-it-gets",
            f"It stands at its {_SIDES[resource]} limit, but does no more work a day since that limit was raised. More "
            "speed would only end the work earlier.",
        )
