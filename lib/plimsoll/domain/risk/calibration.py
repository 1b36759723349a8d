"""Calibration: from scores of past cuts to the headroom that keeps a promised risk.

The risk is the share of volumes that outgrew their line, of those that a rule would cut and whose line is above what is
free. One more volume is counted as if it had outgrown it (the finite-sample correction of split conformal prediction:
alpha needs at least 1/alpha - 1 volumes). Volumes under what is free are left out: they would dilute the risk of those
that matter. A volume counts once a cut. A factor has to keep the promise at each past cut by itself: what strikes many
volumes at once, such as a day of patches, is one event, however many volumes show it.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray, IntArray
from plimsoll.domain.risk.scores import Scores
from plimsoll.domain.risk.table import FACTORS, Calibrated, scale_usual

LEVELS_PCT: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 50.0)
"""The promised risks that a table is learned for, in percent."""

_LEAST_VOLUMES: Final = 20
"""A stratum of fewer volumes than these is taken for the whole fleet."""

_SCALE_QUANTILE: Final = 0.8

_SCALES: Final = (0.25, 4.0)

_MATTERS: Final = 0.1
"""A volume under this share of what is free says nothing of how those behave that are above it."""


def calibrate(
    scores: Scores,
    levels_pct: Sequence[float] = LEVELS_PCT,
    *,
    by_history: bool = True,
    owners: Sequence[str] = (),
) -> Calibrated:
    """Learns the factor that keeps each promised risk.

    With `by_history` it is multiplied by what is usual for each volume; without, one factor is for the whole fleet.
    `owners` are kinds of owner by the number of the volume, "" if unknown: each kind with enough volumes has its own
    scale. Scales are the same for all levels, so that less risk never takes less headroom.
    """
    usual = scores.usual if by_history else np.ones(len(scores.volume))
    by_row = [owners[volume] for volume in scores.volume] if owners else []
    scales = _scales(scores, usual, by_row)
    risks, volumes = risk_by_factor(scores, scale_usual(usual, by_row, scales))
    factors = least_factors_by_level(risks, levels_pct)
    return Calibrated(factors=factors, volumes=int(volumes.max(initial=0)), scales=scales)


def least_factors_by_level(risks: FloatArray, levels_pct: Sequence[float]) -> dict[float, float | None]:
    """Finds the least of `FACTORS` that keeps each level of risk, by the risk of each factor; None if none does."""
    kept = {level: np.flatnonzero(risks <= level / 100) for level in levels_pct}
    return {level: float(FACTORS[places[0]]) if len(places) else None for level, places in kept.items()}


def risk_by_factor(scores: Scores, scale: FloatArray) -> tuple[FloatArray, IntArray]:
    """The risk of each of `FACTORS` at its worst cut, and the fewest volumes that a cut has.

    The risk is the share of volumes that outgrow the factor, corrected by one more volume.
    """
    risks, counts = np.zeros(len(FACTORS)), np.full(len(FACTORS), len(scores.volume))
    cuts = np.unique(scores.cut)
    for cut in cuts:
        rows = scores.cut == cut
        missed, volumes = _count_missed_by_factor(scores.only(rows), scale[rows])
        risks = np.maximum(risks, (missed + 1) / (volumes + 1))
        counts = np.minimum(counts, volumes)
    return (risks, counts) if len(cuts) else (np.ones(len(FACTORS)), counts)


def _count_missed_by_factor(scores: Scores, scale: FloatArray) -> tuple[FloatArray, IntArray]:
    """The volumes that outgrow each of `FACTORS`, and how many count, as in `count_missed`."""
    names, place = np.unique(scores.volume, return_inverse=True)
    if len(names) == len(place):
        return _count_single_rows(scores, scale)
    misses, volumes = np.zeros(len(FACTORS)), np.zeros(len(FACTORS), dtype=np.int64)
    for at, factor in enumerate(FACTORS):
        counted = is_counted(scores.above_free, scores.of_present, factor * scale)
        rows = np.bincount(place[counted], minlength=len(names))
        missed = np.bincount(place[counted & (scores.score > factor * scale)], minlength=len(names))
        has_rows = rows > 0
        misses[at], volumes[at] = (missed[has_rows] / rows[has_rows]).sum(), has_rows.sum()
    return misses, volumes


def _count_single_rows(scores: Scores, scale: FloatArray) -> tuple[FloatArray, IntArray]:
    """The same for volumes with one row each: it counts between two factors, and misses up to its score."""
    spans = find_span(scores.above_free * scale, scores.of_present * scale, scores.score / scale)
    begun, ended, carried = (np.bincount(at, minlength=len(FACTORS) + 1)[:-1] for at in spans)
    return np.cumsum(begun - carried).astype(np.float64), np.cumsum(begun - ended)


def find_span(above_free: FloatArray, of_present: FloatArray, score: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """The places in `FACTORS` from which each volume counts, until which, and from which its line passes."""
    with np.errstate(divide="ignore"):
        first = np.searchsorted(FACTORS, 1 / above_free, side="right")
        end = np.maximum(first, np.searchsorted(FACTORS, 1 / of_present, side="left"))
    return first, end, np.clip(np.searchsorted(FACTORS, score, side="left"), first, end)


def count_missed(scores: Scores, factor: FloatArray) -> tuple[float, int]:
    """Counts the volumes that outgrow their factors, and those that the factors cut to above what is free."""
    counted = is_counted(scores.above_free, scores.of_present, factor)
    return count_volumes(scores.volume[counted], (scores.score > factor)[counted])


def is_counted(above_free: FloatArray, of_present: FloatArray, factor: FloatArray) -> BoolArray:
    """The rule with that factor would cut the volume, to a line above what is free."""
    counted: BoolArray = (factor * above_free > 1) & (factor * of_present < 1)
    return counted


def count_volumes(volume: IntArray, missed: BoolArray) -> tuple[float, int]:
    """Adds up the volumes that missed, each by the share of its rows that did, and all volumes."""
    if not len(volume):
        return 0.0, 0
    _, place = np.unique(volume, return_inverse=True)
    rows = np.bincount(place)
    return float((np.bincount(place, weights=missed.astype(np.float64)) / rows).sum()), len(rows)


def _scales(scores: Scores, usual: FloatArray, owners: Sequence[str]) -> dict[str, float]:
    """The headroom that each kind of owner needed, relative to the fleet's; kinds with too few volumes are left out."""
    matters = (scores.above_free > _MATTERS) & (scores.of_present < 1)
    needed, scales = scores.ratio / usual, dict[str, float]()
    fleet = _high(needed[matters])
    for kind in sorted({*owners} - {""}):
        these = matters & (np.array(owners) == kind)
        if fleet > 0 and len(np.unique(scores.volume[these])) >= _LEAST_VOLUMES:
            scales[kind] = float(np.clip(_high(needed[these]) / fleet, *_SCALES))
    return scales


def _high(ratios: FloatArray) -> float:
    """The quantile that scales are set by; 0 if there is none."""
    if not len(ratios):
        return 0.0
    return float(np.sort(ratios)[int(_SCALE_QUANTILE * (len(ratios) - 1))])
