"""Scenes of volumes that take over from one another, and of some that only look so.

gp3 costs 0.005 an IOPS above 3,000, and 0.04 a MiB/s above 125.
"""

from dataclasses import replace
from typing import Any, Final

import numpy as np

from cloud_simulator.aws.volume_maker import gp2, gp3, io
from tests.scenes.scene import Right, Scene, insufficient, keep, reprovision, upgrade
from tests.scenes.work import Work, day, flat, job

LARGE: Final = gp3(500, 16_000, 500)
BUSY: Final = day(200, 12_000)
"""12,000 IOPS of 16 KiB, with headroom 14,400 and 225 MiB/s."""

SIZED: Final = reprovision(("gp3", 500, 14_400, 225), 19.0)
CUT: Final = reprovision(("gp3", 500, 3000, 125), 80.0)


def _tagged(group: str) -> dict[str, str]:
    return {"plimsoll:takeover": group}


def _claim(number: int, of: str = "data-pg") -> dict[str, str]:
    return {
        "KubernetesCluster": "prod",
        "kubernetes.io/created-for/pvc/name": f"{of}-{number}",
        "kubernetes.io/created-for/pvc/namespace": "db",
    }


def _says(right: Right, word: str, **more: Any) -> Right:
    return replace(right, says=word, **more)


