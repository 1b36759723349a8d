"""The pace of the state machines: moto's interpreter waits in real time, and here a minute of waiting is a second.

Only what Step Functions itself waits for is shortened, in Wait states and between retries; the definition that is
executed stays the synthesized one, and the functions' own time limits pass as they do.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Final
from unittest.mock import patch

from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.state.wait.wait_function.wait_function import WaitFunction

SPEED: Final = 60


@contextmanager
def hurried() -> Iterator[None]:
    """Waits and retries of every state machine take a sixtieth of their time within the block."""
    clock = SimpleNamespace(sleep=lambda seconds: time.sleep(seconds / SPEED))
    with patch.object(WaitFunction, "_wait_interval", _wait), patch.object(retrier_decl, "time", clock):
        yield


def _wait(_function: WaitFunction, env: Any, wait_seconds: float) -> None:
    env.program_state_event.wait(wait_seconds / SPEED)
