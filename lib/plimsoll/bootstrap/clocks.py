"""The clock that runs go by: this machine's, or that of a simulated cloud, which a pause moves forward."""

import http.client
import json
import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from plimsoll.model.errors import BadInput
from plimsoll.ports import SIMULATED_CLOCK, Clock

_PATIENCE_S: Final = 60


class PausingClock(Clock, Protocol):
    """A clock with a way to wait."""

    def pause(self, seconds: float) -> None:
        """Waits."""
        ...


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """The present, in UTC."""
        return datetime.now(UTC)

    def pause(self, seconds: float) -> None:
        """Sleeps."""
        time.sleep(seconds)


@dataclass(frozen=True, slots=True)
class SimulationClock:
    """The clock of a simulated cloud at a URL. Raises BadInput where none answers."""

    url: str

    def now(self) -> datetime:
        """The present there."""
        return datetime.fromisoformat(self._call("GET")["now"])

    def pause(self, seconds: float) -> None:
        """Moves the simulated cloud's time forward, without waiting."""
        self._call("POST", {"move_s": seconds})

    def _call(self, method: str, asked: Any = None) -> Any:
        place = urlsplit(self.url)
        try:
            connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=_PATIENCE_S)
            connection.request(method, place.path, None if asked is None else json.dumps(asked))
            answer = connection.getresponse()
            body = answer.read()
            connection.close()
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise self._no_answer(error) from error
        if answer.status != http.client.OK:
            raise self._no_answer(body.decode(errors="replace"))
        return json.loads(body)

    def _no_answer(self, reason: object) -> BadInput:
        return BadInput(
            f"no simulated cloud tells the time at {self.url} ({reason}): start `plimsoll simulate` and export what it "
            f"prints, or unset {SIMULATED_CLOCK}."
        )


def clock() -> PausingClock:
    """The clock that runs go by."""
    url = os.environ.get(SIMULATED_CLOCK)
    return SimulationClock(url) if url else SystemClock()
