"""Faults of a bench in memory: which step fails, before or after it took effect, and what never ends."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import RLock
from typing import Final

STEPS: Final = (
    "hosts",
    "create",
    "scratch",
    "attach",
    "detach",
    "delete",
    "send",
    "outcome",
    "cancel",
    "mean_latency_us",
)
"""The steps of a bench, by the names of its methods."""

HANGING_STEPS: Final = ("create", "attach", "detach", "delete", "send")
"""Those that begin something which can take for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong with calls number `at` to `at + times - 1` of a step, counted from 0.

    `error` is raised in place of the step, or with `after` once the step took effect (a lost answer). It may be any
    exception: KeyboardInterrupt stands for Ctrl-C. `hangs`: what the step began never ends. `unseen`: the volume made
    is missed by that many looks, as clouds do that are consistent only in the end.
    """

    step: str
    at: int = 0
    times: int = 1
    error: BaseException | None = None
    after: bool = False
    hangs: bool = False
    unseen: int = 0

    def strikes(self, step: str, number: int) -> bool:
        """Whether that call of the step is one of its own."""
        return step == self.step and self.at <= number < self.at + self.times


@dataclass(frozen=True, slots=True, kw_only=True)
class Struck:
    """What the faults of one call do to what it begins."""

    hangs: bool = False
    unseen: int = 0


@dataclass(slots=True)
class Faults:
    """The faults of a bench and the count of its calls. One step is taken at a time, whatever the threads."""

    given: Sequence[Fault] = ()
    calls: Counter[str] = field(default_factory=Counter)
    _lock: RLock = field(default_factory=RLock, repr=False)

    @contextmanager
    def step(self, name: str) -> Iterator[Struck]:
        """One call of a step: raises what strikes it before, and after the block what strikes it then."""
        with self._lock:
            number = self.calls[name]
            self.calls[name] += 1
            struck = [fault for fault in self.given if fault.strikes(name, number)]
            _raise(fault for fault in struck if not fault.after)
            yield Struck(
                hangs=any(fault.hangs for fault in struck), unseen=max((fault.unseen for fault in struck), default=0)
            )
            _raise(fault for fault in struck if fault.after)


def _raise(faults: Iterator[Fault]) -> None:
    for fault in faults:
        if fault.error is not None:
            raise fault.error
