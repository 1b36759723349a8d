"""Our own scenes: credits, HDD, tiers of provisioned IOPS, single flags, budgets and small changes."""

from typing import Final

import numpy as np

from cloud_simulator.aws.volume_maker import gp2, gp3, io
from plimsoll.domain.volume import VolumeSpec
from tests.scenes.scene import Right, Scene, keep, migrate, reprovision, upgrade
from tests.scenes.work import Time, Work, day, flat, job


def st1(size_gib: int) -> VolumeSpec:
    """A Throughput Optimized HDD."""
    return VolumeSpec(type="st1", size_gib=size_gib)


def sc1(size_gib: int) -> VolumeSpec:
    """A Cold HDD."""
    return VolumeSpec(type="sc1", size_gib=size_gib)


def _starved(sustained: float, io_kib: float = 16.0) -> object:
    """Working hours at what is left without credits."""

    def does(t: Time) -> Work:
        held = t.daily(8, 20)
        return Work(np.where(held, sustained, 2.0), io_kib=io_kib, balance_pct=np.where(held, 0.0, 30.0))

    return does


def _empty_for_five_minutes(t: Time) -> Work:
    empty = t.once(100, 5)
    return Work(np.where(empty, 270.0, 90.0), balance_pct=np.where(empty, 0.0, 80.0))


def _half_busy(t: Time) -> Work:
    return Work(np.where(t.daily(12, 12.5), 2000.0, 200.0))


CREDITS: Final = (
    Scene(
        name="gp2-never-bursts",
        spec=gp2(500),
        does=day(200, 400),
        right=migrate(("gp3", 500, 3000, 125), 10.0),
        why="400 IOPS and 6 MiB/s are within what gp3 gives for nothing; the 250 MiB/s of gp2 are not used.",
    ),
    Scene(
        name="gp2-starved",
        spec=gp2(100),
        does=_starved(300),
        right=Right(action=("upgrade", "migrate"), target=("gp3", 100, 3000, 130), saved=1.8),
        why="It has spent its credits every day; gp3 gives the burst without end and costs less.",
    ),
    Scene(
        name="gp2-without-credits-at-its-limit",
        spec=gp2(1000),
        does=lambda t: Work(t.wave(1500, 4000)).held(iops=3000),
        right=upgrade(("gp3", 1000, 4500, 125), 12.5),
        why="3,000 IOPS for hours: half as many again at their size, and still cheaper than gp2.",
    ),
    Scene(
        name="gp2-200-uses-its-throughput",
        spec=gp2(200),
        does=job(50, 800, (2, 2 + 10 / 60), io_kib=256, balance_pct=80.0),
        right=keep(),
        why="gp3 with 240 MiB/s costs $20.60, gp2 $20.",
    ),
    Scene(
        name="gp2-near-its-throughput",
        spec=gp2(310),
        does=job(50, 940, (2, 2.5), io_kib=256, balance_pct=95.0),
        right=migrate(("gp3", 310, 3000, 250), 1.2),
        why="235 MiB/s with headroom cost 20 cents more, but the 250 of today cost less on gp3: nothing is given up.",
    ),
    Scene(
        name="gp2-small-boot",
        spec=gp2(20),
        does=flat(2),
        right=keep(),
        why="40 cents are not worth a change.",
    ),
    Scene(
        name="gp2-80-idle",
        spec=gp2(80),
        does=flat(2),
        right=migrate(("gp3", 80, 3000, 125), 1.6),
        why="$1.60 of $8; the drop-in replacement keeps $1.40 of it, less than nine tenths.",
    ),
    Scene(
        name="gp2-empty-for-five-minutes",
        spec=gp2(90),
        does=_empty_for_five_minutes,
        right=migrate(("gp3", 90, 3000, 125), 1.8),
        why="Five minutes without credits in two weeks; gp3's 3,000 IOPS are all that gp2 could ever burst to.",
    ),
    Scene(
        name="gp2-one-flag",
        spec=gp2(250),
        does=lambda t: Work(t.wave(100, 1000), iops_exceeded=t.once(120)),
        right=migrate(("gp3", 250, 3000, 125), 5.0),
        why="Lifted to 3,000 IOPS the flagged minute is 47 MiB/s: gp3 has both.",
    ),
)

DISKS: Final = (
    Scene(
        name="st1-in-its-element",
        spec=st1(4000),
        does=job(4, 100, (1, 5), io_kib=1024, balance_pct=90.0),
        right=keep(),
        why="100 MiB/s in order is what st1 is for; SSD costs nearly twice as much.",
    ),
    Scene(
        name="st1-as-an-archive",
        spec=st1(4000),
        does=job(1, 5, (1, 5), io_kib=1024, balance_pct=100.0),
        policy={"target_types": ["gp3", "st1", "sc1"]},
        right=migrate(("sc1", 4000, None, None), 120.0),
        why="5 MiB/s of an archive; the policy allows cold disks.",
    ),
    Scene(
        name="sc1-random-and-cheap",
        spec=sc1(3000),
        does=job(2, 150, (9, 17), balance_pct=60.0),
        right=keep(),
        why="It carries its small operations; any SSD costs five times as much.",
    ),
    Scene(
        name="sc1-starved",
        spec=sc1(500),
        does=_starved(5.85, io_kib=1024),
        right=upgrade(("gp3", 500, 3000, 125), -32.5),
        why="Half of every day at 6 MiB/s with an empty balance: no cold disk is the answer.",
    ),
    Scene(
        name="previous-generation-quiet",
        spec=VolumeSpec(type="standard", size_gib=200),
        does=flat(30, iops_exceeded=None, throughput_exceeded=None),
        right=keep(),
        why="$10 and $3.94 of operations; gp3 is $16.",
    ),
    Scene(
        name="previous-generation-busy",
        spec=VolumeSpec(type="standard", size_gib=200),
        does=flat(150, iops_exceeded=None, throughput_exceeded=None),
        right=migrate(("gp3", 200, 3000, 125), 13.71),
        why="Each operation is billed: $19.71 beside $10.",
    ),
)

