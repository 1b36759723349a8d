"""Learned headroom: from scores of past cuts to the headroom that keeps a promised risk.

Throttled minutes of many volumes under constant limits, IOPS and MiB/s.

It is the queue of `demand.trial`, for all volumes of a batch at once. Rates are arrays of (volumes, 2, buckets)
in the order of `Resource`. Of a bucket that is longer than a minute its mean is all that is known, so that each minute
in it asks for that: a queue that drains in the next bucket counts for the minutes until it is gone.

Scores of past cuts: the headroom that each would have needed.

At a *cut* one knows what a volume did before it. The score is the least factor f for which the line max(what is free, f
times the most required before) would have passed the days after within the budget of throttled minutes. It is infinite
where what came after was itself held back, since nobody knows how much more was wanted.

The learned table: the headroom that keeps each promise, by length of memory.

Calibration: from scores of past cuts to the headroom that keeps a promised risk.

The risk is the share of volumes that outgrew their line, of those that a rule would cut and whose line is above what is
free. One more volume is counted as if it had outgrown it (the finite-sample correction of split conformal prediction:
alpha needs at least 1/alpha - 1 volumes). Volumes under what is free are left out: they would dilute the risk of those
that matter. A volume counts once a cut. A factor has to keep the promise at each past cut by itself: what strikes many
volumes at once, such as a day of patches, is one event, however many volumes show it.

Lessons: the headroom that volumes of an audit's own account needed, in sums that do not grow with the fleet.

Each audit reads the highest minute of each past day of the volumes that it would reduce. So every block of days is a
cut: the blocks before it are the memory, and the next is what came after. A line that carries the highest minute after
the cut throttles nothing. The score by it is never less than the one that lets some minutes go, so that the promise
holds, with more headroom than a finer record would ask for.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from plimsoll.demand.trial import TOLERANCE, backlog_behind, minutes_above
from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll.model.ceiling import Need
from plimsoll.model.units import MINUTE_S
from plimsoll.risk.histories import Histories, PastPeaks, usual_share


def count_throttled(rates: FloatArray, limits: FloatArray, period_s: int) -> tuple[FloatArray, FloatArray]:
    """Counts each volume's minutes throttled on either resource by its limits (volumes, 2), and its longest wait in
    seconds.

    Buckets that were not observed have to be 0: nothing is known to have waited.
    """
    minutes, longest_s = np.zeros(len(rates)), np.zeros(len(rates))
    above = (rates > limits[:, :, None] * (1 + TOLERANCE)).any(axis=(1, 2))
    if above.any():
        carried = limits[above][:, :, None]
        excess = rates[above] - carried
        waiting, resolution_s = backlog_behind(excess, period_s), min(period_s, MINUTE_S)
        least = carried * resolution_s * TOLERANCE
        # Both queues of a bucket wait from its beginning on, or to its end: the longer one has all its minutes.
        late = minutes_above(least, waiting, excess, period_s, resolution_s, 0.0)
        minutes[above] = late.max(axis=1).sum(axis=1)
        waits = np.divide(waiting, carried, out=np.zeros_like(waiting), where=waiting > least)
        longest_s[above] = waits.max(axis=(1, 2))
    return minutes, longest_s


def highest_rates(rates: FloatArray) -> FloatArray:
    """The highest rate of each volume and resource: (volumes, 2)."""
    highest: FloatArray = rates.max(axis=2, initial=0.0)
    return highest


def highest_but(rates: FloatArray, skipped: int) -> FloatArray:
    """The highest rate of each volume and resource after the `skipped` highest buckets: (volumes, 2)."""
    buckets = rates.shape[2]
    if skipped >= buckets:
        return np.zeros(rates.shape[:2])
    place = buckets - 1 - skipped
    rate: FloatArray = np.partition(rates, place, axis=2)[:, :, place]
    return rate


PROMISED_MINUTES: Final = 15.0
"""More throttled minutes than these in the days after a cut are a broken promise."""

_STEPS: Final = 24
"""Halvings of the span in which a score lies: far under a thousandth of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Scores of cuts, one row each, and what decides whether a cut counts.

    `volume` names the volume by a number, so that one counts once a cut, and `cut` the cut. `usual` is which share of
    its most required is usual for it. `above_free` is how many times what is free the most required was, `of_present`
    how many times what the present configuration carries, both on the resource that is nearest. `ratio` is what was
    needed after, over the most before, without regard to what is free.
    """

    volume: IntArray
    cut: IntArray
    usual: FloatArray
    above_free: FloatArray
    of_present: FloatArray
    score: FloatArray
    ratio: FloatArray

    def pick(self, where: BoolArray) -> "Scores":
        return Scores(**{name: getattr(self, name)[where] for name in self.__slots__})


def join_scores(parts: Sequence[Scores]) -> Scores:
    return Scores(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in Scores.__slots__})


def score_cut(
    volume: IntArray,
    before: Histories,
    after: FloatArray,
    *,
    cut: int,
    free: FloatArray,
    present: FloatArray,
    censored: BoolArray,
    period_s: int,
    budget_min: float = PROMISED_MINUTES,
) -> Scores:
    """Scores a cut (by its number) of many volumes.

    `after` are the rates of the days after it, (volumes, 2, buckets), `free` and `present` the limits that cost nothing
    and that there are. `censored` says where what came after was held back.
    """
    above_free, of_present = required_ratios(before.most, free, present)
    return Scores(
        volume=volume,
        cut=np.full(len(volume), cut),
        usual=before.usual,
        above_free=above_free,
        of_present=of_present,
        score=np.where(censored, np.inf, least_factors(before.most, after, free, period_s, budget_min)),
        ratio=_ratio(highest_but(after, int(budget_min * MINUTE_S / period_s)), before.most),
    )


def required_ratios(most: FloatArray, free: FloatArray, present: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The ratios of the most required to what is free, and to what the present configuration carries."""
    times_free = np.divide(most, free, out=np.full_like(most, np.inf), where=free > 0).max(axis=1)
    return times_free, (most / present).max(axis=1)


