"""Time series: the work of a benchmark in steps of one length."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from plimsoll.model.arrays import FloatArray
from plimsoll.model.envelope import TimeSeries

MOST_POINTS: Final = 600
"""A longer series is kept in longer steps: 600 of them tell when a bucket is empty to 0.2 % of the run."""

LEAST_STEP_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Work:
    """The cumulative work by each moment: operations or MiB `done` by growing `times_s`."""

    times_s: FloatArray
    done: FloatArray

    @classmethod
    def from_rates(cls, ends_s: Sequence[float], rates: Sequence[float]) -> "Work":
        """Sums up mean rates, each until its end and from the end of the one before.

        The first step is as long as most are.
        """
        ends = np.asarray(ends_s, dtype=np.float64)
        usual_s = float(np.median(np.diff(ends))) if len(ends) > 1 else float(ends[0])
        if ends[0] < usual_s / 2:  # times that say when a step begins
            ends = ends + usual_s
        starts = np.concatenate([[max(0.0, ends[0] - usual_s)], ends[:-1]])
        done = np.cumsum((ends - starts) * np.asarray(rates, dtype=np.float64))
        return cls(np.concatenate([starts[:1], ends]), np.concatenate([[0.0], done]))

    def rates_between(self, edges_s: FloatArray) -> FloatArray:
        """The mean rate between each two edges."""
        return np.diff(np.interp(edges_s, self.times_s, self.done)) / np.diff(edges_s)


def series_of(iops: Sequence[Work], moved: Sequence[Work]) -> TimeSeries | None:
    """The series of works that were done at the same time; None if it has fewer than two steps."""
    works = [*iops, *moved]
    if not works:
        return None
    start_s = min(float(work.times_s[0]) for work in works)
    end_s = max(float(work.times_s[-1]) for work in works)
    steps = [float(np.median(np.diff(work.times_s))) for work in works if len(work.times_s) > 1]
    step_s = max([LEAST_STEP_S, (end_s - start_s) / MOST_POINTS, *steps])
    count = int((end_s - start_s) / step_s + 1e-9)
    if count < 2:
        return None
    edges_s = np.asarray(start_s + step_s * np.arange(count + 1), dtype=np.float64)
    return TimeSeries(step_s=step_s, iops=_sum(iops, edges_s), throughput_mib_s=_sum(moved, edges_s))


def _sum(works: Sequence[Work], edges_s: FloatArray) -> tuple[float, ...]:
    if not works:
        return ()
    rates = np.sum([work.rates_between(edges_s) for work in works], axis=0)
    return tuple(float(rate) for rate in rates)
