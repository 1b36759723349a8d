"""The progress bar of a run: volumes, calls and datapoints as they come."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
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

from plimsoll.outcomes import Answered, FailedVolume, Outcome, Seen, Skipped
from plimsoll.ports import Usage


class _UsageColumn(ProgressColumn):
    """Calls and datapoints so far, read afresh each time the bar is drawn."""

    def __init__(self, usages: Sequence[Usage]) -> None:
        super().__init__(table_column=Column(no_wrap=True))
        self._usages = usages

    def render(self, task: Task) -> Text:  # noqa: ARG002  # the usage is of all tasks
        """The usage in a few words."""
        calls, datapoints = sum(one.calls for one in self._usages), sum(one.datapoints for one in self._usages)
        return Text(f"{calls:,} calls, {datapoints / 1e6:,.1f} M datapoints")


@contextmanager
def run_bar(console: Console, usages: Sequence[Usage]) -> Iterator[Callable[[Outcome], None]]:
    """A live bar with what is asked of all clouds, for as long as the block lasts; each outcome moves it."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=None), MofNCompleteColumn())
    with Progress(*columns, _UsageColumn(usages), TimeElapsedColumn(), console=console, transient=True) as progress:
        bar, seen = progress.add_task("listing volumes", total=None), 0

        def take(outcome: Outcome) -> None:
            nonlocal seen
            if isinstance(outcome, Seen):
                seen += outcome.volumes
                progress.update(bar, total=seen, description=str(outcome.target))
            elif isinstance(outcome, Answered | FailedVolume | Skipped):
                progress.advance(bar)

        yield take


@contextmanager
def steps_bar(console: Console, words: str) -> Iterator[Callable[[int, int], None]]:
    """A live bar for as long as the block lasts; it is called with how many steps are done, of how many."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=None), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        bar = progress.add_task(words, total=None)

        def take(done: int, steps: int) -> None:
            progress.update(bar, completed=done, total=steps)

        yield take
