"""The figures of sysbench's output, by a campaign's names, as printed. ValueError where a test breaks off."""

import re
from typing import Final

from plimsoll.envelopes.campaign_file import Figures

_N: Final = r"(\d+(?:\.\d+)?)"

START: Final = re.compile(
    r"(?P<fileio>\bread:\s+IOPS=\d[\d.]{0,20}\s)|(?P<old_fileio>\breads/s:)|(?P<cpu>\bevents per second:)"
    r"|(?P<memory>\bTotal operations:)|(?P<events>\bevents/s\s+\(eps\):)|(?P<old_events>\bGeneral statistics:)"
)
"""Where the figures of a test begin, by the test."""

_FILE_IO: Final = re.compile(
    rf"read:\s+IOPS={_N}\s+{_N}\s+MiB/s\s+\({_N}\s+MB/s\)\s+write:\s+IOPS={_N}\s+{_N}\s+MiB/s\s+\({_N}\s+MB/s\)"
    rf"\s+fsync:\s+IOPS={_N}(?=\s)"
)
_OLD_FILE_IO: Final = re.compile(
    rf"reads/s:\s+{_N}\s+writes/s:\s+{_N}\s+fsyncs/s:\s+{_N}\s+Throughput:\s+read,\s+MiB/s:\s+{_N}"
    rf"\s+written,\s+MiB/s:\s+{_N}(?=\s)"
)
_MEMORY: Final = re.compile(
    rf"Total operations:\s+(\d+)\s+\({_N}\s+per second\)(?:\s+{_N}\s+MiB transferred\s+\({_N}\s+MiB/sec\))?"
)
_EVENTS: Final = {
    "events_per_s_headline": re.compile(rf"events per second:\s+{_N}(?=\s)"),
    "events_per_s": re.compile(rf"events/s\s+\(eps\):\s+{_N}(?=\s)"),
    "time_elapsed_s": re.compile(rf"(?:time elapsed|total time):\s+{_N}s"),
    "events": re.compile(r"total number of events:\s+(\d+)(?=\s)"),
}
_LATENCY: Final = re.compile(
    rf"Latency\s+\(ms\):\s+min:\s+{_N}\s+avg:\s+{_N}\s+max:\s+{_N}"
    rf"\s+(?:(\d+th percentile):\s+{_N}\s+)?sum:\s+{_N}(?=\s|$)"
)
_FAIRNESS: Final = re.compile(
    r"events\s+\(avg/stddev\):\s+([\d.]+/[\d.]+)\s+execution time\s+\(avg/stddev\):\s+([\d.]+/[\d.]+)"
)


def file_io_in(body: str) -> Figures:
    """Reads, writes and fsyncs of a fileio test, and the latency of all of them together."""
    new = _FILE_IO.search(body)
    if new is not None:
        names = ("iops", "mib_s", "mb_s")
        sides = {
            "read": dict(zip(names, new.groups()[:3], strict=True)),
            "write": dict(zip(names, new.groups()[3:6], strict=True)),
        }
        return {**sides, "fsync": {"iops": new[7]}, **latency_in(body)}
    old = _OLD_FILE_IO.search(body)
    if old is None:
        raise ValueError("the test of files breaks off before its fsyncs or throughput")
    return {
        "read": {"iops": old[1], "mib_s": old[4]},
        "write": {"iops": old[2], "mib_s": old[5]},
        "fsync": {"iops": old[3]},
        **latency_in(body),
    }


def memory_in(body: str) -> Figures:
    """Operations and MiB a second of a memory test."""
    found = _MEMORY.search(body)
    if found is None:
        raise ValueError("the test of memory breaks off before its rate")
    return _told(dict(zip(("operations", "operations_per_s", "mib", "mib_s"), found.groups(), strict=True)))


def events_in(body: str) -> Figures:
    """Events a second, their number, time and fairness of any test. 1.0 tells the rate of cpu alone."""
    found: Figures = {}
    for name, pattern in _EVENTS.items():
        told = pattern.search(body)
        if told is not None:
            found[name] = told[1]
    fairness = _FAIRNESS.search(body)
    if fairness is not None:
        found["fairness"] = dict(zip(("events", "execution_time"), fairness.groups(), strict=True))
    return found


def latency_in(body: str) -> Figures:
    """Milliseconds of a request; empty where the output gives none."""
    found = _LATENCY.search(body)
    if found is None:
        return {}
    least, mean, most, nth, percentile, total = found.groups()
    told = {"min": least, "avg": mean, "max": most, "sum": total}
    return {"latency_ms": told | ({nth: percentile} if nth is not None else {})}


def _told(figures: dict[str, str | None]) -> Figures:
    return {name: figure for name, figure in figures.items() if figure is not None}
