"""Our own scenes: resized, replaced, young and restored volumes, and jobs that take what they get."""

from typing import Final

import numpy as np

from cloud_simulator.aws.volume_maker import gp2, gp3, io
from tests.scenes.scene import Scene, Was, keep, migrate, reprovision, upgrade, wait
from tests.scenes.work import Time, Work, day, flat


def _free_since(raised_h: float, low: float, high: float, iops: float, **more: object) -> object:
    """A curve that was held to some IOPS until that many hours ago."""

    def does(t: Time) -> Work:
        asked = t.wave(low, high)
        return Work(np.where(t.ago_h > raised_h, np.minimum(asked, iops), asked), **more)  # type: ignore[arg-type]

    return does


def _cut_too_far(t: Time) -> Work:
    """5,000 IOPS a day, held to 3,000 for the last 26 hours."""
    return Work(np.where(t.ago_h > 26, t.wave(500, 5000), np.minimum(t.wave(500, 5000), 3000)))


def _starved_then_grown(t: Time) -> Work:
    """900 IOPS with an empty balance in working hours, until it was grown yesterday."""
    before = t.ago_h > 24
    held = before & t.daily(8, 20)
    free = np.where(t.daily(8, 20), 1200.0, 100.0)
    return Work(np.where(held, 900.0, free), balance_pct=np.where(held, 0.0, 90.0))


def _throughput_raised(t: Time) -> Work:
    before = t.ago_h > 48
    return Work(np.where(t.daily(9, 17), np.where(before, 500.0, 600.0), 50.0), io_kib=256)


def _stops_every_night(t: Time) -> Work:
    return Work(t.wave(200, 400), present=t.daily(6, 20))


def _initial_reads(hours: float, restored_h: float, iops: float, io_kib: float) -> object:
    """Heavy reads for some hours after it was restored, then little."""

    def does(t: Time) -> Work:
        first = t.ago_h > restored_h - hours
        return Work(
            np.where(first, iops, 800.0),
            io_kib=np.where(first, io_kib, 16.0),
            read_share=np.where(first, 1.0, 0.5),
            present=t.ago_h <= restored_h,
        )

    return does


def _since(hours: float, iops: float) -> object:
    return lambda t: Work(np.full(t.minute.shape, iops), present=t.ago_h <= hours)


def _takes_what_it_gets(t: Time) -> Work:
    """The same bytes every night: four hours at 3,000 IOPS, two hours at 6,000 since it was raised."""
    before = t.ago_h > 8 * 24
    busy = np.where(before, t.daily(0, 4), t.daily(0, 2))
    return Work(np.where(busy, np.where(before, 3000.0, 6000.0), 100.0))


def _takes_more(t: Time) -> Work:
    """Eight hours a day at 3,000 IOPS, then eight hours a day at 6,000."""
    before = t.ago_h > 8 * 24
    return Work(np.where(t.daily(9, 17), np.where(before, 3000.0, 6000.0), 100.0), io_kib=8)


RESIZED: Final = (
    Scene(
        name="only-grown",
        spec=gp3(500, 6000, 250),
        was=Was(spec=gp3(250, 6000, 250), until_h=24),
        does=day(100, 1000),
        right=reprovision(("gp3", 500, 3000, 125), 20.0),
        why="It was given room for files, not speed; its limits are what they were.",
    ),
    Scene(
        name="gp2-grown-and-never-held-back",
        spec=gp2(1000),
        was=Was(spec=gp2(500), until_h=24),
        does=day(100, 400),
        right=migrate(("gp3", 1000, 3000, 125), 20.0),
        why="The baseline rose with the size, but 400 IOPS never stood at the old one.",
    ),
    Scene(
        name="gp2-grown-after-starving",
        spec=gp2(600),
        was=Was(spec=gp2(300), until_h=24),
        does=_starved_then_grown,
        right=migrate(("gp3", 600, 3000, 250), 7.0),
        why="What it needs is not known yet, so nothing is given up: gp3 with all that it has now costs less.",
    ),
    Scene(
        name="cut-too-far-yesterday",
        spec=gp3(500, 3000, 125),
        was=Was(spec=gp3(500, 6000, 125), until_h=26),
        does=_cut_too_far,
        right=upgrade(("gp3", 500, 6000, 125), -15.0),
        why="It did 5,000 before the cut and is throttled since; relief does not wait.",
    ),
    Scene(
        name="gp3-for-ten-days",
        spec=gp3(500, 3000, 125),
        was=Was(spec=gp2(500), until_h=240),
        does=day(200, 1000),
        right=keep(),
        why="There is nothing cheaper.",
    ),
    Scene(
        name="in-the-middle-of-a-change",
        spec=io("io2", 800, 12_000),
        was=Was(spec=io("io2", 800, 8000), until_h=2, modifying=True),
        does=day(150, 900),
        right=wait(None),
        why="A change goes on; nothing can be judged and nothing can be changed until it has ended.",
    ),
    Scene(
        name="raised-eight-days-ago",
        spec=gp3(500, 16_000, 125),
        was=Was(spec=gp3(500, 3000, 125), until_h=8 * 24),
        does=_free_since(8 * 24, 2500, 5000, 3000, io_kib=8),
        right=reprovision(("gp3", 500, 6000, 125), 50.0),
        why="Every weekday has been seen at 16,000, and 5,000 were the most.",
    ),
    Scene(
        name="raised-without-need",
        spec=gp3(500, 10_000, 125),
        was=Was(spec=gp3(500, 3000, 125), until_h=72),
        does=day(100, 1000),
        right=reprovision(("gp3", 500, 3000, 125), 35.0, says="reverts that"),
        why="The old limit never held it back, so two weeks of demand are what they seem.",
    ),
    Scene(
        name="lowered-five-days-ago",
        spec=gp3(500, 6000, 125),
        was=Was(spec=gp3(500, 16_000, 125), until_h=120),
        does=day(100, 3000, io_kib=8),
        right=reprovision(("gp3", 500, 3600, 125), 12.0),
        why="Nothing stood at either limit.",
    ),
    Scene(
        name="throughput-raised-two-days-ago",
        spec=gp3(500, 10_000, 500),
        was=Was(spec=gp3(500, 10_000, 125), until_h=48),
        does=_throughput_raised,
        right=wait("2026-11-25"),
        why="Its throughput was repaired on Wednesday; a weekend has to pass first.",
    ),
)

