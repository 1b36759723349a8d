"""The choice: which configuration, by one test and what people prefer (docs/decision.md, sections 4 to 7).

The cheapest that passes wins. A drop-in replacement that saves nearly as much is preferred: nobody should take a risk
for the last tenth. A volume that is throttled frequently is relieved, whatever it costs. A reduction waits while it is
not known yet what the workload does with what it was given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from plimsoll.domain.ceiling import UNBOUNDED, Ceiling, Resource
from plimsoll.domain.cheapest import NOTHING, cheapest
from plimsoll.domain.need import Need
from plimsoll.domain.policy import Policy
from plimsoll.domain.prices import PriceBook
from plimsoll.domain.trial import Required, Trial, budget_of, trial
from plimsoll.domain.volume import VolumeSpec
from plimsoll.domain.volume_types import VolumeType

BUDGETS_MIN = (0.0, 1.0, 5.0, 15.0, 60.0)
"""The throttled minutes in 30 days that the frontier is drawn for."""

SMALL_CHANGE = 0.05
"""A change of less than this part of the present figures that saves less than the policy asks for is none."""


class Verdict(StrEnum):
    """What is to be done."""

    KEEP = "keep"
    CHANGE = "change"
    RELIEVE = "relieve"
    WAIT = "wait"


class Why(StrEnum):
    """Why a volume stays as it is, or which preference chose its target."""

    CHEAPEST = "cheapest"
    DROP_IN = "drop-in"
    RELIEF = "relief"
    HOST_IS_THE_LIMIT = "host-is-the-limit"
    NOTHING_PASSES = "nothing-passes"
    PRESENT_IS_CHEAPEST = "present-is-cheapest"
    SAVES_TOO_LITTLE = "saves-too-little"
    NOT_SETTLED = "not-settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """A configuration that passes, with its price and its trial."""

    spec: VolumeSpec
    usd_month: float
    tried: Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a choice is made of.

    - `kinds` are the types that may be offered to this volume, by name; the present one is among them if it is sold.
    - `reducing` is what a cheaper offer has to carry, `raising` what a dearer one: where the host was the limit, only a
      reduction has to carry what it may have held back.
    - `lifted` is the lifted demand without headroom, which the present configuration is judged by.
    - `frequent` are the resources that are throttled frequently, `host` what the hosts carry at most.
    - `settles_on` is when a reduction can be judged (None: now).
    """

    spec: VolumeSpec
    present: Ceiling
    usd_month: float
    kinds: Mapping[str, VolumeType]
    book: PriceBook
    policy: Policy
    window_s: float
    reducing: Required
    raising: Required
    lifted: Required
    frequent: frozenset[Resource]
    host: Ceiling = UNBOUNDED
    drop_in: VolumeSpec | None = None
    settles_on: date | None = None

    @property
    def budget_minutes(self) -> float:
        """The throttled minutes that the policy allows in this window."""
        return budget_of(self.policy.throttle_budget_min, self.window_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is to be done, to what, and why. `beside` is the relief that was not chosen, with its price."""

    verdict: Verdict
    why: Why
    target: Priced | None
    now: Trial
    beside: Priced | None = None
    until: date | None = None


def choose(found: Situation) -> Choice:
    """What is to be done."""
    now = trial(found.lifted, found.present)
    if found.frequent:
        return _relieve(found, now)
    passing = offers_passing(found, found.reducing, found.budget_minutes)
    stays = now.passes(budget_minutes=found.budget_minutes, max_wait_s=found.policy.max_wait_s)
    cheaper = [offer for offer in passing if offer.usd_month < found.usd_month]
    if not cheaper:
        why = Why.PRESENT_IS_CHEAPEST if stays or passing else Why.NOTHING_PASSES
        return Choice(verdict=Verdict.KEEP, why=why, target=None, now=now)
    best, why = _preferred(found, cheaper)
    if _too_little(found, best):
        return Choice(verdict=Verdict.KEEP, why=Why.SAVES_TOO_LITTLE, target=best, now=now)
    if found.settles_on is not None and _reduces(found, best.spec):
        return Choice(verdict=Verdict.WAIT, why=Why.NOT_SETTLED, target=best, now=now, until=found.settles_on)
    return Choice(verdict=Verdict.CHANGE, why=why, target=best, now=now)


def offers_passing(
    found: Situation, required: Required, budget_minutes: float, at_least: Need = NOTHING
) -> Sequence[Priced]:
    """The cheapest configuration of each type that passes, cheapest first."""
    offers = []
    for kind in found.kinds.values():
        spec = cheapest(
            kind,
            found.spec.size_gib,
            required,
            found.book,
            found.policy,
            budget_minutes=budget_minutes,
            at_least=at_least,
        )
        usd_month = None if spec is None else found.book.usd_month(spec)
        if spec is not None and usd_month is not None and _carries(kind.ceiling(spec), at_least):
            tried = trial(required, kind.ceiling(spec))
            offers.append((usd_month, -kind.latency, -kind.durability_pct, kind.name, spec, tried))
    return [
        Priced(spec=spec, usd_month=usd_month, tried=tried)
        for usd_month, _, _, _, spec, tried in sorted(offers, key=lambda offer: offer[:4])
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What it would cost to let so many minutes in 30 days be throttled, with the longest wait."""

    budget_min: float
    cheapest: Priced


def frontier(found: Situation) -> tuple[Step, ...]:
    """What each budget of throttled minutes would cost, from none on; budgets for which nothing passes are left out."""
    steps = []
    for budget_min in BUDGETS_MIN:
        passing = offers_passing(found, found.reducing, budget_of(budget_min, found.window_s))
        if passing:
            steps.append(Step(budget_min=budget_min, cheapest=passing[0]))
    return tuple(steps)


def _relieve(found: Situation, now: Trial) -> Choice:
    """The cheapest that passes and halves what is throttled. A cheaper drop-in replacement goes before a dearer one."""
    offers = offers_passing(found, found.raising, found.budget_minutes, _untouched(found))
    halving = [offer for offer in offers if _halves(found, offer.spec, now)]
    relief = halving[0] if halving else None
    drop_in = _drop_in(found)
    if drop_in is not None and (relief is None or relief.usd_month > found.usd_month):
        return Choice(verdict=Verdict.CHANGE, why=Why.DROP_IN, target=drop_in, now=now, beside=relief)
    if relief is not None:
        return Choice(verdict=Verdict.RELIEVE, why=Why.RELIEF, target=relief, now=now)
    why = Why.HOST_IS_THE_LIMIT if offers else Why.NOTHING_PASSES
    return Choice(verdict=Verdict.KEEP, why=why, target=None, now=now)


def _untouched(found: Situation) -> Need:
    """What stays as it is while one resource is throttled frequently: the other may be starved behind it."""
    iops, throughput = Resource.IOPS in found.frequent, Resource.THROUGHPUT in found.frequent
    return Need(
        iops=found.present.iops if throughput and not iops else 0.0,
        throughput_mib_s=found.present.throughput_mib_s if iops and not throughput else 0.0,
    )


def _halves(found: Situation, spec: VolumeSpec, now: Trial) -> bool:
    """Whether a configuration on this host throttles half of the lifted demand's minutes at most."""
    then = trial(found.lifted, found.kinds[spec.type].ceiling(spec) & found.host)
    return then.throttled_minutes <= now.throttled_minutes / 2


def _preferred(found: Situation, cheaper: Sequence[Priced]) -> tuple[Priced, Why]:
    """The cheapest, or the drop-in replacement where that keeps nearly all of the saving."""
    best, drop_in = cheaper[0], _drop_in(found)
    if drop_in is None or drop_in.spec == best.spec:
        return best, Why.CHEAPEST if drop_in is None else Why.DROP_IN
    kept = (found.usd_month - drop_in.usd_month) / (found.usd_month - best.usd_month)
    if kept >= found.policy.drop_in_share_pct / 100:
        return drop_in, Why.DROP_IN
    return best, Why.CHEAPEST


def _drop_in(found: Situation) -> Priced | None:
    """The drop-in replacement where it is cheaper than the present configuration and passes like it."""
    if found.drop_in is None:
        return None
    usd_month = found.book.usd_month(found.drop_in)
    if usd_month is None or usd_month >= found.usd_month:
        return None
    tried = trial(found.lifted, found.kinds[found.drop_in.type].ceiling(found.drop_in))
    return Priced(spec=found.drop_in, usd_month=usd_month, tried=tried)


def _too_little(found: Situation, best: Priced) -> bool:
    saved = found.usd_month - best.usd_month
    return saved < found.policy.min_saving_usd_month


def _reduces(found: Situation, spec: VolumeSpec) -> bool:
    """Whether a configuration carries less than the present one on any side."""
    offered = found.kinds[spec.type].ceiling(spec)
    return not _carries(offered, Need.of_ceiling(found.present.counted_as(offered.accounting)))


def _carries(ceiling: Ceiling, need: Need) -> bool:
    return (
        ceiling.iops >= need.iops
        and ceiling.throughput_mib_s >= need.throughput_mib_s
        and ceiling.sustained_iops >= need.sustained_iops
        and ceiling.sustained_throughput_mib_s >= need.sustained_throughput_mib_s
    )
