"""The progress bar of a run: volumes, calls and datapoints as they come."""

from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from plimsoll.outcomes import Answered, FailedVolume, Outcome, Seen, Skipped
from plimsoll.ports import Usage


class _UsageColumn(TextColumn):
    """Calls and datapoints so far, read afresh each time the bar is drawn."""

    def __init__(self, usages: Sequence[Usage]) -> None:
        super().__init__("")
        self._usages = usages

    def render(self, task: object) -> object:  # type: ignore[override]  # only the usage is drawn
        """The usage in a few words."""
        calls, datapoints = (sum(one.calls for one in self._usages), sum(one.datapoints for one in self._usages))
        self.text_format = f"{calls:,} calls, {datapoints / 1e6:,.1f} M datapoints"
        return super().render(task)  # type: ignore[arg-type]


class RunBar:
    """A live bar with what is asked of all clouds; use as a context manager and call with every outcome."""

    def __init__(self, console: Console, usages: Sequence[Usage]) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            _UsageColumn(usages),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task: TaskID = self._progress.add_task("listing volumes", total=None)
        self._seen = 0

    def __enter__(self) -> "RunBar":
        self._progress.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._progress.stop()

    def take(self, outcome: Outcome) -> None:
        """Moves the bar."""
        if isinstance(outcome, Seen):
            self._seen += outcome.volumes
            self._progress.update(self._task, total=self._seen, description=str(outcome.target))
        elif isinstance(outcome, Answered | FailedVolume | Skipped):
            self._progress.advance(self._task)
