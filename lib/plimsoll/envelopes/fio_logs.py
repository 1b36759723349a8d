"""fio's logs over time (write_bw_log, write_iops_log): a line for each step, direction and job.

`time in ms, value, direction, block size, ...`: the value is KiB/s or IOPS. It is the mean since the direction's line
before. Each job has a file of its own, such as `run_bw.1.log`. All files are of one run.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from plimsoll.domain.ceiling import Resource
from plimsoll.domain.errors import BadInput
from plimsoll.domain.evidence.time_series import TimeSeries, Work, series_of
from plimsoll.domain.units import KIB_PER_MIB
from plimsoll.envelopes.results import Result

_NAME: Final = re.compile(r".*_(?P<kind>bw|iops)(?:\.\d+)?\.log")
_LINE: Final = re.compile(r"(?P<at>\d{1,12}),\s*(?P<value>\d{1,15}(?:\.\d+)?),\s*(?P<direction>[012])(?:,.*)?")
_MS: Final = 1_000.0

LEAST_STEP_S: Final = 0.05
"""Lines that follow one another more closely are one for each operation, and no means."""

AGREES: Final = 0.25
"""By how much the mean of a log may differ from the result of its run: it leaves out the first and the last step."""


def is_log(name: str) -> bool:
    """Whether a file's name is that of a log of bandwidth or of IOPS."""
    return _NAME.fullmatch(name) is not None


def with_logs(results: Sequence[Result], logs: Mapping[str, str]) -> tuple[Result, ...]:
    """The results, of which the only one has the series of the logs, by name. BadInput where they cannot be of it."""
    if not logs:
        return tuple(results)
    if len(results) != 1:
        raise BadInput(
            f"{', '.join(sorted(logs))} cannot be told to belong to one of {len(results)} results: import each run's "
            "output by itself, together with its logs."
        )
    (one,) = results
    works: dict[Resource, list[Work]] = {side: [] for side in Resource}
    for name, text in logs.items():
        side = Resource.IOPS if _kind(name) == "iops" else Resource.THROUGHPUT
        works[side] += _works(name, text, 1.0 if side is Resource.IOPS else 1 / KIB_PER_MIB)
    series = series_of(works[Resource.IOPS], works[Resource.THROUGHPUT])
    if series is None:
        raise BadInput(f"{', '.join(sorted(logs))} have too few lines to show anything over time.")
    _check(one, series, logs)
    return (replace(one, series=both_sides(series, one)),)


def both_sides(series: TimeSeries, one: Result) -> TimeSeries:
    """A series with the side that it lacks, by the size of the result's I/O."""
    if not one.iops or not one.throughput_mib_s or (series.iops and series.throughput_mib_s):
        return series
    mib = one.throughput_mib_s / one.iops
    if series.iops:
        return replace(series, throughput_mib_s=tuple(rate * mib for rate in series.iops))
    return replace(series, iops=tuple(rate / mib for rate in series.throughput_mib_s))


def _kind(name: str) -> str:
    found = _NAME.fullmatch(name)
    return "" if found is None else found["kind"]


def _works(name: str, text: str, unit: float) -> list[Work]:
    """The work of each direction in a log."""
    ends_s: dict[str, list[float]] = {}
    rates: dict[str, list[float]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        found = _LINE.fullmatch(line.strip())
        if found is None:
            raise BadInput(f"line {number} of {name} is none of fio's logs: expected are time, value, direction, size.")
        ends_s.setdefault(found["direction"], []).append(int(found["at"]) / _MS)
        rates.setdefault(found["direction"], []).append(float(found["value"]) * unit)
    return [_work(name, ends_s[direction], rates[direction]) for direction in ends_s]


def _work(name: str, ends_s: Sequence[float], rates: Sequence[float]) -> Work:
    """Of one direction; times that come twice count once, with the last line."""
    by_end = dict(zip(ends_s, rates, strict=True))
    if any(later < earlier for earlier, later in pairwise(ends_s)):
        raise BadInput(f"the times in {name} go back: it is of several runs. Import each by itself.")
    if len(ends_s) > 1 and (ends_s[-1] - ends_s[0]) / len(ends_s) < LEAST_STEP_S:
        raise BadInput(f"{name} has a line for each operation: measure again with log_avg_msec=1000.")
    return Work.of_rates(list(by_end), list(by_end.values()))


def _check(one: Result, series: TimeSeries, logs: Mapping[str, str]) -> None:
    told = {Resource.IOPS: one.iops, Resource.THROUGHPUT: one.throughput_mib_s}
    for side in Resource:
        rates, figure = series.rates(side), told[side]
        mean = sum(rates) / len(rates) if rates else None
        if mean is not None and figure and abs(mean - figure) > AGREES * figure:
            raise BadInput(
                f"{', '.join(sorted(logs))} are of another run: they have {mean:,.0f} {side.unit} on average, and the "
                f"result {one.name} has {figure:,.0f}."
            )
