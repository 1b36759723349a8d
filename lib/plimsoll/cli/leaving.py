"""Who leaves the reports of a run that has ended."""

from collections.abc import Callable
from pathlib import Path

from rich.console import Console

LeaveReports = Callable[[Console, Path], bool]
"""Writes the reports of the run in a folder, and says where; gives whether that was possible."""
