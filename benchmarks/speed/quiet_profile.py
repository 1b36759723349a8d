"""Where the CPU of a quiet volume goes: an audit of quiet volumes over HTTP, asked again and again what it is doing.

`python benchmarks/speed/quiet_profile.py`. Every millisecond of CPU counts for the innermost module of ours that is
being carried out then.
"""

import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from types import FrameType
from typing import Final
from unittest.mock import patch

from measured_audit import audited

from cloud_simulator.aws.organization import Mix
from cloud_simulator.running import running
from plimsoll.auditing import audit
from plimsoll.garbage import collect_rarely

VOLUMES: Final = 400
EVERY_S: Final = 0.001

AREAS: Final = {
    "asking, parsing, and what is listed": ("clouds.", "auditing.", "ports"),
    "taking in what came, and whether it agrees": ("domain.metrics.",),
    "demand: its bounds, what was held back, what has to be carried": (
        "domain.demand.",
        "domain.case",
        "domain.demand_epochs",
    ),
    "offers: seven types, trials, the choice": ("domain.offers.", "domain.ceiling", "domain.volume", "domain.host"),
    "what could still change the answer": ("domain.refine.", "domain.groups."),
    "the past, growth and risk": ("domain.memory.", "domain.risk."),
    "evidence, blockers and sentences": ("domain.evidence.", "domain.reasons.", "domain.decide", "domain.blockers"),
}
"""What is done, by the beginnings of its modules' names."""

OTHER: Final = "other"

WAITING: Final = {"threading", "selectors", "queue", "socket", "ssl", "concurrent.futures.thread"}
"""Where a thread is that waits."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """CPU in milliseconds a volume, and the shares of it by area."""

    cpu_ms: float
    shares: dict[str, float]


def measure(volumes: int = VOLUMES) -> Profile:
    """The profile of an audit that has run once before, so that nothing waits for the simulator to make up metrics."""
    collect_rarely()
    counted = Counter[str]()
    with running(datetime.now(UTC), volumes=volumes, mix=Mix.QUIET) as cloud:
        audited(cloud)
        start = time.process_time()
        audited(cloud)
        cpu_s = time.process_time() - start
        with _counting(counted):
            audited(cloud)
    total = counted.total()
    shares = {area: counted[area] / total for area in (*AREAS, OTHER)}
    return Profile(cpu_ms=cpu_s / volumes * 1e3, shares=shares)


def table(found: Profile) -> str:
    """The profile as Markdown."""
    lines = ["| what is done | share | ms of CPU a quiet volume |", "|---|---:|---:|"]
    lines += [f"| {area} | {share:.0%} | {share * found.cpu_ms:.2f} |" for area, share in found.shares.items()]
    return "\n".join([*lines, f"| all | 100% | {found.cpu_ms:.2f} |"])


@contextmanager
def _counting(counted: Counter[str]) -> Iterator[None]:
    """Counts what is being done with each millisecond of CPU. A signal is the main thread's alone to take, so that it
    decides here on one batch after the other."""

    def look(_number: int, _frame: FrameType | None) -> None:
        areas = (_area(frame) for frame in sys._current_frames().values())
        counted.update(area for area in islice(filter(None, areas), 1))

    one_by_one = patch.object(audit, "ahead", lambda work, items, _at_once: map(work, items))
    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)
    try:
        with one_by_one:
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _area(frame: FrameType | None) -> str | None:
    """What a thread is doing; None where it waits, or does nothing of ours."""
    if frame is not None and frame.f_globals.get("__name__") in WAITING:
        return None
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if name.startswith("plimsoll."):
            own = name.removeprefix("plimsoll.")
            return next((area for area, begins in AREAS.items() if own.startswith(begins)), OTHER)
        frame = frame.f_back
    return None


if __name__ == "__main__":
    sys.stdout.write(f"{table(measure())}\n")
