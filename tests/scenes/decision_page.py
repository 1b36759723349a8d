"""The scenes of the table at the top of docs/decision.md, one row after the other.

Prices are those of us-east-1: gp3 0.08 a GiB, 0.005 an IOPS above 3,000, 0.04 a MiB/s above 125.
"""

from typing import Final

import numpy as np

from cloud_simulator.aws.volume_maker import gp2, gp3, io
from tests.scenes.scene import (
    Scene,
    Was,
    keep,
    migrate,
    reprovision,
    upgrade,
    wait,
)
from tests.scenes.work import Time, Work, day, flat, job

WEEKS_AT_3000_H: Final = 2.0
"""How long ago the volume of the first rows was raised."""


def _raised(raised_h: float, high: float = 5000, *, flags: bool = False) -> object:
    """Demand that stood at 3,000 IOPS until it was raised that many hours ago, and is free since."""

    def does(t: Time) -> Work:
        asked = t.wave(2500, high)
        before = t.ago_h > raised_h
        held = np.where(before, np.minimum(asked, 3000), asked)
        return Work(held, io_kib=8, iops_exceeded=before & (asked > 3000) if flags else False)

    return does


def _old_host(t: Time) -> Work:
    asked = t.wave(1000, 6000)
    return Work(np.where(t.ago_h > 3, np.minimum(asked, 3600), asked))


def _flagged(low: float, high: float, io_kib: float = 16.0) -> object:
    """A curve with one raised check of IOPS, five days ago."""
    return lambda t: Work(t.wave(low, high), io_kib=io_kib, iops_exceeded=t.once(120))


def _outliers(t: Time) -> Work:
    """Eight single minutes of 9,000 IOPS, 40 hours apart."""
    some = np.any([t.once(10 + 40 * number) for number in range(8)], axis=0)
    return Work(np.where(some, 9000.0, 3200.0), io_kib=8)


def _backup(t: Time) -> Work:
    """Two hours at the 125 MiB/s that were bought then; 100 minutes at 155 MiB/s since there is more."""
    before = t.ago_h > 8 * 24
    busy = np.where(before, t.daily(1, 3), t.daily(1, 1 + 100 / 60))
    return Work(np.where(busy, np.where(before, 500.0, 620.0), 100.0), io_kib=np.where(busy, 256.0, 51.2))


def _credits(t: Time) -> Work:
    """Twenty minutes a day at the 3,000 IOPS of a burst."""
    return Work(np.where(t.daily(12, 12 + 20 / 60), 3000.0, 80.0), balance_pct=60.0)


def _busy_third(t: Time) -> Work:
    """A minute a day of 6,000 IOPS, which were done in 20 seconds."""
    spike = t.daily(12, 12 + 1 / 60)
    return Work(np.where(spike, 6000.0, 1000.0), io_kib=4, busy_s=np.where(spike, 20.0, 30.0))


RAISED: Final = (
    Scene(
        name="raised-two-hours-ago",
        spec=gp3(500, 16_000, 125),
        was=Was(spec=gp3(500, 3000, 125), until_h=WEEKS_AT_3000_H),
        does=_raised(WEEKS_AT_3000_H),
        right=wait("2026-11-27"),
        why="Somebody repaired a throttled volume two hours ago; two hours say nothing about a week.",
    ),
    Scene(
        name="raised-with-checks",
        spec=gp3(500, 16_000, 125),
        was=Was(spec=gp3(500, 3000, 125), until_h=WEEKS_AT_3000_H),
        does=_raised(WEEKS_AT_3000_H, flags=True),
        right=wait("2026-11-27"),
        why="The checks belong to the 3,000 of then, not to the 16,000 of now.",
    ),
    Scene(
        name="first-audit-of-4000",
        spec=gp3(500, 3000, 125),
        does=_raised(0, 4000),
        right=upgrade(("gp3", 500, 4500, 125), -7.5),
        why="It stands at 3,000 for hours every day; what it would do is unknown, so one step up.",
    ),
    Scene(
        name="second-audit-of-4000",
        spec=gp3(500, 4500, 125),
        was=Was(spec=gp3(500, 3000, 125), until_h=7 * 24),
        does=_raised(7 * 24, 4000),
        right=keep(),
        why="The week at 4,500 shows 4,000: it is repaired, and the week before is explained by the old limit.",
    ),
    Scene(
        name="third-audit-of-4000",
        spec=gp3(500, 4500, 125),
        was=Was(spec=gp3(500, 3000, 125), until_h=14 * 24),
        does=_raised(14 * 24, 4000),
        right=keep(),
        why="Nothing has changed since the second audit.",
    ),
    Scene(
        name="larger-host-today",
        spec=gp3(1000, 16_000, 500),
        does=_old_host,
        attached_h=3,
        right=wait("2026-11-27"),
        why="The plateau is the old host's limit, and three hours on the new one say nothing about a week.",
    ),
)

