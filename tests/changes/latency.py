"""The latency model: what volumes with real demand would have measured. The demand is public, the latency is invented.

Demand: machines of `benchmarks/fleets/bitbrains-rnd-250.npz`, 13 weeks of five minutes. A volume is a machine's demand,
shifted by whole weeks, behind a ceiling of 1.3 to 3 times its highest five minutes:

    queue     1 + k u^2 / (1 - u), u = demand / ceiling at most 0.95; k from 0.2 to 1; where more waits than is carried,
              64 operations are under way at the ceiling
    own       an hour's noise (0.07, halved in 3 hours) and a month's drift (0.1); a step of 0.2 once in six weeks that
              stays; slow hours, once in ten days, for 3 hours or so, up to 4.5 times; less sure with few operations;
              a third have a nightly job that makes them 1.3 to 2 times slower, and it moves once in six weeks
    zone      noise of 0.04 and, once in four weeks, 3 to 30 hours of up to 2.2 times, felt by 0 to 100 %
    release   of an application: a step of 0.12 once in four weeks, felt by all of its volumes
    highest   the slowest minute: the busiest five minutes' queue, and a noise of its own (0.2, and a long tail)

All figures are logarithms' standard deviations where no other unit is given.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from plimsoll.model.arrays import FloatArray, IntArray
from plimsoll_change.evidence import LEAST_OPERATIONS
from plimsoll_change.watch import WEEK_H

FLEET: Final = Path(__file__).parents[2] / "benchmarks" / "fleets" / "bitbrains-rnd-250.npz"
WEEKS: Final = 13
HOURS: Final = WEEKS * WEEK_H
_BUCKETS: Final = 12  # of an hour
_BUCKET_S: Final = 300.0
VARIANTS: Final = 4
"""Ceilings and sizes of operations that each machine is tried with."""
_UNDER_WAY: Final = 64.0
CUTS: Final = {"1 %": 0.99, "0.1 %": 0.999}
"""Kinds of harm: the ceiling after the change is that quantile of the demand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """What each machine and variant does in each hour of 13 weeks, [machine * VARIANTS + variant, hour].

    Queues are logarithms of times the latency at rest, NaN without work.
    """

    operations: FloatArray
    queue: FloatArray
    busiest_queue: FloatArray
    stopped_minutes: FloatArray


