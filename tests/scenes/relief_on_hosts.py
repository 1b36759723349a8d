"""Our own scenes: relief that the host carries, carries in part, or takes back."""

from typing import Any, Final

import numpy as np

from cloud_simulator.aws.volume_maker import gp3
from tests.scenes.scene import Scene, Was, keep, reprovision, upgrade
from tests.scenes.work import Does, Time, Work, flat


def _at_ceiling(iops: float, first: float = 0, last: float = 24, *, otherwise: float = 100.0) -> Does:
    """At the ceiling between two hours of every day, in small operations."""

    def does(t: Time) -> Work:
        held = t.daily(first, last)
        return Work(np.where(held, iops, otherwise), io_kib=8, iops_exceeded=held)

    return does


def _at_125_mib_s(t: Time) -> Work:
    return Work(500.0 + 0 * t.hour, io_kib=256, throughput_exceeded=True)


def _burst_until_spent(iops: float, hours: float) -> Does:
    """At the ceiling until the credits of an m5.large are spent, and at its 3,600 IOPS for the rest of the day."""
    return _at_ceiling(iops, 0, hours, otherwise=3600.0)


ALL_DAY: Final = (
    Scene(
        name="wanted-all-day-on-a-small-host",
        spec=gp3(500),
        host="m5.large",
        does=_at_ceiling(3000),
        right=upgrade(("gp3", 500, 3600, 125), -3.0, codes=("host-takes-back",)),
        why="12,000 are wanted all day. An m5.large sustains 3,600: 4,500 would spend its credits in half a day.",
    ),
    Scene(
        name="wanted-all-day-and-relieved-once",
        spec=gp3(500, 3600),
        host="m5.large",
        does=_at_ceiling(3600),
        right=keep(codes=("host-is-the-limit",)),
        why="It does what the host sustains: nothing larger does more there.",
    ),
    Scene(
        name="wanted-all-day-and-relieved-beyond-the-host",
        spec=gp3(500, 4500),
        host="m5.large",
        does=_burst_until_spent(4500, 8.4),
        right=keep(codes=("host-is-the-limit",)),
        why="Half of the credits of a day went into each hour above 3,600: 6,800 would only spend them sooner.",
    ),
    Scene(
        name="relieved-a-week-ago-on-a-small-host",
        spec=gp3(500, 3600),
        was=Was(spec=gp3(500), until_h=7 * 24),
        host="m5.large",
        does=lambda t: Work(np.where(t.ago_h > 7 * 24, 3000.0, 3600.0), io_kib=8, iops_exceeded=True),
        right=keep(codes=("host-is-the-limit",)),
        why="What it did a week ago is no reason to raise it again: since then it does what the host sustains.",
    ),
    Scene(
        name="bytes-all-day-on-a-small-host",
        spec=gp3(500),
        host="m5.xlarge",
        does=_at_125_mib_s,
        right=upgrade(("gp3", 500, 3000, 140), -0.6, codes=("host-takes-back",)),
        why="An m5.xlarge sustains 137 MiB/s: 190 would be bought for nothing.",
    ),
    Scene(
        name="an-hour-a-day-on-a-small-host",
        spec=gp3(500),
        host="m5.large",
        does=_at_ceiling(3000, 9, 10),
        right=upgrade(("gp3", 500, 4500, 125), -7.5, without=("host-takes-back",)),
        why="Its credits last for eight hours a day at 4,500.",
    ),
    Scene(
        name="relief-where-the-limit-does-not-hold",
        spec=gp3(500, 4000),
        host="m3.xlarge",
        nitro=False,
        ebs_optimized=False,
        does=lambda t: Work(np.where(t.daily(9, 19), 4000.0, 100.0), io_kib=8, iops_exceeded=None),
        right=upgrade(("gp3", 500, 6000, 125), -10.0),
        why="EBS optimization is off, so that nobody knows what the host carries: nothing is cut to it.",
    ),
)

TWO: Final[dict[str, Any]] = {"spec": gp3(500, 5000), "host": "m5.2xlarge", "does": _at_ceiling(5000)}

SHARED: Final = (
    *(
        Scene(
            name=f"two-throttled-on-a-small-host-{part}",
            host_id="m5-2xlarge-of-two-throttled",
            right=upgrade(("gp3", 500, 6000, 125), -5.0),
            why="Both want 7,500. Together the host sustains 12,000.",
            **TWO,
        )
        for part in "ab"
    ),
    Scene(
        name="throttled-beside-one-that-is-left-out",
        host_id="m5-2xlarge-with-one-left-out",
        right=upgrade(("gp3", 500, 7000, 125), -10.0),
        why="The other one stays at its 5,000: of 12,000 the host has 7,000 for this one.",
        **TWO,
    ),
    Scene(
        name="left-out-beside-one-that-is-throttled",
        host_id="m5-2xlarge-with-one-left-out",
        excluded=True,
        right=keep(),
        why="Its owner has excluded it.",
        **TWO,
    ),
    Scene(
        name="throttled-beside-a-busy-one",
        spec=gp3(500),
        host="m5.2xlarge",
        host_id="m5-2xlarge-with-a-busy-one",
        does=_at_ceiling(3000),
        right=upgrade(("gp3", 500, 4000, 125), -5.0),
        why="The other one does 8,000 of the 12,000 that the host sustains.",
    ),
    Scene(
        name="busy-beside-one-that-is-throttled",
        spec=gp3(500, 16_000),
        host="m5.2xlarge",
        host_id="m5-2xlarge-with-a-busy-one",
        does=flat(8000, io_kib=8),
        right=reprovision(("gp3", 500, 9600, 125), 32.0),
        why="8,000 with headroom.",
    ),
    *(
        Scene(
            name=f"stripes-throttled-on-a-small-host-{part}",
            host_id="m5-2xlarge-striped",
            stripe="md0",
            right=upgrade(("gp3", 500, 6000, 125), -5.0),
            why="Each half of the set may have half of the 12,000 that the host sustains.",
            **TWO,
        )
        for part in "01"
    ),
)

SCENES: Final = (*ALL_DAY, *SHARED)
