"""Google's scenes: those of docs/decision.md, and some of our own, each in a machine of its own.

`steps` are those of the simulator's scenes.yaml. Prices are those of us-central1: pd-ssd 0.17 a GiB, pd-balanced 0.10,
Hyperdisk Balanced 0.08, 0.005 an IOPS above 3,000, 0.04 a MiB/s above 140; Hyperdisk Extreme 0.125 and 0.032 an IOPS.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from tests.scenes.scene import Right, insufficient, keep, migrate, reprovision, upgrade


@dataclass(frozen=True, kw_only=True)
class GoogleScene:
    """The right answers by the names of disks; `disk` is what the simulator's disk has beside its step."""

    name: str
    steps: tuple[dict[str, Any], ...]
    right: dict[str, Right]
    why: str
    disk: dict[str, Any] = field(default_factory=dict)


PAGE: Final = (
    GoogleScene(
        name="pd-ssd-at-its-limit",
        steps=(
            {"vm": "small-ssd", "type": "n2-standard-4", "boots": True},
            {
                "disk": "small-ssd-data",
                "spec": ["pd-ssd", 100],
                "vm": "small-ssd",
                "does": "throttled-iops",
                "low": 100,
            },
        ),
        right={"small-ssd-data": upgrade(("pd-ssd", 250, None, None), -25.5, says="larger")},
        why="13,500 IOPS are those of 250 GiB, the VM carries 15,000, and growing cannot be undone.",
    ),
    GoogleScene(
        name="multi-writer",
        steps=(
            {"vm": "writers", "type": "n2-standard-8", "boots": True},
            {
                "disk": "writers-data",
                "spec": ["pd-ssd", 500],
                "vm": "writers",
                "does": "steady",
            },
        ),
        disk={"access_mode": "READ_WRITE_MANY"},
        right={"writers-data": migrate(("pd-balanced", 500, None, None), 35.0, blocked=True)},
        why="A disk that several may write cannot become another by a snapshot while they do.",
    ),
    GoogleScene(
        name="asynchronous-primary",
        steps=(
            {"vm": "copied", "type": "n2-standard-8", "boots": True},
            {
                "disk": "copied-data",
                "spec": ["pd-ssd", 500],
                "vm": "copied",
                "does": "steady",
            },
        ),
        disk={"secondary": "copied-data-west"},
        right={"copied-data": migrate(("pd-balanced", 500, None, None), 35.0, blocked=True)},
        why="Its replication ends with it: rebuild that first.",
    ),
    GoogleScene(
        name="storage-pool",
        steps=(
            {"vm": "pooled", "type": "c3-standard-8", "boots": True},
            {
                "disk": "pooled-data",
                "spec": ["hyperdisk-balanced", 600, 9000, 400],
                "vm": "pooled",
                "does": "steady",
                "low": 100,
                "high": 1800,
            },
        ),
        disk={"storage_pool": "pool-1"},
        right={"pooled-data": reprovision(("hyperdisk-balanced", 600, 3000, 140), None, says="pool")},
        why="What it gives back stays in the pool, which is paid for: its saving counts in no total.",
    ),
    GoogleScene(
        name="stopped",
        steps=(
            {"vm": "stopped", "type": "n2-standard-4", "boots": True, "stopped": "20d"},
            {"disk": "stopped-data", "spec": ["pd-ssd", 200], "vm": "stopped", "does": "steady"},
        ),
        right={"stopped-data": Right(action=("insufficient-data",), says="stopped")},
        why="It has been stopped for 20 days; that is to be said, not that 0.0 hours were observed.",
    ),
    GoogleScene(
        name="hyperdisk-extreme-60000",
        steps=(
            {"vm": "extreme", "type": "c3-standard-88", "boots": True},
            {
                "disk": "extreme-data",
                "spec": ["hyperdisk-extreme", 1000, 60_000],
                "vm": "extreme",
                "does": "diurnal",
                "low": 800,
                "high": 9000,
            },
        ),
        right={"extreme-data": Right(action=("migrate", "reprovision"), says="in place")},
        why="Lowering its IOPS in place brings four fifths of it at once, without a copy.",
    ),
    GoogleScene(
        name="two-that-could-both-change",
        steps=(
            {"vm": "both", "type": "n2-standard-64", "boots": True},
            {"disk": "both-extreme", "spec": ["pd-extreme", 1000, 20_000], "vm": "both", "does": "steady", "high": 300},
            {"disk": "both-ssd", "spec": ["pd-ssd", 500], "vm": "both", "does": "steady", "high": 300},
        ),
        right={
            "both-extreme": migrate(("pd-balanced", 1000, None, None), 1325.0),
            "both-ssd": migrate(("pd-balanced", 500, None, None), 35.0),
        },
        why="Together they are a pool of 1,520 GiB with 12,120 IOPS, of which they use 600.",
    ),
    GoogleScene(
        name="hyperdisk-ml",
        steps=(
            {"vm": "model", "type": "c3-standard-44", "boots": True},
            {
                "disk": "model-data",
                "spec": ["hyperdisk-ml", 1000, None, 12_000],
                "vm": "model",
                "does": "steady",
                "high": 900,
                "io_kib": 1024,
                "read_share": 1.0,
            },
        ),
        right={"model-data": Right(action=("insufficient-data",), says="12,000")},
        why="Its price is not known; what is used of its 12,000 MiB/s is.",
    ),
)