TIERS: Final = (
    Scene(
        name="io2-100000",
        spec=io("io2", 1000, 100_000),
        host="r5b.24xlarge",
        does=day(5000, 39_900, io_kib=8),
        right=migrate(("gp3", 1000, 47_900, 375), 4493.1),
        why="gp3 sells 80,000 IOPS now; the sub-millisecond latency is given up, and said.",
    ),
    Scene(
        name="io2-100000-fast",
        spec=io("io2", 1000, 100_000),
        host="r5b.24xlarge",
        does=day(5000, 39_900, io_kib=8),
        policy={"latency_floor": "sub-ms"},
        right=reprovision(("io2", 1000, 47_900, None), 1879.15),
        why="The latency must stay: fewer IOPS, of the dearest tiers first.",
    ),
    Scene(
        name="io1-search",
        spec=io("io1", 400, 6000),
        does=day(100, 700),
        right=migrate(("gp3", 400, 6000, 500), 378.0),
        why="The drop-in replacement keeps nine tenths of $408: nobody takes a risk for the rest.",
    ),
    Scene(
        name="io2-orders",
        spec=io("io2", 800, 12_000),
        does=day(150, 900),
        right=migrate(("gp3", 800, 3000, 125), 816.0),
        why="No gp3 carries the 3,072 MiB/s that io2 could, and nobody uses 15 of them.",
    ),
    Scene(
        name="io2-durable",
        spec=io("io2", 800, 12_000),
        does=day(150, 900),
        policy={"durability_floor_pct": 99.999},
        right=reprovision(("io2", 800, 1100, None), 708.5),
        why="The policy wants five nines: io2 with the IOPS that are used.",
    ),
    Scene(
        name="io1-16000",
        spec=io("io1", 1000, 16_000),
        does=day(500, 5000),
        right=migrate(("gp3", 1000, 16_000, 500), 1005.0),
        why="The drop-in replacement keeps $1,005 of $1,070.",
    ),
    Scene(
        name="io1-at-its-limit",
        spec=io("io1", 200, 4000),
        does=job(300, 4000, (9, 17)),
        right=Right(action=("upgrade", "migrate"), target=("gp3", 200, 6000, 125), saved=254.0),
        why="More IOPS of the same size for a tenth of the price.",
    ),
)

FIGURES: Final = (
    Scene(
        name="throughput-flag-of-small-operations",
        spec=gp3(500, 16_000, 1000),
        host="m5.24xlarge",
        does=lambda t: Work(np.full(t.minute.shape, 2000.0), io_kib=8, throughput_exceeded=t.once(50)),
        right=reprovision(("gp3", 500, 4000, 1000), 60.0),
        why="Seconds of 1,000 MiB/s and never 16,000 IOPS were of larger operations than its 8 KiB.",
    ),
    Scene(
        name="media-at-its-throughput",
        spec=gp3(500, 6000, 125),
        does=job(20, 1000, (9, 17), io_kib=128),
        right=upgrade(("gp3", 500, 3000, 190), 12.4),
        why="Half as many MiB/s again are 1,500 IOPS of their size.",
    ),
    Scene(
        name="limited-by-the-host-next",
        spec=gp3(500, 15_000, 125),
        does=job(300, 15_000, (9, 17), io_kib=4),
        right=upgrade(("gp3", 500, 18_800, 125), -19.0),
        why="22,500 would be the step, but the host ends at 18,750.",
    ),
    Scene(
        name="half-busy",
        spec=gp3(1000, 10_000, 500),
        does=_half_busy,
        policy={"size_on": "busy-time"},
        right=reprovision(("gp3", 1000, 4800, 125), 41.0),
        why="2,000 IOPS in half of each minute are 4,000 while it works.",
    ),
    Scene(
        name="a-long-burst-must-not-wait",
        spec=gp3(500, 10_000, 125),
        does=job(500, 6000, (2, 2.5), io_kib=8),
        policy={"throttle_budget_min": 1440},
        right=reprovision(("gp3", 500, 7000, 125), 15.0),
        why="Minutes may be throttled, but nothing may wait longer than one: half an hour at 7,200 needs 7,000.",
    ),
    Scene(
        name="a-little-less",
        spec=gp3(500, 10_000, 125),
        does=day(500, 8250, io_kib=8),
        right=keep(),
        why="9,900 instead of 10,000 saves 50 cents.",
    ),
    Scene(
        name="exactly-right",
        spec=gp3(500, 3200, 125),
        does=day(500, 2650, io_kib=8),
        right=keep(),
        why="2,650 with headroom are 3,180: 3,200 it is.",
    ),
    Scene(
        name="used-without-headroom",
        spec=gp3(500, 6000, 125),
        does=day(500, 5500, io_kib=8),
        right=keep(),
        why="It was never throttled at 5,500 of 6,000: headroom is for changes, and is no reason to pay more.",
    ),
    Scene(
        name="forgotten",
        spec=gp3(300, 3000, 125),
        does=None,
        right=Right(action=("detached",)),
        why="Paid for, attached to nothing.",
    ),
)

SCENES: Final = (*CREDITS, *DISKS, *TIERS, *FIGURES)
