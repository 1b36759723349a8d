"""Patience: the longest that a step of a measurement waits for its cloud."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from plimsoll.model.errors import NotMeasured
from plimsoll.settings import Settings

LookResult = TypeVar("LookResult")


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchPatience:
    """A clock, a pause, and the most seconds of each step.

    `setting_up_s` is for a task's work on its host besides its jobs: installing fio, finding the device. `grace_s` is
    for a command beyond its own limit on the host, delivery included: a dead agent never ends it. `claim_s` is for
    another's measurement of the same class.
    """

    now: Callable[[], datetime]
    pause: Callable[[float], None]
    every_s: float = 5.0
    create_s: float = 600.0
    attach_s: float = 180.0
    detach_s: float = 180.0
    setting_up_s: float = 600.0
    grace_s: float = 300.0
    claim_s: float = 4 * 3600.0

    @classmethod
    def from_settings(
        cls, settings: Settings, *, now: Callable[[], datetime], pause: Callable[[float], None]
    ) -> "BenchPatience":
        """The patience of the settings."""
        return cls(
            now=now,
            pause=pause,
            every_s=settings.poll_s,
            attach_s=settings.volume_wait_s,
            detach_s=settings.volume_wait_s,
            setting_up_s=settings.setting_up_s,
            grace_s=settings.command_grace_s,
        )

    def longest(self, limit_s: float) -> timedelta:
        """The longest time that a task of that limit needs its scratch volume."""
        return timedelta(seconds=self.create_s + self.attach_s + limit_s + self.grace_s + 2 * self.detach_s)

    def wait_for(self, look: Callable[[], LookResult | None], *, limit_s: float, otherwise: str) -> LookResult:
        """The first result of `look` that is not None. Raises NotMeasured(otherwise) after the limit."""
        since = self.now()
        while (result := look()) is None:
            self.check(since, limit_s=limit_s, otherwise=otherwise)
            self.pause(self.every_s)
        return result

    def check(self, since: datetime, *, limit_s: float, otherwise: str) -> None:
        """Raises NotMeasured(otherwise) if the limit has passed since that time."""
        if self.now() >= since + timedelta(seconds=limit_s):
            raise NotMeasured(otherwise)
