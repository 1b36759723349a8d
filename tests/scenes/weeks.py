"""Our own scenes of what weeks tell: demand that grows, and jobs whose lower ceiling was before the window."""

from typing import Final

import numpy as np

from cloud_simulator.aws.volume_maker import gp3
from tests.scenes.scene import Scene, Was, keep, reprovision, upgrade
from tests.scenes.work import Time, Work


def _growing(now: float, a_day: float, **more: object) -> object:
    """A day's curve, the highest of which has grown by so many IOPS each day to what it is now."""

    def does(t: Time) -> Work:
        highest = now - a_day * (t.ago_h // 24)
        return Work(t.wave(0.4, 1.0) * np.maximum(100.0, highest), io_kib=8, **more)  # type: ignore[arg-type]

    return does


def _grown_past_its_limit(t: Time) -> Work:
    """Grown past 3,000 IOPS lately, which hold back its busiest hours."""
    return Work(np.minimum(t.wave(0.4, 1.0) * (3400 - 25 * (t.ago_h // 24)), 3000), io_kib=8)


def _a_month_ago(hours_before: float, hours_since: float) -> object:
    """Some hours a night at 3,000 IOPS; since it was raised a month ago some at 6,000."""

    def does(t: Time) -> Work:
        before = t.ago_h > RAISED_H
        busy = np.where(before, t.daily(0, hours_before), t.daily(0, hours_since))
        return Work(np.where(busy, np.where(before, 3000.0, 6000.0), 100.0), io_kib=8)

    return does


RAISED_H: Final = 30 * 24

GROWING: Final = (
    Scene(
        name="grows-and-is-too-large",
        spec=gp3(500, 16_000, 125),
        does=_growing(4000, 20),
        right=reprovision(("gp3", 500, 8200, 125), 39.0, says="grow"),
        why="0.6 % more each day are 6,800 in three months, and 8,100 with headroom: 4,800 would soon be too few.",
    ),
    Scene(
        name="grows-and-nobody-keeps-room",
        spec=gp3(500, 16_000, 125),
        does=_growing(4000, 20),
        policy={"growth_days": 0},
        right=reprovision(("gp3", 500, 4800, 125), 56.0),
        why="Who reviews every week may say so, and then pays for what is asked today alone.",
    ),
    Scene(
        name="grows-past-its-limit",
        spec=gp3(500, 3000, 125),
        does=_grown_past_its_limit,
        right=upgrade(("gp3", 500, 8300, 125), -26.5, says="grow"),
        why="Nearly one percent more each day: twice as much in three months. 4,500 would be too few within six weeks.",
    ),
    Scene(
        name="was-larger-once",
        spec=gp3(500, 16_000, 125),
        does=_growing(4000, -20),
        right=reprovision(("gp3", 500, 6800, 125), 46.0),
        why="It shrinks, so no room for growth is kept; what it did three months ago may come again.",
    ),
)

REMEMBERED: Final = (
    Scene(
        name="took-what-it-got-a-month-ago",
        spec=gp3(500, 6000, 125),
        was=Was(spec=gp3(500, 3000, 125), until_h=RAISED_H),
        does=_a_month_ago(4, 2),
        right=keep(says="does no more work a day"),
        why="Four hours at 3,000 became two at 6,000: more would only end it earlier, however long ago that was.",
    ),
    Scene(
        name="took-more-a-month-ago",
        spec=gp3(500, 6000, 125),
        was=Was(spec=gp3(500, 3000, 125), until_h=RAISED_H),
        does=_a_month_ago(8, 8),
        right=upgrade(("gp3", 500, 9000, 125), -15.0),
        why="It took all of the 3,000 more that it was given a month ago, and still stands at its limit.",
    ),
)

SCENES: Final = (*GROWING, *REMEMBERED)