def least_factors(
    most: FloatArray, after: FloatArray, free: FloatArray, period_s: int, budget_min: float
) -> FloatArray:
    """The least factor of each volume whose line passes; 0 if what is free does, infinite if none does."""
    lines = np.broadcast_to(free, most.shape)
    minutes, _ = count_throttled(after, lines, period_s)
    factors = np.zeros(len(most))
    needs = np.flatnonzero(minutes > budget_min)
    if not len(needs):
        return factors
    base, rates = most[needs], after[needs]
    top = highest_rates(rates)
    # A line at the highest rate of what is not carried for nothing passes.
    high = _ratio(np.where(top > free, top, 0.0), base)
    low = np.zeros(len(needs))
    for _ in range(_STEPS):
        middle = np.where(np.isfinite(high), (low + high) / 2, 0.0)
        minutes, _ = count_throttled(rates, np.maximum(free, middle[:, None] * base), period_s)
        passes = minutes <= budget_min
        high, low = np.where(passes & np.isfinite(high), middle, high), np.where(passes, low, middle)
    factors[needs] = high
    return factors


def _ratio(figures: FloatArray, base: FloatArray) -> FloatArray:
    """The highest ratio of two figures to their bases; infinite over nothing, 0 if there is nothing to carry."""
    none = np.where(figures > 0, np.inf, 0.0)
    ratio: FloatArray = np.divide(figures, base, out=none, where=base > 0).max(axis=1)
    return ratio


