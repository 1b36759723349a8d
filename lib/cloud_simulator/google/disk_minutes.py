"""What is measured: the minutes of a disk where it is attached, with the peak second of each, and the truth of them.

A peak follows from the workload alone: what a minute holds was done in the seconds in which the disk was busy, evenly.
So a throttled minute peaks at its ceiling, a micro-burst at its own, and any other at a little more than its mean.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from cloud_simulator.google.fleet import Attachment, SimulatedDisk
from cloud_simulator.metrics.workloads import Workload, minutes
from cloud_simulator.published import Sums, Window
from cloud_simulator.units import KIB, MINUTE_S, FloatArray

USUAL: Final = {
    "read_ops": "Sum",
    "write_ops": "Sum",
    "read_bytes": "Sum",
    "write_bytes": "Sum",
    "peak_read_ops": "Maximum",
    "peak_write_ops": "Maximum",
    "peak_read_bytes": "Maximum",
    "peak_write_bytes": "Maximum",
}
"""The eight series, and how each is folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What Monitoring keeps as one: all that was ever done on a device of a virtual machine under one storage type."""

    attachments: tuple[tuple[SimulatedDisk, Attachment], ...]

    @property
    def id(self) -> str:
        """Of its own."""
        disk, attachment = self.attachments[0]
        return f"{attachment.vm.id}/{attachment.device}/{disk.spec.type}"


def measured_minutes(one: Measured, first_minute: int, count: int) -> dict[str, FloatArray]:
    """The eight series of a span of minutes since the epoch, NaN where nothing was attached or nothing is known."""
    parts = [attachment_minutes(disk, attachment, first_minute, count) for disk, attachment in one.attachments]
    made = parts[0]
    for part in parts[1:]:
        made = {name: np.where(np.isnan(values), part[name], values) for name, values in made.items()}
    return made


def attachment_minutes(
    disk: SimulatedDisk, attachment: Attachment, first_minute: int, count: int
) -> dict[str, FloatArray]:
    """The eight series of a disk in one of its attachments; NaN outside of the whole minutes that it was there."""
    workload = disk.workload
    if workload is None:
        raise ValueError(f"{disk.name} has no workload")
    since_s, until_s = attachment.span_s
    begin = int(min(count, max(0, -(-since_s // MINUTE_S) - first_minute)))
    end = count if until_s == float("inf") else int(max(begin, min(count, until_s // MINUTE_S - first_minute)))
    made = {name: np.full(count, np.nan) for name in USUAL}
    if begin < end:
        for name, values in _active(workload, attachment.part, first_minute + begin, end - begin).items():
            made[name][begin:end] = values
    return made


def _active(workload: Workload, part: tuple[float, float], first_minute: int, count: int) -> dict[str, FloatArray]:
    whole = minutes(workload, first_minute, count)
    busy_s = MINUTE_S - whole["idle_s"]
    made: dict[str, FloatArray] = {}
    for way in ("read", "write"):
        ops = whole[f"{way}_ops"]
        here = np.floor(ops * part[1]) - np.floor(ops * part[0])
        size = round(workload.io_kib * KIB)
        made |= {f"{way}_ops": here, f"{way}_bytes": here * size}
        seconds = np.where(here > 0, busy_s, 1.0)
        made |= {f"peak_{way}_ops": np.ceil(here / seconds), f"peak_{way}_bytes": np.ceil(here * size / seconds)}
    return made


def truth(disk: SimulatedDisk, window: Window) -> Sums | None:
    """A disk's full-resolution sums over a window, without a cloud in between; None while it is attached to nothing.

    Of several attachments at once the counts and the peaks are added up. What it did under another name than its own in
    machines that it has left is nowhere to be told from other disks, and left out.
    """
    if disk.workload is None or not disk.known_attachments:
        return None
    first, count = window.start_s // MINUTE_S, window.buckets(MINUTE_S)
    made = {name: np.full(count, np.nan) for name in USUAL}
    for attachment in disk.known_attachments:
        for name, values in attachment_minutes(disk, attachment, first, count).items():
            before = made[name]
            made[name] = np.where(np.isnan(values), before, values + np.nan_to_num(before))
    return Sums(start_s=window.start_s, period_s=MINUTE_S, **made)
