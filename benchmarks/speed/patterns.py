"""Patterns of a fleet in memory: simulated volumes, and the minutes of each. `patterns.py FOLDER` writes them there."""

import sys
from pathlib import Path

from memory_fleet import NOW, Pattern, Patterns

from cloud_simulator.aws.fleet import volume_truth
from cloud_simulator.aws.organization import Mix, fleet_of
from cloud_simulator.metrics.sums import Sums
from plimsoll.model.units import MIB, MINUTE_S
from plimsoll.reading.window import Window

WORKLOADS = 40


def make_patterns(mix: Mix = Mix.QUIET, count: int = WORKLOADS) -> Patterns:
    """The patterns of so many volumes of one mix, without those that are attached to nothing."""
    window = Window.before(NOW, days=14)
    volumes = [one for one in fleet_of(count, NOW, mix=mix).volumes if one.workload is not None and one.hosts]
    minutes = {one.id: _with_rates(sums) for one in volumes if (sums := volume_truth(one, window)) is not None}
    return Patterns([Pattern(one.id, one.spec, one.created) for one in volumes], minutes)


def _with_rates(sums: Sums) -> Sums:
    """The same with the rate of each minute as a series of its own, as AWS publishes it on Nitro hosts."""
    iops = (sums.read_ops + sums.write_ops) / MINUTE_S
    moved = (sums.read_bytes + sums.write_bytes) / (MIB * MINUTE_S)
    return sums.with_series(
        highest_iops=iops, summed_iops=iops, highest_throughput_mib_s=moved, summed_throughput_mib_s=moved
    )


if __name__ == "__main__":
    make_patterns().save(Path(sys.argv[1]))
