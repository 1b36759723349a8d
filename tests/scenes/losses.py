"""Our own scenes: what a change gives up, what it risks, and states and places of which nothing can be said."""

from typing import Final

from cloud_simulator.aws.volume_maker import gp2, gp3, io
from tests.scenes.scene import Scene, insufficient, keep, migrate, reprovision, upgrade
from tests.scenes.work import Time, Work, day, flat


def _flagged(t: Time) -> Work:
    """60 MiB/s in operations of 128 KiB; three minutes in ten the cloud says that some second asked for more."""
    return Work(flat(480)(t).iops, io_kib=128, throughput_exceeded=t.minute % 10 < 3)


SCENES: Final = (
    Scene(
        name="io1-keeps-its-limits-on-gp3",
        spec=io("io1", 1000, 30_000),
        does=day(1000, 9000),
        right=migrate(
            ("gp3", 1000, 18_800, 500),
            1901.0,
            step="trade",
            losses=("consistency", "larger-host"),
            codes=("same-limits", "waste"),
            full=("gp3", 1000, 30_000, 500),
        ),
        why="What its host carries of it is kept, but gp3 delivers that less of the time: the owner decides.",
    ),
    Scene(
        name="io2-reduced-to-gp3",
        spec=io("io2", 500, 5000),
        does=day(50, 300),
        right=migrate(
            ("gp3", 500, 3000, 125),
            347.5,
            step="trade",
            losses=("latency-class", "durability", "consistency"),
            codes=("latency-class", "durability", "consistency"),
        ),
        why="It is reduced and gives three things up: the owner decides, and each is named.",
    ),
    Scene(
        name="gp2-gives-nothing-up",
        spec=gp2(500),
        does=day(50, 800, io_kib=256),
        right=migrate(("gp3", 500, 3000, 250), 5.0, step="safe", losses=(), codes=("drop-in",)),
        why="200 MiB/s with headroom are 240; all 250 of today cost 40 cents more, and nothing is given up.",
    ),
    Scene(
        name="gp3-cut-with-much-to-spare",
        spec=gp3(500, 6000),
        does=day(50, 300),
        right=reprovision(("gp3", 500, 3000, 125), 15.0, step="proved", losses=()),
        why="A tenth of what is included: measured elsewhere, and within the policy's risk.",
    ),
    Scene(
        name="gp3-cut-close-to-its-demand",
        spec=gp3(1000, 12_000, 250),
        does=day(500, 5000),
        policy={"risk_pct": 5},
        right=keep(step="measure", too_risky=("gp3", 1000, 6000, 125)),
        why="A fifth more than the peak of three months is outgrown more often than once in twenty.",
    ),
    Scene(
        name="gp2-in-a-local-zone",
        spec=gp2(500),
        does=day(50, 300),
        zone="us-east-1-bos-1a",
        right=insufficient(step="unknown", saved=0.0, codes=("other-market",), without=("few-hours", "no-price")),
        why="What is sold there, and for how much, is not known: no command and no saving.",
    ),
    Scene(
        name="gp3-in-the-state-error",
        spec=gp3(500, 6000),
        does=None,
        state="error",
        right=insufficient(step="unknown", saved=0.0, codes=("state",), without=("few-hours", "low-coverage")),
        why="It can do nothing; more hours of metrics would not help.",
    ),
    Scene(
        name="gp3-flagged-far-below-its-limit",
        spec=gp3(500),
        does=_flagged,
        right=upgrade(
            ("gp3", 500, 3000, 190),
            -2.6,
            step="throttled",
            codes=("flagged-by-the-cloud", "frequently-throttled"),
            without=("at-ceiling",),
        ),
        why="The check is the evidence, and no minute stood at 125 MiB/s.",
    ),
    Scene(
        name="gp2-larger-than-its-host-can-use",
        spec=gp2(5334),
        does=day(50, 300),
        host="m4.large",
        nitro=False,
        right=migrate(("gp3", 5334, 3000, 125), 106.68, codes=("above-its-host",), without=("waste",)),
        why="gp2 includes its IOPS: none of them is paid for by itself, so none is waste.",
    ),
    Scene(
        name="gp3-cut-where-seconds-are-not-known",
        spec=gp3(500, 16_000, 500),
        does=day(50, 500, iops_exceeded=None, throughput_exceeded=None),
        right=reprovision(("gp3", 500, 3000, 125), 80.0, codes=("bursts-not-known",)),
        why="The checks never came, and not every minute is read: what single seconds asked for is not known.",
    ),
    Scene(
        name="gp3-busy-for-seconds",
        spec=gp3(500, 16_000, 500),
        does=day(50, 500, busy_s=2.0),
        right=reprovision(("gp3", 500, 3000, 125), 80.0),
        why="Two seconds a minute did all of it, at 15,000 IOPS: that such bursts would queue is said.",
    ),
)
