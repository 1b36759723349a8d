"""sysbench's fileio of 0.4 and 0.5, which prints what was done and for how long, and no rates."""

import re
from typing import Final

from plimsoll.envelopes.printed import PrintedFigures, number_in, size_kib_in
from plimsoll.model.units import KIB

_N: Final = r"(\d+(?:\.\d+)?)"
_OLDEST_FILE_IO: Final = re.compile(
    rf"Operations performed:\s+(\d+)\s+[Rr]eads?,\s+(\d+)\s+[Ww]rites?,\s+(\d+)\s+Other\s+=\s+\d+\s+Total"
    rf"\s+Read\s+{_N}([KMGT]?)b\s+Written\s+{_N}([KMGT]?)b\s"
)
"""0.4 and 0.5 print how much was done, and the time that it took. Their Kb, Mb and Gb are powers of 1,024 bytes."""
TOTAL_TIME: Final = re.compile(rf"total time:\s+{_N}s")
"""The run time that every version prints."""
_OLD_LATENCY: Final = re.compile(
    rf"(?:per-request statistics|response time):\s+min:\s+{_N}ms\s+avg:\s+{_N}ms\s+max:\s+{_N}ms"
    rf"(?:\s+approx\.\s+(\d+)\s+percentile:\s+{_N}ms)?"
)


def oldest_file_io_in(body: str) -> PrintedFigures:
    """Reads, writes and fsyncs of a fileio test. Rates are the work over the time that it took."""
    done, time = _OLDEST_FILE_IO.search(body), TOTAL_TIME.search(body)
    if done is None or time is None or not number_in(time[1]):
        raise ValueError("the test of files breaks off before its bytes or its time")
    seconds = number_in(time[1])
    reads, writes, others = (number_in(done[at]) / seconds for at in (1, 2, 3))
    read_kib, written_kib = (size_kib_in(f"{done[at]}{done[at + 1]}") or 0.0 for at in (4, 6))
    sides = {
        "read": {"operations": done[1], "iops": repr(reads), "mib_s": repr(read_kib / KIB / seconds)},
        "write": {"operations": done[2], "iops": repr(writes), "mib_s": repr(written_kib / KIB / seconds)},
    }
    fsync = {"operations": done[3], "iops": repr(others)}
    latency = _OLD_LATENCY.search(body)
    latency_ms: PrintedFigures = {}
    if latency is not None:
        latency_ms = dict(zip(("min", "avg", "max"), latency.groups()[:3], strict=True))
        latency_ms |= {} if latency[4] is None else {f"{latency[4]}th percentile": latency[5]}
    return {**sides, "fsync": fsync, "total_time_s": time[1], **({"latency_ms": latency_ms} if latency_ms else {})}
