"""Pacing: staying within a quota of calls and datapoints a second, shared by all threads."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Pacer:
    """Lets work through at most at `rate` units a second, with up to one second's worth at once."""

    rate: float
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _free_at: float = field(default=0.0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def take(self, units: float) -> None:
        """Waits until that many units may be spent."""
        with self._lock:
            now = self.clock()
            self._free_at = max(self._free_at, now - 1.0) + units / self.rate
            wait = self._free_at - now
        if wait > 0:
            self.sleep(wait)
