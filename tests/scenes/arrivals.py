"""Scenes of what was not seen through a week: new volumes, those that were attached or moved lately, and nodes."""

from typing import Final

import numpy as np

from cloud_simulator.aws.volume_maker import gp3, io
from tests.scenes.scene import Right, Scene, insufficient, keep, migrate, reprovision, upgrade, wait
from tests.scenes.work import Does, Time, Work, flat

LARGE: Final = gp3(500, 16_000, 500)
"""$120 a month; what carries a few hundred IOPS is $40."""


def _since(hours: float, iops: float) -> Does:
    return lambda t: Work(np.full(t.minute.shape, iops), present=t.ago_h <= hours)


def _by_day(first: float, last: float, iops: float) -> Does:
    """Only between two hours of the day; outside of them it is attached to nothing, or its host is stopped."""
    return lambda t: Work(np.full(t.minute.shape, iops), present=t.daily(first, last))


def _starved(t: Time) -> Work:
    """At 3,000 IOPS by day since it was made two days ago."""
    return Work(np.where(t.daily(8, 20), 3000.0, 500.0), io_kib=8, iops_exceeded=t.daily(8, 20), present=t.ago_h <= 48)


FROM_THE_RULE: Final = (
    Scene(
        name="31-hours-old",
        spec=LARGE,
        does=_since(31, 100),
        created_h=31,
        attached_h=31,
        right=wait("2026-11-26", says="it was created on 19 november 2026"),
        why="31 hours of 100 IOPS say nothing of its first Monday.",
    ),
    Scene(
        name="detached-for-months",
        spec=LARGE,
        does=_since(40, 100),
        created_h=365 * 24,
        attached_h=40,
        right=wait("2026-11-25", says="it was attached on 18 november 2026"),
        why="Somebody needs it again, and what for has been seen for two days. Its age says nothing.",
    ),
    Scene(
        name="host-stops-every-night-for-400-days",
        spec=LARGE,
        does=_by_day(6, 20, 200),
        created_h=400 * 24,
        attached_h=400 * 24,
        launched_h=3.5,
        right=reprovision(("gp3", 500, 3000, 125), 80.0),
        why="A stop and a start is no new host.",
    ),
)

OUR_OWN: Final = (
    Scene(
        name="attached-every-night-for-its-job",
        spec=LARGE,
        does=_by_day(2, 10, 2000),
        created_h=300 * 24,
        attached_h=7.5,
        launched_h=8,
        right=reprovision(("gp3", 500, 3000, 125), 80.0),
        why="It comes at two o'clock every night, and has been seen doing so for two weeks.",
    ),
    Scene(
        name="came-to-another-host",
        spec=LARGE,
        does=flat(100),
        created_h=300 * 24,
        attached_h=40,
        right=wait("2026-11-25", says="it moved on 18 november 2026 to m5.4xlarge, a type of host"),
        why="Nobody knows on what type of host it was; the new one may do more with it.",
    ),
    Scene(
        name="first-attached-after-weeks",
        spec=LARGE,
        does=_since(70, 100),
        created_h=25 * 24,
        attached_h=70,
        right=wait("2026-11-24", says="it was attached on 17 november 2026"),
        why="It was made weeks ago and lay about; it has worked for three days.",
    ),
    Scene(
        name="new-and-a-replacement-keeps-all",
        spec=io("io1", 1000, 8000),
        does=_since(120, 100),
        created_h=120,
        attached_h=120,
        right=migrate(("gp3", 1000, 8000, 500), 525.0),
        why="gp3 with the same figures takes nothing away, whatever next week asks for.",
    ),
    Scene(
        name="new-and-throttled",
        spec=gp3(500, 3000, 125),
        does=_starved,
        created_h=48,
        attached_h=48,
        right=upgrade(("gp3", 500, 4500, 125), -7.5),
        why="Relief does not wait for a week to pass.",
    ),
    Scene(
        name="new-by-a-shorter-rule",
        spec=LARGE,
        does=_since(100, 100),
        created_h=100,
        attached_h=100,
        policy={"settle_days": 3},
        right=reprovision(("gp3", 500, 3000, 125), 80.0),
        why="Who says that three days are enough has seen four.",
    ),
    Scene(
        name="new-and-small-enough",
        spec=gp3(500, 3000, 125),
        does=_since(60, 100),
        created_h=60,
        attached_h=60,
        right=keep(),
        why="Nothing is cheaper, now or next week.",
    ),
)


def _node(group: str, number: int, age_h: float, right: Right, why: str) -> Scene:
    return Scene(
        name=f"{group}-{number}",
        spec=gp3(100, 6000, 250),
        does=_since(age_h, 150 + number),
        created_h=age_h,
        attached_h=age_h,
        group=group,
        right=right,
        why=why,
    )


def _of_14_days(number: int) -> Scene:
    """Nodes of one group live 14 days each; one is replaced about every 17 hours."""
    age_h = 16.8 * number - 5
    if age_h < 30:  # min_hours
        return _node("workers", number, age_h, insufficient(), "Hours are no answer of its own.")
    if age_h < 7 * 24:
        return _node("workers", number, age_h, wait(None), "It has not been seen through a week.")
    return _node("workers", number, age_h, reprovision(("gp3", 100, 3000, 125), 20.0), "It has.")


NODES: Final = (
    *(_of_14_days(number) for number in range(1, 21)),
    *(_node("fresh", number, 40, wait("2026-11-25"), "It has not been seen through a week.") for number in range(1, 5)),
)

SCENES: Final = (*FROM_THE_RULE, *OUR_OWN, *NODES)

CHANGES: Final = {
    # All that the nodes of two weeks show together is many days; each was $28 and is $8.
    "workers": {"target": ("gp3", 3000, 125), "volumes": 20, "saved": 400.0},
    # Four nodes of 40 hours are 160 hours, which is less than a week.
    "fresh": None,
}