HOSTS: Final = (
    Scene(
        name="host-stops-every-night",
        spec=gp2(500),
        does=_stops_every_night,
        launched_h=3.5,
        right=migrate(("gp3", 500, 3000, 125), 10.0),
        why="The same host, started again each morning.",
    ),
    Scene(
        name="host-replaced-ten-days-ago",
        spec=gp3(1000, 16_000, 500),
        does=day(200, 2000, io_kib=32),
        attached_h=240,
        right=reprovision(("gp3", 1000, 3000, 125), 80.0),
        why="Ten days on this host cover every weekday, and look like the days before.",
    ),
)

YOUNG: Final = (
    Scene(
        name="ten-hours-old",
        spec=gp2(500),
        does=_since(10, 400),
        created_h=10,
        attached_h=10,
        right=migrate(
            ("gp3", 500, 3000, 250), 5.0, step="safe", losses=(), codes=("drop-in", "needs-no-metrics", "few-hours")
        ),
        why="Ten hours are no day, and what keeps all limits needs none.",
    ),
    Scene(
        name="attached-four-hours-ago",
        spec=gp2(500),
        does=_since(4, 400),
        attached_h=4,
        right=migrate(
            ("gp3", 500, 3000, 250), 5.0, step="safe", losses=(), codes=("drop-in", "needs-no-metrics", "few-hours")
        ),
        why="It has only begun to work: its replacement keeps all limits.",
    ),
    Scene(
        name="three-days-old",
        spec=gp2(500),
        does=_since(72, 400),
        created_h=72,
        attached_h=72,
        right=migrate(("gp3", 500, 3000, 250), 5.0, says="it was created on 17 november 2026"),
        why="Three days are no week, so nothing is given up: gp3 with all that it has now costs less.",
    ),
    Scene(
        name="restored-three-days-ago",
        spec=gp3(500, 16_000, 500),
        does=_initial_reads(6, 72, 1600, 256),
        created_h=72,
        attached_h=72,
        restored=True,
        right=wait("2026-11-24"),
        why="Its first reads fetched the snapshot; what it does by itself is seen after a week.",
    ),
    Scene(
        name="restored-nine-days-ago",
        spec=gp3(500, 16_000, 500),
        does=_initial_reads(24, 216, 1600, 256),
        created_h=216,
        attached_h=216,
        restored=True,
        right=reprovision(("gp3", 500, 3000, 125), 80.0),
        why="The 400 MiB/s of the first day were the restore, not the workload.",
    ),
)

JOBS: Final = (
    Scene(
        name="takes-what-it-gets",
        spec=gp3(500, 6000, 125),
        was=Was(spec=gp3(500, 3000, 125), until_h=8 * 24),
        does=_takes_what_it_gets,
        right=keep(),
        why="Twice the speed halved the hours and moved the same bytes: more would only end it earlier.",
    ),
    Scene(
        name="takes-more",
        spec=gp3(500, 6000, 125),
        was=Was(spec=gp3(500, 3000, 125), until_h=8 * 24),
        does=_takes_more,
        right=upgrade(("gp3", 500, 9000, 125), -15.0),
        why="It took all of the 3,000 more and still stands at its limit.",
    ),
)

GAPS: Final = (
    Scene(
        name="a-lost-hour",
        spec=gp2(500),
        does=lambda t: Work(t.wave(200, 400), present=~t.once(50.5, 60)),
        right=migrate(("gp3", 500, 3000, 125), 10.0),
        why="An hour in two weeks was not received; 99.7 % was.",
    ),
    Scene(
        name="a-fifth-lost",
        spec=gp2(500),
        does=lambda t: Work(t.wave(200, 400), present=~t.daily(19, 24)),
        right=migrate(
            ("gp3", 500, 3000, 250), 5.0, step="safe", losses=(), codes=("drop-in", "needs-no-metrics", "low-coverage")
        ),
        why="Every evening is missing, and may be the peak: its replacement keeps all limits.",
    ),
    Scene(
        name="web-without-checks",
        spec=gp3(500, 3000, 125),
        does=flat(500, iops_exceeded=None, throughput_exceeded=None),
        right=keep(),
        why="Nothing is cheaper, whatever the checks would have said.",
    ),
)

SCENES: Final = (*RESIZED, *HOSTS, *YOUNG, *JOBS, *GAPS)
