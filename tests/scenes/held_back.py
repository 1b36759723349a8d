"""Scenes of demand that was held back: its mix, what relief of one resource asks of the other."""

from typing import Final

import numpy as np

from cloud_simulator.aws.volume_maker import gp2, gp3
from cloud_simulator.published import VolumeSpec
from tests.scenes.scene import Scene, migrate, reprovision, upgrade
from tests.scenes.work import Does, Work, flat, job

GP3: Final = gp3(500, 3000, 125)


def flagged(iops: float, io_kib: float, *, side: str) -> Does:
    """The same in every minute, in every tenth of which the check of one side is raised."""
    return lambda t: Work(np.full(t.minute.shape, iops), io_kib=io_kib, **{f"{side}_exceeded": t.minute % 10 == 0})


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
)
