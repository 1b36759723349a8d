"""Probes on the terminal: what was seen of a volume by the second."""

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from plimsoll.demand.seconds import SecondsSeen
from plimsoll.reports.printable import printable
from plimsoll.reports.seconds_seen import seen_lines, seen_title


def show_seen(console: Console, seen: SecondsSeen) -> None:
    """Prints what was seen of a volume, line by line."""
    console.print(Text(printable(seen.volume_id), "bold"), soft_wrap=True)
    console.print(seen_title(seen), highlight=False, soft_wrap=not console.is_terminal)
    _print_lines(console, seen)


def _print_lines(console: Console, seen: SecondsSeen) -> None:
    for line in map(printable, seen_lines(seen, {})):
        if console.is_terminal:
            console.print(Padding(Text(line), (0, 0, 0, 2)))
        else:
            console.print(Text(f"  {line}"), soft_wrap=True)
