"""Rules about the load: what was asked of the volume, and whether it reached it."""

from collections.abc import Iterator, Mapping
from typing import Final

from plimsoll.domain.ceiling import Resource
from plimsoll.domain.evidence.envelope import Admission, Latency, Measurement
from plimsoll.envelopes.admissibility.rule import Finding, Limits, Rule

ENGINES: Final[Mapping[str, str]] = {
    "null": "does no I/O at all",
    "cpuio": "only keeps the processor busy",
    "mmap": "writes to memory, and the page cache answers",
    "splice": "moves data through the page cache",
    "filecreate": "only creates files",
    "filestat": "only asks for the state of files",
    "filedelete": "only deletes files",
    "ftruncate": "only changes the size of files",
    "falloc": "only reserves space",
    "net": "sends over the network",
    "netsplice": "sends over the network",
    "rdma": "writes to the memory of another machine",
    "libpmem": "writes to persistent memory",
    "dev-dax": "writes to persistent memory",
    "rbd": "reaches a Ceph cluster",
    "http": "reaches an object store",
    "nfs": "reaches a file server",
    "libhdfs": "reaches a Hadoop cluster",
    "gfapi": "reaches a Gluster cluster",
}
"""What fio's engines that reach no block device do instead (fio's documentation, `ioengine`)."""

SYNCHRONOUS: Final = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2"})
"""Engines of one outstanding I/O a job, whatever iodepth says."""

SMALL_GIB: Final = 1.0
"""A working set under this fits in caches on the way."""

FEW_LOST: Final = 0.001
"""Up to this share of short or dropped operations the figures are doubtful, and above it they are wrong."""

_IOPS: Final = frozenset({Resource.IOPS})
_THROUGHPUT: Final = frozenset({Resource.THROUGHPUT})


def _no_device(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    engine = (one.job.engine or "").partition(":")[0]
    if one.provenance.tool != "sysbench" and engine in ENGINES:
        yield Finding(
            admission=Admission.REJECTED,
            text=f"the I/O engine {engine} {ENGINES[engine]}, so no volume was measured: use libaio, io_uring or psync",
        )


def _failed(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    if one.run.error:
        yield Finding(
            admission=Admission.REJECTED,
            text=f"the job ended with error {one.run.error}: find its cause, and measure again",
        )


def _no_io(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    if not one.iops and not one.throughput_mib_s and one.latency == Latency():
        yield Finding(
            admission=Admission.REJECTED, text="the job did no reads and no writes: see what fio said, and run it again"
        )


def _lost(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    lost = one.run.lost_share
    if lost:
        text = f"{lost:.2g} of all operations were short or dropped, and are counted as if they were whole"
        few = lost <= FEW_LOST
        yield Finding(
            admission=Admission.UNKNOWN if few else Admission.SHOWN,
            text=f"{text}: measure again, on a file or device that is large enough",
        )


def _buffered(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    if one.job.direct is not False or (one.job.engine in ENGINES and one.provenance.tool != "sysbench"):
        return
    remedy = "--file-extra-flags=direct" if one.provenance.tool == "sysbench" else "direct=1"
    cached = "the page cache took part"
    if one.job.writes and one.job.synced:
        yield Finding(
            admission=Admission.SHOWN,
            text=f"without direct I/O {cached} and merged operations: measure again with {remedy}",
            sides=_IOPS,
        )
        yield Finding(
            admission=Admission.UNKNOWN,
            text=f"what was written was synced, but {cached}: measure again with {remedy}",
            sides=_THROUGHPUT,
        )
        return
    yield Finding(
        admission=Admission.SHOWN,
        text=f"no direct I/O was asked for, so {cached} and the device need not have: measure again with {remedy}",
    )


def _unknown_direct(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    if one.job.direct is None:
        size = one.job.file_size_gib
        held = "" if size is None else f"; its {size * (one.job.jobs or 1):,.3g} GiB may fit in the host's memory"
        yield Finding(
            admission=Admission.UNKNOWN,
            text=f"nothing says whether I/O was direct or went through the page cache{held}: import fio's JSON, or the "
            "output together with its command",
        )


def _verified(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    if one.job.writes and one.run.read_too:
        yield Finding(
            admission=Admission.SHOWN,
            text="what was written was read back to verify it, one after the other, so the sum of both was never "
            "carried: measure again without verify",
        )
    elif one.job.verify:
        yield Finding(
            admission=Admission.UNKNOWN,
            text="the bench spent its time on checksums to verify data, and may have been the limit: measure again "
            "without verify",
        )


def _ignored_depth(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    if one.job.engine in SYNCHRONOUS and (one.job.iodepth or 1) > 1:
        yield Finding(
            admission=Admission.COUNTS,
            text=f"{one.job.engine} ignores iodepth {one.job.iodepth}: one I/O a job was outstanding",
        )


def _small_set(one: Measurement, _limits: Limits) -> Iterator[Finding]:
    if one.job.file_size_gib is not None and one.job.file_size_gib * (one.job.jobs or 1) < SMALL_GIB:
        kib = one.job.file_size_gib * (one.job.jobs or 1) * (1 << 20)
        yield Finding(
            admission=Admission.UNKNOWN,
            text=f"the working set was {kib:,.0f} KiB, no more than a cache on the way holds: measure again with "
            f"{SMALL_GIB:g} GiB or more",
        )


_FIO: Final = "fio's documentation (fio.readthedocs.io)"

RULES: Final = (
    Rule(name="engine-without-device", source=f"{_FIO}, ioengine", find=_no_device),
    Rule(name="job-error", source=f"{_FIO}, err of a job's output", find=_failed),
    Rule(name="no-io", source="a result without any I/O has no rate", find=_no_io),
    Rule(name="lost-io", source=f"{_FIO}, issued rwts: short, dropped", find=_lost),
    Rule(name="buffered", source=f"{_FIO}, direct; sysbench fileio, file-extra-flags", find=_buffered),
    Rule(name="direct-unknown", source=f"{_FIO}, direct: 0 unless it is set", find=_unknown_direct),
    Rule(name="verify", source=f"{_FIO}, do_verify: data is verified after the writes", find=_verified),
    Rule(name="ignored-depth", source=f"{_FIO}, iodepth: synchronous engines ignore it", find=_ignored_depth),
    Rule(name="small-set", source="EBS User Guide, benchmark EBS volumes", find=_small_set, of_a_volume=True),
)
