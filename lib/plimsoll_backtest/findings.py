"""Findings: what a rule did, what was promised and observed, and what it throttles at the saving of another."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """The effect of a rule over all cuts. A volume counts once a cut.

    Of `volume_cuts` sizes these are the saving in percent of what is paid, how many were made cheaper, and what was
    throttled of these. `promised_pct` is None where a rule promises nothing.
    """

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
    """A rule's promise, and the observed share of the volumes that it cut to a line above what is free.

    A volume counts once. `observed_pct` is None where there was none of these. All but a tenth of the resampled fleets
    lie from `low_pct` to `high_pct`.
    """

    rule: str
    promised_pct: float
    memory_days: float
    times: float | None
    volumes: int
    observed_pct: float | None
    low_pct: float | None
    high_pct: float | None

    @property
    def is_kept(self) -> bool | None:
        """True if the promise was kept as far as can be told; None if nothing was promised."""
        return None if self.low_pct is None else self.low_pct <= self.promised_pct


@dataclass(frozen=True, slots=True, kw_only=True)
class SameSaving:
    """The throttling of a learned rule where it saves as much as another rule, between its two nearest levels.

    `minutes_low` to `volumes_high` are how much more than the other it throttles in all but a tenth of the resampled
    fleets. `worst` is the volume with most of the other rule's throttled minutes, `other_worst_minutes`; the learned
    rule leaves it `worst_minutes`.
    """

    rule: str
    other: str
    memory_days: float
    times: float
    saving_pct: float
    throttled_minutes: float
    other_throttled_minutes: float
    minutes_low: float
    minutes_high: float
    over_budget_volumes: float
    other_over_budget_volumes: int
    volumes_low: float
    volumes_high: float
    worst: str
    worst_minutes: float
    other_worst_minutes: float
