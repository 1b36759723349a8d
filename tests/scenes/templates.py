"""Scenes of volumes that one Terraform module makes: small ones, each of which saves less than a dollar a month."""

from typing import Any, Final

from cloud_simulator.aws.volume_maker import gp2
from tests.scenes import arrivals
from tests.scenes.scene import Scene, keep, upgrade
from tests.scenes.work import day, flat, job

# At one size: gp2 costs 0.10 a GiB, gp3 0.08, and 0.04 a MiB/s above 125.
SCENES: Final = (
    Scene(
        name="module-quiet",
        spec=gp2(46),
        module="nodes",
        does=flat(100),
        right=keep(),
        why="gp3 would save 0.92, which is less than the dollar that is asked for.",
    ),
    Scene(
        name="module-by-day",
        spec=gp2(48),
        module="nodes",
        does=day(50, 140),
        right=keep(),
        why="gp3 would save 0.96.",
    ),
    Scene(
        name="module-nightly-job",
        spec=gp2(49),
        module="nodes",
        does=job(20, 440, (2, 2.5), io_kib=256),
        right=keep(),
        why="Its job moves 110 MiB/s. A drop-in replacement has 130 MiB/s, and saves 0.78.",
    ),
    Scene(
        name="module-with-one-throttled-quiet",
        spec=gp2(49),
        module="mixed",
        does=flat(100),
        right=keep(),
        why="gp3 would save 0.98.",
    ),
    Scene(
        name="module-with-one-throttled-too",
        spec=gp2(48),
        module="mixed",
        does=flat(100),
        right=keep(),
        why="gp3 would save 0.96.",
    ),
    Scene(
        name="module-with-one-throttled",
        spec=gp2(40),
        module="mixed",
        does=job(20, 512, (2, 8), io_kib=256),
        right=upgrade(("gp3", 40, 3000, 195), -2.0),
        why="It stands at the 128 MiB/s of gp2 for six hours a day. What it would do is not known.",
    ),
)

CHANGES: Final[dict[str, dict[str, Any] | None]] = {
    # One change carries the highest that any needs: 130 MiB/s. So it saves 0.02 x 143 GiB less three times 5 x 0.04.
    "nodes": {"target": ("gp3", 3000, 130), "volumes": 3, "saved": 2.26},
    # One that is throttled may not be reduced, and the module makes all alike.
    "mixed": None,
    **arrivals.CHANGES,
}
"""The change of each module, None where there is none."""
