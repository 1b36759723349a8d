"""Drawings in a terminal: tables without lines, and a series over time as columns of eighth blocks."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from rich.table import Table

from plimsoll.demand.demand import Demand
from plimsoll.model.arrays import FloatArray
from plimsoll.reports.charts.pictures import split_levels
from plimsoll.reports.record import DemandProfileRecord, SpanRates

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_SIDEWAYS = " ▏▎▍▌▋▊▉█"
_RULE = "╌"
_FINE_BELOW = 20
"""Levels of plots lower than this are labeled with a decimal."""


def plain_table(left: Iterable[str], right: Iterable[str], *, header_style: str = "bold", **options: Any) -> Table:
    """A table with words at the left, which may be folded, and figures at the right, which may not."""
    table = Table(box=None, pad_edge=False, header_style=header_style, **options)
    for head in left:
        table.add_column(head, overflow="fold")
    for head in right:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def plot(series: FloatArray, *, width: int, height: int, lines: Mapping[str, float], unit: str) -> list[str]:
    """Text lines, top first: each column is the maximum of its span, each line a labeled level across.

    Levels above twice the highest column are named at the top instead of squeezing the columns flat.
    """
    columns = _columns(series, width)
    highest = max([float(columns.max(initial=0.0)), 1e-9])
    shown, hidden = split_levels(lines, highest)
    top = max([highest, *shown.values()]) * 1.05
    rows = [_row(columns, row, height, top) for row in range(height - 1, -1, -1)]
    digits = 0 if top >= _FINE_BELOW else 1
    labels = [f"{top * (row + 1) / height:>10,.{digits}f}" for row in range(height - 1, -1, -1)]
    for label, level in shown.items():
        row = height - 1 - min(height - 1, int(level / top * height))
        rows[row] = _rule_row(rows[row], f" {label} {level:,.0f} {unit} ")
    above = [f"{label}: {level:,.0f} {unit}" for label, level in hidden.items()]
    head = [f"{'':>10} above the plot: {', '.join(above)}"] if above else []
    return [*head, *(f"{label} ┤{row}" for label, row in zip(labels, rows, strict=True))]


def spans_line(bounds: Sequence[float], columns: int) -> str:
    """Numbered spans side by side, `columns` wide: each is from one bound (0 to 1) to the next."""
    edges = [round(bound * columns) for bound in bounds]
    drawn = []
    for number, (start, end) in enumerate(pairwise(edges), start=1):
        inner = f"{number}".ljust(max(0, end - start - 2), "─")[: max(0, end - start - 2)]
        drawn.append(f"├{inner}┤"[: end - start])
    return "".join(drawn)


def bar(share: float, width: int) -> str:
    """A bar that is so long a part of a width, in eighths of a column."""
    eighths = round(min(max(share, 0.0), 1.0) * width * (len(_SIDEWAYS) - 1))
    whole, part = divmod(eighths, len(_SIDEWAYS) - 1)
    return _SIDEWAYS[-1] * whole + _SIDEWAYS[part].strip()


def _columns(series: FloatArray, width: int) -> FloatArray:
    """The highest figure of each column, if a series is drawn that wide; fewer columns for a shorter series."""
    if not len(series):
        return np.zeros(width)
    edges = np.linspace(0, len(series), min(width, len(series)) + 1).astype(int)
    return np.maximum.reduceat(series, edges[:-1])


def _row(columns: FloatArray, row: int, height: int, top: float) -> str:
    filled = np.clip((columns / top * height - row) * (len(_EIGHTHS) - 1), 0, len(_EIGHTHS) - 1)
    return "".join(_EIGHTHS[round(float(eighths))] for eighths in filled)


def _rule_row(row: str, label: str) -> str:
    ruled = "".join(_RULE if cell == " " else cell for cell in row)
    return label + ruled[len(label) :] if len(label) < len(ruled) else ruled


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotSeries:
    """IOPS and MiB/s in steps of `step_s` seconds from `start_s` (epoch seconds) on. What was not observed is 0.

    `whole`: every bucket was read. Otherwise a higher one may stand where only sums were.
    """

    start_s: int
    step_s: int
    iops: FloatArray
    throughput_mib_s: FloatArray
    whole: bool

    @classmethod
    def from_demand(cls, demand: Demand | None) -> "PlotSeries | None":
        """A volume's demand by its own buckets; None where nothing was observed."""
        if demand is None or not demand.observed.any():
            return None
        return cls(
            start_s=demand.start_s,
            step_s=demand.resolution_s,
            iops=demand.iops,
            throughput_mib_s=demand.throughput_mib_s,
            whole=True,
        )

    @classmethod
    def from_profile(cls, profile: DemandProfileRecord | None) -> "PlotSeries | None":
        """The highest bucket of each span that a run keeps; None where it keeps none."""
        if profile is None or not profile.length_s:
            return None
        step_s = math.gcd(*profile.length_s)
        steps = np.asarray(profile.length_s) // step_s
        return cls(
            start_s=profile.start_s,
            step_s=step_s,
            iops=np.repeat(_known_rates(profile.peak_iops), steps),
            throughput_mib_s=np.repeat(_known_rates(profile.peak_throughput_mib_s), steps),
            whole=max(profile.shortest_s) == min(profile.shortest_s),
        )

    @property
    def seconds(self) -> int:
        """The length in seconds."""
        return len(self.iops) * self.step_s


def _known_rates(rates: SpanRates) -> FloatArray:
    return np.asarray([0.0 if rate is None else rate for rate in rates], dtype=float)
