"""The watch over a promise: the promise of a recommendation, and the throttling of the volume since it was followed.

The tally of promises: the changed volumes that throttled, the number expected, and the chance of that.

Each volume was promised a chance of its own, so that the number that throttle has the Poisson binomial distribution if
every promise is kept to its limit and volumes are independent. Its tail is computed from the characteristic function by
a discrete Fourier transform (Y. Hong, On computing the distribution function for the Poisson binomial distribution,
Computational Statistics and Data Analysis 59, 2013, section 2.3).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from plimsoll.model.units import DAY_S
from plimsoll.model.volume import VolumeSpec

PROMISE_KEPT_DAYS: Final = 90
"""Changes of longer ago are not counted any more, and a promise that was made longer ago is not waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """The promise of a recommendation: few volumes that become `target` throttle for long.

    At most `promised_pct` percent of them throttle for more than `minutes` in `days`. It was made at `made_s` (epoch
    seconds), of a volume that was `before`.
    """

    before: VolumeSpec
    target: VolumeSpec
    promised_pct: float
    minutes: float
    days: float
    made_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The throttling of a volume since it became `spec` at `changed_s` (epoch seconds), looked at until `until_s`.

    Of that time `observed_s` seconds were observed, and in them were `throttled_minutes`. What was not observed is
    unknown, so that the minutes are the least that there were.
    """

    promise: Promise
    spec: VolumeSpec
    changed_s: int
    until_s: int
    observed_s: int = 0
    throttled_minutes: float = 0.0

    @property
    def ends_s(self) -> int:
        """The midnight (UTC) before the promised days are over: whole days are watched."""
        return int((self.changed_s + self.promise.days * DAY_S) // DAY_S) * DAY_S

    @property
    def is_broken(self) -> bool:
        """The volume throttled for longer than promised."""
        return self.throttled_minutes > self.promise.minutes


@dataclass(frozen=True, slots=True, kw_only=True)
class Promised:
    """The promises of a volume as of `at_s` (epoch seconds).

    The one that was `made` and not taken up yet, and the `watch` over the last one that was. None if there is none.
    """

    at_s: int
    made: Promise | None = None
    watch: Watch | None = None


BROKEN_PCT: Final = 0.1
"""Promises are broken where kept ones would show so many throttled volumes, or more, with no more than this chance.

Were each week's tally independent of the others, chance alone would say so once in 19 years.
"""


@dataclass(slots=True)
class PromiseTally:
    """The counts of watched volumes, added to in place.

    `promised` counts volumes by their promised risk (in percent), `throttled` those that throttled for longer than
    promised. Of the `promised_s` seconds `observed_s` were observed.
    """

    promised: Counter[float] = field(default_factory=Counter)
    throttled: int = 0
    promised_s: int = 0
    observed_s: int = 0

    def add(self, watch: Watch | None) -> None:
        """Counts a volume that was seen since it was changed."""
        if watch is not None and watch.observed_s > 0:
            self.promised[watch.promise.promised_pct] += 1
            self.throttled += watch.is_broken
            self.promised_s += watch.ends_s - watch.changed_s
            self.observed_s += watch.observed_s

    def merge(self, other: "PromiseTally") -> None:
        """Adds the counts of another tally, in place."""
        self.promised.update(other.promised)
        self.throttled += other.throttled
        self.promised_s += other.promised_s
        self.observed_s += other.observed_s

    @property
    def volumes(self) -> int:
        return self.promised.total()

    @property
    def expected_throttled(self) -> float:
        """The mean number of volumes that throttle in the promised days, if promises are kept just to their limit."""
        return sum(pct / 100 * volumes for pct, volumes in self.promised.items())

    @property
    def chance_pct(self) -> float:
        """The chance in percent that at least as many throttle, if each promise is kept to its limit."""
        return 100 * chance_of_at_least({pct / 100: volumes for pct, volumes in self.promised.items()}, self.throttled)

    @property
    def is_broken(self) -> bool:
        """Significantly more volumes throttled than were expected."""
        return self.volumes > 0 and self.chance_pct <= BROKEN_PCT


def chance_of_at_least(trials: Mapping[float, int], successes: int) -> float:
    """The chance that at least a number of independent trials succeed. `trials` counts them by chance (0 to 1)."""
    count = sum(trials.values())
    if successes <= 0:
        return 1.0
    if successes > count:
        return 0.0
    turned = np.exp(2j * np.pi * np.arange(count + 1) / (count + 1))
    transformed = np.ones(count + 1, dtype=np.complex128)
    for chance, number in trials.items():
        transformed *= (1 - chance + chance * turned) ** number
    chances = np.fft.fft(transformed).real / (count + 1)
    return float(np.clip(chances[successes:].sum(), 0.0, 1.0))
