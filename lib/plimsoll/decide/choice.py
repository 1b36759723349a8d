"""The choice: which configuration, by one test and what people prefer (docs/decision.md, sections 4 to 7).

The cheapest that passes wins. A drop-in replacement that saves nearly as much is preferred: nobody should take a risk
for the last tenth. What is throttled frequently is relieved, whatever it costs. A reduction waits while it is not known
yet what the workload does with what it was given.

It is made for all that change together: one volume, the members of a stripe set, the volumes of a pool.

The price of the next level of safety for volumes that change together.

Everything that has to be carried is raised by the ratio of the two headrooms, what was held back included. So the price
is the most that it can be.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from plimsoll.decide.answer import Choice, ChoiceVerdict, FrontierBudget, Why
from plimsoll.decide.case import Case, Remembered
from plimsoll.decide.offers import Bundle, is_reduction
from plimsoll.decide.type_offers import Makers, find_same_limits
from plimsoll.demand.days import AUDIT_DAYS, Rise
from plimsoll.demand.epochs import Settles, Unsettled
from plimsoll.demand.load import is_frequent, scale_load
from plimsoll.demand.trial import budget_of, trial, worst
from plimsoll.model.ceiling import NOTHING, Need
from plimsoll.model.policy import OfferPurpose
from plimsoll.risk.promise import Risk, Safer, SafetyLevel, safer_level


def find_risks(cases: Sequence[Case], bundle: Bundle) -> list[Risk | None]:
    """The risk of each volume if all become what a bundle offers; None if nothing was learned."""
    return [case.risk_of_offer(offer) for case, offer in zip(cases, bundle.offers, strict=True)]


def is_allowed(cases: Sequence[Case], bundle: Bundle) -> bool:
    """Each policy allows the risk of its volume.

    A volume whose limits are not lowered has no risk. An unknown risk is too high for all policies but those that take
    any.
    """
    risks = find_risks(cases, bundle)
    return all(
        case.allows(risk)
        for case, offer, risk in zip(cases, bundle.offers, risks, strict=True)
        if is_reduction(offer, case.usable)
    )


BUDGETS_MIN: Final = (0.0, 1.0, 5.0, 15.0, 60.0)
"""The throttled minutes in 30 days that the frontier is drawn for."""

LEAST_STEP_USD: Final = 5.0
"""A frontier whose steps save less together is not worth drawing."""


ROUNDING_USD: Final = 1e-9
"""Money that differs by less is the same."""


def choose(cases: Sequence[Case]) -> Choice:
    """Chooses what to do with volumes that change together: relief if they are throttled, else a reduction.

    Each volume has a price.
    """
    group = _Group(cases)
    return group.choose_relief() if group.is_throttled else group.choose_reduction()


def choose_same_limits(cases: Sequence[Case]) -> Choice | None:
    """Chooses the same-limits replacement of volumes whose demand is unknown; None if none saves enough."""
    return _Group(cases).same_limits()


def _stood_throughout(case: Case) -> bool:
    """The present limits stood through the whole window, so that the demand on both sides is known."""
    return case.settles is None and case.epochs[-1].buckets.start == 0


class _Group:
    """The volumes that change together."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = cases
        self.usd_month = sum(case.usd_month or 0.0 for case in cases)
        self.frequent = frozenset(resource for case in cases for resource in case.frequent)
        self.now = worst(trial(case.held.now, case.present) for case in cases)
        self.budget_min = min(case.policy.throttle_budget_min for case in cases)
        self.budget_minutes = budget_of(self.budget_min, cases[0].window_s)
        self.least_usd = max(case.policy.min_saving_usd_month for case in cases)
        self.same = find_same_limits(cases, is_worth_it=self._is_worth_it)
        self.past, self.past_at_most = combine_past_needs(case.remembered for case in cases)

    @property
    def is_throttled(self) -> bool:
        """The group is throttled frequently, and in more minutes than its policy tolerates."""
        return bool(self.frequent) and self.now.throttled_minutes > self.budget_minutes

    def same_limits(self) -> Choice | None:
        """Chooses the replacement that keeps all limits; None if it is not worth a change."""
        if self._spare is None:
            return None
        return self._choice(ChoiceVerdict.CHANGE, Why.DROP_IN, self._spare, [self._spare], ())

    def choose_reduction(self) -> Choice:
        """Chooses the cheapest bundle that carries what is required, if it is worth a change.

        A drop-in replacement goes before if it saves nearly as much, or if nothing else is worth it.
        """
        makers = Makers(self.cases, OfferPurpose.REDUCE, self.budget_min, self._least_need, raises_nothing=True)
        bundles = makers.bundles(self.budget_min)
        frontier = self._frontier(bundles)
        best = bundles[0] if bundles[0].feasible else None
        if best is None or not self._is_worth_it(best):
            if self._spare is not None:
                return self._choose_or_wait(Why.DROP_IN, self._spare, bundles, frontier)
            if self._host_replacement is not None:
                return self._choose_or_wait(Why.BY_HOST, self._host_replacement, bundles, frontier)
            kept = self._choice(ChoiceVerdict.KEEP, self._reason_to_keep(best), None, bundles, frontier)
            beneath, too_risky = self._find_beneath(best)
            return replace(kept, beneath=beneath, too_risky=too_risky)
        if self._spare is not None and self.same.whole is not None and self._is_nearly_as_good(self.same.whole, best):
            return self._choose_or_wait(Why.DROP_IN, self._spare, bundles, frontier)
        return self._choose_or_wait(Why.CHEAPEST, best, bundles, frontier)

    def choose_relief(self) -> Choice:
        """Chooses the cheapest bundle that passes and halves the throttled minutes.

        Before a dearer one goes a cheaper drop-in replacement, or else a change that costs less and throttles no more.
        """
        bundles, relief = self._find_relief(self._least_relief_need)
        lowering = None
        if relief is not None and (self._is_too_risky(relief) or self._find_rising_waits(relief)):
            safer, instead = self._find_relief(lambda case: Need.from_ceiling(case.present))
            if instead is not None:
                bundles, lowering, relief = safer, relief, instead
        return replace(self._choose_with_relief(relief, bundles, lowering), lowering=lowering)

    def _find_relief(self, carries: Callable[[Case], Need]) -> tuple[Sequence[Bundle], Bundle | None]:
        """Makes the bundles for relief, and finds the cheapest that passes and halves the throttled minutes."""
        bundles = Makers(self.cases, OfferPurpose.RELIEVE, self.budget_min, carries).bundles(self.budget_min)
        return bundles, next((bundle for bundle in bundles if bundle.feasible and self._halves(bundle)), None)

    def _choose_with_relief(self, relief: Bundle | None, bundles: Sequence[Bundle], lowering: Bundle | None) -> Choice:
        """Chooses between a relief and its alternatives. The relief may stand in for one that lowers a limit
        (`lowering`)."""
        frontier = self._frontier(bundles)
        if self._spare is not None and (relief is None or self._saving_usd(relief) <= 0):
            return self._choose_or_wait(Why.DROP_IN, self._spare, bundles, frontier, relief=relief)
        if relief is not None:
            holding = self._find_holding() if self._saving_usd(relief) < 0 else None
            if holding is None or self._is_too_risky(holding):
                relieved = self._choice(ChoiceVerdict.RELIEVE, Why.RELIEF, relief, bundles, frontier)
                risky = lowering if lowering is not None and self._is_too_risky(lowering) else None
                return replace(relieved, too_risky=holding or risky)
            return self._choice(ChoiceVerdict.CHANGE, Why.THROTTLES_NO_MORE, holding, bundles, frontier, relief=relief)
        if self._host_replacement is not None:
            return self._choose_or_wait(Why.BY_HOST, self._host_replacement, bundles, frontier)
        passes = any(bundle.feasible for bundle in bundles)
        why = Why.HOST_IS_THE_LIMIT if passes or self._is_host_bound else Why.NOTHING_PASSES
        return self._choice(ChoiceVerdict.KEEP, why, None, bundles, frontier)

    def _find_holding(self) -> Bundle | None:
        """Finds the cheapest bundle that throttles no more minutes than today and carries the rest with headroom.

        None if none is worth it, or it cannot be judged yet: relief does not wait.
        """
        if not all(_stood_throughout(case) for case in self.cases):
            return None
        makers = Makers(self.cases, OfferPurpose.HOLD, self.budget_min, self._least_relief_need, raises_nothing=True)
        for bundle in makers.bundles(self.budget_min):
            if not bundle.feasible or not self._is_worth_it(bundle):
                return None
            if self._throttled_minutes(bundle) <= self.now.throttled_minutes:
                return None if self._find_waits(bundle) else bundle
        return None

    def _find_waits(self, target: Bundle) -> list[Settles]:
        """Finds the reasons why a reduction to a target has to wait."""
        return [case.settles for case in self.cases if case.settles is not None] or self._find_rising_waits(target)

    def _choose_or_wait(
        self,
        why: Why,
        target: Bundle,
        bundles: Sequence[Bundle],
        frontier: Sequence[FrontierBudget],
        *,
        relief: Bundle | None = None,
    ) -> Choice:
        """Chooses the change, unless it has to wait.

        Everything but relief waits in the middle of a modification. A reduction waits while demand cannot be judged; a
        drop-in replacement that saves something goes before it.
        """
        waits = self._find_waits(target)
        settles = max(waits, key=lambda wait: wait.on, default=None)
        if settles is not None and any(wait.why is Unsettled.CHANGING for wait in waits):
            return self._choice(ChoiceVerdict.WAIT, Why.NOT_SETTLED, target, bundles, frontier, settles=settles)
        if settles is None and self._is_too_risky(target):
            return self._choose_instead(target, bundles, frontier)
        if settles is None or not self._reduces(target):
            return self._choice(ChoiceVerdict.CHANGE, why, target, bundles, frontier, relief=relief)
        if self._spare is not None:
            return self._choice(ChoiceVerdict.CHANGE, Why.DROP_IN, self._spare, bundles, frontier, settles=settles)
        return self._choice(ChoiceVerdict.WAIT, Why.NOT_SETTLED, target, bundles, frontier, settles=settles)

    def _choose_instead(
        self, reduction: Bundle, bundles: Sequence[Bundle], frontier: Sequence[FrontierBudget]
    ) -> Choice:
        """Chooses in place of a reduction whose risk is not allowed: a drop-in replacement, or nothing."""
        if self._spare is not None:
            instead = self._choice(ChoiceVerdict.CHANGE, Why.DROP_IN, self._spare, bundles, frontier)
        else:
            instead = self._choice(ChoiceVerdict.KEEP, Why.TOO_RISKY, None, bundles, frontier)
            instead = replace(instead, beneath=self._find_beneath(reduction)[0])
        return replace(instead, too_risky=reduction)

    def _is_too_risky(self, bundle: Bundle) -> bool:
        """The bundle lowers a limit at a risk that is not allowed. A drop-in replacement needs no proof."""
        keeps = any(bundle is bundle_weighed for bundle_weighed in self.same.weighed)
        return not keeps and self._reduces(bundle) and not is_allowed(self.cases, bundle)

    def _choice(
        self,
        verdict: ChoiceVerdict,
        why: Why,
        target: Bundle | None,
        bundles: Sequence[Bundle],
        frontier: Sequence[FrontierBudget],
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
            drop_in=self.same.by_host if why is Why.BY_HOST else self.same.drop_in,
            full=self.same.full,
            same_limits=self.same.weighed,
            relief=relief,
            settles=settles,
            frontier=frontier,
        )

    def _saving_usd(self, bundle: Bundle) -> float:
        return self.usd_month - bundle.usd_month

    def _is_worth_it(self, bundle: Bundle) -> bool:
        return self._saving_usd(bundle) >= max(ROUNDING_USD, self.least_usd - ROUNDING_USD)

    @property
    def _spare(self) -> Bundle | None:
        """The drop-in replacement, if it saves enough."""
        drop_in = self.same.drop_in
        return drop_in if drop_in is not None and self._is_worth_it(drop_in) else None

    @property
    def _host_replacement(self) -> Bundle | None:
        """The replacement that keeps only what the hosts carry, if it saves enough."""
        by_host = self.same.by_host
        return by_host if by_host is not None and self._is_worth_it(by_host) else None

    def _find_beneath(self, best: Bundle | None) -> tuple[Bundle | None, Bundle | None]:
        """Finds the bundle that saves something, but less than the policy asks for, and can be judged today.

        Beside it stands the reduction that it replaces because of its risk.
        """
        drop_in = self.same.drop_in
        spare = drop_in if drop_in is not None and self._saving_usd(drop_in) > ROUNDING_USD else None
        chosen = best if best is not None and self._saving_usd(best) > ROUNDING_USD else None
        if chosen is None or (spare is not None and self._is_nearly_as_good(spare, chosen)):
            chosen = spare
        if chosen is None:
            return None, None
        waits = [case.settles for case in self.cases if case.settles is not None]
        changing = any(wait.why is Unsettled.CHANGING for wait in waits)
        held = any(wait.why is not Unsettled.NEW for wait in waits) or (not waits and self._find_rising_waits(chosen))
        if changing or (held and self._reduces(chosen)):
            return None, None
        return (spare, chosen) if self._is_too_risky(chosen) else (chosen, None)

    def _find_rising_waits(self, bundle: Bundle) -> list[Settles]:
        """Finds the waits for the next audit: demand that rises beyond what any offer carries."""
        pairs = zip(self.cases, bundle.offers, strict=True)
        now = [case.context.now for case, offer in pairs if case.rise(offer) is Rise.OUTGROWN]
        return [Settles(on=moment + timedelta(days=AUDIT_DAYS), why=Unsettled.RISING, since=moment) for moment in now]

    def _is_nearly_as_good(self, drop_in: Bundle, best: Bundle) -> bool:
        """A drop-in replacement passes and keeps nearly all of the best saving, or saves no less."""
        pairs = list(zip(self.cases, drop_in.offers, strict=True))
        tried = worst(trial(case.held.keeping, offer.ceiling) for case, offer in pairs)
        wait_s = min(case.policy.max_wait_s for case in self.cases)
        share = max(case.policy.drop_in_share_pct for case in self.cases) / 100
        passes = tried.is_within(budget_minutes=self.budget_minutes, max_wait_s=wait_s)
        kept = self._saving_usd(drop_in) / self._saving_usd(best) + ROUNDING_USD
        return kept >= (share if passes else 1.0)

    def _reason_to_keep(self, best: Bundle | None) -> Why:
        """The reason why nothing changes; `best` is the best offer, None if none passes."""
        if best is not None and self._saving_usd(best) > 0:
            return Why.SAVES_TOO_LITTLE
        if self._is_host_bound:
            return Why.HOST_IS_THE_LIMIT
        wait_s = min(case.policy.max_wait_s for case in self.cases)
        stays = self.now.is_within(budget_minutes=self.budget_minutes, max_wait_s=wait_s)
        return Why.PRESENT_IS_CHEAPEST if stays or best is not None else Why.NOTHING_PASSES

    @property
    def _is_host_bound(self) -> bool:
        """The host of a volume was the limit frequently, or would be if nothing was held back."""
        return any(
            is_frequent(case.demand.minutes(at), case.demand.minutes(case.demand.observed), case.policy)
            for case in self.cases
            for at in (case.room.bound, case.room.taken_back)
            if at is not None
        )

    def _reduces(self, bundle: Bundle) -> bool:
        """The bundle lowers a limit of any volume."""
        pairs = zip(self.cases, bundle.offers, strict=True)
        return any(is_reduction(offer, case.usable) for case, offer in pairs)

    def _least_need(self, case: Case) -> Need:
        """The least that a reduction must carry whatever the window asks for: the past, and what it takes over."""
        return self.past.no_less_than(case.asked_by_peer)

    def _least_relief_need(self, case: Case) -> Need:
        """The least that relief carries of a limit that it lowers: as much as a reduction, and one relief more.

        It lowers none unless the present limits stood through the whole window.
        """
        present = Need.from_ceiling(case.present)
        if case.held is not case.load:
            return self._least_need(case).no_more_than(present)
        if not _stood_throughout(case):
            return present
        return self._least_need(case).no_less_than(case.asked_after_relief).no_more_than(present)

    def _most_past_need(self, case: Case) -> Need:
        """The least that a reduction must carry if each unread minute of the past was at its highest."""
        return self.past_at_most.no_less_than(case.asked_by_peer)

    def _halves(self, bundle: Bundle) -> bool:
        """The bundle throttles at most half of the minutes that are throttled today."""
        return self._throttled_minutes(bundle) <= self.now.throttled_minutes / 2

    def _throttled_minutes(self, bundle: Bundle) -> float:
        """The minutes of the lifted demand that a bundle throttles."""
        pairs = zip(self.cases, bundle.offers, strict=True)
        return worst(trial(case.load_under(offer).now, offer.ceiling) for case, offer in pairs).throttled_minutes

    def _frontier(self, bundles: Sequence[Bundle]) -> Sequence[FrontierBudget]:
        """Draws the frontier: the highest cost at each budget of throttled minutes, if any budget saves something.

        Budgets for which nothing passes are left out, and those that are no cheaper than the one before. A draft has
        one step where the frontier is worth drawing.
        """
        makers = Makers(self.cases, OfferPurpose.REDUCE, BUDGETS_MIN[-1], self._most_past_need, harmful=True)
        passing = [bundle.usd_month for bundle in bundles if bundle.feasible]
        if min(passing, default=float("inf")) < makers.least_usd_month + LEAST_STEP_USD:
            return ()
        if any(case.context.draft for case in self.cases):
            return (FrontierBudget(budget_min=self.budget_min, bundle=bundles[0]),)
        steps: list[FrontierBudget] = []
        for budget_min in BUDGETS_MIN:
            best = makers.cheapest(budget_min)
            if best is not None and (not steps or best.usd_month < steps[-1].bundle.usd_month):
                steps.append(FrontierBudget(budget_min=budget_min, bundle=best))
        return steps if len(steps) > 1 else ()


