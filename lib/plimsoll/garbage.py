"""The pace at which Python looks for garbage that counting references does not find."""

import gc
from typing import Final

ALLOCATIONS: Final = 50_000
"""A start makes tens of thousands of objects that stay, and an audit makes few cycles. Python's own is 700 or 2,000."""


def collect_rarely() -> None:
    """Makes the whole process look for cycles rarely: for programs alone, never for a library."""
    gc.set_threshold(ALLOCATIONS)
