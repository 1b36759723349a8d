"""Latency: how long the operations of a simulated volume take, minute by minute, from what it serves."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from cloud_simulator.fleet import SimulatedVolume
from plimsoll.domain.period import FloatArray

_USUAL_MS: Final[Mapping[str, float]] = {"io1": 0.6, "io2": 0.6, "gp2": 1.0, "gp3": 1.0}
_DISK_MS: Final = 5.0
_HELD_FACTOR: Final = 6.0
"""At its ceiling a volume keeps operations waiting."""


def total_time_s(volume: SimulatedVolume, ops: FloatArray, held: FloatArray) -> FloatArray:
    """The seconds that each minute's operations took together; `held` is above 0 where the volume is at its ceiling."""
    usual_ms = _USUAL_MS.get(volume.spec.type, _DISK_MS)
    each_ms = np.where(held > 0, max(_DISK_MS, _HELD_FACTOR * usual_ms), usual_ms)
    return ops * each_ms / 1000