def risks_of(cases: Sequence[Case], choice: Choice) -> Sequence[Risk | None]:
    """The risk of each volume whose limits a change lowers. None if nothing was learned, or nothing is given up.

    The promise of a reduction comes with the next level of safety if one is known for all, unless the choice is a
    draft.
    """
    if choice.target is None or choice.target is choice.drop_in:
        return [None] * len(cases)
    risks = find_risks(cases, choice.target)
    if choice.verdict is ChoiceVerdict.RELIEVE:
        pairs = zip(cases, choice.target.offers, risks, strict=True)
        return [risk if is_reduction(offer, case.usable) else None for case, offer, risk in pairs]
    if choice.verdict is not ChoiceVerdict.CHANGE:
        return [None] * len(cases)
    levels = [safer_level(risk, case.context.learned) for case, risk in zip(cases, risks, strict=True)]
    known = [(risk, level) for risk, level in zip(risks, levels, strict=True) if risk is not None and level is not None]
    if len(known) < len(cases) or any(case.context.draft for case in cases):
        return risks
    prices = _usd_month(cases, [_headroom_ratio(risk, level) for risk, level in known], choice)
    return [
        replace(risk, safer=Safer(level=level, usd_month=usd)) for (risk, level), usd in zip(known, prices, strict=True)
    ]


