"""What to do first: the steps that a run's volumes are in, with their money and the volumes that matter."""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from plimsoll.domain.policy import Policy
from plimsoll.reports.largest import Largest
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_reader import Matched
from plimsoll.reports.steps import CENT, Step, StepWords, step_of, step_words
from plimsoll.reports.totals import DIMENSIONS, Totals
from plimsoll.reports.wording import count_of, usd

FIRST: Final = 3
"""How many volumes of a step are named."""

_QUIET: Final = frozenset({Step.WAIT, Step.KEEP})
"""Steps with nothing to do, whose volumes need no naming."""


@dataclass(slots=True)
class Overview:
    """The totals of some volumes by every dimension, and the first volumes of each step."""

    totals: Totals = field(default_factory=lambda: Totals.of((), by=DIMENSIONS))
    first: dict[Step, Largest[RecommendationRecord]] = field(
        default_factory=lambda: defaultdict(lambda: Largest(most=FIRST))
    )

    def add(self, record: RecommendationRecord) -> None:
        """Counts a recommendation."""
        self.totals.add(record)
        self.first[step_of(record)].add(_weight(record), record.volume_id, record)


def counted(volumes: Iterable[Matched], overview: Overview) -> Iterator[Matched]:
    """The same volumes, each counted as it goes by."""
    for volume in volumes:
        overview.add(volume[0])
        yield volume


def _weight(record: RecommendationRecord) -> float:
    """By what a volume comes first in its step: the minutes it was throttled, what it costs, or what it saves."""
    if record.action == "upgrade":
        return record.demand.throttled_minutes if record.demand else 0.0
    return (record.monthly_usd_now or 0.0) if record.action == "detached" else record.monthly_usd_saved


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


def todos(overview: Overview, policy: Policy, folder: Path) -> Iterator[Todo]:
    """The steps that hold volumes, in the order in which to act."""
    for step in Step:
        found = overview.totals.by["step"].get(step)
        if found is None:
            continue
        first = [] if step in _QUIET else overview.first[step].items
        blocked = f", {found.blocked:,} of them blocked" if step is Step.THROTTLED and found.blocked else ""
        yield Todo(
            step=step,
            words=step_words(step, policy),
            volumes=f"{count_of(found.answered, 'volume')}{blocked}",
            money=_money(found),
            first=first,
            more=found.answered - len(first),
            command=shlex.join(["plimsoll", "validate", "--recommendation", str(folder)])
            if step is Step.MEASURE
            else None,
        )


def most_money(totals: Totals) -> str:
    """Which step holds the most of the saving, as a sentence; empty where no more than one saves."""
    steps = totals.by["step"]
    saving = {step: found.usd_saved for step, found in steps.items() if found.usd_saved >= CENT}
    if len(saving) < 2:
        return ""
    step = Step(max(sorted(saving), key=lambda one: saving[one]))
    number = [one for one in Step if one in steps].index(step) + 1
    return (
        f"The most money is in step {number}, which saves {usd(saving[step])} of the {usd(totals.usd_saved)} a month."
    )


def _money(totals: Totals) -> str:
    parts = []
    if totals.usd_saved >= CENT:
        less = CENT <= totals.usd_saved_drop_in < totals.usd_saved - CENT
        instead = f" ({usd(totals.usd_saved_drop_in)} with drop-in replacements alone)" if less else ""
        parts.append(f"saves {usd(totals.usd_saved)} a month{instead}")
    if totals.usd_upgrades >= CENT:
        parts.append(f"{'others cost' if parts else 'costs'} {usd(totals.usd_upgrades)} a month more")
    if not parts and totals.usd_now >= CENT:
        parts.append(f"costs {usd(totals.usd_now)} a month")
    return "; ".join(parts) or "no price known"
