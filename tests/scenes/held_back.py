"""Scenes of demand that was held back: its mix, what relief of one resource asks of the other, and impossible rates."""

from typing import Final

import numpy as np

from cloud_simulator.aws.volume_maker import gp2, gp3, io
from plimsoll.domain.volume import VolumeSpec
from tests.scenes.scene import Scene, Was, migrate, reprovision, upgrade
from tests.scenes.work import Does, Work, flat, job

GP3: Final = gp3(500, 3000, 125)
IO2: Final = io("io2", 500, 3000)


def flagged(iops: float, io_kib: float, *, side: str) -> Does:
    """The same in every minute, in every tenth of which the check of one side is raised."""
    return lambda t: Work(np.full(t.minute.shape, iops), io_kib=io_kib, **{f"{side}_exceeded": t.minute % 10 == 0})


def single(base: float, high: float, *ago_h: float) -> Does:
    """The same in every minute but single ones, so many hours ago."""
    return lambda t: Work(np.where(np.logical_or.reduce([t.once(one) for one in ago_h]), high, base))


SCENES: Final = (
    Scene(
        name="st1-small-random",
        spec=VolumeSpec(type="st1", size_gib=6144),
        does=flat(235, balance_pct=0.0, read_share=1.0),
        right=upgrade(("gp3", 6144, 3000, 125), -215.04),
        why="Its 235 MiB/s are charged, not moved: half more than 500 operations of 16 KiB are 12 MiB/s.",
    ),
    Scene(
        name="throughput-check-alone",
        spec=GP3,
        does=flagged(200, 16, side="throughput"),
        right=upgrade(("gp3", 500, 3000, 190), -2.6),
        why="Seconds asked for more than 125 MiB/s, and none for more than 3,000 IOPS.",
    ),
    Scene(
        name="iops-check-alone",
        spec=GP3,
        does=flagged(100, 256, side="iops"),
        right=upgrade(("gp3", 500, 4500, 125), -7.5),
        why="Seconds asked for more than 3,000 IOPS, and none for more than 125 MiB/s: they were of small operations.",
    ),
    Scene(
        name="throughput-check-of-a-larger-one",
        spec=gp3(500, 6000, 250),
        does=flagged(200, 16, side="throughput"),
        right=upgrade(("gp3", 500, 3000, 375), 10.0),
        why="375 MiB/s need 1,500 IOPS, and 200 are used: what nothing asks for is not bought again.",
    ),
    Scene(
        name="credits-spent-on-large-operations",
        spec=gp2(100),
        does=flat(300, io_kib=256.0, balance_pct=0.0),
        right=migrate(("gp3", 100, 3000, 130), 1.8, relief=("gp3", 100, 3000, 195)),
        why="At 256 KiB the 192 MiB/s that it may want are 768 IOPS, not 4,500.",
    ),
    Scene(
        name="host-stops-both-figures",
        spec=gp3(500, 3000, 500),
        host="m4.4xlarge",
        nitro=False,
        does=job(50, 3000, (9, 10), io_kib=64.0),
        right=upgrade(("gp3", 500, 3900, 240), 5.9),
        why="4,500 IOPS of 64 KiB are 281 MiB/s. The host carries 238, which are 3,815 IOPS of that size.",
    ),
    Scene(
        name="fifteen-minutes-a-day",
        spec=gp2(171),
        does=job(50, 3000, (9, 9.25)),
        right=migrate(("gp3", 171, 3000, 125), 3.42, relief=("gp3", 171, 4500, 125)),
        why="gp3 throttles the same 15 minutes for less; nothing asks for 250 MiB/s.",
    ),
    Scene(
        name="fifteen-minutes-at-many-iops",
        spec=gp3(500, 16_000, 500),
        host="m5.24xlarge",
        does=job(50, 16_000, (9, 9.25), io_kib=4.0),
        right=reprovision(("gp3", 500, 16_000, 125), 15.0, relief=("gp3", 500, 24_000, 125)),
        why="The relief costs $25 more. Without it the IOPS stay, and MiB/s that nobody uses go.",
    ),
    Scene(
        name="fifteen-minutes-and-a-copy",
        spec=gp2(171),
        does=lambda t: Work(
            np.where(t.daily(9, 9.25), 3000.0, np.where(t.daily(20, 22), 900.0, 50.0)),
            io_kib=np.where(t.daily(20, 22), 200.0, 16.0),
        ),
        right=upgrade(("gp3", 171, 4500, 215), -7.68),
        why="What carries the copy's 176 MiB/s with headroom costs more than today, so that relief is the answer.",
    ),
    Scene(
        name="measured-above-the-limit",
        spec=IO2,
        does=lambda t: Work(np.where(t.once(80, 20), 3017.0, 500.0)),
        right=migrate(("gp3", 500, 3000, 570), 199.7, codes=("at-ceiling", "same-limits"), without=("above-record",)),
        why="3,017 of 3,000 is the limit. What has headroom above that would raise it, so that all limits are kept.",
    ),
    Scene(
        name="changed-twice",
        spec=gp3(500, 10_000, 500),
        was=Was(spec=gp3(500, 3000, 500), until_h=48),
        does=lambda t: Work(np.where(t.ago_h > 9 * 24, 8000.0, 1000.0), io_kib=8.0),
        right=reprovision(("gp3", 500, 9600, 125), 17.0, codes=("above-record",), without=("at-ceiling",)),
        why="Only the latest change is on record. 8,000 IOPS were never done by 3,000: nothing was held back.",
    ),
    Scene(
        name="doubled-point",
        spec=IO2,
        does=single(500, 6000, 80),
        right=migrate(
            ("gp3", 500, 3000, 570), 199.7, codes=("doubled-point", "same-limits"), without=("above-record",)
        ),
        why="One minute of twice what it can carry, between ordinary ones, is counted twice: it stood at its limit.",
    ),
    Scene(
        name="twice-on-two-days",
        spec=IO2,
        does=single(500, 6000, 80, 200),
        right=migrate(
            ("gp3", 500, 3000, 570), 199.7, codes=("above-record", "same-limits"), without=("doubled-point",)
        ),
        why="What comes again is no doubled point: it was something larger until then. A reduction raises nothing.",
    ),
)
