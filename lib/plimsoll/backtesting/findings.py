"""Findings: what a rule did, what was promised and observed, and what it throttles at the saving of another."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """What a rule did, over all cuts: of `volume_cuts` sizes the saving in percent of what is paid, how many were made
    cheaper, and what was throttled of these. `promised_pct` is None where a rule promises nothing."""

    rule: str
    promised_pct: float | None
    memory_days: float
    times: float
    volume_cuts: int
    reduced: int
    saving_pct: float
    throttled_minutes: float
    throttled_volumes: int
    over_budget_volumes: int
    longest_wait_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """What a rule promised, and what was observed of the volumes that it cut to a line above what is free.

    `observed_pct` is None where there was none of these. `most_pct` is the upper end of the one-sided 95 % band around
    the promise: so many volumes show more only once in twenty times if the promise holds. A volume counts once.
    """

    rule: str
    promised_pct: float
    memory_days: float
    times: float | None
    volumes: int
    observed_pct: float | None
    most_pct: float | None

    @property
    def holds(self) -> bool | None:
        """Whether the promise was kept as far as can be told; None where nothing was promised."""
        if self.observed_pct is None or self.most_pct is None:
            return None
        return self.observed_pct <= self.most_pct


@dataclass(frozen=True, slots=True, kw_only=True)
class SameSaving:
    """What a learned rule throttles where it saves as much as another rule, between the two nearest of its levels."""

    rule: str
    other: str
    memory_days: float
    times: float
    saving_pct: float
    throttled_minutes: float
    other_throttled_minutes: float
    over_budget_volumes: float
    other_over_budget_volumes: int
