"""Standard output for data: as it is for the next program, and harmless where it is a terminal."""

import sys
from collections.abc import Iterable

from plimsoll.reports.screen import printable


def put_out(lines: Iterable[str]) -> None:
    """Writes text to standard output; a terminal gets nothing that it would obey."""
    sys.stdout.writelines(map(printable, lines) if sys.stdout.isatty() else lines)
