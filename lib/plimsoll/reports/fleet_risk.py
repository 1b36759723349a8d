"""The fleet's risk: how many volumes are expected to throttle and what the next level of safety costs."""

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.domain.kinds import CHANGES, CountsAs
from plimsoll.reports.record import RecommendationRecord, to_cents
from plimsoll.reports.run_record import RunRisk, SaferLevel
from plimsoll.reports.wording import count_of, usd


@dataclass(slots=True)
class FleetRisk:
    """Reductions, and relief that lowers a limit, that keep less than the volumes can do today, added to in place.

    - `promised` are the reductions with a promise. At most the sum of `risks_pct` (in percent of a volume each)
      throttles for longer than `minutes` in `days`.
    - `safer` are those of them with a next level, which costs `safer_cents` a month more. With it that sum is
      `safer_pct`.
    - `unpromised` are the reductions of which nothing is promised.
    """

    promised: int = 0
    unpromised: int = 0
    safer: int = 0
    risks_pct: float = 0.0
    safer_pct: float = 0.0
    safer_cents: int = 0
    minutes: float = 0.0
    days: float = 0.0

    def add(self, record: RecommendationRecord) -> None:
        """Counts a recommendation."""
        risk = record.risk
        if record.action not in CHANGES or (record.kind.money is CountsAs.MORE and not record.cuts):
            return
        if risk is None:
            self.unpromised += record.monthly_usd_saved > record.monthly_usd_saved_drop_in
            return
        self.minutes, self.days = max(self.minutes, risk.minutes), max(self.days, risk.days)
        if risk.promised_pct is None:
            self.unpromised += 1
            return
        self.promised += 1
        self.risks_pct += risk.promised_pct
        self.safer_pct += risk.promised_pct if risk.safer is None else risk.safer.promised_pct
        if risk.safer is not None:
            self.safer += 1
            self.safer_cents += max(0, to_cents(risk.safer.monthly_usd) - to_cents(record.monthly_usd_then or 0.0))

    def merge(self, other: "FleetRisk") -> None:
        """Adds other volumes."""
        for name in ("promised", "unpromised", "safer", "risks_pct", "safer_pct", "safer_cents"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.minutes, self.days = max(self.minutes, other.minutes), max(self.days, other.days)

    @property
    def run_risk(self) -> RunRisk | None:
        """The same for run.json; None where nothing is reduced."""
        if not self.promised + self.unpromised:
            return None
        safer = SaferLevel(
            volumes=self.safer, expected=round(self.safer_pct / 100, 2), more_usd_month=self.safer_cents / 100
        )
        return RunRisk(
            promised=self.promised,
            unpromised=self.unpromised,
            expected=round(self.risks_pct / 100, 2),
            minutes=self.minutes,
            days=self.days,
            safer=safer if self.safer else None,
        )


def outlook(risk: RunRisk | None) -> str:
    """The risk of doing all recommendations, by its part of run.json; empty if nothing is reduced."""
    return " ".join(_sentences(risk)) if risk else ""


def _sentences(risk: RunRisk) -> Iterator[str]:
    promised, unpromised, safer = risk.promised, risk.unpromised, risk.safer
    if promised:
        yield (
            f"If you do all of it, at most {people(risk.expected)} of {count_of(promised, 'reduced volume')} are "
            f"expected to throttle for more than {risk.minutes:.0f} minutes in {risk.days:.0f} days."
        )
    if safer:
        yield (
            f"With the next level of safety it is {people(safer.expected)}, for at most "
            f"{usd(safer.more_usd_month)} a month more."
        )
    elif promised:
        yield "No safer level is known but the same limits, or no change."
    if unpromised:
        others = count_of(unpromised, "other" if promised else "reduced volume")
        yield f"Nothing is promised of {others}: nothing was learned for them. Learn from your own fleet."


def people(expected: float) -> str:
    """An expected number of volumes: whole from ten on, else with a decimal where it has one."""
    return f"{expected:,.0f}" if expected >= 10 or float(expected).is_integer() else f"{expected:,.1f}"
