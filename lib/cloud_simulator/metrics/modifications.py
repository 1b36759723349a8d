"""Modifications: what EC2 does with a volume that ModifyVolume was called for, as a function of time.

    requested -> modifying -> optimizing -> completed
                           \\-> failed

How long each state lasts follows from the volume's size and a seed (Amazon EBS User Guide, "Monitor the progress of
volume modifications": a full TiB takes about six hours, sometimes more than a day).
"""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import numpy as np

from cloud_simulator.published import VolumeSpec
from cloud_simulator.units import HOUR_S

HOURS_A_TIB: Final = 6.0
_GIB_A_TIB: Final = 1024
_LEAST_OPTIMIZING_S: Final = 120.0
_SLOW_SHARE, _SLOW_TIMES = 0.03, (4.0, 12.0)
_FAILED_SHARE: Final = 0.002
_BITES_SHARE: Final = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Modification:
    """A modification and what will come of it.

    The target counts as the volume's configuration once it is no longer `modifying`. What it takes away is gone at
    once if it `bites_at_once`, else bit by bit until it is completed.
    """

    volume_id: str
    before: VolumeSpec
    after: VolumeSpec
    started_s: float
    modifying_s: float
    optimizing_s: float
    is_failed: bool = False
    bites_at_once: bool = True

    @property
    def moved_s(self) -> float:
        """The time at which it begins to be optimized (epoch seconds), or fails."""
        return self.started_s + self.modifying_s

    @property
    def ended_s(self) -> float:
        """The time at which it is completed or has failed (epoch seconds)."""
        return self.moved_s if self.is_failed else self.moved_s + self.optimizing_s

    @property
    def started(self) -> datetime:
        """The time of the request."""
        return datetime.fromtimestamp(self.started_s, UTC)

    def state(self, now_s: float) -> str:
        """The state that EC2 shows at a time."""
        if now_s < self.moved_s:
            return "modifying"
        if self.is_failed:
            return "failed"
        return "optimizing" if now_s < self.ended_s else "completed"

    def is_running(self, now_s: float) -> bool:
        """True while no other modification may begin."""
        return now_s < self.ended_s

    def progress_pct(self, now_s: float) -> int:
        """The whole percent that is done at a time."""
        if self.is_failed or now_s < self.moved_s:
            return 0
        if now_s >= self.ended_s:
            return 100
        return int(99 * (now_s - self.moved_s) / self.optimizing_s)

    def spec(self, now_s: float) -> VolumeSpec:
        """The configuration that DescribeVolumes shows at a time."""
        return self.before if self.is_failed or now_s < self.moved_s else self.after


def plan_modification(
    volume_id: str, before: VolumeSpec, after: VolumeSpec, *, number: int, now_s: float, must_fail: bool = False
) -> Modification:
    """The `number`-th modification of a volume; the same arguments give the same one."""
    rng = np.random.default_rng(int(hashlib.sha256(f"{volume_id}/{number}".encode()).hexdigest()[:16], 16))
    modifying_s = float(rng.uniform(15, 240))
    used_share = float(rng.uniform(0.3, 1.0))
    full_s = HOURS_A_TIB * HOUR_S * max(before.size_gib, after.size_gib) / _GIB_A_TIB
    slow_times = float(rng.uniform(*_SLOW_TIMES)) if rng.random() < _SLOW_SHARE else 1.0
    return Modification(
        volume_id=volume_id,
        before=before,
        after=after,
        started_s=now_s,
        modifying_s=modifying_s,
        optimizing_s=max(_LEAST_OPTIMIZING_S, full_s * used_share) * slow_times,
        is_failed=bool(rng.random() < _FAILED_SHARE) or must_fail,
        bites_at_once=bool(rng.random() < _BITES_SHARE),
    )
