"""Our own scenes: hosts that stand at their baseline without credits, and hosts that publish each five minutes."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from cloud_simulator.aws.volume_maker import gp2, gp3
from tests.scenes.scene import Scene, keep, migrate, reprovision, upgrade
from tests.scenes.work import Time, Work, flat, job

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


def _each_fifth_minute(t: Time) -> Work:
    at = t.minute % 5 == 0
    return Work(np.where(at, 4758.0, 0.0), busy_s=np.where(at, 45.0, 0.0))


OLDER: Final[dict[str, Any]] = {"host": "m4.4xlarge", "nitro": False}

STEPS: Final = (
    Scene(
        name="published-each-five-minutes",
        spec=gp2(400),
        host="m4.large",
        nitro=False,
        five_minutes=True,
        does=flat(951.6, busy_s=57.0),
        right=migrate(("gp3", 400, 3000, 125), 8.0, says="one sum each five minutes"),
        why="285,480 operations in five minutes are 951.6 IOPS, not 4,758: it was never throttled.",
    ),
    Scene(
        name="job-each-five-minutes",
        spec=gp3(500, 10_000, 125),
        does=_each_fifth_minute,
        right=reprovision(("gp3", 500, 5800, 125), 21.0),
        why="The same points, with 60 s of idle time in the four minutes between: 4,758 in that minute.",
        **OLDER,
    ),
    Scene(
        name="as-much-each-five-minutes",
        spec=gp3(500, 10_000, 125),
        five_minutes=True,
        does=flat(951.6, busy_s=20.0),
        right=reprovision(("gp3", 500, 3000, 125), 35.0),
        why="200 s of idle time in one point are more than a minute has: points are of five.",
        **OLDER,
    ),
    Scene(
        name="throttled-and-published-each-five-minutes",
        spec=gp3(500, 3000, 125),
        five_minutes=True,
        does=job(200, 3000, WORKING, busy_s=60.0),
        right=upgrade(("gp3", 500, 4500, 125), -7.5),
        why="The means of five minutes stand at 3,000 for ten hours a day.",
        **OLDER,
    ),
    Scene(
        name="hour-of-work-published-each-five-minutes",
        spec=gp3(500, 10_000, 125),
        five_minutes=True,
        does=job(0, 2900, (9, 10), io_kib=8, busy_s=59.0),
        right=reprovision(("gp3", 500, 3500, 125), 32.5),
        why="It works for one hour a day: 2,900 with headroom are 3,480.",
        **OLDER,
    ),
)

SCENES: Final = (*BASELINE, *STEPS)
