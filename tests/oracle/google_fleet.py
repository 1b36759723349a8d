"""The simulated projects as the oracle takes them, from the fleet alone."""

import json
import math

import numpy as np

from cloud_simulator.google.fleet import SimulatedDisk, disk_truth
from plimsoll.domain.metrics.sums import Window
from tests.oracle.google_machines import machine_of
from tests.oracle.google_ports import PEAKS, minutes_of
from tests.oracle.received import COUNTERS

EXCLUDED = ("plimsoll-exclude", "true")


def plain(disk: SimulatedDisk, window: Window) -> dict[str, object]:
    """What the oracle wants to know of a disk, from the fleet alone."""
    spec, sums = disk.spec, disk_truth(disk, window)
    silent = dict.fromkeys((*COUNTERS, *PEAKS), np.full(window.buckets(60), np.nan))
    return {
        "id": disk.id,
        "spec": {
            "type": spec.type,
            "size_gib": spec.size_gib,
            "iops": spec.iops,
            "throughput_mib_s": spec.throughput_mib_s,
        },
        "region": disk.region,
        "boot": any(attachment.boot for attachment in disk.attached),
        "excluded": EXCLUDED in disk.labels,
        "detached": disk.status == "READY" and not disk.attached,
        "hosts": [{"id": vm.id, **machine_of(vm.type)} for vm in disk.hosts],
        "minutes": silent if sums is None else minutes_of(sums),
        "runs_from_hour": runs_from_hour(disk, window),
        "made": math.ceil((disk.created.timestamp() - window.start_s) / 60),
        "replaced_at": replaced_at(disk, window),
        "takes_over": claims_of(disk),
    }


def claims_of(disk: SimulatedDisk) -> tuple[str, ...] | None:
    """The StatefulSet whose claim a disk is, as the claims of one are numbered; None of others."""
    made_for = json.loads(disk.description or "{}")
    namespace, claim = (made_for.get(f"kubernetes.io/created-for/pvc/{name}", "") for name in ("namespace", "name"))
    claims, _, number = claim.rpartition("-")
    return (disk.project, disk.region, namespace, claims) if number.isdigit() else None


def replaced_at(disk: SimulatedDisk, window: Window) -> int | None:
    """The minute of the window from which the disk is on its machine. None where it was made for it, in the same hour,
    or is on none."""
    since = max((one.since for one in disk.attached), default=disk.created)
    if (since - disk.created).total_seconds() <= 3600:
        return None
    return math.ceil((since.timestamp() - window.start_s) / 60)


def runs_from_hour(disk: SimulatedDisk, window: Window) -> int | None:
    """The first whole hour of the window in which the disk is where it is now, on a machine that runs."""
    running = [max(one.since, one.vm.created) for one in disk.attached if one.vm.stopped is None]
    return -int((window.start_s - min(running).timestamp()) // 3600) if running else None
