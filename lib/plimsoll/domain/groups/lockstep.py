"""Lockstep: volumes that look like one stripe set, which is a reason to ask their host and no more.

Cloud sums add up, so a day's work is known exactly however finely it was read. Days are therefore compared: it takes no
further reading, and the answer does not depend on what has been read.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Final

import numpy as np

from plimsoll.domain.arrays import FloatArray
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.reason import Reason
from plimsoll.domain.units import DAY_S
from plimsoll.domain.volume import Volume, sole_host

MADE_TOGETHER: Final = timedelta(minutes=5)
"""Members of a set are created by one script or template."""

APART: Final = 0.1
"""The share of their work by which volumes in lockstep may differ, day by day: small I/O falls on members by chance."""

LEAST_LOCKSTEP_DAYS: Final = 3
"""Fewer days with work than this show no lockstep."""


def find_hints(volumes: Sequence[Volume], demands: Mapping[str, Demand]) -> list[tuple[str, ...]]:
    """Finds groups of volumes, by id, that look like one stripe set; a volume is in one at most.

    They have one type, size, provisioning, zone and only host, were created within minutes, and did the same work day
    by day. Those without a demand are left out. A group is a hint: nothing may rest on it but a sentence.
    """
    return [
        tuple(volume.id for volume in together)
        for alike in _find_alike(volumes, demands)
        for together in _find_lockstep(alike, demands)
    ]


def hint_text(volume_id: str, group: Sequence[str], host_id: str) -> Reason:
    """The sentence for one volume of a hinted group."""
    others = ", ".join(other for other in group if other != volume_id)
    return Reason(
        "looks-like-a-stripe-set",
        f"it looks like one stripe set with {others} (alike, created together, in lockstep), but is judged alone: "
        f"confirm with `plimsoll stripes {host_id}`.",
    )


def _find_alike(volumes: Sequence[Volume], demands: Mapping[str, Demand]) -> Iterator[list[Volume]]:
    """Yields runs of two or more volumes that are alike and were created one shortly after the other."""
    kinds: dict[object, list[Volume]] = {}
    for volume in volumes:
        host = sole_host(volume)
        if host is not None and volume.id in demands and not volume.boot:
            kinds.setdefault((host.id, volume.zone, volume.spec), []).append(volume)
    for kind in kinds.values():
        run: list[Volume] = []
        for volume in sorted(kind, key=lambda volume: (volume.created, volume.id)):
            if run and volume.created - run[0].created > MADE_TOGETHER:
                yield run
                run = []
            run.append(volume)
        yield run


def _find_lockstep(alike: Sequence[Volume], demands: Mapping[str, Demand]) -> Iterator[list[Volume]]:
    """Yields groups of two or more whose work was that of the group's first, every day."""
    left_over = list(alike)
    while len(left_over) > 1:
        work = np.stack([_daily(demands[volume.id]) for volume in left_over])
        same = _same(work[0], work)
        if np.count_nonzero(same) > 1:
            yield [volume for volume, is_same in zip(left_over, same, strict=True) if is_same]
        same[0] = True
        left_over = [volume for volume, is_same in zip(left_over, same, strict=True) if not is_same]


def _daily(demand: Demand) -> FloatArray:
    """Operations and MiB of each day (UTC), as two rows."""
    days = demand.starts_s // DAY_S
    days -= days[0]
    return np.stack(
        [np.bincount(days, weights=rate * demand.lengths_s) for rate in (demand.iops, demand.throughput_mib_s)]
    )


def _same(first: FloatArray, others: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Marks the others that did the work of the first, within the tolerance, on operations and on bytes."""
    apart = np.abs(others - first).sum(axis=2)
    most = np.maximum(others, first).sum(axis=2)
    days = np.count_nonzero((others > 0).all(axis=1), axis=1)
    return np.asarray((apart <= APART * most).all(axis=1) & (days >= LEAST_LOCKSTEP_DAYS))
