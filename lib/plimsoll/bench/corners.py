"""Corners: the two jobs that show a roofline's sides where a workload's own I/O sizes reach only one of them."""

from collections.abc import Iterator
from typing import Final

from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.units import KIB_PER_MIB
from plimsoll.domain.workload import WorkloadShape

SMALL_KIB: Final = 16
"""AWS's guidance measures IOPS with 16 KiB (EBS User Guide, "Benchmark EBS volumes")."""

LEAST_KIB: Final = 4

IOPS_A_THREAD: Final = 500
"""A queue twice as deep as the one operation per 1,000 IOPS that AWS asks for."""

LEAST_DEPTH: Final = 32

DEFAULT_READ_SHARE: Final = 0.5


def corner_jobs(ceiling: Ceiling, shape: WorkloadShape | None, *, runtime_s: int, ramp_s: int) -> str:
    """The fio sections `ceiling-iops` and `ceiling-throughput`, as far as the shape's own jobs do not reach that side
    of the ceiling; empty where they reach both. Without a shape there are both, half of them reads."""
    return "".join(_section(*one, runtime_s, ramp_s) for one in _corners(ceiling, shape))


def _corners(ceiling: Ceiling, shape: WorkloadShape | None) -> Iterator[tuple[str, int, float, int]]:
    """Name, I/O size in KiB, reads' share and queue depth of each."""
    ridge_kib = ceiling.throughput_mib_s * KIB_PER_MIB / ceiling.iops
    read_share = DEFAULT_READ_SHARE if shape is None else shape.at_most_iops.read_share
    if shape is None or shape.at_most_iops.mean_kib > ridge_kib:
        small_kib = max(LEAST_KIB, _power_below(min(SMALL_KIB, ridge_kib)))
        yield "ceiling-iops", small_kib, read_share, max(LEAST_DEPTH, round(ceiling.iops / IOPS_A_THREAD))
    if shape is None or shape.at_most_throughput.mean_kib < ridge_kib:
        yield "ceiling-throughput", int(ceiling.io_kib or KIB_PER_MIB), read_share, LEAST_DEPTH


def _power_below(size_kib: float) -> int:
    return 1 << max(0, int(size_kib).bit_length() - 1)


def _section(name: str, size_kib: int, read_share: float, depth: int, runtime_s: int, ramp_s: int) -> str:
    mode = {1.0: "randread", 0.0: "randwrite"}.get(read_share, "randrw")
    mix = f"rwmixread={round(100 * read_share)}\n" if mode == "randrw" else ""
    return (
        f"\n[{name}]\nstonewall\nioengine=libaio\ndirect=1\nnorandommap=1\ngroup_reporting=1\ntime_based=1\n"
        f"runtime={runtime_s}\nramp_time={ramp_s}\nrw={mode}\n{mix}bs={size_kib}k\niodepth={depth}\n"
    )
