"""The outcome of a backtest: what each rule saved and throttled, and what was promised against what was observed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

import numpy as np

from plimsoll.model.arrays import FloatArray
from plimsoll_backtest.aims import AimOutcome, targets_of
from plimsoll_backtest.findings import Reliability, RuleOutcome, SameSaving
from plimsoll_backtest.judging import Tally, TallyKey
from plimsoll_backtest.resampled import interpolate_saving, observed_pct, resample_fleets, spread_of, sums_of

OUTCOME_FORMAT: Final = 2
"""The version of the JSON, and of what is judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BacktestOutcome:
    """A backtest's outcome; `about` says of which fleets and how, `judged` by memory how many cuts."""

    about: Mapping[str, Any]
    rules: Sequence[RuleOutcome]
    reliability: Sequence[Reliability]
    same_saving: Sequence[SameSaving]

    @property
    def targets(self) -> Sequence[AimOutcome]:
        """The targets of the learned headroom, each with what was found."""
        return targets_of(self.reliability, self.same_saving)

    def as_json(self) -> dict[str, Any]:
        """The outcome as plain values."""
        return {
            "format": OUTCOME_FORMAT,
            "about": dict(self.about),
            "rules": [asdict(row) for row in self.rules],
            "same_saving": [asdict(row) for row in self.same_saving],
            "reliability": [asdict(row) | {"holds": row.is_kept} for row in self.reliability],
            "targets": [asdict(row) | {"reached": row.is_reached} for row in self.targets],
        }


def outcome_of(
    about: Mapping[str, Any], names: Sequence[str], parts: Iterable[Mapping[TallyKey, Tally]]
) -> BacktestOutcome:
    """The outcome of all batches of the volumes with these names."""
    by_key: dict[TallyKey, list[Tally]] = {}
    for part in parts:
        for key, tally in part.items():
            by_key.setdefault(key, []).append(tally)
    all_of = {key: _join(tallies) for key, tallies in by_key.items()}
    fleets = resample_fleets(len(names))
    return BacktestOutcome(
        about=about,
        rules=[_rule(key, tally) for key, tally in all_of.items()],
        same_saving=list(_same_savings(all_of, names, fleets)),
        reliability=_reliabilities({key: tally for key, tally in all_of.items() if key.level_pct}, fleets),
    )


def _rule(key: TallyKey, tally: Tally) -> RuleOutcome:
    now, then = float(tally.usd_month_now.sum()), float(tally.usd_month_then.sum())
    return RuleOutcome(
        rule=key.rule,
        promised_pct=key.level_pct or None,
        memory_days=key.memory_days,
        times=key.times,
        volume_cuts=int(tally.cuts.sum()),
        reduced=int(tally.reduced.sum()),
        saving_pct=round(100 * (1 - then / now), 2) if now else 0.0,
        throttled_minutes=float(tally.minutes.sum()),
        throttled_volumes=int(tally.throttled.sum()),
        over_budget_volumes=int(tally.over_budget.sum()),
        longest_wait_s=round(float(tally.longest_wait_s.max(initial=0.0)), 1),
    )


def _same_savings(tallies: Mapping[TallyKey, Tally], names: Sequence[str], fleets: FloatArray) -> Iterator[SameSaving]:
    """Yields the comparison of each learned rule with each other rule whose saving its levels reach."""
    whole = np.ones((1, len(names)))
    for key, other in tallies.items():
        here = {
            key_here: tally for key_here, tally in tallies.items() if key_here[2:] == key[2:] and key_here.level_pct
        }
        for rule in dict.fromkeys(key_here.rule for key_here in here) if not key.level_pct else ():
            levels = [tally for key_here, tally in here.items() if key_here.rule == rule]
            (saving,), (other_minutes,), (other_over,) = sums_of(other, whole)
            (minutes,), (over,) = _levels_at(levels, other, whole)
            if not saving or np.isnan(minutes):
                continue
            drawn = sums_of(other, fleets)
            more_minutes, more_over = (
                spread_of(key_here - its)
                for key_here, its in zip(
                    _levels_at(levels, other, fleets), (drawn.minutes, drawn.over_budget), strict=True
                )
            )
            worst = int(other.minutes.argmax())
            alone = np.interp(saving, *_minutes_by_saving(levels, worst))
            yield SameSaving(
                rule=rule,
                other=key.rule,
                memory_days=key.memory_days,
                times=key.times,
                saving_pct=round(float(saving), 2),
                throttled_minutes=round(float(minutes)),
                other_throttled_minutes=float(other_minutes),
                minutes_low=round(more_minutes.low),
                minutes_high=round(more_minutes.high),
                over_budget_volumes=round(float(over), 1),
                other_over_budget_volumes=int(other_over),
                volumes_low=round(more_over.low, 1),
                volumes_high=round(more_over.high, 1),
                worst=names[worst],
                worst_minutes=round(float(alone)),
                other_worst_minutes=float(other.minutes[worst]),
            )


def _levels_at(levels: Sequence[Tally], other: Tally, fleets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The throttling of a rule's levels where they save as much as another rule, in each fleet."""
    return interpolate_saving([sums_of(level, fleets) for level in levels], sums_of(other, fleets).saving_pct)


def _minutes_by_saving(levels: Sequence[Tally], volume: int) -> tuple[list[float], list[float]]:
    """The savings of a rule's levels in order, and the minutes of one volume at each."""
    whole = np.ones((1, len(levels[0].minutes)))
    points = sorted((float(sums_of(level, whole).saving_pct[0]), float(level.minutes[volume])) for level in levels)
    return [saving for saving, _ in points], [minutes for _, minutes in points]


def _reliabilities(tallies: Mapping[TallyKey, Tally], fleets: FloatArray) -> list[Reliability]:
    """Of each scale of demand, and of all together, where a volume still counts once."""
    reliabilities = []
    together: dict[TallyKey, Tally] = {}
    for key, tally in tallies.items():
        reliabilities.append(_reliability(key, tally, key.times, fleets))
        whole = key._replace(times=0.0)
        together[whole] = together[whole] + tally if whole in together else tally
    if len({key.times for key in tallies}) > 1:
        reliabilities += [_reliability(key, tally, None, fleets) for key, tally in together.items()]
    return reliabilities


def _reliability(key: TallyKey, tally: Tally, times: float | None, fleets: FloatArray) -> Reliability:
    volumes = int((tally.counted > 0).sum())
    low, high = spread_of(observed_pct(tally, fleets)) if volumes else (None, None)
    return Reliability(
        rule=key.rule,
        promised_pct=key.level_pct,
        memory_days=key.memory_days,
        times=times,
        volumes=volumes,
        observed_pct=round(float(observed_pct(tally, np.ones((1, len(tally.counted))))[0]), 2) if volumes else None,
        low_pct=None if low is None else round(low, 2),
        high_pct=None if high is None else round(high, 2),
    )


def _join(tallies: Sequence[Tally]) -> Tally:
    return Tally(
        **{column.name: np.concatenate([getattr(tally, column.name) for tally in tallies]) for column in fields(Tally)}
    )
