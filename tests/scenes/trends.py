"""Scenes of demand that rises before ten weeks have proved it, and of what only looks as if it did."""

from typing import Final

import numpy as np

from cloud_simulator.aws.volume_maker import gp3, io
from tests.scenes.scene import Scene, migrate, reprovision, upgrade, wait
from tests.scenes.work import Does, Time, Work

LARGE: Final = gp3(500, 16_000, 125)
"""$105 a month; 100 IOPS above 3,000 are 50 cents of that."""

NEXT_AUDIT: Final = "2026-11-27"


def _ramp(now: float, a_day: float, age_days: float = 1000, share: float = 0.6) -> Does:
    """A day's curve, the highest of which rises by so many IOPS a day to what it is now."""

    def does(t: Time) -> Work:
        highest = np.maximum(100.0, now - a_day * (t.ago_h // 24))
        return Work(t.wave(share, 1.0) * highest, io_kib=4, present=t.ago_h <= 24 * age_days)

    return does


def _in_steps(now: float, times: float, steps: int) -> Does:
    """Flat for months, then so many times the week before in each of the last weeks."""

    def does(t: Time) -> Work:
        weeks_ago = np.minimum(t.ago_h // 168, steps)
        return Work(t.wave(0.6, 1.0) * now / times**weeks_ago, io_kib=4)

    return does


def _on_days(days: tuple[int, ...], high: float, low: float) -> Does:
    """High on some weekdays (Monday is 0), low on the others."""
    return lambda t: Work(t.wave(0.6, 1.0) * np.where(np.isin((t.day - 4) % 7, days), high, low), io_kib=4)


def _month_ends(t: Time) -> Work:
    """5,000 IOPS for three hours on the last and the first days of months, and a few hundred otherwise."""
    ends = np.isin(t.day, [day for day in range(20_000, 21_000) if _day_of_month(day) in (30, 31, 1)])
    return Work(np.where(ends & t.daily(2, 5), 5000.0, t.wave(300, 600)), io_kib=4)


def _day_of_month(day: int) -> int:
    return int(str(np.datetime64(int(day), "D"))[-2:])


def _step_up(days_ago: float, low: float, high: float) -> Does:
    return lambda t: Work(t.wave(0.6, 1.0) * np.where(t.ago_h < 24 * days_ago, high, low), io_kib=4)


def _throttled_and_rising(t: Time) -> Work:
    """3,000 small operations in the morning, and an hour of loading that moves 5 MiB/s more each day, 100 today."""
    loads, morning = t.daily(20, 21), t.daily(9, 12)
    loaded_mib_s = np.maximum(10.0, 100.0 - 5 * (t.ago_h // 24))
    iops = np.where(loads, 4 * loaded_mib_s, np.where(morning, 3000.0, 100.0))
    return Work(iops, io_kib=np.where(loads, 256.0, 2.0))


FROM_THE_RULE: Final = (
    Scene(
        name="relief-lowers-nothing-that-rises",
        spec=gp3(500, 3000, 500),
        does=_throttled_and_rising,
        right=upgrade(("gp3", 500, 4500, 500), -7.5, step="throttled", without=("too-risky",)),
        why="IOPS are what it lacks. Of MiB/s 125 would do today, and not in a week.",
    ),
    Scene(
        name="ramp-of-a-month",
        spec=LARGE,
        does=_ramp(6000, 200, 30),
        created_h=30 * 24,
        attached_h=30 * 24,
        right=wait(NEXT_AUDIT, says="demand rises"),
        why="200 more each day pass 7,200 within a week.",
    ),
    Scene(
        name="half-more-in-each-of-three-weeks",
        spec=LARGE,
        does=_in_steps(6750, 1.5, 3),
        right=wait(NEXT_AUDIT, says="demand rises"),
        why="Next week asks for 10,000, and 8,100 do not carry that.",
    ),
    Scene(
        name="weekends",
        spec=LARGE,
        does=_on_days((0, 1, 2, 3, 4), 4000, 800),
        right=reprovision(("gp3", 500, 4800, 125), 56.0),
        why="Every Monday is higher than the Sunday before it.",
    ),
    Scene(
        name="weekly-batch",
        spec=LARGE,
        does=_on_days((3,), 4000, 500),
        right=reprovision(("gp3", 500, 4800, 125), 56.0),
        why="It runs every Thursday, as it did yesterday.",
    ),
    Scene(
        name="month-ends",
        spec=LARGE,
        does=_month_ends,
        right=reprovision(("gp3", 500, 6000, 125), 50.0),
        why="What it does at a month's end is carried with headroom, and nothing rises.",
    ),
)

OUR_OWN: Final = (
    Scene(
        name="slow-rise-within-headroom",
        spec=LARGE,
        does=_ramp(5000, 15, 40),
        created_h=40 * 24,
        attached_h=40 * 24,
        right=reprovision(("gp3", 500, 8800, 125), 36.0, says="grow"),
        why="15 a day are 210 in two weeks: 6,000 carry that, and four weeks tell of room for more.",
    ),
    Scene(
        name="rises-far-below-what-is-free",
        spec=LARGE,
        does=_ramp(600, 30, 25),
        created_h=25 * 24,
        attached_h=25 * 24,
        right=reprovision(("gp3", 500, 3000, 125), 65.0),
        why="It doubles in three weeks, and the least that is sold carries that.",
    ),
    Scene(
        name="rises-and-a-replacement-keeps-all",
        spec=io("io1", 500, 10_000),
        does=_ramp(6000, 200, 30),
        created_h=30 * 24,
        attached_h=30 * 24,
        right=migrate(("gp3", 500, 10_000, 500), 622.5),
        why="gp3 with the same figures takes nothing from what rises.",
    ),
    Scene(
        name="stepped-up-four-days-ago",
        spec=LARGE,
        does=_step_up(4, 1500, 4000),
        right=wait(NEXT_AUDIT, says="demand rises"),
        why="A step and a ramp look alike for a week.",
    ),
    Scene(
        name="stepped-up-twelve-days-ago",
        spec=LARGE,
        does=_step_up(12, 1500, 4000),
        right=reprovision(("gp3", 500, 4800, 125), 56.0),
        why="It stood still for eleven days since.",
    ),
    Scene(
        name="falls",
        spec=LARGE,
        does=_ramp(3000, -150, 25),
        created_h=25 * 24,
        attached_h=25 * 24,
        right=reprovision(("gp3", 500, 6500, 125), 47.5),
        why="It falls; what it did since its first week is carried with headroom.",
    ),
    Scene(
        name="only-seen-for-nine-days",
        spec=LARGE,
        does=_ramp(1000, 0, 9),
        created_h=9 * 24,
        attached_h=9 * 24,
        right=reprovision(("gp3", 500, 3000, 125), 65.0, says="one week only"),
        why="A week is enough, and the answer says that it was no more.",
    ),
)

SCENES: Final = (*FROM_THE_RULE, *OUR_OWN)