REST: Final = (
    Scene(
        name="backup-bound-by-throughput",
        spec=gp3(500, 16_000, 125),
        does=lambda t: Work(np.where(t.daily(1, 3), 500.0, 100.0), io_kib=np.where(t.daily(1, 3), 256.0, 51.2)),
        right=upgrade(("gp3", 500, 3000, 190), 62.4),
        why="The backup gets room, and half as many IOPS again as it has; nobody asked for the other 13,000.",
    ),
    Scene(
        name="backup-with-room",
        spec=gp3(500, 16_000, 190),
        was=Was(spec=gp3(500, 16_000, 125), until_h=8 * 24),
        does=_backup,
        right=reprovision(("gp3", 500, 3000, 190), 65.0),
        why="A settled week shows 155 MiB/s and 620 IOPS: nobody needs the other 13,000.",
    ),
    Scene(
        name="one-flag-on-io2",
        spec=io("io2", 1000, 64_000),
        host="m5.24xlarge",
        does=_flagged(500, 2000),
        right=migrate(("gp3", 1000, 64_000, 1000), 3241.0, frontier={5: 80.0}),
        why="gp3 carries even that minute; whether the minute is worth $340 a month is the reader's to say.",
    ),
    Scene(
        name="one-flag-on-io2-alone",
        spec=io("io2", 1000, 64_000),
        host="m5.24xlarge",
        does=_flagged(500, 2000),
        policy={"target_types": ["io2"]},
        right=keep(frontier={5: 281.0}),
        why="Of io2 nothing smaller carries the flagged minute; the frontier shows that it costs $3,380 a month.",
    ),
    Scene(
        name="one-flag-of-small-operations",
        spec=gp3(500, 16_000, 1000),
        does=_flagged(1280, 1280),
        right=reprovision(("gp3", 500, 16_000, 250), 30.0),
        why="The flag is about IOPS; 16,000 operations of its size are 250 MiB/s.",
    ),
    Scene(
        name="eight-outliers",
        spec=io("io2", 500, 12_000),
        does=_outliers,
        right=migrate(("gp3", 500, 10_800, 125), 763.5),
        why="Nothing may be throttled: the outliers with headroom.",
    ),
    Scene(
        name="eight-outliers-tolerated",
        spec=io("io2", 500, 12_000),
        does=_outliers,
        policy={"throttle_budget_min": 60},
        right=migrate(("gp3", 500, 5600, 125), 789.5),
        why="28 minutes may be throttled: 5,600 IOPS end each outlier in three, less than a minute late.",
    ),
    *(
        Scene(
            name=f"small-host-{part}",
            spec=gp3(500, 3000, 125),
            host="m4.4xlarge",
            nitro=False,
            host_id="small-host",
            does=job(40, 476.8, (9, 17), io_kib=256, iops_exceeded=None, throughput_exceeded=None),
            right=keep(says="host"),
            why="Two volumes of 119.2 MiB/s are all that the host's 238.4 let pass: a larger volume does not help.",
        )
        for part in "ab"
    ),
    Scene(
        name="living-on-credits",
        spec=gp2(100),
        does=_credits,
        right=migrate(("gp3", 100, 3000, 130), 1.8, relief=("gp3", 100, 4500, 125)),
        why="The same burst without credits costs less; more than the burst is priced beside it.",
    ),
    Scene(
        name="month-end-batch",
        spec=gp3(500, 16_000, 125),
        does=lambda t: Work(np.where(t.once(20 * 24, 120), 15_000.0, 1000.0), io_kib=8),
        right=keep(),
        why="The batch of 20 days ago comes again in ten.",
    ),
    Scene(
        name="multi-attach-io1",
        spec=io("io1", 500, 8000),
        hosts=2,
        does=day(100, 900),
        right=migrate(("io2", 500, 1100, None), 448.5, blocked=True),
        why="io2 is cheaper, but the type of a Multi-Attach volume cannot be modified.",
    ),
    Scene(
        name="multi-attach-io2",
        spec=io("io2", 500, 8000),
        hosts=2,
        does=day(100, 900),
        right=reprovision(("io2", 500, 1100, None), 448.5, blocked=False),
        why="The IOPS of a Multi-Attach io2 volume can be modified, and the type stays.",
    ),
    Scene(
        name="a-series-absent",
        spec=gp2(500),
        does=flat(400, lacking=("write_bytes",)),
        right=migrate(("gp3", 500, 3000, 250), 5.0, step="safe", losses=(), codes=("disputed", "needs-no-metrics")),
        why="Operations without bytes were not observed. What keeps all limits needs none of them.",
    ),
    Scene(
        name="busier-than-it-can",
        spec=gp3(1000, 10_000, 125),
        does=_busy_third,
        policy={"size_on": "busy-time"},
        right=keep(),
        why="6,000 IOPS in a third of a minute would be 18,000, but it cannot have done more than 10,000.",
    ),
    Scene(
        name="no-check-on-a-busy-volume",
        spec=gp3(500, 10_000, 125),
        does=day(200, 4000, io_kib=8, iops_exceeded=None, throughput_exceeded=None),
        right=reprovision(("gp3", 500, 4800, 125), 26.0, says="burst"),
        why="Minutes say 4,000; whether seconds were held back is unknown, and the answer must say so.",
    ),
)

SCENES: Final = (*RAISED, *REST)
