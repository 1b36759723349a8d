"""Long lives: volumes that did before the last two weeks what they did not do in them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from cloud_simulator.aws.fleet import SimulatedVolume
from cloud_simulator.aws.volume_maker import VolumeMaker, change, gp3
from cloud_simulator.metrics.workloads import Archetype
from cloud_simulator.units import DAY_S, ago

AGE_DAYS: Final = 500
"""Older than what CloudWatch keeps."""

RAISED_DAYS: Final = 40
"""How many days ago the volume of the nightly job was raised: long before its window."""

_LIVES: Final = (
    ("ledger-close", Archetype.MONTH_END, 9000, 0),
    ("quarterly-report", Archetype.QUARTER_END, 11_000, 0),
    ("backup-target", Archetype.WEEKLY, 7000, 0),
    ("events-growing", Archetype.GROWING, 8000, 420),
    ("migration-of-march", Archetype.RAN_ONCE, 12_000, 240),
    ("job-of-last-month", Archetype.RAN_ONCE, 5000, 33),
    ("old-shop", Archetype.TURNED_OFF, 6000, 100),
    ("always-calm", Archetype.DIURNAL, 900, 0),
)
"""Name, workload, its highest IOPS, and how many days ago the life turned."""


def long_lives(maker: VolumeMaker) -> Iterator[SimulatedVolume]:
    """A volume of each life, provisioned for more than its last two weeks asked for; one is on a host that is not
    Nitro, of which no minute's rate is published. The last two stand at their ceiling: one outgrew it, and one takes
    what it gets."""
    large = gp3(500, 16_000, 250)
    for name, archetype, high, days_ago in _LIVES:
        yield _set_age(maker, maker.volume(large, archetype, name, low=100, high=high, io_kib=8.0), days_ago)
    older = (maker.host("m4.4xlarge", nitro=False),)
    volume = maker.volume(large, Archetype.RAN_ONCE, "old-host-job", low=100, high=6000, io_kib=8.0, hosts=older)
    yield _set_age(maker, volume, 45)
    yield _set_age(maker, maker.volume(large, Archetype.GROWING, "logs-growing", low=100, high=8000, io_kib=8.0), 200)
    outgrown = maker.volume(gp3(500), Archetype.GROWING, "orders-outgrown", low=100, high=4000, io_kib=8.0)
    yield _set_age(maker, outgrown, 300)
    doubled = maker.volume(gp3(500, 6000), Archetype.DEFERRED, "nightly-export", low=100, io_kib=8.0)
    raised = ago(maker.now, days=RAISED_DAYS)
    yield replace(_set_age(maker, doubled, RAISED_DAYS), modification=change("completed", raised, 100, gp3(500)))


def _set_age(maker: VolumeMaker, volume: SimulatedVolume, days_ago: int) -> SimulatedVolume:
    """The volume, made long ago, with the day that its life turns on."""
    made, on_day = ago(maker.now, days=AGE_DAYS), int(maker.now.timestamp()) // DAY_S - days_ago
    workload = volume.workload and replace(volume.workload, on_day=on_day)
    return replace(volume, created=made, attached=made, workload=workload)
