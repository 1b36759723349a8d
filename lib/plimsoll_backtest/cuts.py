"""A cut of many volumes: what was known before it, and what came after."""

from dataclasses import dataclass

import numpy as np

from plimsoll.demand.load import FREQUENT_MINUTES
from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll.model.policy import Policy
from plimsoll.model.units import DAY_S, MINUTE_S
from plimsoll.risk.histories import Histories, summarize_histories
from plimsoll.risk.learn import Scores, score_cut
from plimsoll_backtest.scenario import Cut, Scenario

_LEAST_SEEN = 0.5
"""The share of the days before and after a cut that has to be observed."""

_BEGAN_LATER_S = DAY_S
"""A volume whose first sample is so much later than the fleet's was made then: it begins with an initial load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The observations of some volumes before a cut and `after` it: rates with 0 where there is no sample.

    Only volumes of which enough was observed, before and after, are `judged`. Those that are `held` stood at their
    ceiling so often that a rule of Plimsoll's would not cut them, but raise them. `censored` are those that stood at it
    after the cut for longer than the budget.
    """

    histories: Histories
    before: FloatArray
    after: FloatArray
    judged: BoolArray
    held: BoolArray
    censored: BoolArray


def clip_rates(rates: FloatArray, scenario: Scenario) -> FloatArray:
    """The part of each bucket that the present configuration would have let through, at the same size of I/O."""
    limits = scenario.limits[None, :, None]
    with np.errstate(invalid="ignore"):
        share = np.minimum(1.0, np.divide(limits, rates, out=np.ones_like(rates), where=rates > limits)).min(axis=1)
    passed: FloatArray = rates * share[:, None, :]
    return passed


def without_initial_load(rates: FloatArray, policy: Policy, period_s: int) -> FloatArray:
    """Rates without the first days of volumes that were made in the time: they are no history."""
    seen: BoolArray = ~np.isnan(rates.sum(axis=1))
    first = np.where(seen.any(axis=1), seen.argmax(axis=1), 0)
    began = first * period_s > _BEGAN_LATER_S
    until = first + int(policy.settle_days * DAY_S / period_s)
    loading = began[:, None] & (np.arange(rates.shape[2])[None] < until[:, None])
    return np.where(loading[:, None, :], np.nan, rates)


def knowledge_at(cut: Cut, rates: FloatArray, history: FloatArray, scenario: Scenario, period_s: int) -> Known:
    """The observations of rates before and after a cut; `history` counts as past."""
    past, coming = history[:, :, cut.known_buckets(period_s)], rates[:, :, cut.judged_buckets(scenario.days, period_s)]
    before, after = np.nan_to_num(past), np.nan_to_num(coming)
    share = scenario.policy.saturation_pct / 100
    limits: FloatArray = scenario.limits[None, :, None]
    at_ceiling, at_ceiling_after = (np.any(part >= share * limits, axis=1) for part in (before, after))
    observed = ~np.isnan(past).any(axis=1)
    minutes, seen_minutes = (part.sum(axis=1) * period_s / MINUTE_S for part in (at_ceiling, observed))
    often = np.maximum(FREQUENT_MINUTES, scenario.policy.upgrade_throttled_share_pct / 100 * seen_minutes)
    enough = (observed.mean(axis=1) >= _LEAST_SEEN) & ((~np.isnan(coming).any(axis=1)).mean(axis=1) >= _LEAST_SEEN)
    return Known(
        histories=summarize_histories(before, period_s),
        before=before,
        after=after,
        judged=enough,
        held=minutes >= often,
        censored=at_ceiling_after.sum(axis=1) * period_s / MINUTE_S > scenario.budget_min,
    )


def scores_at(cut: Cut, known: Known, volumes: IntArray, scenario: Scenario, period_s: int) -> Scores:
    """The scores of the volumes that a rule would cut there, if it can be judged."""
    counts = np.flatnonzero(known.judged & ~known.held)
    before = Histories(most=known.histories.most[counts], usual=known.histories.usual[counts])
    return score_cut(
        volumes[counts],
        before,
        known.after[counts],
        cut=cut.number,
        free=scenario.free,
        present=scenario.limits,
        censored=known.censored[counts],
        period_s=period_s,
        budget_min=scenario.budget_min,
    )
