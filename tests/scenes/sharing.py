"""Our own scenes: Multi-Attach, several volumes on a host, stripe sets."""

from typing import Final

from cloud_simulator.aws.volume_maker import gp2, gp3, io
from tests.scenes.scene import Scene, keep, migrate, reprovision
from tests.scenes.work import day, job

SCENES: Final = (
    Scene(
        name="multi-attach-used",
        spec=io("io2", 500, 6000),
        hosts=2,
        does=day(500, 5500),
        right=keep(),
        why="With headroom it would need more, and it was never throttled.",
    ),
    *(
        Scene(
            name=f"host-bound-{part}",
            spec=gp2(500),
            host="t3.medium",
            host_id="t3-of-three",
            does=job(20, 331.4, (10, 10.25), io_kib=256),
            right=migrate(("gp3", 500, 3000, 250), 5.0),
            why="What each would do on a larger host is unknown, but no more than its 250 MiB/s, cheaper on gp3.",
        )
        for part in "abc"
    ),
    *(
        Scene(
            name=f"two-of-a-host-{part}",
            spec=gp3(800, 6000, 400),
            host="m5.8xlarge",
            host_id="m5-of-two",
            does=day(200, 1700),
            right=reprovision(("gp3", 800, 3000, 125), 26.0),
            why="The host has room for ten times as much; each uses half of what is free.",
        )
        for part in "ab"
    ),
    *(
        Scene(
            name=f"stripes-even-{part}",
            spec=gp3(800, 16_000, 500),
            host_id="striped",
            stripe="md0",
            does=day(200, 1500),
            right=reprovision(("gp3", 800, 3000, 125), 80.0),
            why="Each half of the set does 1,500 IOPS.",
        )
        for part in "01"
    ),
    *(
        Scene(
            name=f"stripes-uneven-{part}",
            spec=gp3(800, 16_000, 500),
            host_id="striped-unevenly",
            stripe="md0",
            does=day(100, high),
            right=reprovision(("gp3", 800, 4800, 125), 71.0),
            why="A stripe set is as fast as its slowest member: both must carry 4,000 IOPS.",
        )
        for part, high in (("0", 4000.0), ("1", 500.0))
    ),
    Scene(
        name="stripes-excluded-0",
        spec=gp3(800, 16_000, 500),
        host_id="striped-and-excluded",
        stripe="md0",
        does=day(200, 1500),
        right=keep(),
        why="Its other half may not be changed, and alone it would be the slower one.",
    ),
    Scene(
        name="stripes-excluded-1",
        spec=gp3(800, 16_000, 500),
        host_id="striped-and-excluded",
        stripe="md0",
        excluded=True,
        does=day(200, 1500),
        right=keep(),
        why="Its owner has excluded it.",
    ),
)
