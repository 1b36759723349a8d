"""The exit codes that scripts rely on; 0 is done, and 1 a fault in Plimsoll itself."""

from typing import Final

UNUSABLE: Final = 2
"""What was given cannot be used."""

PARTIAL: Final = 3
"""Something could not be read, or the disk became full; run.json and the screen say what."""

EXIT_OVER: Final = 4
"""More can be saved than `--fail-over` allows, `check` refuses a plan, or `leftovers` finds some."""

EXIT_INTERRUPTED: Final = 130
"""Ctrl-C, SIGTERM or SIGHUP; everything answered so far is on disk."""
