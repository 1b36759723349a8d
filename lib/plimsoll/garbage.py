"""The pace at which Python looks for garbage that counting references does not find."""

import atexit
import gc
import sys
from typing import Final

ALLOCATIONS: Final = 50_000
"""A start makes tens of thousands of objects that stay, and an audit makes few cycles. Python's own is 700 or 2,000."""

_COUNTS_WHAT_IS_LEFT: Final = "duckdb"
"""A package whose binding writes to standard error what it still finds at the end."""


def collect_rarely() -> None:
    """Makes the whole process look for cycles rarely, and not at all as it ends: for programs alone, never a library.

    An interpreter that ends looks through all that it has, several times. For an audit of one volume that is a quarter
    of its CPU, to free what ends with the process.
    """
    gc.set_threshold(ALLOCATIONS)
    atexit.register(_leave_to_the_end)


def _leave_to_the_end() -> None:
    if _COUNTS_WHAT_IS_LEFT not in sys.modules:
        gc.freeze()
