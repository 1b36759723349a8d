"""The end of commands from outside: every signal that asks for an end is taken as Ctrl-C is."""

import os
import signal
import stat
from types import FrameType
from typing import Final

_ASK_FOR_AN_END: Final = (signal.SIGTERM, signal.SIGHUP)
"""What service managers, batch systems and `kill` send, and what comes when a terminal is closed."""


def end_as_by_ctrl_c() -> None:
    """From here on SIGTERM and SIGHUP raise KeyboardInterrupt. One that is ignored stays so, as under nohup."""
    for sign in _ASK_FOR_AN_END:
        if signal.getsignal(sign) is not signal.SIG_IGN:
            signal.signal(sign, _end)


def _end(number: int, frame: FrameType | None) -> None:
    if number == signal.SIGHUP:
        _speak_to_nobody()
    signal.default_int_handler(number, frame)


def _speak_to_nobody() -> None:
    """Takes the place of a terminal that is gone: writing to one would end what is still to be written to disk."""
    nobody = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        if stat.S_ISCHR(os.fstat(descriptor).st_mode):
            os.dup2(nobody, descriptor)
