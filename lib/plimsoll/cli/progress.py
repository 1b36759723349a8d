"""The progress of a run: volumes as they are answered, what was asked of the clouds, and how long it still takes."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column
from rich.text import Text

from plimsoll.auditing.ports import AuditPorts
from plimsoll.cli.screen import Screen
from plimsoll.model.units import MINUTE_S
from plimsoll.model.volume import Volume
from plimsoll.outcomes import Answered, FailedVolume, InScope, Notice, Outcome, Planned, Priced, Skipped, VolumesSeen
from plimsoll.ports import FailedTarget, Inventory, Target, UnreadVolume, Usage

WIDE: Final = 110
"""Columns from which on there is room for what was asked of the clouds."""

FIRST_LINE_S: Final = 5.0
"""Seconds until the first line of progress where there is no terminal; the next ones come after twice as long each."""

EARLY: Final = 0.02
"""The part of a run before whose end nothing is said of how long it takes."""


@dataclass(slots=True, kw_only=True)
class Pace:
    """The progress of a run: volumes done and known, and places (accounts and regions) listed of those there are."""

    done: int = 0
    volumes: int = 0
    listed: int = 0
    places: int = 0
    began_s: float = field(default_factory=time.monotonic)

    def take(self, outcome: Outcome) -> None:
        """Counts an outcome."""
        match outcome:
            case VolumesSeen():
                self.volumes += outcome.volumes
                self.listed += 1
            case FailedTarget():
                self.listed += 1
            case Answered() | FailedVolume() | Skipped():
                self.done += 1
            case InScope() | Planned() | Priced() | Notice():
                pass

    @property
    def words(self) -> str:
        """The progress in words. Until all places are listed, nobody knows how many volumes there are."""
        if not self.listed:
            return f"listing volumes: {self.listed:,} of {self.places:,} accounts and regions listed"
        volumes = f"{self.done:,} of {self.volumes:,} volumes"
        if self.listed >= self.places:
            return volumes
        return f"{volumes}, with {self.listed:,} of {self.places:,} accounts and regions listed"

    def seconds_left(self, now_s: float) -> float | None:
        """About how long the rest takes if places still to be listed are like those before; None while it is too early
        to say."""
        expected = self.volumes * max(1.0, self.places / self.listed) if self.listed else 0.0
        part = self.done / expected if expected else 0.0
        return None if part < EARLY else (now_s - self.began_s) * (1 - min(1.0, part)) / part


def left_text(seconds: float | None) -> str:
    """The time that something still takes, in words; empty where nobody knows."""
    if seconds is None:
        return ""
    if seconds < MINUTE_S:
        return "under a minute left"
    return f"about {math.ceil(seconds / MINUTE_S):,} min left"


class _UsageColumn(ProgressColumn):
    """Calls and datapoints so far, read afresh each time the bar is drawn."""

    def __init__(self, usages: Sequence[Usage]) -> None:
        super().__init__(table_column=Column(no_wrap=True))
        self._usages = usages

    def render(self, task: Task) -> Text:  # noqa: ARG002  # the usage is of all tasks
        """The usage in a few words."""
        calls, datapoints = sum(usage.calls for usage in self._usages), sum(usage.datapoints for usage in self._usages)
        return Text(f"{calls:,} calls, {datapoints / 1e6:,.1f} M datapoints")


class _LeftColumn(ProgressColumn):
    """The time that the run still takes."""

    def __init__(self, pace: Pace) -> None:
        super().__init__(table_column=Column(no_wrap=True))
        self._pace = pace

    def render(self, task: Task) -> Text:  # noqa: ARG002  # the time is of all tasks
        """The time in a few words."""
        return Text(left_text(self._pace.seconds_left(time.monotonic())))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """An inventory that tells how many places there are."""

    inventory: Inventory
    pace: Pace

    def targets(self) -> Sequence[Target | FailedTarget]:
        """The inventory's targets, which it counts."""
        targets = self.inventory.targets()
        self.pace.places += len(targets)
        return targets

    def volumes(self, target: Target) -> Iterator[Volume | UnreadVolume]:
        """The inventory's volumes."""
        return self.inventory.volumes(target)

    def notices(self, target: Target) -> Sequence[str]:
        """The inventory's notices."""
        return self.inventory.notices(target)


@dataclass(slots=True, kw_only=True)
class _Lines:
    """Progress line by line, where no terminal can show a bar."""

    console: Screen
    pace: Pace
    next_s: float = FIRST_LINE_S

    def take(self, now_s: float) -> None:
        """Prints how far the run is, if it is time to."""
        passed_s = now_s - self.pace.began_s
        if passed_s >= self.next_s:
            self.next_s = 2 * passed_s
            left = left_text(self.pace.seconds_left(now_s))
            self.console.say(f"{self.pace.words}{left and f', {left}'}")


@contextmanager
def run_bar(
    console: Screen, audits: Sequence[AuditPorts]
) -> Iterator[tuple[Sequence[AuditPorts], Callable[[Outcome], None]]]:
    """A live bar while the block lasts, or a line now and then where there is no terminal.

    Gives the audits to carry out, and what each outcome is handed to.
    """
    pace, shown = Pace(), console.progress
    lines = _Lines(console=shown, pace=pace)
    counted = [replace(ports, inventory=_Counted(inventory=ports.inventory, pace=pace)) for ports in audits]
    usage = [_UsageColumn([ports.metrics.usage for ports in audits])] if shown.width >= WIDE else []
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=None), MofNCompleteColumn())
    with Progress(
        *columns, *usage, _LeftColumn(pace), console=shown, transient=True, disable=not shown.is_terminal
    ) as progress:
        bar = progress.add_task("listing volumes", total=None)

        def take(outcome: Outcome) -> None:
            pace.take(outcome)
            if isinstance(outcome, VolumesSeen):
                progress.update(bar, description=str(outcome.target))
            if progress.disable:
                lines.take(time.monotonic())
            progress.update(bar, completed=pace.done, total=pace.volumes or None)

        yield counted, take


@contextmanager
def steps_bar(console: Screen, words: str) -> Iterator[Callable[[int, int], None]]:
    """A live bar for as long as the block lasts; it is called with how many steps are done, of how many."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=None), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        bar = progress.add_task(words, total=None)

        def take(done: int, steps: int) -> None:
            progress.update(bar, completed=done, total=steps)

        yield take
