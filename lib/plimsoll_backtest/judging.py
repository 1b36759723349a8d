"""Judging: what each rule's sizes would have saved and throttled in the days after a cut."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll.model.policy import MOST_FACTOR
from plimsoll.risk.learn import count_throttled, is_counted, required_ratios
from plimsoll_backtest.cuts import Known
from plimsoll_backtest.other_cuts import BY_HISTORY, CutLessons, source_cuts
from plimsoll_backtest.rules import Shop, SizedVolumes, learned_sizes, sizes
from plimsoll_backtest.scenario import Cut, Scenario


class TallyKey(NamedTuple):
    """The key by which tallies are added up.

    It has a rule, the risk that it promises in percent (0: it promises none), a memory, and how many times the file's
    demand.
    """

    rule: str
    level_pct: float
    memory_days: float
    times: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The effects of a rule on some volumes, summed over the cuts, an element a volume.

    `counted` are the cuts in which the volume was made cheaper with a line above what is free, and `missed` those of
    them with more throttled minutes than the budget.
    """

    cuts: FloatArray
    usd_month_now: FloatArray
    usd_month_then: FloatArray
    reduced: FloatArray
    minutes: FloatArray
    over_budget: FloatArray
    throttled: FloatArray
    longest_wait_s: FloatArray
    counted: FloatArray
    missed: FloatArray

    def __add__(self, other: "Tally") -> "Tally":
        """Both, volume by volume."""
        sums = {column.name: getattr(self, column.name) + getattr(other, column.name) for column in fields(self)}
        sums["longest_wait_s"] = np.maximum(self.longest_wait_s, other.longest_wait_s)
        return Tally(**sums)


def judge_cut(
    cut: Cut, known: Known, volumes: IntArray, lessons: CutLessons, shop: Shop, *, times: float, period_s: int
) -> Iterator[tuple[TallyKey, Tally]]:
    """The effects of each rule's sizes at a cut of a batch of volumes."""
    scenario = shop.scenario
    for rule, sized in sizes(known, shop, period_s):
        nothing = np.zeros(len(volumes), dtype=bool)
        yield TallyKey(rule, 0.0, cut.memory_days, times), _tally(known, sized, nothing, shop, period_s)
    above_free, of_present = required_ratios(known.histories.most, scenario.free, scenario.limits)
    for rule in BY_HISTORY:
        for level_pct in scenario.levels_pct:
            factors = lessons.factors(cut, rule, level_pct, volumes, known.histories.usual)
            # No volume is given more headroom than an audit gives, but what is free may leave it more.
            factors[(factors > MOST_FACTOR) & (factors * above_free > 1)] = np.nan
            counted = is_counted(above_free, of_present, np.nan_to_num(factors)) & ~known.held & known.judged
            key = TallyKey(rule, level_pct, cut.memory_days, times)
            yield key, _tally(known, learned_sizes(known, factors, shop), counted, shop, period_s)


def _tally(known: Known, sized: SizedVolumes, counted: BoolArray, shop: Shop, period_s: int) -> Tally:
    """The tally of sized volumes over the time after a cut. Only reduced volumes count as throttled."""
    usd_now, scenario = shop.present[0], shop.scenario
    reduced = known.judged & (sized.usd_month < usd_now)
    minutes, longest_s = np.zeros(len(reduced)), np.zeros(len(reduced))
    # What stays as it is is not throttled by a rule, whatever happens to it.
    minutes[reduced], longest_s[reduced] = count_throttled(known.after[reduced], sized.lines[reduced], period_s)
    over = minutes > scenario.budget_min
    seen = known.judged.astype(np.float64)
    return Tally(
        cuts=seen,
        usd_month_now=usd_now * seen,
        usd_month_then=np.where(reduced, sized.usd_month, usd_now) * seen,
        reduced=reduced.astype(np.float64),
        minutes=minutes,
        over_budget=over.astype(np.float64),
        throttled=(minutes > 0).astype(np.float64),
        longest_wait_s=longest_s,
        counted=(counted & reduced).astype(np.float64),
        missed=(counted & over).astype(np.float64),
    )


def judged_cuts(cuts: Sequence[Cut], scenario: Scenario) -> list[Cut]:
    """The cuts of the memories to be judged that enough can be learned for."""
    return [cut for cut in cuts if cut.memory_days in scenario.memories_days and source_cuts(cut, cuts, scenario.days)]