FACTORS: Final[FloatArray] = np.exp(np.linspace(np.log(0.05), np.log(50), 692))
"""The factors that are tried: steps of one percent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """Learned factors by promised risk in percent (None: too few volumes to promise it).

    They rest on `volumes` at the cut that has fewest. `scales` has the ratio of each kind of owner's factor to the
    fleet's. A volume's line is its most required, times the factor, times what `scale` says of the volume.
    """

    factors: Mapping[float, float | None]
    volumes: int
    scales: Mapping[str, float] = field(default_factory=dict)

    def factor(self, level_pct: float) -> float | None:
        """The factor for a promised risk: that of the nearest level that promises no more risk."""
        levels = [level for level in self.factors if level <= level_pct]
        return self.factors[max(levels)] if levels else None

    def promised_pct(self, factor: float) -> float | None:
        """The least risk in percent that a factor promises; None if it promises none of the levels."""
        kept = [level for level, least in self.factors.items() if least is not None and factor >= least]
        return min(kept, default=None)

    def scale(self, usual: FloatArray, owners: Sequence[str]) -> FloatArray:
        """The ratio of each volume's factor to the fleet's, by its usual share and the kind of its owner."""
        return scale_usual(usual, owners, self.scales)


def scale_usual(usual: FloatArray, owners: Sequence[str], scales: Mapping[str, float]) -> FloatArray:
    """The ratio of one volume's factor to the fleet's, wherever one is learned, judged or offered."""
    if not scales:
        return usual
    scaled: FloatArray = usual * np.array([scales.get(owner, 1.0) for owner in owners])
    return scaled


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSource:
    """The origin of a table: its fleets, and the day (ISO 8601) it was learned `on`. `assumed` says what the data
    lacks."""

    on: str
    fleets: tuple[str, ...]
    volumes: int
    public: bool
    assumed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """The factors that were learned with a length of memory, from a number of cuts."""

    memory_days: float
    cuts: int
    learned: Calibrated


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedTable:
    """Headroom learned for a promise: at most `budget_min` throttled minutes in `days`, seen by `period_s`."""

    days: float
    budget_min: float
    period_s: int
    source: TableSource
    bands: tuple[Band, ...]

    def band(self, memory_days: float) -> Band | None:
        """The band for some days of history: the longest that is not longer; None if all are longer.

        A longer memory has seen no less, so that what a shorter one needs is enough.
        """
        fitting = [band for band in self.bands if band.memory_days <= memory_days]
        return max(fitting, key=lambda band: band.memory_days, default=None)


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
        missed, volumes = _count_missed_by_factor(scores.pick(rows), scale[rows])
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


MEMORIES: Final = (1, 2, 6)
"""The memories that are learned from, in blocks."""

LEAST_LEARNED_CUTS: Final = 2
"""From fewer cuts nothing is learned: one does not tell what strikes a whole fleet from what is usual."""

ASSUMED_OF_MINUTES: Final = (
    "every minute above a line counts as throttled: only the highest minute of each day is known"
)

_HELD: Final = 0.95
"""A volume that reached this share of its ceiling may have been held back: how much more it wanted is not known."""

_FULL_SHARE: Final = 0.5
"""A cut needs this share of the volumes of the fullest one: few volumes cannot speak for a whole fleet's week."""

_MINUTE_S: Final = 60


