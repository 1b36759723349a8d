"""A benchmark in the terminal: what it is about to take, its results as a table and a chart, and what they prove."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from plimsoll.domain.ceiling import Resource
from plimsoll.domain.envelope import Envelope, Measurement
from plimsoll.reports.terminal.envelopes import roof
from plimsoll.reports.terminal.plot import plot

CHART_HEIGHT: Final = 5
MOST_COLUMN: Final = 8
MOST_DIGITS: Final = 5
LABELS: Final = 12
"""Characters to the left of a chart's first column."""

_UNITS: Final = {Resource.IOPS: "IOPS", Resource.THROUGHPUT: "MiB/s"}


def results(envelope: Envelope, climbing: Sequence[str], width: int) -> Group:
    """The measurements of a benchmark, charts of both sides over them, the roofs, and what to beware of."""
    parts: list[RenderableType] = [_table(envelope.measurements)]
    for title, shown in _charted(envelope.measurements):
        for side, unit in _UNITS.items():
            parts += [Text(""), Text(f"{unit}, {title}", style="bold")]
            parts += list(_chart(shown, envelope.roof(side), side, width))
    roofs = ", ".join(f"{roof(envelope, side)} {unit}" for side, unit in _UNITS.items())
    parts += [Text(""), Text.assemble(("roofs: ", "bold"), f"{roofs} (>=: the best seen, where none was reached)")]
    parts += [Text(f"- {line}") for line in (*climbing, *envelope.notes)]
    return Group(*parts)


def _table(measurements: Sequence[Measurement]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("mode")
    for head in ("KiB", "IOPS", "MiB/s", "p50 us", "p99 us", "p99.9 us"):
        table.add_column(head, justify="right", no_wrap=True)
    for one in measurements:
        latency = [_figure(one.latency.at(percentile), 0) for percentile in (50.0, 99.0, 99.9)]
        rates = [_figure(one.iops, 0), _figure(one.throughput_mib_s, 1)]
        table.add_row(one.job.mode, f"{one.job.block_kib:,.5g}", *rates, *latency)
    return table


def _figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _charted(measurements: Sequence[Measurement]) -> Iterator[tuple[str, Sequence[Measurement]]]:
    """A chart for each mode with several sizes, and one of all the others together, each with its title."""
    modes: dict[str, list[Measurement]] = {}
    for one in measurements:
        modes.setdefault(one.job.mode, []).append(one)
    yield from ((f"{mode} by KiB", seen) for mode, seen in modes.items() if len(seen) > 1)
    single = [seen[0] for seen in modes.values() if len(seen) == 1]
    if single:
        yield f"{', '.join(one.job.mode for one in single)} by KiB", single


def _chart(shown: Sequence[Measurement], fitted: float | None, side: Resource, width: int) -> Iterator[Text]:
    """Columns in the order of the run, with the roof as a line, and sizes underneath."""
    column = max(2, min(MOST_COLUMN, (width - LABELS) // len(shown)))
    drawn = np.repeat([one.figure(side) or 0.0 for one in shown], column)
    drawn[column - 1 :: column] = 0.0
    lines = {} if fitted is None else {"roof": fitted}
    for line in plot(drawn, width=len(drawn), height=CHART_HEIGHT, lines=lines, unit=_UNITS[side]):
        yield Text(line)
    sizes = "".join(f"{one.job.block_kib:<{column}.4g}" for one in shown)
    yield Text(" " * LABELS + sizes if column > MOST_DIGITS else "")
