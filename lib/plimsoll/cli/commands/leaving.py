"""What every audit leaves behind, handed to those who audit: what draws it is imported when it is written."""

from pathlib import Path

from rich.console import Console


def leave_reports(console: Console, folder: Path) -> bool:
    """Writes what every audit leaves behind in a run's folder, and says where; whether that was possible."""
    from plimsoll.cli.report import leave_reports as leave

    return leave(console, folder)
