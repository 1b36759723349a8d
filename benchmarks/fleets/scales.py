"""What else could scale a volume's headroom: each way against "maximum of 14 days plus 20 %" at the same saving.

    python benchmarks/fleets/scales.py

Prints the throttled minutes, and the volumes with more than 15 of them, in the 30 days after a cut, by the code of
`plimsoll backtest`. The last line of each part is what the other rule throttles of volumes that asked for no more than
what is free in their whole memory: no line that is a multiple of their past can be higher for them.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from plimsoll.api.backtests import PRESENT, scenario_of
from plimsoll.backtesting.cuts import Known, clipped, known_at, without_initial_load
from plimsoll.backtesting.fleet import Fleet
from plimsoll.backtesting.rules import MAX_AND_20, Shop, Sized, learned_sizes, sizes
from plimsoll.backtesting.scenario import Cut
from plimsoll.domain.metrics.period import FloatArray
from plimsoll.domain.risk.constant_limits import throttled
from plimsoll.domain.units import DAY_S

FLEET = Path(__file__).with_name("bitbrains-rnd-250.npz")
FIRST_MONTH_ENDS = (30, 31, 61, 62, 91)
"""The days of the trace (from 1 July on) on which a month ends or begins."""

WEEK = 7


def share(days: FloatArray, of: FloatArray) -> FloatArray:
    """What some figures (volumes, 2) are of the highest, on the side where that is more."""
    found: FloatArray = np.divide(days, of, out=np.zeros_like(of), where=of > 0).max(axis=1)
    return np.maximum(found, 0.02)


def scales(days: FloatArray, usual: FloatArray, first_day: int) -> Mapping[str, FloatArray]:
    """Each way to scale the headroom of volumes by their own past: the highest rate of each day, (volumes, 2, days)."""
    most, count = days.max(axis=2), days.shape[2]
    ordered = np.sort(days, axis=2)[:, :, ::-1]
    weeks = days[:, :, count % WEEK :].reshape(*days.shape[:2], -1, WEEK)
    late, early = (share(half.max(axis=2), most) for half in (days[:, :, count // 2 :], days[:, :, : count // 2]))
    at_end = np.isin(np.arange(first_day, first_day + count), FIRST_MONTH_ENDS)
    rest = share(days[:, :, ~at_end].max(axis=2), most)
    return {
        "one factor": np.ones(len(days)),
        "usual share (4th day)": usual,
        "2nd busiest day": np.sqrt(share(ordered[:, :, 1], most)),
        "8th busiest day": np.sqrt(share(ordered[:, :, 7], most)),
        "median day": np.sqrt(share(np.median(days, axis=2), most)),
        "last week": np.sqrt(share(days[:, :, -WEEK:].max(axis=2), most)),
        "2nd busiest week": np.sqrt(share(np.sort(weeks.max(axis=3), axis=2)[:, :, -2], most)),
        "same weekday, median": np.sqrt(share(np.median(weeks, axis=2).max(axis=2), most)),
        "same weekday, 2nd": np.sqrt(share(np.sort(weeks, axis=2)[:, :, -2].max(axis=2), most)),
        "month ends kept": np.where(rest < 0.9, 1.0, usual),
        "month ends left out": usual * np.where(rest < 0.9, np.sqrt(rest), 1.0),
        "outgrown before": np.clip(late / early, 0.5, 2.0),
        "usual, outgrown before": usual * np.sqrt(np.clip(late / early, 0.5, 2.0)),
    }


class Trial:
    """One cut of the fleet at a scale of its demand."""

    def __init__(self, shop: Shop, known: Known, period_s: int) -> None:
        self.shop, self.known, self.period_s = shop, known, period_s

    def saving(self, sized: Sized) -> float:
        """What it saves, of what all judged volumes cost."""
        now = self.shop.present[0]
        return float(1 - np.minimum(sized.usd_month, now)[self.known.judged].mean() / now)

    def minutes(self, sized: Sized) -> FloatArray:
        """The throttled minutes of each volume that is made cheaper."""
        cheaper = self.known.judged & (sized.usd_month < self.shop.present[0])
        found = np.zeros(len(cheaper))
        found[cheaper] = throttled(self.known.after[cheaper], sized.lines[cheaper], self.period_s)[0]
        return found

    def at(self, scale: FloatArray, saving: float) -> FloatArray:
        """The throttled minutes of each volume by the factor that saves as much."""
        low, high = np.log(0.005), np.log(200.0)
        for _ in range(20):
            middle = (low + high) / 2
            enough = self.saving(learned_sizes(self.known, np.exp(middle) * scale, self.shop)) >= saving
            low, high = (middle, high) if enough else (low, middle)
        return self.minutes(learned_sizes(self.known, np.exp(low) * scale, self.shop))


def told(name: str, minutes: FloatArray) -> None:
    """Prints a row."""
    sys.stdout.write(f"  {name:28}{minutes.sum():>10,.0f} minutes{(minutes > 15).sum():>6} volumes too long\n")


def main() -> None:
    """Tries them all at the last cut, with 30 and 60 days of memory."""
    fleet = Fleet(FLEET, 32.0)
    period_s, rates = fleet.shape.period_s, np.concatenate([batch.rates for batch in fleet.batches()])
    scenario = scenario_of(
        present=PRESENT,
        to="gp3",
        region="us-east-1",
        times=(1.0,),
        memories_days=(30.0, 60.0),
        days=30.0,
        every_days=7.0,
        budget_min=15.0,
        io_kib=32.0,
        policy=None,
        prices=None,
    )
    shop, last = Shop(scenario), fleet.shape.buckets * period_s / DAY_S - scenario.days
    for memory_days in (30.0, 60.0):
        for times in (10.0, 40.0):
            let_through = clipped(rates * times, scenario)
            history = without_initial_load(let_through, scenario.policy, period_s)
            cut = Cut(memory_days=memory_days, day=last, number=0)
            trial = Trial(shop, known_at(cut, let_through, history, scenario, period_s), period_s)
            other = dict(sizes(trial.known, shop, period_s))[MAX_AND_20]
            saving, minutes = trial.saving(other), trial.minutes(other)
            sys.stdout.write(f"{memory_days:g} days, demand times {times:g}, saving {100 * saving:.1f} %\n")
            told(MAX_AND_20, minutes)
            before = trial.known.before
            days = before[:, :, before.shape[2] % (DAY_S // period_s) :]
            days = days.reshape(*days.shape[:2], -1, DAY_S // period_s).max(axis=3)
            for name, scale in scales(days, trial.known.histories.usual, round(last - memory_days)).items():
                told(name, trial.at(scale, saving))
            free = (trial.known.histories.most <= scenario.free).all(axis=1)
            told("  of these under what is free", np.where(free, minutes, 0.0))


if __name__ == "__main__":
    main()
