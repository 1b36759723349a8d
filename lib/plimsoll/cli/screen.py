"""The screen: what commands print for people. It breaks sentences between words, and outlives whoever reads it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console

from plimsoll.reports.printable import printable, speak_to_nobody

if TYPE_CHECKING:
    from rich.status import Status


class Screen(Console):
    """Rich's console. If its reader has gone (`| head -1`), the command goes on in silence: a run is still written."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"highlight": False, **options})

    def say(self, text: str, style: str = "") -> None:
        """Prints a sentence: broken between words on a terminal, and one line wherever a program reads it."""
        self.print(printable(text), style=style, markup=False, soft_wrap=not self.is_terminal)

    @property
    def progress(self) -> "Screen":
        """The screen for progress: this terminal, or standard error, so that it is never among answers in a file."""
        return self if self.is_terminal or self.stderr else Screen(stderr=True, quiet=self.quiet)

    def status(self, status: Any, **options: Any) -> "Status":
        """A spinner where progress is shown; nothing where that is no terminal."""
        return Console.status(self.progress, status, **options)

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """A spinner for what takes seconds; a line on standard error where no terminal can show one."""
        if not self.progress.is_terminal:
            self.progress.say(what)
        with self.status(what):
            yield

    def on_broken_pipe(self) -> None:
        """Prints nothing more."""
        speak_to_nobody()
        self.quiet = True


@contextmanager
def beginning(what: str) -> Iterator[None]:
    """A spinner on a terminal's standard error while a command starts, for as long as the block lasts."""
    with Screen(stderr=True).status(what):
        yield
