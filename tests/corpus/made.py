"""Outputs of fio made from a few figures that agree with one another, so that a kind changes one thing alone."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

OPTIONS: Final = {
    "ioengine": "libaio",
    "direct": "1",
    "rw": "randread",
    "bs": "4k",
    "iodepth": "32",
    "runtime": "180",
    "time_based": "1",
    "filename": "/dev/nvme1n1",
}
"""What the job of most files was asked to do."""

NOW: Final = 1_795_428_000
"""2026-11-23, which is lately where these files are imported."""

PERCENTS: Final = {"1.000000": 0.6, "50.000000": 0.9, "90.000000": 1.3, "99.000000": 2.5, "99.900000": 5.0}


def a_side(
    iops: float, *, kib: float = 4.0, seconds: float = 180.0, mean_us: float | None = None, samples: int | None = None
) -> dict[str, Any]:
    """A direction as fio 3 prints it; without a mean it has no latency."""
    operations, moved = round(iops * seconds), round(iops * seconds * kib * 1024)
    side: dict[str, Any] = {
        "io_bytes": moved,
        "io_kbytes": moved // 1024,
        "bw_bytes": round(iops * kib * 1024),
        "bw": round(iops * kib),
        "iops": float(iops),
        "runtime": round(seconds * 1000),
        "total_ios": operations,
        "short_ios": 0,
        "drop_ios": 0,
    }
    if samples is not None:
        side["bw_samples"] = samples
    if mean_us is not None:
        ns = mean_us * 1000
        told = {"min": int(ns * 0.3), "max": int(ns * 8), "mean": ns, "stddev": ns / 4}
        side |= {"clat_ns": told | {"percentile": {p: int(ns * k) for p, k in PERCENTS.items()}}, "lat_ns": dict(told)}
    return side


IDLE: Final = a_side(0, seconds=0)


def a_job(
    name: str = "job",
    *,
    group: int = 0,
    options: Mapping[str, str | None] | None = None,
    read: Mapping[str, Any] | None = None,
    write: Mapping[str, Any] | None = None,
    elapsed: int = 181,
    **fields: Any,
) -> dict[str, Any]:
    """A job that read 3,000 times a second, unless it is told what it did. An option of None is left out."""
    told = {key: value for key, value in {**OPTIONS, **(options or {})}.items() if value is not None}
    sides = {"read": dict(read or IDLE), "write": dict(write or IDLE)}
    if read is None and write is None:
        sides["read"] = a_side(3_000)
    return {
        "jobname": name,
        "groupid": group,
        "error": 0,
        "eta": 0,
        "elapsed": elapsed,
        "job options": told,
        **sides,
        **fields,
    }


def a_disk(
    name: str = "nvme1n1", ios: Sequence[float] = (540_000, 0), merges: Sequence[float] = (0, 0), **fields: Any
) -> dict[str, Any]:
    """A device's own counts."""
    counts = {
        "read_ios": int(ios[0]),
        "write_ios": int(ios[1]),
        "read_merges": int(merges[0]),
        "write_merges": int(merges[1]),
    }
    return {"name": name, **counts, "read_ticks": 1, "write_ticks": 1, "in_queue": 1, "util": 99.0, **fields}


def fio(*jobs: dict[str, Any], disks: Sequence[Mapping[str, Any]] = (), **fields: Any) -> str:
    """fio's JSON of these jobs."""
    whole: dict[str, Any] = {
        "fio version": "fio-3.36",
        "timestamp": NOW,
        "timestamp_ms": NOW * 1000,
        "time": "Mon Nov 23 10:00:00 2026",
        "jobs": list(jobs),
    }
    if disks:
        whole["disk_util"] = list(disks)
    return json.dumps(whole | fields, indent=1)


def text(
    name: str = "job",
    *,
    command: str = "--direct=1 --filename=/dev/nvme1n1",
    sections: Sequence[str] = (
        "rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=32",
    ),
    jobs: int = 1,
    line: str = "read: IOPS=3000, BW=11.7MiB/s (12.3MB/s)(2109MiB/180002msec)",
    more: str = "",
    tail: str = "",
) -> str:
    """fio's normal output of one group."""
    asked = "\n".join(f"{name if at == 0 else f'{name}{at}'}: (g=0): {section}" for at, section in enumerate(sections))
    return (
        f"$ fio --name={name} {command}\n{asked}\nfio-3.28\nStarting {jobs} processes\n"
        f"{name}: (groupid=0, jobs={jobs}): err= 0: pid=101: Mon Nov 23 10:00:00 2026\n  {line}\n{more}{tail}"
    )
