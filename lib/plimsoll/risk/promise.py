"""The promise of a recommendation: the risk that demand outgrows it, and the history that it rests on."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from plimsoll.model.policy import MOST_HEADROOM_PCT, Headroom, HeadroomFrom, Headrooms, Policy
from plimsoll.risk.histories import History
from plimsoll.risk.learn import FACTORS, Band, LearnedTable


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyLevel:
    """A promise of at most `promised_pct` percent, and the headroom that keeps it."""

    promised_pct: float
    headroom: Headroom


@dataclass(frozen=True, slots=True, kw_only=True)
class Safer:
    """The next level of safety, and the most that the volume then costs a month."""

    level: SafetyLevel
    usd_month: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """The risk that a volume throttles for more than `minutes` in the `days` after a change.

    The change leaves it `left_pct` more than it did, of which the `headroom` was asked for. The chance is at most
    `promised_pct` percent, of volumes that resemble those of the table; None if nothing is promised, and `why_none`
    says why. `history_days` are known of the volume, and `usual_share` is which share of the most that it did is usual
    for it. `learned_from` are the fleets, and `volumes` how many were watched. `is_learned`: the headroom was learned,
    and is not the policy's fixed one. `wanted_pct` is the risk that was asked for, None if none was, and `allowed_pct`
    what the policy allows. `safer` is the next level if one is known. `stratum` is the kind of owner that it was
    learned of, "" if that is the whole fleet.
    """

    promised_pct: float | None
    why_none: str
    minutes: float
    days: float
    history_days: float
    headroom: Headroom
    left_pct: float
    wanted_pct: float | None
    allowed_pct: float
    is_learned: bool
    learned_from: tuple[str, ...]
    volumes: int
    public: bool
    usual_share: float = 1.0
    stratum: str = ""
    safer: Safer | None = None

    @property
    def text(self) -> str:
        """The promise in a sentence; a second one says what stands in if the wanted risk is not kept."""
        history = f"{self.history_days:.0f} {'day' if round(self.history_days) == 1 else 'days'} of history"
        if self.promised_pct is None:
            sentence = f"The risk in the next {self.days:.0f} days is unknown: {self.why_none}; {history}."
        else:
            whose = "public fleets, not yours" if self.public else "your fleet"
            sentence = (
                f"At most {chance_words(self.promised_pct)} of more than {self.minutes:.0f} throttled minutes in the "
                f"next {self.days:.0f} days; {history}; learned from {self.volumes:,} volumes of {whose}."
            )
        if self.wanted_pct is None or (self.promised_pct is not None and self.promised_pct <= self.wanted_pct):
            return sentence
        instead = "The most cautious known headroom" if self.is_learned else "The fixed headroom"
        if self.promised_pct is None:
            return f"{sentence} {instead} is used."
        return f"{sentence} {instead} is used instead: no headroom is known to keep {chance_words(self.wanted_pct)}."


def chance_words(pct: float) -> str:
    """The chance in words, e.g. "a 1 in 20 chance" for 5 %."""
    return f"a {pct:g} % chance" if pct > 20 else f"a 1 in {100 / pct:.0f} chance"


def goes_by_history(policy: Policy, table: LearnedTable | None) -> bool:
    """The policy's headroom is learned, so that it depends on what is known of a volume's past."""
    return policy.headroom_from is HeadroomFrom.LEARNED and table is not None and not _reason_for_never(policy, table)


def find_headrooms(policy: Policy, table: LearnedTable | None, history: History, owner: str = "") -> Headrooms:
    """Finds the headrooms under a policy. That of reductions keeps the policy's risk if it asks for that.

    If no headroom is known that keeps it, the most cautious that is known stands in.
    """
    return Headrooms.from_policy(policy, _learned_factor(policy, table, history, owner))


def risk_of(
    policy: Policy,
    headroom: Headroom,
    table: LearnedTable | None,
    history: History,
    owner: str = "",
    times: float = 1.0,
) -> Risk | None:
    """Promises the risk of a headroom for a volume with an owner; None if nothing was learned.

    The offer carries `times` what is required: what is free is more than a quiet volume asks, and less than single
    minutes of its past may be kept.
    """
    if table is None:
        return None
    band, why_none = table.band(history.days), _reason_for_none(policy, table, history)
    factor = min(headroom.factor * times, float(FACTORS[-1]))
    promised_pct = None
    if band is not None and not why_none:
        promised_pct = band.learned.promised_pct((factor + 1e-9) / _scale(band, history.usual, owner))
        why_none = "" if promised_pct is not None else "too many volumes outgrew this headroom, or too few were seen"
        if _is_out_of_reach(policy, band, history, owner) and (promised_pct or 100.0) > policy.risk_pct:
            left = "" if promised_pct is None else f" (its headroom keeps {chance_words(promised_pct)})"
            promised_pct, why_none = None, f"{_text_of_out_of_reach(policy)}{left}"
    return Risk(
        promised_pct=promised_pct,
        why_none=why_none,
        minutes=table.budget_min,
        days=policy.risk_days,
        history_days=history.days,
        usual_share=history.usual,
        headroom=headroom,
        left_pct=round(100 * (factor - 1), 1),
        wanted_pct=policy.risk_pct if policy.headroom_from is HeadroomFrom.LEARNED else None,
        allowed_pct=policy.risk_pct,
        is_learned=_learned_factor(policy, table, history, owner) is not None,
        learned_from=table.source.fleets,
        volumes=table.source.volumes,
        public=table.source.public,
        stratum=owner if band is not None and owner in band.learned.scales else "",
    )


def safer_level(risk: Risk | None, table: LearnedTable | None) -> SafetyLevel | None:
    """Finds the next level of safety of a promise; None if nothing is promised, or no safer level is known."""
    band = None if risk is None or table is None else table.band(risk.history_days)
    if risk is None or risk.promised_pct is None or band is None:
        return None
    known = _offerable_factors(band, risk.usual_share, risk.stratum)
    safer = {pct: factor for pct, factor in known.items() if pct < risk.promised_pct}
    if not safer:
        return None
    pct = max(safer)
    return SafetyLevel(promised_pct=pct, headroom=risk.headroom.raised_to(safer[pct]))


def _reason_for_never(policy: Policy, table: LearnedTable) -> str:
    """The reason why a table promises nothing under a policy, whatever the volume; "" if it may."""
    if policy.risk_days != table.days:
        return f"the learned risk is for {table.days:.0f} days"
    if policy.throttle_budget_min > 0:
        return "the policy allows throttled minutes, and the learned risk does not"
    return ""


def _reason_for_none(policy: Policy, table: LearnedTable, history: History) -> str:
    """The reason why a table promises nothing to a volume; "" if it may."""
    never = _reason_for_never(policy, table)
    return never or ("" if table.band(history.days) is not None else "no fleet was watched with so little history")


def _is_out_of_reach(policy: Policy, band: Band, history: History, owner: str) -> bool:
    """The policy asks for a risk that no headroom keeps which the volume may have."""
    learns = policy.headroom_from is HeadroomFrom.LEARNED
    return learns and all(level > policy.risk_pct for level in _offerable_factors(band, history.usual, owner))


def _text_of_out_of_reach(policy: Policy) -> str:
    kept = chance_words(policy.risk_pct)
    return f"no headroom up to {MOST_HEADROOM_PCT:.0f} % is known to keep {kept} with this history"


def _learned_factor(policy: Policy, table: LearnedTable | None, history: History, owner: str) -> float | None:
    """The least factor that is known to keep the policy's risk; else that of the least risk that any keeps.

    None if headroom is not learned, or nothing is known of so short a history.
    """
    if table is None or not goes_by_history(policy, table):
        return None
    band = table.band(history.days)
    if band is None:
        return None
    known = _offerable_factors(band, history.usual, owner)
    # Who asks for less risk than any headroom keeps is given no less than who asks for more.
    kept = [level for level in known if level <= policy.risk_pct]
    return known[max(kept)] if kept else known[min(known)] if known else None


def _scale(band: Band, usual: float, owner: str) -> float:
    return float(band.learned.scale(np.array([usual]), [owner])[0])


def _offerable_factors(band: Band, usual: float, owner: str) -> Mapping[float, float]:
    """The factors of a volume by promised risk, without those that are too large to be offered."""
    scale = _scale(band, usual, owner)
    factors = {level: factor * scale for level, factor in band.learned.factors.items() if factor is not None}
    return {level: factor for level, factor in factors.items() if 100 * (factor - 1) <= MOST_HEADROOM_PCT}
