"""The choice: which configuration, by one test and what people prefer (docs/decision.md, sections 4 to 7).

The cheapest that passes wins. A drop-in replacement that saves nearly as much is preferred: nobody should take a risk
for the last tenth. What is throttled frequently is relieved, whatever it costs. A reduction waits while it is not known
yet what the workload does with what it was given.

It is made for all that change together: one volume, the members of a stripe set, the volumes of a pool.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from plimsoll.domain.case import Case
from plimsoll.domain.ceiling import Resource
from plimsoll.domain.cheapest import NOTHING
from plimsoll.domain.lifting import is_frequent
from plimsoll.domain.need import Need
from plimsoll.domain.offer import Offer, too_small
from plimsoll.domain.offers import Bundle, Makers, drop_ins
from plimsoll.domain.required import Purpose
from plimsoll.domain.settling import Settles
from plimsoll.domain.trial import Trial, budget_of, trial, worst

BUDGETS_MIN: Final = (0.0, 1.0, 5.0, 15.0, 60.0)
"""The throttled minutes in 30 days that the frontier is drawn for."""

LEAST_STEP_USD: Final = 5.0
"""A frontier whose steps save less together is not worth drawing."""


class Verdict(StrEnum):
    """What is to be done."""

    KEEP = "keep"
    CHANGE = "change"
    RELIEVE = "relieve"
    WAIT = "wait"


class Why(StrEnum):
    """Why everything stays as it is, or which preference chose the target."""

    CHEAPEST = "cheapest"
    DROP_IN = "drop-in"
    RELIEF = "relief"
    HOST_IS_THE_LIMIT = "host-is-the-limit"
    NOTHING_PASSES = "nothing-passes"
    PRESENT_IS_CHEAPEST = "present-is-cheapest"
    SAVES_TOO_LITTLE = "saves-too-little"
    NOT_SETTLED = "not-settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The cheapest that lets so many minutes in 30 days be throttled."""

    budget_min: float
    bundle: Bundle


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is to be done, to what, and why.

    `target` is what is chosen, or would be (wait, saves too little), for what costs `usd_month_now` together.
    `bundles` is one of each type, `relief` what ends frequent throttling where something else was chosen, `frontier`
    what tolerating more would cost.
    """

    verdict: Verdict
    why: Why
    target: Bundle | None
    now: Trial
    usd_month_now: float
    bundles: Sequence[Bundle]
    drop_in: Bundle | None
    relief: Bundle | None = None
    settles: Settles | None = None
    frontier: Sequence[Step] = ()


def choose(cases: Sequence[Case]) -> Choice:
    """What is to be done with volumes that change together; each has a price."""
    group = _Group(cases)
    return group.relieved() if group.frequent and group.now.throttled_minutes else group.reduced()


def _nothing(_case: Case) -> Need:
    return NOTHING


class _Group:
    """All that change together."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = cases
        self.usd_month = sum(case.usd_month or 0.0 for case in cases)
        self.frequent = frozenset(resource for case in cases for resource in case.frequent)
        self.now = worst(trial(case.held.now, case.present) for case in cases)
        self.budget_min = min(case.policy.throttle_budget_min for case in cases)
        self.drop_in = drop_ins(cases)

    def reduced(self) -> Choice:
        """The cheapest that carries what is required, where that is cheaper than what there is."""
        bundles = Makers(self.cases, Purpose.REDUCE, self.budget_min, _nothing).bundles(self.budget_min)
        frontier = self._frontier(bundles, _nothing)
        cheaper = [bundle for bundle in bundles if bundle.feasible and bundle.usd_month < self.usd_month]
        if not cheaper and not self._drop_in_is_cheaper:
            return self._kept(self._why_nothing(bundles), bundles, frontier)
        best, why = self._preferred(cheaper)
        if self.usd_month - best.usd_month < max(case.policy.min_saving_usd_month for case in self.cases):
            return self._kept(Why.SAVES_TOO_LITTLE, bundles, frontier, best)
        settles = self._settles()
        if settles is not None and self._reduces(best):
            return self._choice(Verdict.WAIT, Why.NOT_SETTLED, best, bundles, frontier, settles=settles)
        return self._choice(Verdict.CHANGE, why, best, bundles, frontier)

    def relieved(self) -> Choice:
        """The cheapest that passes and halves what is throttled; a cheaper drop-in replacement goes before a dearer
        one."""
        bundles = Makers(self.cases, Purpose.RELIEVE, self.budget_min, self._untouched).bundles(self.budget_min)
        frontier = self._frontier(bundles, self._untouched)
        passing = [bundle for bundle in bundles if bundle.feasible]
        relief = next((bundle for bundle in passing if self._halves(bundle)), None)
        if (
            self.drop_in is not None
            and self._drop_in_is_cheaper
            and (relief is None or relief.usd_month > self.usd_month)
        ):
            return self._choice(Verdict.CHANGE, Why.DROP_IN, self.drop_in, bundles, frontier, relief=relief)
        if relief is not None:
            return self._choice(Verdict.RELIEVE, Why.RELIEF, relief, bundles, frontier)
        return self._kept(Why.HOST_IS_THE_LIMIT if passing else Why.NOTHING_PASSES, bundles, frontier)

    def _choice(
        self,
        verdict: Verdict,
        why: Why,
        target: Bundle | None,
        bundles: Sequence[Bundle],
        frontier: Sequence[Step],
        *,
        relief: Bundle | None = None,
        settles: Settles | None = None,
    ) -> Choice:
        return Choice(
            verdict=verdict,
            why=why,
            target=target,
            now=self.now,
            usd_month_now=self.usd_month,
            bundles=bundles,
            drop_in=self.drop_in,
            relief=relief,
            settles=settles,
            frontier=frontier,
        )

    def _kept(
        self, why: Why, bundles: Sequence[Bundle], frontier: Sequence[Step], target: Bundle | None = None
    ) -> Choice:
        return self._choice(Verdict.KEEP, why, target, bundles, frontier)

    @property
    def _drop_in_is_cheaper(self) -> bool:
        return self.drop_in is not None and self.drop_in.usd_month < self.usd_month

    def _preferred(self, cheaper: Sequence[Bundle]) -> tuple[Bundle, Why]:
        """The cheapest, or the drop-in replacement where that keeps nearly all of the saving, or is all there is."""
        drop_in = self.drop_in if self._drop_in_is_cheaper else None
        if drop_in is None:
            return cheaper[0], Why.CHEAPEST
        if not cheaper:
            return drop_in, Why.DROP_IN
        share = max(case.policy.drop_in_share_pct for case in self.cases) / 100
        saved = self.usd_month - cheaper[0].usd_month
        if self.usd_month - drop_in.usd_month >= share * saved:
            return drop_in, Why.DROP_IN
        return cheaper[0], Why.CHEAPEST

    def _why_nothing(self, bundles: Sequence[Bundle]) -> Why:
        if any(self._host_bound(case) for case in self.cases):
            return Why.HOST_IS_THE_LIMIT
        budget_minutes = budget_of(self.budget_min, self.cases[0].window_s)
        stays = self.now.passes(budget_minutes=budget_minutes, max_wait_s=self.cases[0].policy.max_wait_s)
        passing = any(bundle.feasible for bundle in bundles)
        return Why.PRESENT_IS_CHEAPEST if stays or passing else Why.NOTHING_PASSES

    def _host_bound(self, case: Case) -> bool:
        """Whether the host was the limit frequently."""
        demand = case.demand
        return is_frequent(demand.minutes(case.room.bound), demand.minutes(demand.observed), case.policy)

    def _settles(self) -> Settles | None:
        waits = [case.settles for case in self.cases if case.settles is not None]
        return max(waits, key=lambda wait: wait.on, default=None)

    def _reduces(self, bundle: Bundle) -> bool:
        """Whether any carries less than now on any side."""
        pairs = zip(self.cases, bundle.offers, strict=True)
        return any(
            any(too_small("", offer.ceiling, Need.of_ceiling(case.present.counted_as(offer.ceiling.accounting))))
            for case, offer in pairs
        )

    def _untouched(self, case: Case) -> Need:
        """What stays as it is while one resource is throttled frequently: the other may be starved behind it."""
        own = case.market.types[case.volume.spec.type].ceiling(case.volume.spec)
        iops, throughput = Resource.IOPS in self.frequent, Resource.THROUGHPUT in self.frequent
        return Need(
            iops=own.iops if throughput and not iops else 0.0,
            throughput_mib_s=own.throughput_mib_s if iops and not throughput else 0.0,
        )

    def _halves(self, bundle: Bundle) -> bool:
        """Whether a configuration on these hosts throttles half of the lifted demand's minutes at most."""
        then = worst(self._tried_on_host(case, offer) for case, offer in zip(self.cases, bundle.offers, strict=True))
        return then.throttled_minutes <= self.now.throttled_minutes / 2

    def _tried_on_host(self, case: Case, offer: Offer) -> Trial:
        load = case.held if offer.pool_gib is not None else case.load
        return trial(load.now, offer.ceiling & case.room.ceiling)

    def _frontier(self, bundles: Sequence[Bundle], at_least: Callable[[Case], Need]) -> Sequence[Step]:
        """What each budget of throttled minutes would cost at the most, from none on, where any would save something.

        Budgets for which nothing passes are left out, and those that are no cheaper than the one before.
        """
        makers = Makers(self.cases, Purpose.REDUCE, BUDGETS_MIN[-1], at_least, harmful=True)
        passing = [bundle.usd_month for bundle in bundles if bundle.feasible]
        if min(passing, default=float("inf")) < makers.least_usd_month() + LEAST_STEP_USD:
            return ()
        steps: list[Step] = []
        for budget_min in BUDGETS_MIN:
            best = makers.bundles(budget_min)[0]
            if best.feasible and (not steps or best.usd_month < steps[-1].bundle.usd_month):
                steps.append(Step(budget_min=budget_min, bundle=best))
        return steps if len(steps) > 1 else ()
