"""Faults: what goes wrong in the simulated organization, where, how often."""

import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

COMPLETE = "Complete"
"""The status of a series that came whole."""


class Refused(Exception):
    """A service's refusal: an error code, a sentence and an HTTP status."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code, self.message, self.status = code, message, status


class Effect(StrEnum):
    """A later failure of a call that is answered well.

    `LOST`: the call takes effect, and the connection breaks before the answer. `HANGS`: AttachVolume, DetachVolume or
    SendCommand never come to an end (the agent died). `NO_DEVICE`: after AttachVolume the host sees no device. Of
    ModifyVolume and disks.update, `FAILS`: the modification ends as failed. Of SendCommand, `CUT`: the output ends amid
    a line; `NO_FIO`: fio is missing and no package manager reaches the network; `FAILS`: it ends at once with another
    exit than 0 and nothing printed; `UNDELIVERED`: it never reaches the host; `SLOW`: a plain file for a volume has a
    fiftieth of its rates.
    """

    LOST = "lost"
    HANGS = "hangs"
    NO_DEVICE = "no-device"
    CUT = "cut"
    NO_FIO = "no-fio"
    FAILS = "fails"
    UNDELIVERED = "undelivered"
    SLOW = "slow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault: an error code for an operation (None: every one), at most `times` (None: always).

    `code` None: nothing but a delay. With a `metric`, the call succeeds and that metric's series come back with `code`
    as their StatusCode: PartialData (half of the points), InternalError or Forbidden (none). With an `effect`, the call
    is answered and that goes wrong later.
    """

    code: str | None = None
    operation: str | None = None
    account: str | None = None
    region: str | None = None
    metric: str | None = None
    times: int | None = None
    probability: float = 1.0
    delay_ms: float = 0.0
    status: int = 400
    effect: Effect | None = None


def fault_of(fields: Mapping[str, Any]) -> Fault:
    """The fault that JSON describes. Raises ValueError or TypeError for what is none."""
    effect = fields.get("effect")
    return Fault(**{**fields, "effect": effect and Effect(effect)})


@dataclass(slots=True)
class Faults:
    """All that goes wrong, counted; chances come from a seed, so one caller at a time meets the same again."""

    given: Sequence[Fault] = ()
    seed: int = 0
    _struck: dict[int, int] = field(default_factory=dict, repr=False)
    _random: random.Random = field(init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311  # chance, not secrecy

    def add(self, *faults: Fault) -> None:
        """Adds faults, which strike from now on."""
        with self._lock:
            self.given = (*self.given, *faults)

    def meet(self, operation: str, account: str, region: str) -> None:
        """Waits and refuses as the faults of a call say."""
        for fault in self._striking(operation, account, region):
            time.sleep(fault.delay_ms / 1000)
            if fault.code is not None:
                raise Refused(fault.code, f"simulated {fault.code} for {operation}", fault.status)

    def status(self, metric: str, account: str, region: str) -> str:
        """The StatusCode of a metric's series in GetMetricData."""
        struck = next(self._striking("GetMetricData", account, region, metric=metric), None)
        return COMPLETE if struck is None else struck.code or COMPLETE

    def has_effect(self, effect: Effect, operation: str, account: str, region: str) -> bool:
        """A call that is answered well has that effect."""
        return next(self._striking(operation, account, region, effect=effect), None) is not None

    def _striking(
        self, operation: str, account: str, region: str, *, metric: str | None = None, effect: Effect | None = None
    ) -> Iterator[Fault]:
        for number, fault in enumerate(self.given):
            wanted = ((fault.operation, operation), (fault.account, account), (fault.region, region))
            strikes = all(place in (None, value) for place, value in wanted)
            if (fault.metric, fault.effect) == (metric, effect) and strikes and self._count_strike(number, fault):
                yield fault

    def _count_strike(self, number: int, fault: Fault) -> bool:
        with self._lock:
            struck = self._struck.get(number, 0)
            if fault.times is not None and struck >= fault.times:
                return False
            if fault.probability < 1 and self._random.random() >= fault.probability:
                return False
            self._struck[number] = struck + 1
            return True
