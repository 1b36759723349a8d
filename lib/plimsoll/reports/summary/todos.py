"""What to do first: the steps that a run's volumes are in, in order, with their money and the volumes that matter."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plimsoll.domain.policy import Policy
from plimsoll.reports.money import Money
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.steps import CENT, Step
from plimsoll.reports.summary.fleet import Fleet, StepSum
from plimsoll.reports.summary.step_words import StepWords, step_words
from plimsoll.reports.wording import count_of, usd

_QUIET: Final = frozenset({Step.WAIT, Step.KEEP})
"""Steps with nothing to do, whose volumes need no naming."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """A step that holds volumes."""

    step: Step
    words: StepWords
    volumes: str
    money: str
    first: list[RecommendationRecord]
    more: int
    command: str | None


def todos(fleet: Fleet, policy: Policy, folder: Path) -> Iterator[Todo]:
    """The steps that hold volumes, in the order in which to act."""
    for step in Step:
        found = fleet.steps.get(step)
        if found is None:
            continue
        first = [] if step in _QUIET else found.first
        yield Todo(
            step=step,
            words=step_words(step, policy),
            volumes=_volumes(step, found),
            money=_money(found.tally.money),
            first=first,
            more=found.tally.answered - len(first),
            command=shlex.join(["plimsoll", "validate", "--recommendation", str(folder)])
            if step is Step.MEASURE
            else None,
        )


def most_money(fleet: Fleet) -> str:
    """Which step holds the most of the saving, as a sentence; empty where no more than one saves."""
    money = {step: found.tally.money for step, found in fleet.steps.items()}
    saving = {step: found.usd_saved for step, found in money.items() if found.usd_saved >= CENT}
    if len(saving) < 2:
        return ""
    step = max(sorted(saving), key=lambda one: saving[one])
    number = [one for one in Step if one in fleet.steps].index(step) + 1
    return (
        f"The most money is in step {number}, which saves {usd(saving[step])} of the "
        f"{usd(fleet.tally.money.usd_saved)} a month."
    )


def _volumes(step: Step, found: StepSum) -> str:
    """How many volumes a step holds, and how many of those throttled today must wait."""
    volumes = count_of(found.tally.answered, "volume")
    return f"{volumes}, {found.blocked:,} of them blocked" if step is Step.THROTTLED and found.blocked else volumes


def _money(money: Money) -> str:
    """What a step does to the bill, USD a month."""
    parts = []
    if money.usd_saved >= CENT:
        less = CENT <= money.usd_saved_drop_in < money.usd_saved - CENT
        instead = f" ({usd(money.usd_saved_drop_in)} as a drop-in replacement instead)" if less else ""
        parts.append(f"saves {usd(money.usd_saved)} a month{instead}")
    if money.usd_upgrades >= CENT:
        parts.append(f"{'others cost' if parts else 'costs'} {usd(money.usd_upgrades)} a month more")
    if not parts and money.usd_now >= CENT:
        parts.append(f"costs {usd(money.usd_now)} a month")
    return "; ".join(parts) or "no price known"
