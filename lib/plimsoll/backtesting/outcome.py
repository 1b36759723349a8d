"""The outcome of a backtest: what each rule saved and throttled, and what was promised against what was observed."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

import numpy as np

from plimsoll.backtesting.aims import Target, targets_of
from plimsoll.backtesting.findings import Reliability, RuleOutcome, SameSaving
from plimsoll.backtesting.judging import Key, Tally
from plimsoll.backtesting.splits import Spread

FORMAT: Final = 1
"""The version of the JSON."""

BAND_PCT: Final = 95.0
_TAIL: Final = 1 - BAND_PCT / 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A backtest's outcome; `about` says of which fleets and how, `judged` by memory how many cuts."""

    about: Mapping[str, Any]
    rules: Sequence[RuleOutcome]
    reliability: Sequence[Reliability]
    same_saving: Sequence[SameSaving]
    spreads: Sequence[Spread] = ()

    @property
    def targets(self) -> Sequence[Target]:
        """What it has to show, and whether it does."""
        return targets_of(self.reliability, self.same_saving)

    def as_json(self) -> dict[str, Any]:
        """The outcome as plain values."""
        return {
            "format": FORMAT,
            "about": dict(self.about),
            "rules": [asdict(one) for one in self.rules],
            "same_saving": [asdict(one) for one in self.same_saving],
            "reliability": [asdict(one) | {"holds": one.holds} for one in self.reliability],
            "spreads": [asdict(one) for one in self.spreads],
            "targets": [asdict(one) | {"reached": one.reached} for one in self.targets],
        }


def outcome_of(
    about: Mapping[str, Any], parts: Iterable[Mapping[Key, Tally]], spreads: Sequence[Spread] = ()
) -> Outcome:
    """The outcome of all batches."""
    found: dict[Key, list[Tally]] = {}
    for part in parts:
        for key, tally in part.items():
            found.setdefault(key, []).append(tally)
    all_of = {key: _joined(tallies) for key, tallies in found.items()}
    rules = [_rule(key, tally) for key, tally in all_of.items()]
    return Outcome(
        about=about,
        rules=rules,
        same_saving=list(_same_savings(rules)),
        reliability=_reliabilities({key: tally for key, tally in all_of.items() if key.level_pct}),
        spreads=spreads,
    )


def _rule(key: Key, tally: Tally) -> RuleOutcome:
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


def _same_savings(rules: Sequence[RuleOutcome]) -> Iterator[SameSaving]:
    """Each learned rule against each other rule whose saving its levels reach."""
    for other in (one for one in rules if one.promised_pct is None):
        place = other.memory_days, other.times
        here = [one for one in rules if one.promised_pct is not None and (one.memory_days, one.times) == place]
        for name in dict.fromkeys(one.rule for one in here):
            curve = sorted((one for one in here if one.rule == name), key=lambda one: one.saving_pct)
            savings = [one.saving_pct for one in curve]
            if other.saving_pct and savings[0] <= other.saving_pct <= savings[-1]:
                minutes, volumes = (
                    float(np.interp(other.saving_pct, savings, figures))
                    for figures in (
                        [one.throttled_minutes for one in curve],
                        [one.over_budget_volumes for one in curve],
                    )
                )
                yield SameSaving(
                    rule=name,
                    other=other.rule,
                    memory_days=other.memory_days,
                    times=other.times,
                    saving_pct=other.saving_pct,
                    throttled_minutes=round(minutes),
                    other_throttled_minutes=other.throttled_minutes,
                    over_budget_volumes=round(volumes, 1),
                    other_over_budget_volumes=other.over_budget_volumes,
                )


def _reliabilities(tallies: Mapping[Key, Tally]) -> list[Reliability]:
    """Of each scale of demand, and of all together, where a volume still counts once."""
    found = []
    together: dict[Key, Tally] = {}
    for key, tally in tallies.items():
        found.append(_reliability(key, tally, key.times))
        whole = key._replace(times=0.0)
        together[whole] = together[whole] + tally if whole in together else tally
    if len({key.times for key in tallies}) > 1:
        found += [_reliability(key, tally, None) for key, tally in together.items()]
    return found


def _reliability(key: Key, tally: Tally, times: float | None) -> Reliability:
    there = tally.counted > 0
    volumes = int(there.sum())
    missed = float((tally.missed[there] / tally.counted[there]).sum())
    return Reliability(
        rule=key.rule,
        promised_pct=key.level_pct,
        memory_days=key.memory_days,
        times=times,
        volumes=volumes,
        observed_pct=round(100 * missed / volumes, 2) if volumes else None,
        most_pct=round(100 * most_missed(volumes, key.level_pct / 100) / volumes, 2) if volumes else None,
    )


def most_missed(volumes: int, chance: float) -> int:
    """The fewest volumes that are exceeded with a chance of at most 5 %, if each misses with that chance: the quantile
    of the binomial distribution."""
    left, term = 1.0, (1 - chance) ** volumes
    for missed in range(volumes + 1):
        left -= term
        if left <= _TAIL:
            return missed
        term *= (volumes - missed) / (missed + 1) * chance / (1 - chance) if chance < 1 else math.inf
    return volumes


def _joined(tallies: Sequence[Tally]) -> Tally:
    return Tally(**{one.name: np.concatenate([getattr(tally, one.name) for tally in tallies]) for one in fields(Tally)})
