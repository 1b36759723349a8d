"""The busiest seconds: what a cloud's per-second peaks say of a demand, bucket by bucket."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray
from plimsoll.domain.ceiling import Accounting, accounted
from plimsoll.domain.metrics.track import counted
from plimsoll.domain.units import MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class BusiestSeconds:
    """What the busiest second of each bucket of a demand had of reads and of writes, which need not be the same second.

    Where a bucket is not `exact`, some longer one that it lies in had that, and it may have had less.
    """

    read_iops: FloatArray
    write_iops: FloatArray
    read_throughput_mib_s: FloatArray
    write_throughput_mib_s: FloatArray
    exact: BoolArray

    def only_in(self, where: BoolArray) -> "BusiestSeconds":
        """The same with nothing in the other buckets."""
        return replace(
            self,
            read_iops=self.read_iops * where,
            write_iops=self.write_iops * where,
            read_throughput_mib_s=self.read_throughput_mib_s * where,
            write_throughput_mib_s=self.write_throughput_mib_s * where,
        )

    def counted_iops(self, accounting: Accounting) -> FloatArray:
        """The most IOPS of any second, as an accounting counts them: reads and writes at their busiest together."""
        cost = accounting.write_iops_cost
        return accounted(
            self.read_iops + cost * self.write_iops,
            self.read_throughput_mib_s + cost * self.write_throughput_mib_s,
            accounting.io_kib,
        )

    def counted_throughput_mib_s(self, accounting: Accounting) -> FloatArray:
        """The most MiB/s of any second, as an accounting counts them: reads and writes at their busiest together."""
        return self.read_throughput_mib_s + accounting.write_throughput_cost * self.write_throughput_mib_s

    def one_way(self, accounting: Accounting) -> tuple[FloatArray, FloatArray]:
        """IOPS and MiB/s that some second surely had: of the busier direction alone."""
        cost = accounting.write_iops_cost
        reads = accounted(self.read_iops, self.read_throughput_mib_s, accounting.io_kib)
        writes = accounted(cost * self.write_iops, cost * self.write_throughput_mib_s, accounting.io_kib)
        written_mib_s = accounting.write_throughput_cost * self.write_throughput_mib_s
        return np.maximum(reads, writes), np.maximum(self.read_throughput_mib_s, written_mib_s)


def busiest_seconds(series: Sequence[FloatArray], *, exact: BoolArray) -> BusiestSeconds:
    """The busiest seconds in the four series of `PEAKS`, in their order: operations and bytes, NaN for nothing."""
    read_ops, write_ops, read_bytes, write_bytes = (counted(values) for values in series)
    return BusiestSeconds(
        read_iops=read_ops,
        write_iops=write_ops,
        read_throughput_mib_s=read_bytes / MIB,
        write_throughput_mib_s=write_bytes / MIB,
        exact=exact,
    )


def at_once(found: Sequence[BusiestSeconds]) -> BusiestSeconds | None:
    """Those of several volumes that are exact, as if they were the same seconds; None of none.

    Where one is not exact it is left out, so that what is left is the least that there was.
    """
    return _added(found, [one.exact for one in found])


def at_most(found: Sequence[BusiestSeconds]) -> BusiestSeconds | None:
    """The most that they can have had together in any second; None of none."""
    return _added(found, [np.ones_like(one.exact) for one in found])


def _added(found: Sequence[BusiestSeconds], parts: Sequence[BoolArray]) -> BusiestSeconds | None:
    if not found:
        return None
    pairs = list(zip(found, parts, strict=True))
    return BusiestSeconds(
        read_iops=np.sum([one.read_iops * part for one, part in pairs], axis=0),
        write_iops=np.sum([one.write_iops * part for one, part in pairs], axis=0),
        read_throughput_mib_s=np.sum([one.read_throughput_mib_s * part for one, part in pairs], axis=0),
        write_throughput_mib_s=np.sum([one.write_throughput_mib_s * part for one, part in pairs], axis=0),
        exact=np.ones_like(found[0].exact),
    )
