"""Our own scenes: hosts whose limit CloudWatch measured, with or against what their published limits say."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from cloud_simulator.aws.volume_maker import gp3
from tests.scenes.scene import Scene, keep, reprovision, upgrade
from tests.scenes.work import Time, Work, day


def _throttled_for_a_week(t: Time) -> Work:
    """3,000 IOPS in the last week, at the ceiling; before that, always, just under it."""
    lately = t.ago_h <= 7 * 24
    return Work(np.where(lately, 3000.0, 2800.0), iops_exceeded=lately)


def _throttled_at_ten(t: Time) -> Work:
    """16,000 IOPS from ten to two, at the ceiling."""
    held = t.daily(10, 14)
    return Work(np.where(held, 16_000.0, 2000.0), iops_exceeded=held)


def _throttled_at_nine(t: Time) -> Work:
    """3,000 IOPS from nine to eleven, at the ceiling; 46.9 MiB/s."""
    held = t.daily(9, 11)
    return Work(np.where(held, 3000.0, 200.0), iops_exceeded=held)


def _never(t: Time) -> Mapping[str, Any]:
    """Never exceeded, and credits are left all the time."""
    return {
        "iops_check": 0.0 * t.hour,
        "mib_s_check": 0.0 * t.hour,
        "iops_balance": 60.0 + 0.0 * t.hour,
        "mib_s_balance": 80.0 + 0.0 * t.hour,
    }


def _never_with_gaps(t: Time) -> Mapping[str, Any]:
    """The same, but that nothing was published in the first ten minutes of each hour."""
    return {name: np.where(t.minute % 60 < 10, np.nan, values) for name, values in _never(t).items()}


def _nothing(_t: Time) -> Mapping[str, Any]:
    return {}


def _exceeded(first: float, last: float, side: str) -> Any:
    """A check that is raised between two hours of every day."""

    def measured(t: Time) -> Mapping[str, Any]:
        checks = {"iops_check": 0.0 * t.hour, "mib_s_check": 0.0 * t.hour}
        return {**checks, f"{side}_check": t.daily(first, last).astype(float)}

    return measured


def _only_raised(t: Time) -> Mapping[str, Any]:
    """A check that is published where it is raised, and nowhere else."""
    return {"iops_check": np.where(t.daily(10, 14), 1.0, np.nan)}


def _spent(t: Time) -> Mapping[str, Any]:
    """Never above its maximum, but without credits for bytes from nine to eleven."""
    return {**_never(t), "mib_s_balance": np.where(t.daily(9, 11), 0.0, 80.0)}


SCENES: Final = (
    Scene(
        name="host-measured-never-exceeded",
        spec=gp3(500),
        host="t3.medium",
        does=_throttled_for_a_week,
        measured=_never,
        right=upgrade(("gp3", 500, 4500, 125), -7.5, says="measured that it was not"),
        why="By its published baseline of 2,000 IOPS the host had no credits left. AWS measured that it had: the "
        "volume is the limit.",
    ),
    Scene(
        name="host-not-measured",
        spec=gp3(500),
        host="t3.medium",
        does=_throttled_for_a_week,
        measured=_nothing,
        right=keep(says="is the limit"),
        why="Nothing was measured, so that the published limits stand: the host carries 2,204 IOPS without credits.",
    ),
    Scene(
        name="host-measured-with-gaps",
        spec=gp3(500),
        host="t3.medium",
        does=_throttled_for_a_week,
        measured=_never_with_gaps,
        right=upgrade(("gp3", 500, 4500, 125), -7.5, says="published limits"),
        why="In ten minutes of each hour the published limits stand. In all others AWS measured that the volume is the "
        "limit.",
    ),
    Scene(
        name="host-measured-as-the-limit",
        spec=gp3(500, 16_000, 1000),
        does=_throttled_at_ten,
        measured=_exceeded(10, 14, "iops"),
        right=reprovision(("gp3", 500, 16_000, 300), 28.0, says="the cloud measured this"),
        why="The published 18,750 IOPS leave room. AWS measured that more was asked than the host carries, in every "
        "minute in which the volume was throttled: a larger volume does not help, and none is offered. MiB/s that "
        "nobody uses go.",
    ),
    Scene(
        name="host-says-only-where-it-is-the-limit",
        spec=gp3(500, 16_000, 1000),
        does=_throttled_at_ten,
        measured=_only_raised,
        right=reprovision(("gp3", 500, 16_000, 300), 28.0, says="the cloud measured this"),
        why="A raised check counts, also where nothing is published in other minutes.",
    ),
    Scene(
        name="host-has-room-and-is-not-measured",
        spec=gp3(500, 16_000, 1000),
        does=_throttled_at_ten,
        measured=_nothing,
        right=upgrade(("gp3", 500, 18_800, 300), 14.0),
        why="Nothing was measured, and the published limits leave the volume 18,750 IOPS.",
    ),
    Scene(
        name="host-without-credits",
        spec=gp3(500),
        host="t3.medium",
        does=_throttled_at_nine,
        measured=_spent,
        right=keep(says="is the limit"),
        why="A replay has credits for two hours a day. The measured balance was 0: then the host carries 45.7 MiB/s, "
        "and the volume took all of it. A larger volume does not help.",
    ),
    Scene(
        name="reduced-to-what-a-host-may-have-held-back",
        spec=gp3(800, 16_000, 1000),
        does=day(200, 1700),
        measured=_exceeded(12, 13, "mib_s"),
        right=reprovision(("gp3", 800, 16_000, 250), 30.0),
        why="For an hour a day more was asked than the host carries. How much of that is the volume's is not known, so "
        "that it keeps its 16,000 IOPS. At 16 KiB those are 250 MiB/s.",
    ),
)