def _headroom_ratio(risk: Risk, level: SafetyLevel) -> float:
    """The ratio of the headroom at a level to that of the risk."""
    return level.headroom.factor / risk.headroom.factor


def _usd_month(cases: Sequence[Case], times: Sequence[float], choice: Choice) -> Sequence[float]:
    """The monthly cost of each volume if the demand was `times` as high, as far as that is sold.

    The present configuration and a drop-in replacement carry all that was ever carried.
    """
    budget_min = min(case.policy.throttle_budget_min for case in cases)
    past = combine_past_needs(case.remembered for case in cases)[1]
    for case in cases:
        past = past if case.remembered is None else past.no_less_than(case.remembered.busiest)
    past = past.times(max(times))
    raised_cases = [_raise_demand(case, by) for case, by in zip(cases, times, strict=True)]
    makers = Makers(
        raised_cases,
        OfferPurpose.HOLD if choice.why is Why.THROTTLES_NO_MORE else OfferPurpose.REDUCE,
        budget_min,
        lambda case: past.no_less_than(case.asked_by_peer),
        harmful=True,
        raises_nothing=True,
    )
    bundles = [bundle for bundle in (makers.cheapest(budget_min), choice.drop_in) if bundle is not None]
    best = min(bundles, key=lambda one: one.usd_month, default=None)
    if best is None or best.usd_month >= choice.usd_month_now:
        return [case.usd_month or 0.0 for case in cases]
    return [offer.usd_month or 0.0 for offer in best.offers]


def _raise_demand(case: Case, times: float) -> Case:
    shared = {
        name: [replace(one, load=scale_load(one.load, times)) for one in found] for name, found in case.shared.items()
    }
    return replace(case, load=scale_load(case.load, times), shared=shared)


def combine_past_needs(pasts: Iterable[Remembered | None]) -> tuple[Need, Need]:
    """The needs that volumes that change together must each carry for the past of any: for sure, and at most."""
    least, at_most = NOTHING, NOTHING
    for past in pasts:
        if past is not None:
            least, at_most = least.no_less_than(past.least), at_most.no_less_than(past.at_most)
    return least, at_most
