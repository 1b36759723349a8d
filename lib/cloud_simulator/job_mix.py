"""The mix of a fio job: which share of its operations are reads, where it mixes them."""

import re
from typing import Final

_OPTION: Final = re.compile(r"^\s*(rw|readwrite|rwmixread|rwmixwrite)\s*=\s*(\w+)\s*$", re.MULTILINE)
_MIXED: Final = {"rw", "randrw", "readwrite"}
_EVEN_PCT: Final = 50.0


def read_share_of(job: str) -> float | None:
    """The share of reads, 0 to 1, of the first mix in a job file; None for a job that mixes nothing."""
    options = _OPTION.findall(job)
    if not any(name in {"rw", "readwrite"} and value in _MIXED for name, value in options):
        return None
    found = dict(reversed(options))
    if "rwmixwrite" in found:
        return 1 - float(found["rwmixwrite"]) / 100
    return float(found.get("rwmixread", _EVEN_PCT)) / 100
