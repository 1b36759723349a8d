"""Troubles: what goes wrong with a function, where in its work, how often."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .environments import Environment


@dataclass(slots=True)
class Trouble:
    """Something that goes wrong with one function, at most `times` (None: always).

    With an `operation`, the process is killed at its so-many-th call of that operation of AWS within an invocation,
    before it is answered; without one, the Lambda service answers the invocation with an error of its own. `of` chooses
    among the events. With `stays` the process is killed once, and the service refuses every further attempt: as much is
    lost, and no process has to start to be killed again.
    """

    function: str
    operation: str | None = None
    call: int = 1
    times: int | None = 1
    of: Callable[[Any], bool] = field(default=lambda _event: True)
    stays: bool = False
    struck: int = 0

    def kills(self, caller: Environment, operation: str) -> bool:
        """Whether the process that makes this call dies before it is answered."""
        if operation != self.operation or caller.calls[operation] != self.call:
            return False
        return caller.function.name == self.function and self.of(caller.event) and self._counts()

    def refuses(self, function: str, event: Any) -> bool:
        """Whether the Lambda service fails this invocation before any process sees it."""
        if function != self.function or not self.of(event):
            return False
        return (self.stays and self.struck > 0) or (self.operation is None and self._counts())

    def _counts(self) -> bool:
        if self.times is not None and self.struck >= self.times:
            return False
        self.struck += 1
        return True
