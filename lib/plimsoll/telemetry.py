"""Telemetry: how long each stage of a run takes."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Stages:
    """Seconds spent in each named stage, added up over all threads (so they can be more than the time that passed)."""

    seconds: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @contextmanager
    def stage(self, name: str, *, within: str | None = None) -> Iterator[None]:
        """Counts the time of the block to that stage, and not to the stage that it is `within`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            taken_s = time.perf_counter() - start
            with self._lock:
                self.seconds[name] = self.seconds.get(name, 0.0) + taken_s
                if within is not None:
                    self.seconds[within] = self.seconds.get(within, 0.0) - taken_s