@dataclass(slots=True)
class Lessons:
    """Counts of volumes, added to in place. `days` is the length of a block, `volumes` how many taught anything.

    The counts are by "memory/cut" and by the place in `FACTORS`: where a volume begins to be counted, where it ends
    to, and from where on its line passes.
    """

    days: int = 0
    volumes: int = 0
    begun: dict[str, Counter[int]] = field(default_factory=dict)
    ended: dict[str, Counter[int]] = field(default_factory=dict)
    carried: dict[str, Counter[int]] = field(default_factory=dict)

    def add(self, peaks: PastPeaks | None) -> None:
        """Counts the past of a volume, at each cut at which enough of it is known."""
        if peaks is None or (self.days and peaks.days != self.days):
            return
        taught = False
        for memory in MEMORIES:
            for cut in range(len(peaks.busiest) - memory):
                before, after = peaks.busiest[cut + 1 : cut + 1 + memory], peaks.busiest[cut]
                if after is not None and None not in before:
                    taught |= self._count(
                        f"{memory}/{cut}", [day for block in before for day in block or ()], after, peaks
                    )
        self.days = peaks.days if taught else self.days
        self.volumes += taught

    def merge(self, other: "Lessons") -> None:
        """Adds the counts of other volumes, in place; nothing of blocks of another length."""
        if not other.volumes or (self.days and self.days != other.days):
            return
        self.days = other.days
        self.volumes += other.volumes
        for mine, theirs in ((self.begun, other.begun), (self.ended, other.ended), (self.carried, other.carried)):
            for key, counts in theirs.items():
                mine.setdefault(key, Counter()).update(counts)

    def table(self, on: str, fleet: str) -> LearnedTable | None:
        """Makes the table of a `fleet` (in words) as of a day (ISO 8601); None if nothing can be promised yet."""
        bands = [band for band in map(self._band, MEMORIES) if band is not None]
        if not bands:
            return None
        source = TableSource(on=on, fleets=(fleet,), volumes=self.volumes, public=False, assumed=ASSUMED_OF_MINUTES)
        return LearnedTable(
            days=float(self.days),
            budget_min=PROMISED_MINUTES,
            period_s=_MINUTE_S,
            source=source,
            bands=tuple(bands),
        )

    def _count(self, key: str, before: Sequence[Need], after: Sequence[Need], peaks: PastPeaks) -> bool:
        """Counts a volume under a key, by its highest days `before` a cut and `after` it; False if it teaches nothing.

        A volume that did nothing, or stood at its ceiling before, teaches nothing.
        """
        days = np.array([_pair(figures) for figures in before]).T
        most, usual = days.max(axis=1), usual_share(days[None])[0]
        then, free, ceiling = (np.array(_pair(figures)) for figures in (after[0], peaks.free, peaks.ceiling))
        if not most.any() or (most >= _HELD * ceiling).any():
            return False
        needed = np.where(then > free, then, 0.0)
        score = float(_ratios(needed, most).max())
        if (then >= _HELD * ceiling).any():
            score = np.inf
        scaled = usual * _ratios(most, free).max(), usual * (most / ceiling).max(), score / usual
        places = find_span(*(np.array([figures]) for figures in scaled))
        for counts, place in zip((self.begun, self.ended, self.carried), places, strict=True):
            counts.setdefault(key, Counter())[int(place[0])] += 1
        return True

    def _band(self, memory: int) -> Band | None:
        """Learns a band from a number of blocks of memory; None if no risk can be promised."""
        keys = [key for key in self.begun if key.startswith(f"{memory}/")]
        fullest = max((self.begun[key].total() for key in keys), default=0)
        keys = [key for key in keys if self.begun[key].total() >= _FULL_SHARE * fullest]
        if len(keys) < LEAST_LEARNED_CUTS:
            return None
        risks, volumes = np.zeros(len(FACTORS)), np.full(len(FACTORS), fullest)
        for key in keys:
            begun, ended, carried = (
                _counts_by_place(counters[key]) for counters in (self.begun, self.ended, self.carried)
            )
            missed, counted = np.cumsum(begun - carried), np.cumsum(begun - ended)
            risks, volumes = np.maximum(risks, (missed + 1) / (counted + 1)), np.minimum(volumes, counted)
        factors = least_factors_by_level(risks, LEVELS_PCT)
        if all(factor is None for factor in factors.values()):
            return None
        learned = Calibrated(factors=factors, volumes=int(volumes.max(initial=0)))
        return Band(memory_days=float(memory * self.days), cuts=len(keys), learned=learned)


def _pair(need: Need) -> tuple[float, float]:
    return need.iops, need.throughput_mib_s


def _ratios(figures: FloatArray, base: FloatArray) -> FloatArray:
    """The ratio of figures to their bases; infinite over nothing, 0 if there is nothing."""
    ratios: FloatArray = np.divide(figures, base, out=np.where(figures > 0, np.inf, 0.0), where=base > 0)
    return ratios


def _counts_by_place(counts: Counter[int]) -> IntArray:
    """The counts as an array, one for each factor of `FACTORS`."""
    numbers = np.zeros(len(FACTORS) + 1, dtype=np.int64)
    for place, count in counts.items():
        numbers[place] = count
    return numbers[:-1]
