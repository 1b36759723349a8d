"""Probes on the terminal: what was seen of a volume by the second."""

from collections.abc import Mapping

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from plimsoll.domain.metrics.seconds_seen import SecondsSeen
from plimsoll.reports.printable import printable
from plimsoll.reports.record import CeilingRecord
from plimsoll.reports.seconds_seen import seen_lines, seen_title


def show_seen(console: Console, seen: SecondsSeen) -> None:
    """Prints what was seen of a volume, line by line."""
    console.print(Text(printable(seen.volume_id), "bold"), soft_wrap=True)
    console.print(seen_title(seen), highlight=False, soft_wrap=not console.is_terminal)
    _print_lines(console, seen)


def seen_parts(seen: SecondsSeen, ceilings: Mapping[str, CeilingRecord]) -> list[RenderableType]:
    """The same below a rule, beside what the volume sustains now and what it would sustain then."""
    title = Rule(seen_title(seen), align="left", style="dim")
    return [title, *(Text(f"- {line}") for line in map(printable, seen_lines(seen, ceilings)))]


def _print_lines(console: Console, seen: SecondsSeen) -> None:
    for line in map(printable, seen_lines(seen, {})):
        if console.is_terminal:
            console.print(Padding(Text(line), (0, 0, 0, 2)))
        else:
            console.print(Text(f"  {line}"), soft_wrap=True)
