"""Probes on the terminal: what was seen of a volume by the second."""

from collections.abc import Sequence

from rich.console import Console

from plimsoll.reports.printable import printable


def show_seen(console: Console, volume_id: str, title: str, lines: Sequence[str]) -> None:
    """Prints what was seen of a volume, line by line."""
    console.print(f"[bold]{volume_id}[/bold]  {title}", highlight=False, soft_wrap=True)
    for line in lines:
        console.print(printable(f"  {line}"), markup=False, highlight=False, soft_wrap=True)
