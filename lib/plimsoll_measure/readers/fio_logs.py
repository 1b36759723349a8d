"""fio's logs over time (write_bw_log, write_iops_log): a line for each step, direction and job.

`time in ms, value, direction, block size, ...`: the value is KiB/s or IOPS. It is the mean since the direction's line
before. Each job has a file of its own, such as `run_bw.1.log`. All files are of one run.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from plimsoll.model.ceiling import Resource
from plimsoll.model.envelope import TimeSeries
from plimsoll.model.errors import BadInput
from plimsoll.model.units import KIB_PER_MIB
from plimsoll_measure.readers.results import BenchResult
from plimsoll_measure.readers.series import Work, series_of

_NAME: Final = re.compile(r".*_(?P<kind>bw|iops)(?:\.\d+)?\.log")
_LINE: Final = re.compile(r"(?P<at>\d{1,12}),\s*(?P<value>\d{1,15}(?:\.\d+)?),\s*(?P<direction>[012])(?:,.*)?")
_MS: Final = 1_000.0

LEAST_LOG_STEP_S: Final = 0.05
"""Lines closer together are one for each operation, and no means."""

AGREES: Final = 0.25
"""The share by which a log's mean may differ from its result: it leaves out the first and last step."""


def is_log(name: str) -> bool:
    """The name of a log of bandwidth or IOPS: `run_bw.1.log`, `run_iops.log`."""
    return _NAME.fullmatch(name) is not None


def with_logs(results: Sequence[BenchResult], logs: Mapping[str, str]) -> tuple[BenchResult, ...]:
    """The only result, with the series of the logs. Raises BadInput if the logs cannot be its own."""
    if not logs:
        return tuple(results)
    if len(results) != 1:
        raise BadInput(
            f"{', '.join(sorted(logs))} could belong to any of {len(results)} results: import each run's "
            "output by itself, together with its logs."
        )
    (result,) = results
    works: dict[Resource, list[Work]] = {side: [] for side in Resource}
    for name, text in logs.items():
        side = Resource.IOPS if _kind(name) == "iops" else Resource.THROUGHPUT
        works[side] += _works(name, text, 1.0 if side is Resource.IOPS else 1 / KIB_PER_MIB)
    series = series_of(works[Resource.IOPS], works[Resource.THROUGHPUT])
    if series is None:
        raise BadInput(f"{', '.join(sorted(logs))} have too few lines to show anything over time.")
    _check(result, series, logs)
    return (replace(result, series=both_sides(series, result)),)


def both_sides(series: TimeSeries, result: BenchResult) -> TimeSeries:
    """A series with the side that it lacks, by the size of the result's I/O."""
    if not result.iops or not result.throughput_mib_s or (series.iops and series.throughput_mib_s):
        return series
    mib = result.throughput_mib_s / result.iops
    if series.iops:
        return replace(series, throughput_mib_s=tuple(rate * mib for rate in series.iops))
    return replace(series, iops=tuple(rate / mib for rate in series.throughput_mib_s))


def _kind(name: str) -> str:
    match = _NAME.fullmatch(name)
    return "" if match is None else match["kind"]


def _works(name: str, text: str, unit: float) -> list[Work]:
    """The work of each direction in a log."""
    ends_s: dict[str, list[float]] = {}
    rates: dict[str, list[float]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise BadInput(
                f"line {number} of {name} is not a line of fio's logs, which are: time, value, direction, size."
            )
        ends_s.setdefault(match["direction"], []).append(int(match["at"]) / _MS)
        rates.setdefault(match["direction"], []).append(float(match["value"]) * unit)
    return [_work(name, ends_s[direction], rates[direction]) for direction in ends_s]


def _work(name: str, ends_s: Sequence[float], rates: Sequence[float]) -> Work:
    """The work of one direction. Of two lines with one time the last counts."""
    by_end = dict(zip(ends_s, rates, strict=True))
    if any(later < earlier for earlier, later in pairwise(ends_s)):
        raise BadInput(f"the times in {name} go back: it is of several runs. Import each by itself.")
    if len(ends_s) > 1 and (ends_s[-1] - ends_s[0]) / len(ends_s) < LEAST_LOG_STEP_S:
        raise BadInput(f"{name} has a line for each operation: measure again with log_avg_msec=1000.")
    return Work.from_rates(list(by_end), list(by_end.values()))


def _check(result: BenchResult, series: TimeSeries, logs: Mapping[str, str]) -> None:
    """Raises BadInput if logs are of another run than the result: their means differ."""
    expected = {Resource.IOPS: result.iops, Resource.THROUGHPUT: result.throughput_mib_s}
    for side in Resource:
        rates, figure = series.rates(side), expected[side]
        mean = sum(rates) / len(rates) if rates else None
        if mean is not None and figure and abs(mean - figure) > AGREES * figure:
            raise BadInput(
                f"{', '.join(sorted(logs))} are of another run: they have {mean:,.0f} {side.unit} on average, and the "
                f"result {result.name} has {figure:,.0f}."
            )
