"""Troubles: what goes wrong with a function, where in its work, how often."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .environments import Environment


@dataclass(slots=True)
class Trouble:
    """Something that goes wrong with one function, at most `times` (None: always).

    With a `call`, the process is killed at its so-many-th call of AWS within an invocation (of that `operation`, where
    one is named); without it, the Lambda service answers the invocation with an error of its own. `of` chooses among
    the events.
    """

    function: str
    call: int | None = None
    operation: str | None = None
    times: int | None = 1
    of: Callable[[Any], bool] = field(default=lambda _event: True)
    struck: int = 0

    def kills(self, caller: Environment, operation: str) -> bool:
        """Whether the process that makes this call dies before it is answered."""
        if self.call is None or caller.calls < self.call or self.operation not in {None, operation}:
            return False
        return caller.function.name == self.function and self.of(caller.event) and self._counts()

    def refuses(self, function: str, event: Any) -> bool:
        """Whether the Lambda service fails this invocation before any process sees it."""
        return self.call is None and function == self.function and self.of(event) and self._counts()

    def _counts(self) -> bool:
        if self.times is not None and self.struck >= self.times:
            return False
        self.struck += 1
        return True
