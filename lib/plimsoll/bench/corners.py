"""Corners: the two jobs that show a roofline's sides where a workload's own I/O sizes reach only one of them."""

from collections.abc import Iterator
from typing import Final

from plimsoll.bench.jobs import section
from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.units import KIB_PER_MIB
from plimsoll.domain.workload import Moment, WorkloadShape

SMALL_KIB: Final = 16
"""AWS's guidance measures IOPS with 16 KiB (EBS User Guide, "Benchmark EBS volumes")."""

LEAST_KIB: Final = 4

DEFAULT_READ_SHARE: Final = 0.5


def corner_jobs(ceiling: Ceiling, shape: WorkloadShape | None) -> Iterator[str]:
    """The sections `ceiling-iops` and `ceiling-throughput`, as far as the shape's own jobs do not reach that side of
    the ceiling. Without a shape there are both, half of them reads."""
    ridge_kib = ceiling.throughput_mib_s * KIB_PER_MIB / ceiling.iops
    if shape is None or shape.at_most_iops.mean_kib > ridge_kib:
        read_share = DEFAULT_READ_SHARE if shape is None else shape.at_most_iops.read_share
        small_kib = max(LEAST_KIB, _power_below(min(SMALL_KIB, ridge_kib)))
        yield section("ceiling-iops", _moment(ceiling, small_kib, read_share))
    if shape is None or shape.at_most_throughput.mean_kib < ridge_kib:
        read_share = DEFAULT_READ_SHARE if shape is None else shape.at_most_throughput.read_share
        yield section("ceiling-throughput", _moment(ceiling, int(ceiling.io_kib or KIB_PER_MIB), read_share))


def _moment(ceiling: Ceiling, size_kib: int, read_share: float) -> Moment:
    """All that a ceiling carries at one I/O size."""
    iops = ceiling.at(size_kib)
    sizes = ((size_kib, 1.0),)
    return Moment(
        iops=iops,
        throughput_mib_s=iops * size_kib / KIB_PER_MIB,
        read_share=read_share,
        read_sizes_kib=sizes,
        write_sizes_kib=sizes,
    )


def _power_below(size_kib: float) -> int:
    return 1 << max(0, int(size_kib).bit_length() - 1)
