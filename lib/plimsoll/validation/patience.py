"""Patience: how long a cloud is waited for."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from plimsoll.domain.errors import NotMeasured
from plimsoll.settings import Settings

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How time passes, and how long each step may take, in seconds.

    `setting_up_s` is what a task may take on its host besides its jobs: installing fio, finding the device. `grace_s`
    is what a command may take beyond its own limit on the host, delivery included: a dead agent never ends it.
    `claim_s` is how long another's measurement of the same class is waited for.
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
    def of(cls, settings: Settings, *, now: Callable[[], datetime], pause: Callable[[float], None]) -> "Patience":
        """As the settings say it."""
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
        """The longest that a scratch volume can be needed for a task of that limit."""
        return timedelta(seconds=self.create_s + self.attach_s + limit_s + self.grace_s + 2 * self.detach_s)

    def wait_for(self, look: Callable[[], Found | None], *, limit_s: float, otherwise: str) -> Found:
        """What `look` finds, asking until it does; NotMeasured with that sentence when the limit has passed."""
        since = self.now()
        while (found := look()) is None:
            self.check(since, limit_s=limit_s, otherwise=otherwise)
            self.pause(self.every_s)
        return found

    def check(self, since: datetime, *, limit_s: float, otherwise: str) -> None:
        """NotMeasured with that sentence where the limit has passed since that time."""
        if self.now() >= since + timedelta(seconds=limit_s):
            raise NotMeasured(otherwise)
