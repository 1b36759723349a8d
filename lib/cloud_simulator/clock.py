"""The clock of a simulated cloud: it passes as this machine's does, and can be moved forward."""

import http.client
import json
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from cloud_simulator.faults import Refused

CLOCK_PATH: Final = "/_simulator/clock"
FAULTS_PATH: Final = "/_simulator/faults"
EVENTS_PATH: Final = "/_simulator/events"
MODIFICATIONS_PATH: Final = "/_simulator/modifications"
"""The simulator's own paths, as `aws/control.py` answers them."""


@dataclass(slots=True)
class SimulatedClock:
    """The time in a simulated cloud, from `began` on. One that is not `passing` stands until it is moved."""

    began: datetime
    passing: bool = True
    _moved_s: float = 0.0
    _started_s: float = field(default_factory=time.monotonic, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def now(self) -> datetime:
        """The present there."""
        passed_s = time.monotonic() - self._started_s if self.passing else 0.0
        return self.began + timedelta(seconds=self._moved_s + passed_s)

    def now_s(self) -> float:
        """The present there, in epoch seconds."""
        return self.now().timestamp()

    def pause(self, seconds: float) -> None:
        """Moves the clock forward. Raises Refused for a time that has passed."""
        if not 0 <= seconds < float("inf"):
            raise Refused("InvalidParameterValue", f"The clock cannot be moved by {seconds} seconds.")
        with self._lock:
            self._moved_s += seconds


@dataclass(frozen=True, slots=True)
class RunningClock:
    """The clock of an organization that runs in another process, at its endpoint."""

    endpoint: str

    def now(self) -> datetime:
        """The present there."""
        return datetime.fromisoformat(call_control(self.endpoint, "GET", CLOCK_PATH)["now"])

    def pause(self, seconds: float) -> None:
        """Moves the clock forward."""
        call_control(self.endpoint, "POST", CLOCK_PATH, {"move_s": seconds})


class NotTold(Exception):
    """The simulator refused what it was asked on its own paths."""


def call_control(endpoint: str, method: str, path: str, asked: Any = None) -> Any:
    """The answer of a running simulator on one of its own paths. Raises NotTold if it refuses."""
    place = urlsplit(endpoint)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=600)
    try:
        connection.request(method, path, None if asked is None else json.dumps(asked))
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    if answer.status != 200:
        raise NotTold(f"{method} {path}: {body.decode(errors='replace')}")
    return json.loads(body)