SCENES: Final = (
    Scene(
        name="ledger-primary",
        spec=LARGE,
        tags=_tagged("ledger"),
        takeover="ledger",
        does=BUSY,
        right=SIZED,
        why="It needs 14,400 IOPS and 225 MiB/s with headroom.",
    ),
    Scene(
        name="ledger-standby",
        spec=LARGE,
        tags=_tagged("ledger"),
        takeover="ledger",
        does=day(20, 300),
        right=_says(SIZED, "ledger-primary"),
        why="After a failover it does what the primary does now.",
    ),
    Scene(
        name="set-member-0",
        spec=LARGE,
        tags=_claim(0),
        takeover="set",
        does=BUSY,
        right=SIZED,
        why="The busy member of a StatefulSet.",
    ),
    Scene(
        name="set-member-1",
        spec=LARGE,
        tags=_claim(1),
        takeover="set",
        does=day(20, 300),
        right=_says(SIZED, "set-member-0"),
        why="Any member of the set may be the leader tomorrow.",
    ),
    Scene(
        name="small-set-member",
        spec=gp3(500, 6000, 200),
        tags=_claim(2),
        takeover="set",
        does=day(20, 300),
        right=_says(keep(), "set-member-0"),
        why="It has less than the busy one needs already, on both sides: none of that is cut.",
    ),
    Scene(
        name="shop-blue",
        takeover="shop",
        spec=gp3(500, 8000, 250),
        does=day(200, 5000),
        right=reprovision(("gp3", 500, 6000, 125), 15.0),
        why="5,000 IOPS and 78 MiB/s, with headroom 6,000 and 94.",
    ),
    Scene(
        name="shop-green",
        takeover="shop",
        spec=gp3(500, 8000, 250),
        does=flat(100),
        right=_says(reprovision(("gp3", 500, 6000, 125), 15.0), "shop-blue"),
        why="The next release makes it the busy one.",
    ),
    Scene(
        name="broker-1",
        spec=LARGE,
        does=BUSY,
        right=SIZED,
        why="Nobody asks it for more than it does.",
    ),
    Scene(
        name="broker-2",
        spec=LARGE,
        does=day(20, 300),
        right=_says(CUT, "broker-1", losses=("takeover",)),
        why="By its name it may take over from broker-1; only its owner knows.",
    ),
    Scene(
        name="reader-1",
        spec=LARGE,
        does=BUSY,
        right=SIZED,
        why="Busy.",
    ),
    Scene(
        name="reader-2",
        spec=LARGE,
        does=day(20, 2000),
        right=replace(CUT, losses=()),
        why="A sixth of the other's peak is a load of its own, and no standby's. It is cut as any volume is.",
    ),
    Scene(
        name="mixed-operations",
        spec=LARGE,
        tags=_tagged("mixed"),
        takeover="mixed",
        does=day(200, 9000, io_kib=4),
        right=reprovision(("gp3", 500, 10_800, 300), 34.0),
        why="It needs 10,800 IOPS, and its peer 300 MiB/s: either may have to do both.",
    ),
    Scene(
        name="mixed-bytes",
        spec=LARGE,
        tags=_tagged("mixed"),
        takeover="mixed",
        does=day(20, 1000, io_kib=256),
        right=reprovision(("gp3", 500, 10_800, 300), 34.0),
        why="The other half of the same pair.",
    ),
    Scene(
        name="pair-known",
        spec=LARGE,
        tags=_tagged("half-known"),
        takeover="half-known",
        does=day(20, 1000),
        right=_says(keep(), "pair-young"),
        why="What its peer asks for is not known after 20 hours.",
    ),
    Scene(
        name="pair-young",
        spec=LARGE,
        tags=_tagged("half-known"),
        takeover="half-known",
        created_h=20,
        attached_h=20,
        does=lambda t: Work(np.full(t.minute.shape, 100.0), present=t.ago_h <= 20),
        right=insufficient(),
        why="20 hours are too few.",
    ),
    Scene(
        name="pair-excluded",
        spec=LARGE,
        tags=_tagged("half-excluded"),
        takeover="half-excluded",
        excluded=True,
        does=BUSY,
        right=keep(),
        why="Its owner has excluded it.",
    ),
    Scene(
        name="pair-of-excluded",
        spec=LARGE,
        tags=_tagged("half-excluded"),
        takeover="half-excluded",
        does=day(20, 300),
        right=_says(keep(), "pair-excluded"),
        why="Its peer stays as it is, so that it must be able to do as much.",
    ),
    Scene(
        name="pair-throttled",
        spec=gp3(500),
        tags=_tagged("throttled"),
        takeover="throttled",
        does=job(100, 3000, (8, 18), iops_exceeded=True),
        right=upgrade(("gp3", 500, 4500, 125), -7.5),
        why="It stands at 3,000 IOPS for ten hours a day.",
    ),
    Scene(
        name="pair-of-throttled",
        spec=gp3(500, 6000, 125),
        tags=_tagged("throttled"),
        takeover="throttled",
        does=flat(100),
        right=_says(reprovision(("gp3", 500, 4500, 125), 7.5), "pair-throttled"),
        why="It must carry what the busy one will be given.",
    ),
    Scene(
        name="pair-detached",
        spec=gp2(500),
        tags=_tagged("half-detached"),
        takeover="half-detached",
        does=None,
        right=Right(action=("detached",), says="do not delete"),
        why="It belongs to a pair: whether it is needed at the next failover only its owner knows.",
    ),
    Scene(
        name="pair-of-detached",
        spec=LARGE,
        tags=_tagged("half-detached"),
        takeover="half-detached",
        does=day(20, 1000),
        right=CUT,
        why="What is attached to nothing asks for nothing.",
    ),
    Scene(
        name="pair-io-busy",
        spec=io("io2", 500, 20_000),
        tags=_tagged("io"),
        takeover="io",
        does=day(200, 15_000),
        right=Right(action=("migrate",), target=("gp3", 500, 18_000, 285)),
        why="15,000 IOPS and 234 MiB/s, with headroom 18,000 and 282: gp3 carries that for less.",
    ),
    Scene(
        name="pair-io-idle",
        spec=io("io2", 500, 20_000),
        tags=_tagged("io"),
        takeover="io",
        does=flat(10),
        right=Right(action=("migrate",), target=("gp3", 500, 18_000, 285)),
        why="Alone it would be cut to 3,000.",
    ),
)
