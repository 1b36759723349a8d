"""Our own scenes: risk is part of the choice, and learned headroom is for reductions alone."""

from typing import Any, Final

import numpy as np

from cloud_simulator.aws.volume_maker import gp2, gp3, io
from tests.scenes.scene import Scene, keep, migrate, reprovision, upgrade
from tests.scenes.work import Does, Time, Work, flat, job

STRICT: Final[dict[str, Any]] = {"risk_pct": 5}
LEARNED: Final[dict[str, Any]] = {"risk_pct": 20, "headroom_from": "learned"}


def _once_busy(t: Time) -> Work:
    """300 operations a second, and 9,000 in one minute 40 days ago."""
    return Work(flat(300)(t).iops + 8700.0 * t.once(40 * 24))


def _once_moved(t: Time) -> Work:
    """Throttled on IOPS all day, with 23 MiB/s; 40 days ago, for an hour, 1,000 operations a second moved 400 MiB/s."""
    then = t.once(40 * 24, minutes=60)
    return Work(np.where(then, 1000.0, 3000.0), io_kib=np.where(then, 409.6, 8.0))


def _busier_now(t: Time) -> Work:
    """2,000 operations a second in the window of 14 days, and 500 before it."""
    return Work(np.where(t.ago_h < 14 * 24 + 9.5, 2000.0, 500.0), io_kib=4)


SMALL: Final[Does] = flat(8000, io_kib=4)