OWN: Final = (
    GoogleScene(
        name="quiet-ssd",
        steps=(
            {"vm": "quiet", "type": "n2-standard-8", "boots": True},
            {"disk": "quiet-data", "spec": ["pd-ssd", 500], "vm": "quiet", "does": "steady"},
        ),
        right={"quiet-data": migrate(("pd-balanced", 500, None, None), 35.0)},
        why="100 IOPS need no SSD of the dearer kind.",
    ),
    GoogleScene(
        name="quiet-balanced",
        steps=(
            {"vm": "calm", "type": "n2-standard-8", "boots": True},
            {"disk": "calm-data", "spec": ["pd-balanced", 500], "vm": "calm", "does": "steady"},
        ),
        right={"calm-data": keep()},
        why="Disks of tens of milliseconds are not offered.",
    ),
    GoogleScene(
        name="hyperdisk-bought-too-much",
        steps=(
            {"vm": "much", "type": "c3-standard-8", "boots": True},
            {
                "disk": "much-data",
                "spec": ["hyperdisk-balanced", 600, 9000, 400],
                "vm": "much",
                "does": "steady",
                "low": 100,
                "high": 1200,
            },
        ),
        right={"much-data": reprovision(("hyperdisk-balanced", 600, 3000, 140), 40.4)},
        why="Even its busiest seconds are within what is included.",
    ),
    GoogleScene(
        name="hyperdisk-at-its-limit",
        steps=(
            {"vm": "held", "type": "c3-standard-8", "boots": True},
            {
                "disk": "held-data",
                "spec": ["hyperdisk-balanced", 200, 3000, 140],
                "vm": "held",
                "does": "throttled-iops",
                "low": 200,
            },
        ),
        right={"held-data": upgrade(("hyperdisk-balanced", 200, 4500, 140), -7.5)},
        why="Working hours at 3,000 IOPS: half as many again, in place.",
    ),
    GoogleScene(
        name="hyperdisk-with-throughput-to-spare",
        steps=(
            {"vm": "spare", "type": "c3-standard-8", "boots": True},
            {
                "disk": "spare-data",
                "spec": ["hyperdisk-balanced", 200, 4000, 400],
                "vm": "spare",
                "does": "throttled-iops",
                "low": 200,
            },
        ),
        right={"spare-data": upgrade(("hyperdisk-balanced", 200, 6000, 140), 0.4)},
        why="6,000 IOPS of 16 KiB are 94 MiB/s: 140 are included, and 400 are not bought again.",
    ),
    GoogleScene(
        name="hyperdisk-whose-relief-costs-more",
        steps=(
            {"vm": "dear", "type": "c3-standard-8", "boots": True},
            {
                "disk": "dear-data",
                "spec": ["hyperdisk-balanced", 200, 14_000, 400],
                "vm": "dear",
                "does": "throttled-iops",
                "low": 200,
            },
        ),
        right={
            "dear-data": upgrade(("hyperdisk-balanced", 200, 21_000, 400), -35.0),
        },
        why="Without its limit it moves 328 MiB/s, or 492 if 21,000 IOPS are too few: all 400 stay meanwhile.",
    ),
    GoogleScene(
        name="two-hyperdisks",
        steps=(
            {"vm": "pair", "type": "c3-standard-8", "boots": True},
            *(
                {
                    "disk": f"pair-{part}",
                    "spec": ["hyperdisk-balanced", 600, 9000, 400],
                    "vm": "pair",
                    "does": "steady",
                    "low": 100,
                    "high": 1200,
                }
                for part in "ab"
            ),
        ),
        right={f"pair-{part}": reprovision(("hyperdisk-balanced", 600, 3000, 140), 40.4) for part in "ab"},
        why="What is bought disk by disk is given back disk by disk.",
    ),
    GoogleScene(
        name="just-made",
        steps=(
            {"vm": "fresh", "type": "n2-standard-8", "boots": True},
            {
                "disk": "fresh-data",
                "spec": ["pd-ssd", 500],
                "attachments": [{"vm": "fresh", "since": "10h"}],
                "does": "steady",
                "created": "10h",
            },
        ),
        right={"fresh-data": insufficient()},
        why="Ten hours are no day.",
    ),
)

SCENES: Final = (*PAGE, *OWN)
