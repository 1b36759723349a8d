"""Shown first: in a large target, the volumes that save the most are read by the minute as well.

Their answers do not change, but charts show every minute of what a report shows first. At most one volume in 100 is
read so, and no more than 20 of a target: what that is billed is far less than what sparing reading saves.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappush, heappushpop
from typing import Final

from plimsoll.domain.recommendation import Change
from plimsoll.outcomes import Answered, Outcome

ONE_IN: Final = 100
MOST: Final = 20


def read_shown_first(
    outcomes: Iterable[Outcome], volumes: int, read: Callable[[Sequence[Answered]], Iterable[Outcome]]
) -> Iterator[Outcome]:
    """The same outcomes of a target with so many volumes; those that save the most come last, as `read` gives them."""
    most, held = min(MOST, volumes // ONE_IN), list[tuple[float, str, Answered]]()
    for outcome in outcomes:
        saved_usd = _saved_usd(outcome)
        if not most or saved_usd <= 0 or not isinstance(outcome, Answered):
            yield outcome
            continue
        entry = (saved_usd, outcome.recommendation.volume.id, outcome)
        if len(held) < most:
            heappush(held, entry)
        else:
            yield heappushpop(held, entry)[-1]
    if held:
        yield from read([answered for *_, answered in sorted(held, key=lambda entry: entry[:2], reverse=True)])


def _saved_usd(outcome: Outcome) -> float:
    """What an outcome's change saves a month."""
    changed = outcome.recommendation if isinstance(outcome, Answered) else None
    return changed.usd_month_saved if isinstance(changed, Change) else 0.0