@cache
def load_demands(quantile: float | None = None) -> Demands:
    """The demand of the machines behind their ceilings, or behind a ceiling at that quantile of it. Seed 1."""
    rng = np.random.default_rng(1)
    with np.load(FLEET) as fleet:
        kib_s = fleet["disk_kb_s"].astype(np.float64)
    kib_s = np.where(kib_s < 0, np.nan, kib_s).sum(axis=1)[:, : HOURS * _BUCKETS]
    rows = len(kib_s) * VARIANTS
    io_kib = rng.choice([8.0, 16.0, 32.0, 64.0], rows)
    room, steepness = rng.uniform(1.3, 3.0, rows), rng.uniform(0.2, 1.0, rows)
    parts: list[tuple[FloatArray, ...]] = []
    for first in range(0, rows, 100):
        at = np.arange(first, min(first + 100, rows))
        iops = kib_s[at // VARIANTS] / io_kib[at, np.newaxis]
        if quantile is None:
            ceiling = np.maximum(np.nanmax(iops, axis=1), 1.0) * room[at]
        else:
            ceiling = np.maximum(np.nanquantile(iops, quantile, axis=1), 0.1)
        operations = np.nansum(_by_hour(iops), axis=-1) * _BUCKET_S
        parts.append((operations, *_queues(iops, ceiling, steepness[at, np.newaxis])))
    operations, queue, busiest, minutes = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Demands(operations=operations, queue=queue, busiest_queue=busiest, stopped_minutes=minutes)


def find_working(machines: IntArray, share: float) -> IntArray:
    """The variants of some machines that have 1,000 operations in that share of their hours or more."""
    variants = (machines[:, np.newaxis] * VARIANTS + np.arange(VARIANTS)).reshape(-1)
    working = (load_demands().operations[variants] >= LEAST_OPERATIONS).mean(axis=-1) >= share
    return np.asarray(variants[working])


def _by_hour(values: FloatArray) -> FloatArray:
    return values.reshape(len(values), -1, _BUCKETS)


def _queues(iops: FloatArray, ceiling: FloatArray, k: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The queue of each hour, that of its busiest five minutes, and the minutes stopped behind a ceiling."""
    rate = np.nan_to_num(iops)
    excess = np.cumsum((rate - ceiling[:, np.newaxis]) * _BUCKET_S, axis=1)
    waiting = excess - np.minimum(np.minimum.accumulate(excess, axis=1), 0.0)
    stopped = waiting > 1e-6 * ceiling[:, np.newaxis]
    u = np.minimum(rate / ceiling[:, np.newaxis], 0.95)
    times = 1 + k * u**2 / (1 - u)
    at_rest_s = 0.0008
    full = np.maximum(times, _UNDER_WAY / ceiling[:, np.newaxis] / at_rest_s)
    times = np.where(stopped, full, times)
    weight, by_hour = _by_hour(rate), _by_hour(times)
    work = weight.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.log((weight * by_hour).sum(axis=-1) / work)
    busiest = np.log(np.where(weight > 0, by_hour, 1.0).max(axis=-1))
    minutes = _by_hour(stopped.astype(np.float64)).sum(axis=-1) * _BUCKET_S / 60
    return mean, np.where(work > 0, busiest, np.nan), minutes


@dataclass(slots=True, kw_only=True)
class World:
    """Volumes in zones and applications over 13 weeks, [volume, hour]. Latencies are logarithms."""

    variants: IntArray
    shifts: IntArray  # in weeks
    zones: IntArray
    applications: IntArray
    operations: FloatArray
    mean: FloatArray
    highest: FloatArray
    noise: FloatArray  # of the hour, without drift and steps

    def cut(self, name: str) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The latencies and the minutes stopped behind a ceiling that was cut, as if for all of the time."""
        plain, lower = load_demands(), load_demands(CUTS[name])
        before, queue, busiest_before, busiest, minutes = (
            _shifted(values, self.variants, self.shifts)
            for values in (plain.queue, lower.queue, plain.busiest_queue, lower.busiest_queue, lower.stopped_minutes)
        )
        return self.mean - before + queue, self.highest - busiest_before + busiest, minutes


def make_world(
    variants: IntArray, shifts: IntArray, zones: IntArray, applications: IntArray, rng: np.random.Generator
) -> World:
    """A world of volumes, each a variant of a machine, in numbered zones and applications."""
    demands = load_demands()
    operations = _shifted(demands.operations, variants, shifts)
    count = len(variants)
    hour = _correlated(rng, count, 0.07, 0.8)
    slow = _slow_hours(rng, count, 1 / 240, 3.0, (0.2, 1.5))
    few = rng.normal(0, 1, (count, HOURS)) * np.minimum(0.5, 4 / np.sqrt(np.maximum(operations, 1.0)))
    noise = hour + slow + few
    lasting = _correlated(rng, count, 0.10, 0.9965) + _steps(rng, count, 1 / (6 * WEEK_H), 0.2) + _jobs(rng, count)
    exposure = rng.uniform(0, 1, (count, 1))
    places = zones.max() + 1
    zone = _slow_hours(rng, places, 1 / (4 * WEEK_H), 16.0, (0.15, 0.8), longest_h=30)[zones] * exposure
    zone += _correlated(rng, places, 0.04, 0.9)[zones]
    release = _steps(rng, applications.max() + 1, 1 / (4 * WEEK_H), 0.12)[applications]
    shared = np.log(rng.lognormal(np.log(800), 0.25, (count, 1))) + noise + lasting + zone + release
    own = _correlated(rng, count, 0.2, 0.5) + rng.gumbel(0.35, 0.15, (count, HOURS))
    return World(
        variants=variants,
        shifts=shifts,
        zones=zones,
        applications=applications,
        operations=operations,
        mean=shared + _shifted(demands.queue, variants, shifts),
        highest=shared + own + _shifted(demands.busiest_queue, variants, shifts),
        noise=noise,
    )


def _shifted(values: FloatArray, variants: IntArray, shifts: IntArray) -> FloatArray:
    """Rows of a variant each, rolled by whole weeks."""
    at = (np.arange(HOURS) + shifts[:, np.newaxis] * WEEK_H) % HOURS
    return values[variants[:, np.newaxis], at]


def _correlated(rng: np.random.Generator, count: int, spread: float, kept: float) -> FloatArray:
    """A noise of that spread of which each hour keeps a share of the hour before."""
    values = rng.normal(0, spread, (HOURS, count))
    rest = np.sqrt(1 - kept**2)
    for hour in range(1, HOURS):
        values[hour] = kept * values[hour - 1] + rest * values[hour]
    return np.asarray(values.T)


def _steps(rng: np.random.Generator, count: int, chance: float, spread: float) -> FloatArray:
    """Steps that stay, each hour with a chance."""
    steps = np.where(rng.random((count, HOURS)) < chance, rng.normal(0, spread, (count, HOURS)), 0.0)
    return np.asarray(np.cumsum(steps, axis=1))


def _slow_hours(
    rng: np.random.Generator, count: int, chance: float, mean_h: float, size: tuple[float, float], longest_h: int = 12
) -> FloatArray:
    """Hours that are slower by a size, each span begun with a chance."""
    slow = np.zeros((count, HOURS + longest_h))
    rows, begins = np.nonzero(rng.random((count, HOURS)) < chance)
    lengths = np.clip(rng.geometric(1 / mean_h, len(rows)), 1, longest_h)
    for row, begin, length, how in zip(rows, begins, lengths, rng.uniform(*size, len(rows)), strict=True):
        slow[row, begin : begin + length] = np.maximum(slow[row, begin : begin + length], how)
    return slow[:, :HOURS]


def _jobs(rng: np.random.Generator, count: int) -> FloatArray:
    """Nightly jobs of a third of all, for two or three hours, which move to another hour once in six weeks."""
    hour = np.arange(HOURS)
    moved = np.cumsum(rng.random((count, HOURS)) < 1 / (6 * WEEK_H), axis=1)
    begins = (rng.integers(0, 24, (count, 1)) + 2 * moved) % 24
    runs = (hour - begins) % 24 < rng.integers(2, 4, (count, 1))
    has_job = rng.random((count, 1)) < 1 / 3
    return np.asarray(np.where(runs & has_job, np.log(rng.uniform(1.3, 2.0, (count, 1))), 0.0))
