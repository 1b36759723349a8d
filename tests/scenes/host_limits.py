"""Our own scenes: hosts that stand at their baseline without credits, as CloudWatch measured it."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from cloud_simulator.aws.volume_maker import gp3
from tests.scenes.scene import Scene, keep, reprovision
from tests.scenes.work import Time, Work, job

WORKING: Final = (9.0, 19.0)


def _balances(iops_pct: float, mib_s_pct: float) -> Any:
    """A host that was never asked for more than its maximum, with so much left of its credits in working hours."""

    def measured(t: Time) -> Mapping[str, Any]:
        at = t.daily(*WORKING)
        return {
            "iops_check": 0.0 * t.hour,
            "mib_s_check": 0.0 * t.hour,
            "iops_balance": np.where(at, iops_pct, 100.0),
            "mib_s_balance": np.where(at, mib_s_pct, 100.0),
        }

    return measured


def _throttled_at_the_baseline(t: Time) -> Work:
    held = t.daily(*WORKING)
    return Work(np.where(held, 3600.0, 200.0), iops_exceeded=held)


BASELINE: Final = (
    Scene(
        name="at-the-baseline-of-its-host",
        spec=gp3(500, 16_000, 500),
        host="m5.large",
        does=job(100, 3600, WORKING),
        measured=_balances(0, 100),
        right=reprovision(("gp3", 500, 16_000, 250), 10.0, says="the host was the bottleneck"),
        why="An m5.large without credits carries 3,600 IOPS, and exactly that was done for ten hours a day. What was "
        "wanted is not known: the IOPS stay. 16,000 of 16 KiB are 250 MiB/s.",
    ),
    Scene(
        name="at-the-baseline-of-its-host-by-bytes",
        spec=gp3(500, 6000, 500),
        host="m5.large",
        does=job(10, 309.9, WORKING, io_kib=256),
        measured=_balances(100, 0),
        right=reprovision(("gp3", 500, 3000, 500), 15.0, says="the host was the bottleneck"),
        why="77.5 MiB/s are what the host carries without credits for bytes: the MiB/s stay. At 256 KiB they are 2,000 "
        "IOPS.",
    ),
    Scene(
        name="at-the-baseline-with-credits-left",
        spec=gp3(500, 16_000, 500),
        host="m5.large",
        does=job(100, 3600, WORKING),
        measured=_balances(60, 100),
        right=reprovision(("gp3", 500, 4400, 125), 73.0),
        why="The host could have carried 18,750 in each of these minutes, and AWS measured it: 3,600 is its work.",
    ),
    Scene(
        name="throttled-at-the-baseline-of-its-host",
        spec=gp3(500, 3600, 125),
        host="m5.large",
        does=_throttled_at_the_baseline,
        measured=_balances(0, 100),
        right=keep(says="is the limit"),
        why="The volume is at its ceiling, and so is its host: a faster volume does not help on it.",
    ),
    *(
        Scene(
            name=f"two-at-the-baseline-of-their-host-{part}",
            spec=gp3(500, 16_000, 125),
            host="m5.large",
            host_id="m5-large-of-two",
            does=job(50, 1800, WORKING, io_kib=8),
            measured=_balances(0, 100),
            right=keep(says="is the limit"),
            why="Together they did the 3,600 IOPS that the host carries without credits.",
        )
        for part in "ab"
    ),
)

SCENES: Final = BASELINE