SCENES: Final = (
    Scene(
        name="reduction-at-even-odds",
        spec=gp3(1000, 16_000),
        does=SMALL,
        policy=STRICT,
        right=keep(saved=0.0, step="measure", too_risky=("gp3", 1000, 9600, 125), codes=("too-risky",)),
        why="A fifth above eleven weeks is outgrown by every second such volume: shown, and not recommended.",
    ),
    Scene(
        name="reduction-at-any-risk",
        spec=gp3(1000, 16_000),
        does=SMALL,
        right=reprovision(("gp3", 1000, 9600, 125), 32.0, without=("too-risky",)),
        why="Its owner takes any risk (risk_pct: 100).",
    ),
    Scene(
        name="same-limits-in-the-place-of-a-risk",
        spec=gp2(10_000),
        does=SMALL,
        policy=STRICT,
        right=migrate(
            ("gp3", 10_000, 16_000, 250), 130.0, step="safe", losses=(), too_risky=("gp3", 10_000, 9600, 125)
        ),
        why="gp3 with all of gp2's limits saves 130 and risks nothing. 37 more would be at even odds.",
    ),
    Scene(
        name="reduction-with-much-to-spare",
        spec=gp3(1000, 16_000, 500),
        does=flat(300),
        policy=STRICT,
        right=reprovision(("gp3", 1000, 3000, 125), 80.0, without=("too-risky",)),
        why="What is included is ten times its peak of eleven weeks: 1 in 20.",
    ),
    Scene(
        name="one-minute-of-the-past-is-a-risk",
        spec=gp3(1000, 16_000, 500),
        does=_once_busy,
        policy=STRICT,
        right=keep(step="measure", too_risky=("gp3", 1000, 3000, 125)),
        why="Its means pass, but its busiest minute was three times what would be left.",
    ),
    Scene(
        name="too-young-for-a-promise",
        spec=gp3(1000, 16_000, 500),
        does=flat(100),
        policy=STRICT,
        created_h=10 * 24,
        attached_h=10 * 24,
        right=keep(step="measure", too_risky=("gp3", 1000, 3000, 125)),
        why="No fleet was watched with ten days of history: nothing is promised, which is no permission.",
    ),
    Scene(
        name="no-side-is-raised-by-a-cut",
        spec=gp3(1000, 3000, 500),
        does=flat(2600, io_kib=4),
        policy=STRICT,
        right=reprovision(("gp3", 1000, 3000, 125), 15.0, codes=("stays-as-it-is",), without=("too-risky",)),
        why="3,200 IOPS and 125 MiB/s would be taken back as soon as IOPS are quiet again: IOPS stay, MiB/s are cut.",
    ),
    Scene(
        name="only-the-side-that-is-cut-is-a-risk",
        spec=gp3(1000, 3000, 500),
        does=flat(2400, io_kib=4),
        policy=STRICT,
        right=reprovision(("gp3", 1000, 3000, 125), 15.0, without=("too-risky",)),
        why="IOPS stay as they are, near their peak; 125 MiB/s are thirteen times what it moves.",
    ),
    Scene(
        name="learned-headroom-keeps-the-risk",
        spec=gp3(1000, 16_000),
        does=flat(1500, io_kib=4),
        policy=LEARNED,
        right=reprovision(("gp3", 1000, 5100, 125), 54.5, without=("too-risky",)),
        why="3.397 times the peak is outgrown once in five; a fifth more would have been 3,000 IOPS at 3 in 10.",
    ),
    Scene(
        name="learned-headroom-is-over-the-window-too",
        spec=gp3(1000, 16_000),
        does=_busier_now,
        policy=LEARNED,
        right=reprovision(("gp3", 1000, 6800, 125), 46.0, without=("too-risky",)),
        why="3.397 times the 2,000 of these two weeks: the 500 before them were less, and leave it no less headroom.",
    ),
    Scene(
        name="no-headroom-keeps-the-risk",
        spec=gp3(1000, 16_000),
        does=flat(1500, io_kib=4),
        policy={"risk_pct": 10, "headroom_from": "learned"},
        right=keep(step="measure", too_risky=("gp3", 1000, 5100, 125)),
        why="One in ten takes 5.017 times the peak, and nobody is given more than five times: nothing is promised.",
    ),
    Scene(
        name="fixed-headroom-leaves-the-risk",
        spec=gp3(1000, 16_000),
        does=flat(1500, io_kib=4),
        policy={"risk_pct": 20},
        right=keep(step="measure", too_risky=("gp3", 1000, 3000, 125)),
        why="3,000 IOPS are twice its peak, which three in ten outgrow.",
    ),
    Scene(
        name="learned-headroom-is-none-of-relief",
        spec=gp3(500, 3000),
        does=flat(3000, io_kib=4),
        policy=LEARNED,
        right=upgrade(("gp3", 500, 4500, 125), -7.5),
        why="Throttled all day: half more, as with a fixed headroom, not five times as much.",
    ),
    Scene(
        name="learned-headroom-is-none-of-same-limits",
        spec=gp2(10_000),
        does=flat(12_000, io_kib=4),
        policy=LEARNED,
        right=migrate(("gp3", 10_000, 16_000, 250), 130.0, step="safe", losses=(), codes=("drop-in",)),
        why="All limits are kept, whatever headroom reductions need.",
    ),
    Scene(
        name="relief-in-the-place-of-a-risk",
        spec=gp2(171),
        does=job(50, 3000, (9, 9.25)),
        policy=STRICT,
        right=upgrade(("gp3", 171, 4500, 250), -9.08, step="throttled", too_risky=("gp3", 171, 3000, 125)),
        why="125 MiB/s are not three times what it moves, and 1 in 5 outgrow that: relief leaves it as much as it has.",
    ),
    Scene(
        name="relief-lowers-a-side-with-much-to-spare",
        spec=gp3(500, 3000, 500),
        does=flat(3000, io_kib=2),
        policy=STRICT,
        right=upgrade(("gp3", 500, 4500, 125), 7.5, step="throttled", without=("too-risky",)),
        why="Of 500 MiB/s it moves 6, and 9 without the limit of its IOPS: 125 are outgrown once in 20 at most.",
    ),
    Scene(
        name="relief-lowers-no-side-at-a-risk",
        spec=gp3(500, 3000, 500),
        does=flat(3000, io_kib=16),
        policy=STRICT,
        right=upgrade(("gp3", 500, 4500, 500), -7.5, step="throttled", too_risky=("gp3", 500, 3000, 125)),
        why="Without the limit it moves 70 MiB/s, and 125 are outgrown too often: IOPS are what it lacks.",
    ),
    Scene(
        name="relief-keeps-what-its-past-asks-for",
        spec=gp3(500, 3000, 500),
        does=_once_moved,
        right=upgrade(("gp3", 500, 4500, 480), -6.7, step="throttled", codes=("past-event",)),
        why="A backup of 400 MiB/s, 40 days ago, will come again; whatever risk its owner takes, it was seen.",
    ),
    Scene(
        name="throttles-no-more-and-has-much-to-spare",
        spec=gp3(500, 16_000, 500),
        host="m5.24xlarge",
        does=job(50, 16_000, (9, 9.25), io_kib=0.5),
        policy=STRICT,
        right=reprovision(("gp3", 500, 16_000, 125), 15.0, relief=("gp3", 500, 24_000, 125), without=("too-risky",)),
        why="IOPS stay as they are, and 125 MiB/s are ten times what would be moved without that limit.",
    ),
    Scene(
        name="what-its-host-carries-is-no-risk",
        spec=io("io1", 2000, 64_000),
        host="m4.large",
        nitro=False,
        does=flat(2900, io_kib=4),
        policy=STRICT,
        right=migrate(("gp3", 2000, 3600, 125), 4247.0, step="trade", without=("too-risky",)),
        why="Its host carries 3,600, of which nothing is cut. No proof of demand is needed for that.",
    ),
)
