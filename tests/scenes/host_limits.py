"""Our own scenes: hosts at their baseline without credits, hosts that publish each five minutes, limits that do not
apply, and balances that begin and end with a modification."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from cloud_simulator.aws.volume_maker import gp2, gp3, io
from tests.scenes.scene import Scene, Was, keep, migrate, reprovision, upgrade, wait
from tests.scenes.work import Time, Work, day, flat, job

WORKING: Final = (9.0, 19.0)


def _balances(iops_pct: float, mib_s_pct: float) -> Any:
    """A host that was never asked for more than its maximum, with so much left of its credits in working hours."""

    def measured(t: Time) -> Mapping[str, Any]:
        at = t.daily(*WORKING)
        return {
            "iops_check": 0.0 * t.hour,
            "mib_s_check": 0.0 * t.hour,
            "iops_balance": np.where(at, iops_pct, 100.0),
            "mib_s_balance": np.where(at, mib_s_pct, 100.0),
        }

    return measured


def _throttled_at_the_baseline(t: Time) -> Work:
    held = t.daily(*WORKING)
    return Work(np.where(held, 3600.0, 200.0), iops_exceeded=held)


BASELINE: Final = (
    Scene(
        name="at-the-baseline-of-its-host",
        spec=gp3(500, 16_000, 500),
        host="m5.large",
        does=job(100, 3600, WORKING),
        measured=_balances(0, 100),
        right=reprovision(("gp3", 500, 16_000, 250), 10.0, says="the host was the bottleneck"),
        why="An m5.large without credits carries 3,600 IOPS, and exactly that was done for ten hours a day. What was "
        "wanted is not known: the IOPS stay. 16,000 of 16 KiB are 250 MiB/s.",
    ),
    Scene(
        name="at-the-baseline-of-its-host-by-bytes",
        spec=gp3(500, 6000, 500),
        host="m5.large",
        does=job(10, 309.9, WORKING, io_kib=256),
        measured=_balances(100, 0),
        right=reprovision(("gp3", 500, 3000, 500), 15.0, says="the host was the bottleneck"),
        why="77.5 MiB/s are what the host carries without credits for bytes: the MiB/s stay. At 256 KiB they are 2,000 "
        "IOPS.",
    ),
    Scene(
        name="at-the-baseline-with-credits-left",
        spec=gp3(500, 16_000, 500),
        host="m5.large",
        does=job(100, 3600, WORKING),
        measured=_balances(60, 100),
        right=reprovision(("gp3", 500, 4400, 125), 73.0),
        why="The host could have carried 18,750 in each of these minutes, and AWS measured it: 3,600 is its work.",
    ),
    Scene(
        name="throttled-at-the-baseline-of-its-host",
        spec=gp3(500, 3600, 125),
        host="m5.large",
        does=_throttled_at_the_baseline,
        measured=_balances(0, 100),
        right=keep(says="is the limit"),
        why="The volume is at its ceiling, and so is its host: a faster volume does not help on it.",
    ),
    *(
        Scene(
            name=f"two-at-the-baseline-of-their-host-{part}",
            spec=gp3(500, 16_000, 125),
            host="m5.large",
            host_id="m5-large-of-two",
            does=job(50, 1800, WORKING, io_kib=8),
            measured=_balances(0, 100),
            right=keep(says="is the limit"),
            why="Together they did the 3,600 IOPS that the host carries without credits.",
        )
        for part in "ab"
    ),
)


def _each_fifth_minute(t: Time) -> Work:
    at = t.minute % 5 == 0
    return Work(np.where(at, 4758.0, 0.0), busy_s=np.where(at, 45.0, 0.0))


OLDER: Final[dict[str, Any]] = {"host": "m4.4xlarge", "nitro": False}

STEPS: Final = (
    Scene(
        name="published-each-five-minutes",
        spec=gp2(400),
        host="m4.large",
        nitro=False,
        five_minutes=True,
        does=flat(951.6, busy_s=57.0),
        right=migrate(("gp3", 400, 3000, 125), 8.0, says="one sum each five minutes"),
        why="285,480 operations in five minutes are 951.6 IOPS, not 4,758: it was never throttled.",
    ),
    Scene(
        name="nearly-at-its-ceiling-each-five-minutes",
        spec=io("io1", 400, 1000),
        host="m4.large",
        nitro=False,
        five_minutes=True,
        does=flat(951.6, busy_s=57.0),
        right=migrate(("gp3", 400, 3000, 125), 83.0, says="one sum each five minutes"),
        why="95.2 % in the mean of five minutes: not each of them need have stood at 95 %. Its host carries 54 MiB/s.",
    ),
    Scene(
        name="job-each-five-minutes",
        spec=gp3(500, 10_000, 125),
        does=_each_fifth_minute,
        right=reprovision(("gp3", 500, 5800, 125), 21.0),
        why="The same points, with 60 s of idle time in the four minutes between: 4,758 in that minute.",
        **OLDER,
    ),
    Scene(
        name="as-much-each-five-minutes",
        spec=gp3(500, 10_000, 125),
        five_minutes=True,
        does=flat(951.6, busy_s=20.0),
        right=reprovision(("gp3", 500, 3000, 125), 35.0),
        why="200 s of idle time in one point are more than a minute has: points are of five.",
        **OLDER,
    ),
    Scene(
        name="throttled-and-published-each-five-minutes",
        spec=gp3(500, 3000, 125),
        five_minutes=True,
        does=job(200, 3000, WORKING, busy_s=60.0),
        right=upgrade(("gp3", 500, 4500, 125), -7.5),
        why="The means of five minutes stand at 3,000 for ten hours a day.",
        **OLDER,
    ),
    Scene(
        name="hour-of-work-published-each-five-minutes",
        spec=gp3(500, 10_000, 125),
        five_minutes=True,
        does=job(0, 2900, (9, 10), io_kib=8, busy_s=59.0),
        right=reprovision(("gp3", 500, 3500, 125), 32.5),
        why="It works for one hour a day: 2,900 with headroom are 3,480.",
        **OLDER,
    ),
)


def _throttled_at_four_thousand(t: Time) -> Work:
    held = t.daily(*WORKING)
    return Work(np.where(held, 4000.0, 200.0), io_kib=8, iops_exceeded=None, throughput_exceeded=None)


def _above_the_published(minutes: int) -> Any:
    """4,000 IOPS in so many minutes, where 3,600 are published, and 3,000 in working hours."""

    def does(t: Time) -> Work:
        return Work(np.where(t.once(120, minutes), 4000.0, np.where(t.daily(*WORKING), 3000.0, 100.0)), io_kib=8)

    return does


PREVIOUS: Final[dict[str, Any]] = {"host": "m3.xlarge", "nitro": False}

PUBLISHED: Final = (
    Scene(
        name="throttled-on-a-host-without-optimization",
        spec=gp3(500, 4000, 125),
        does=_throttled_at_four_thousand,
        ebs_optimized=False,
        right=upgrade(("gp3", 500, 6000, 125), -10.0, says="is not switched on"),
        why="An m3.xlarge publishes 4,000 IOPS for EBS optimization, which is off: nobody knows what it carries. The "
        "volume is at its own ceiling.",
        **PREVIOUS,
    ),
    Scene(
        name="throttled-on-a-host-with-optimization",
        spec=gp3(500, 4000, 125),
        does=_throttled_at_four_thousand,
        right=keep(says="is the limit"),
        why="The same with EBS optimization: the host carries 4,000 IOPS, so that a faster volume does not help.",
        **PREVIOUS,
    ),
    Scene(
        name="reduced-on-a-host-without-optimization",
        spec=gp3(500, 16_000, 125),
        does=job(100, 3500, WORKING, io_kib=8),
        ebs_optimized=False,
        right=reprovision(("gp3", 500, 4200, 125), 59.0),
        why="3,500 IOPS with headroom are 4,200: the 4,000 that are published for EBS optimization are no reason to "
        "cut deeper.",
        **PREVIOUS,
    ),
    Scene(
        name="reduced-on-a-host-with-optimization",
        spec=gp3(500, 16_000, 125),
        does=job(100, 3500, WORKING, io_kib=8),
        right=reprovision(("gp3", 500, 4000, 125), 60.0),
        why="The host carries no more than 4,000 IOPS.",
        **PREVIOUS,
    ),
    Scene(
        name="optimization-that-cannot-be-switched-off",
        spec=gp3(500, 16_000, 125),
        host="m4.large",
        nitro=False,
        does=job(100, 3300, WORKING, io_kib=8),
        ebs_optimized=False,
        right=reprovision(("gp3", 500, 3600, 125), 62.0),
        why="An m4 is optimized for EBS whatever the instance says: it carries 3,600 IOPS.",
    ),
    Scene(
        name="three-minutes-above-what-is-published",
        spec=gp3(500, 10_000, 125),
        host="m4.large",
        nitro=False,
        does=_above_the_published(3),
        right=reprovision(("gp3", 500, 4800, 125), 26.0, says="these limits are wrong"),
        why="4,000 IOPS for three minutes are 11 % more than the host is said to carry: so that limit is none.",
    ),
    Scene(
        name="two-minutes-above-what-is-published",
        spec=gp3(500, 10_000, 125),
        host="m4.large",
        nitro=False,
        does=_above_the_published(2),
        right=reprovision(("gp3", 500, 4000, 125), 30.0),
        why="Two minutes may be wrong points. What they had is kept, and the host's 3,600 IOPS stand.",
    ),
)


def _starved_until(hours: float) -> Any:
    """900 IOPS with an empty balance in working hours until it was changed, 1,200 since."""

    def does(t: Time) -> Work:
        before, busy = t.ago_h > hours, t.daily(8, 20)
        iops = np.where(busy, np.where(before, 900.0, 1200.0), 100.0)
        return Work(iops, balance_pct=np.where(before & busy, 0.0, 90.0))

    return does


BALANCES: Final = (
    Scene(
        name="gp2-grown-past-its-credits",
        spec=gp2(1200),
        was=Was(spec=gp2(300), until_h=72),
        does=_starved_until(72),
        right=migrate(("gp3", 1200, 3600, 250), 16.0),
        why="Its balance was 0 every day until it was enlarged three days ago. It has none now, and nobody knows yet "
        "what it needs: gp3 with all that it has costs less.",
    ),
    Scene(
        name="gp2-grown-past-credits-it-never-spent",
        spec=gp2(1200),
        was=Was(spec=gp2(300), until_h=72),
        does=day(100, 400, balance_pct=90.0),
        right=migrate(("gp3", 1200, 3000, 125), 24.0),
        why="Its balance was never spent, and ends with the change: nothing is missing since.",
    ),
    Scene(
        name="gp2-since-three-days",
        spec=gp2(500),
        was=Was(spec=gp3(500, 3000, 125), until_h=72),
        does=day(100, 400, balance_pct=100.0),
        right=migrate(("gp3", 500, 3000, 125), 10.0),
        why="A balance begins with the change to gp2: that there was none before is no gap.",
    ),
    Scene(
        name="gp3-since-it-starved-as-gp2",
        spec=gp3(300, 6000, 250),
        was=Was(spec=gp2(300), until_h=72),
        does=_starved_until(72),
        right=wait("2026-11-24"),
        why="Three days after it was relieved of an empty balance nobody knows its week.",
    ),
    Scene(
        name="gp3-since-it-starved-as-gp2-ten-days-ago",
        spec=gp3(300, 6000, 250),
        was=Was(spec=gp2(300), until_h=240),
        does=_starved_until(240),
        right=reprovision(("gp3", 300, 3000, 125), 20.0),
        why="Ten days without credits to spend show 1,200 IOPS.",
    ),
)

SCENES: Final = (*BASELINE, *STEPS, *PUBLISHED, *BALANCES)
