"""The watch over a promise: the promise of a recommendation, and the throttling of the volume since it was followed."""

from dataclasses import dataclass
from typing import Final

from plimsoll.domain.units import DAY_S
from plimsoll.domain.volume import VolumeSpec

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
