"""Our own scenes: each resource by itself, what a host cannot carry, what needs no metrics, larger sizes, idleness."""

from typing import Final

from cloud_simulator.aws.volume_maker import gp2, gp3, io
from tests.scenes.scene import Scene, migrate, reprovision, upgrade
from tests.scenes.work import Work, day, flat

LARGE: Final = 40 * 1024


def _both(iops: float, mib_s: float) -> object:
    """A day's curve up to so many operations, which move so much."""
    return day(iops / 10, iops, io_kib=mib_s * 1024 / iops)


EACH_BY_ITSELF: Final = (
    Scene(
        name="gp3-near-its-types-largest-throughput",
        spec=gp3(LARGE, 80_000, 2000),
        does=_both(50_000, 1800),
        host="r5b.24xlarge",
        right=reprovision(("gp3", LARGE, 60_000, 2000), 100.0, codes=("stays-as-it-is",)),
        why="No gp3 has a fifth more than 1,800 MiB/s: those stay. 50,000 IOPS with headroom are 60,000.",
    ),
    Scene(
        name="gp3-near-its-types-largest-iops",
        spec=gp3(LARGE, 80_000, 2000),
        does=_both(70_000, 795),
        host="r5b.24xlarge",
        right=reprovision(("gp3", LARGE, 80_000, 955), 41.8, codes=("stays-as-it-is",)),
        why="A fifth more than 70,000 IOPS is not sold: they stay, and 795 MiB/s with headroom are 954.",
    ),
    Scene(
        name="gp3-under-its-own-throughput-near-the-largest",
        spec=gp3(LARGE, 60_000, 1900),
        does=_both(20_000, 1780),
        host="r5b.24xlarge",
        right=reprovision(("gp3", LARGE, 24_000, 1900), 180.0, codes=("stays-as-it-is",)),
        why="1,780 MiB/s have less headroom than policy wants, today as well: 1,900 stay, and are not raised.",
    ),
    Scene(
        name="io1-near-the-largest-of-gp3",
        spec=io("io1", 2000, 64_000),
        does=_both(10_000, 940),
        host="r5b.24xlarge",
        right=migrate(("gp3", 2000, 64_000, 1000), 3910.0, losses=("consistency",), without=("stays-as-it-is",)),
        why="A change of type keeps full headroom, and a reduction raises nothing: all of today's limits are kept.",
    ),
)

LARGER: Final = (
    Scene(
        name="io2-small-and-fast",
        spec=io("io2", 10, 8000),
        does=day(650, 6500),
        right=migrate(
            ("gp3", 16, 7800, 125),
            495.97,
            losses=("latency-class", "durability", "consistency", "cannot-shrink"),
            codes=("cannot-shrink",),
        ),
        why="gp3 sells 500 IOPS a GiB: 7,800 take 16 GiB, for $25 in the place of $521. The owner decides.",
    ),
    Scene(
        name="gp3-small-and-throttled",
        spec=gp3(10, 5000),
        does=lambda t: Work(t.wave(500, 6000), iops_exceeded=t.wave(500, 6000) > 5000).held(iops=5000),
        right=upgrade(("gp3", 15, 7500, 125), -12.9, losses=("cannot-shrink",)),
        why="Half more than 5,000 take 15 GiB of gp3; io2 of 10 GiB with 7,500 IOPS costs $489.",
    ),
    Scene(
        name="gp3-small-near-its-sizes-largest",
        spec=gp3(10, 5000, 1000),
        does=day(400, 4600, io_kib=8),
        right=reprovision(("gp3", 10, 5000, 125), 35.0, losses=(), codes=("stays-as-it-is",)),
        why="A reduction within the type is none of a larger size: the IOPS stay, and the MiB/s are cut.",
    ),
    Scene(
        name="io2-small-on-a-small-host",
        spec=io("io2", 20, 16_000),
        does=day(1400, 14_000),
        host="m5.8xlarge",
        right=migrate(
            ("gp3", 34, 16_800, 265),
            965.18,
            losses=("latency-class", "durability", "consistency", "cannot-shrink"),
        ),
        why="16,800 IOPS take 34 GiB of gp3; 14,000 of 16 KiB move 219 MiB/s.",
    ),
    Scene(
        name="gp2-too-small-for-sc1",
        spec=gp2(100),
        does=flat(4, io_kib=1024),
        policy={"target_types": ("gp3", "sc1")},
        right=migrate(
            ("sc1", 383, None, None),
            4.25,
            losses=("latency-class", "cannot-shrink"),
        ),
        why="sc1 sustains 12 MiB/s a TiB. With its credits 383 GiB carry 4.8 MiB/s, for $5.75; gp3 costs $8.",
    ),
)

SCENES: Final = (*EACH_BY_ITSELF, *LARGER)
