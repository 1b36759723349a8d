"""Pacing: staying within a quota of calls and datapoints a second, shared by all threads."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Pacer:
    """Lets work through at most at `rate` units a second, with up to `burst_s` seconds' worth at once.

    A quota holds a second's worth; a little less is used, so that calls that bunch up on their way do not overdraw it.
    """

    rate: float
    burst_s: float = 0.8
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _free_at: float = field(default=0.0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def take(self, units: float) -> None:
        """Waits until that many units may be spent."""
        with self._lock:
            now = self.clock()
            self._free_at = max(self._free_at, now - self.burst_s) + units / self.rate
            wait = self._free_at - now
        if wait > 0:
            self.sleep(wait)
