"""The tally of promises: the changed volumes that throttled, the number expected, and the chance of that.

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

from plimsoll.domain.risk.watch import Watch

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
        self.promised.update(other.promised)
        self.throttled += other.throttled
        self.promised_s += other.promised_s
        self.observed_s += other.observed_s

    @property
    def volumes(self) -> int:
        return self.promised.total()

    @property
    def expected(self) -> float:
        """The mean number of volumes that throttle by the end of the promised days, if promises are kept to their
        limit."""
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
