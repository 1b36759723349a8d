"""Our own scenes: each resource by itself, what a host cannot carry, what needs no metrics, larger sizes, idleness."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from cloud_simulator.aws.volume_maker import gp2, gp3, io
from plimsoll.model.volume import VolumeSpec
from tests.scenes.scene import Right, Scene, Was, insufficient, keep, migrate, reprovision, upgrade
from tests.scenes.work import Does, Flags, Time, Work, day


def _since(does: Does, made_h: float) -> Does:
    """What a volume did since it was made."""
    return lambda t: replace(does(t), present=t.ago_h < made_h)


def _until_stopped(does: Does, stopped_h: float) -> Does:
    """What a host did until it was stopped."""
    return lambda t: replace(does(t), present=t.ago_h > stopped_h)


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
        name="gp3-whose-throughput-stays-between-two-steps",
        spec=gp3(500, 12_000, 593),
        does=_both(1000, 560),
        host="r5b.24xlarge",
        right=reprovision(("gp3", 500, 3000, 593), 45.0, codes=("stays-as-it-is",)),
        why="595 MiB/s would be more than today: 593 stay as they are, and 9,000 IOPS are not used.",
    ),
    Scene(
        name="gp3-whose-iops-stay-between-two-steps",
        spec=gp3(500, 11_175, 500),
        does=_both(10_400, 162),
        host="r5b.24xlarge",
        right=reprovision(("gp3", 500, 11_175, 195), 12.2, codes=("stays-as-it-is",)),
        why="11,200 IOPS would be more than today: 11,175 stay as they are. 162 MiB/s with headroom are 195.",
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
)

XEN: Final[dict[str, Any]] = {"host": "m4.large", "nitro": False}
FAST: Final = io("io1", 2000, 64_000)
CAPPED: Final = migrate(
    ("gp3", 2000, 3600, 125),
    4247.0,
    step="trade",
    losses=("consistency", "larger-host", "larger-host"),
    codes=("same-limits", "full-limits"),
    full=("gp3", 2000, 64_000, 1000),
)
WHOLE: Final = migrate(("gp3", 2000, 64_000, 1000), 3910.0, step="trade", losses=("consistency",))

HOSTS: Final = (
    Scene(
        name="io1-far-above-its-host",
        spec=FAST,
        does=day(100, 2000),
        right=CAPPED,
        why="An m4.large carries 3,600 IOPS: 64,000 are not bought again. All of them on a larger host would be $500.",
        **XEN,
    ),
    Scene(
        name="io2-on-the-largest-xen",
        spec=io("io2", 1000, 60_000),
        does=day(2000, 30_000, io_kib=32),
        host="m4.16xlarge",
        nitro=False,
        right=migrate(
            ("gp3", 1000, 32_000, 1195),
            3211.2,
            step="trade",
            losses=("latency-class", "durability", "consistency", "larger-host", "larger-host"),
        ),
        why="Its host carries 32,000 of its IOPS and 1,192 MiB/s, and gp3 has both.",
    ),
    Scene(
        name="io1-far-above-the-host-it-was-moved-to",
        spec=FAST,
        does=day(100, 2000),
        host_was=("m5.24xlarge", 300.0),
        right=Right(action=("migrate", "wait")),
        why="The host was larger, and may be again: nothing is taken from its limits.",
        **XEN,
    ),
    Scene(
        name="io1-far-above-its-host-of-a-module",
        spec=FAST,
        does=day(100, 2000),
        module="fast-disks",
        right=WHOLE,
        why="A template makes such volumes for other hosts too: its replacement keeps all limits.",
        **XEN,
    ),
    Scene(
        name="io1-far-above-a-host-without-known-limits",
        spec=FAST,
        does=day(100, 2000),
        host="m3.xlarge",
        nitro=False,
        ebs_optimized=False,
        right=migrate(
            ("gp3", 2000, 32_000, 500),
            4090.0,
            losses=("consistency", "larger-host", "larger-host"),
            without=("full-limits",),
        ),
        why="What such a host carries is not known: nothing is cut to it. On no Xen host does io1 do more than 32,000.",
    ),
    Scene(
        name="gp3-above-its-hosts-throughput",
        spec=gp3(500, 16_000, 1000),
        does=day(1000, 15_000, io_kib=38),
        host="m5.large",
        measured=lambda t: {
            "iops_check": 0 * t.hour,
            "mib_s_check": 0 * t.hour,
            "iops_balance": 60 + 0 * t.hour,
            "mib_s_balance": 60 + 0 * t.hour,
        },
        right=reprovision(("gp3", 500, 16_000, 570), 17.2, codes=("stays-as-it-is",)),
        why="15,000 IOPS of 16,000 are used, so that these stay. Of its MiB/s as many as the host carries.",
    ),
)

UNKNOWN: Final = (
    Scene(
        name="gp2-of-a-few-hours",
        spec=gp2(500),
        does=_since(day(50, 300), 8.0),
        created_h=8.0,
        attached_h=8.0,
        right=migrate(("gp3", 500, 3000, 250), 5.0, step="safe", losses=(), codes=("drop-in", "few-hours")),
        why="gp3 keeps all that gp2 has: no metric is needed for that.",
    ),
    Scene(
        name="io2-on-a-stopped-host",
        spec=io("io2", 1000, 20_000),
        does=_until_stopped(day(500, 9000), 400.0),
        stopped_h=400.0,
        right=insufficient(step="unknown", codes=("host-stopped",)),
        why="gp3 has no 4,000 MiB/s, and a stopped host takes nothing from its limits: nothing cheaper keeps all.",
    ),
    Scene(
        name="io1-on-a-stopped-host",
        spec=FAST,
        does=_until_stopped(day(500, 9000), 400.0),
        stopped_h=400.0,
        right=migrate(
            ("gp3", 2000, 64_000, 1000), 3910.0, step="trade", losses=("consistency",), codes=("host-stopped",)
        ),
        why="The replacement keeps every limit, whatever host it starts on again.",
        **XEN,
    ),
    Scene(
        name="gp2-that-is-disputed",
        spec=gp2(500),
        does=lambda t: Work(t.wave(50, 300), lacking=("write_ops",)),
        right=migrate(("gp3", 500, 3000, 250), 5.0, step="safe", losses=(), codes=("drop-in", "disputed")),
        why="Bytes were written, and no operations: what it did is disputed, and the replacement asks for none of it.",
    ),
    Scene(
        name="gp2-of-a-few-hours-in-a-modification",
        spec=gp2(500),
        does=_since(day(50, 300), 8.0),
        was=Was(spec=gp2(400), until_h=2.0, modifying=True),
        created_h=8.0,
        attached_h=8.0,
        right=insufficient(step="unknown", codes=("few-hours",)),
        why="In the middle of a modification no other can begin.",
    ),
    Scene(
        name="standard-of-a-few-hours",
        spec=VolumeSpec(type="standard", size_gib=100),
        does=_since(day(5, 30), 8.0),
        created_h=8.0,
        attached_h=8.0,
        right=insufficient(step="unknown", codes=("few-hours",)),
        why="It is billed by the operation: what it costs a month is not known.",
    ),
)

OLD: Final = 400 * 24.0


def _idle_for(days: float, *, woke: Callable[[Time], Flags] | None = None) -> Does:
    """Busy until so many days ago, and in some minutes since."""

    def work(t: Time) -> Work:
        busy = t.ago_h > 24 * days
        return Work(np.where(busy if woke is None else busy | woke(t), 60.0, 0.0), io_kib=8.0)

    return work


def _idle(name: str, does: Does, why: str, *, is_idle: bool, **more: Any) -> Scene:
    said: dict[str, Any] = {"codes": ("idle",)} if is_idle else {"without": ("idle",)}
    right = Right(action=("keep",), **said)
    return Scene(
        name=name, spec=gp3(500), does=does, right=right, why=why, **{"created_h": OLD, "attached_h": OLD} | more
    )


IDLE: Final = (
    _idle("idle-for-months", _idle_for(120), "Zero points for 120 days, attached to a host that runs.", is_idle=True),
    _idle(
        "wakes-at-the-quarters-end",
        _idle_for(120, woke=lambda t: (t.day == 20_726) & t.daily(3, 4)),
        "On 30 September it worked for an hour: that is what it is kept for.",
        is_idle=False,
    ),
    _idle("idle-for-twenty-days", _idle_for(20), "Thirty days are asked for.", is_idle=False),
    _idle(
        "idle-for-twenty-days-of-an-impatient-owner",
        _idle_for(20, woke=None),
        "It worked around the end of September, 51 days ago: its quarter's end was not idle.",
        is_idle=False,
        policy={"idle_days": 10},
    ),
    _idle(
        "idle-with-a-week-unknown",
        lambda t: replace(_idle_for(120)(t), present=(t.ago_h < 480) | (t.ago_h > 648)),
        "Of a week nothing was received: unknown days are not zero.",
        is_idle=False,
    ),
    _idle(
        "idle-since-it-was-made",
        _idle_for(1000),
        "It is 45 days old, and did nothing in the 38 that count.",
        is_idle=True,
        created_h=45 * 24.0,
        attached_h=45 * 24.0,
    ),
    _idle(
        "stands-by-for-another",
        _idle_for(1000),
        "It takes over from another when that fails: never idle.",
        is_idle=False,
        takeover="stands-by",
        tags={"plimsoll:takeover": "stands-by"},
    ),
    Scene(
        name="works-while-another-stands-by",
        spec=gp3(500),
        does=day(100, 2000),
        right=keep(without=("idle",)),
        why="It carries its work.",
        takeover="stands-by",
        tags={"plimsoll:takeover": "stands-by"},
    ),
)

SCENES: Final = (*EACH_BY_ITSELF, *LARGER, *HOSTS, *UNKNOWN, *IDLE)
