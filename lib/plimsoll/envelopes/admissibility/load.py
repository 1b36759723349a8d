"""Rules about the load: what was asked of the volume, and whether it reached it."""

from collections.abc import Iterator, Mapping
from typing import Final

from plimsoll.envelopes.admissibility.rule import Finding, Rule, SystemLimits
from plimsoll.model.ceiling import Resource
from plimsoll.model.envelope import SYNCHRONOUS, Admission, Latency, Measurement

ENGINES: Final[Mapping[str, str]] = {
    "null": "does no I/O at all",
    "cpuio": "only keeps the processor busy",
    "exec": "only runs another program",
    "mmap": "writes to memory, and the page cache answers",
    "splice": "moves data through the page cache",
    "filecreate": "only creates files",
    "filestat": "only asks for the state of files",
    "filedelete": "only deletes files",
    "dircreate": "only creates directories",
    "dirstat": "only asks for the state of directories",
    "dirdelete": "only deletes directories",
    "ftruncate": "only changes the size of files",
    "falloc": "only reserves space",
    "e4defrag": "only moves extents of a file",
    "net": "sends over the network",
    "netsplice": "sends over the network",
    "rdma": "writes to the memory of another machine",
    "librpma_apm_client": "writes to the memory of another machine",
    "librpma_apm_server": "writes to the memory of another machine",
    "librpma_gpspm_client": "writes to the memory of another machine",
    "librpma_gpspm_server": "writes to the memory of another machine",
    "libpmem": "writes to persistent memory",
    "pmemblk": "writes to persistent memory",
    "dev-dax": "writes to persistent memory",
    "mtd": "writes to a flash chip of the host",
    "rbd": "reaches a Ceph cluster",
    "rados": "reaches a Ceph cluster",
    "http": "reaches an object store",
    "nfs": "reaches a file server",
    "nbd": "reaches a server of block devices",
    "libiscsi": "reaches an iSCSI server",
    "libhdfs": "reaches a Hadoop cluster",
    "gfapi": "reaches a Gluster cluster",
    "gfapi_async": "reaches a Gluster cluster",
    "dfs": "reaches a DAOS cluster",
    "ime_psync": "reaches an IME cluster",
    "ime_psyncv": "reaches an IME cluster",
    "ime_aio": "reaches an IME cluster",
}
"""fio's engines that reach no block device, and what they do instead (fio's documentation, `ioengine`)."""

OF_BLOCKS: Final = SYNCHRONOUS | {
    "libaio",
    "io_uring",
    "io_uring_cmd",
    "posixaio",
    "solarisaio",
    "windowsaio",
    "sg",
    "libblkio",
    "libcufile",
    "xnvme",
    "libzbc",
    "guasi",
    "syslet-rw",
    "binject",
    "vsyncio",
}
"""fio's engines that reach a file or a device (fio's documentation, `ioengine`)."""

SMALL_GIB: Final = 1.0
"""A working set under this fits in caches on the way."""

FEW_LOST: Final = 0.001
"""Figures are doubtful up to this share of short or dropped operations, and wrong above it."""

_IOPS: Final = frozenset({Resource.IOPS})
_THROUGHPUT: Final = frozenset({Resource.THROUGHPUT})


def _no_device(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements by an engine that reaches no block device, or that is not known."""
    if measurement.job.engine is None or measurement.provenance.tool == "sysbench":
        return
    engine, _, path = measurement.job.engine.partition(":")
    if engine in ENGINES:
        yield Finding(
            admission=Admission.REJECTED,
            text=f"the I/O engine {engine} {ENGINES[engine]}, so no volume was measured: use libaio, io_uring or psync",
        )
    elif engine == "external" or "/" in engine:
        yield Finding(
            admission=Admission.SHOWN,
            text=f"the I/O engine {(path or engine).rpartition('/')[2]} is none of fio's own, and nothing says what it "
            "reached: use libaio, io_uring or psync",
        )
    elif engine not in OF_BLOCKS:
        yield Finding(
            admission=Admission.UNKNOWN,
            text=f"nothing is known of the I/O engine {engine}: use libaio, io_uring or psync",
        )


def _job_error(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    if measurement.run.error:
        yield Finding(
            admission=Admission.REJECTED,
            text=f"the job ended with error {measurement.run.error}: find its cause, and measure again",
        )


def _no_io(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    if not measurement.iops and not measurement.throughput_mib_s and measurement.latency == Latency():
        yield Finding(
            admission=Admission.REJECTED, text="the job did no reads and no writes: see what fio said, and run it again"
        )


def _lost_io(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements with short, dropped or failed operations: a few are doubted, more are only shown."""
    lost = measurement.run.lost_share
    if lost:
        text = f"{lost:.2g} of all operations were short or dropped, and are counted as if they were whole"
        if measurement.run.failed:
            text = f"{lost:.2g} of all operations failed, and are counted as I/O"
        few = lost <= FEW_LOST
        yield Finding(
            admission=Admission.UNKNOWN if few else Admission.SHOWN,
            text=f"{text}: measure again, on a file or device that is large enough",
        )


def _page_cache(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements through the page cache, which took part in the figures."""
    if measurement.job.direct is not False or (
        measurement.job.engine in ENGINES and measurement.provenance.tool != "sysbench"
    ):
        return
    remedy = "--file-extra-flags=direct" if measurement.provenance.tool == "sysbench" else "direct=1"
    cached = "the page cache took part"
    if measurement.job.is_write_only and measurement.job.synced:
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


def _unknown_direct(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements that do not say whether I/O was direct."""
    if measurement.job.direct is None:
        size = measurement.job.file_size_gib
        held = (
            "" if size is None else f"; its {size * (measurement.job.jobs or 1):,.3g} GiB may fit in the host's memory"
        )
        yield Finding(
            admission=Admission.UNKNOWN,
            text=f"nothing says whether I/O was direct or went through the page cache{held}: import fio's JSON, or the "
            "output together with its command",
        )


def _verification(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements that verified their data: reads apart from the writes are shown, others are of unknown
    weight."""
    if measurement.job.is_write_only and measurement.run.read_too:
        yield Finding(
            admission=Admission.SHOWN,
            text="what was written was read back to verify it, one after the other, so the sum of both was never "
            "carried: measure again without verify",
        )
    elif measurement.job.verify:
        yield Finding(
            admission=Admission.UNKNOWN,
            text="the bench spent its time on checksums to verify data, and may have been the limit: measure again "
            "without verify",
        )


def _ignored_depth(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    if measurement.job.engine in SYNCHRONOUS and (measurement.job.iodepth or 1) > 1:
        yield Finding(
            admission=Admission.COUNTS,
            text=f"{measurement.job.engine} ignores iodepth {measurement.job.iodepth}: one I/O a job was outstanding",
        )


def _small_set(measurement: Measurement, _limits: SystemLimits) -> Iterator[Finding]:
    """Finds measurements whose working set fits into a cache on the way."""
    gib = measurement.job.set_gib
    if gib is None and measurement.job.file_size_gib is not None:
        gib = measurement.job.file_size_gib * (measurement.job.jobs or 1)
    if gib is not None and gib < SMALL_GIB:
        yield Finding(
            admission=Admission.UNKNOWN,
            text=f"the working set was {gib * (1 << 20):,.0f} KiB, no more than a cache on the way holds: measure "
            f"again with {SMALL_GIB:g} GiB or more",
        )
    elif measurement.job.skew is not None:
        yield Finding(
            admission=Admission.UNKNOWN,
            text=f"some offsets were hotter than others ({measurement.job.skew}), so a cache on the way may have "
            "served them: measure again with random_distribution=random",
        )


_FIO: Final = "fio's documentation (fio.readthedocs.io)"

LOAD_RULES: Final = (
    Rule(
        name="engine-without-device",
        law="An engine that reaches no block device measures no volume.",
        source=f"{_FIO}, ioengine",
        find=_no_device,
    ),
    Rule(
        name="job-error",
        law="A job that failed measured nothing.",
        source=f"{_FIO}, err of a job's output",
        find=_job_error,
    ),
    Rule(name="no-io", law="What did no I/O has no rate.", source="a result without any I/O has no rate", find=_no_io),
    Rule(
        name="lost-io",
        law="An operation that was short, dropped or failed is no I/O.",
        source=f"{_FIO}, issued rwts: short, dropped",
        find=_lost_io,
    ),
    Rule(
        name="buffered",
        law="Without direct I/O the page cache answers.",
        source=f"{_FIO}, direct; sysbench fileio, file-extra-flags",
        find=_page_cache,
    ),
    Rule(
        name="direct-unknown",
        law="Unless direct I/O is told, the page cache may have answered.",
        source=f"{_FIO}, direct: 0 unless it is set",
        find=_unknown_direct,
    ),
    Rule(
        name="verify",
        law="Writes that are read back were not carried together with the reads.",
        source=f"{_FIO}, do_verify: data is verified after the writes",
        find=_verification,
    ),
    Rule(
        name="ignored-depth",
        law="A synchronous engine has one I/O in flight a job.",
        source=f"{_FIO}, iodepth: synchronous engines ignore it",
        find=_ignored_depth,
    ),
    Rule(
        name="small-set",
        law="A set that fits a cache, or of which a part is hot, is served by it.",
        source="EBS User Guide, benchmark EBS volumes",
        find=_small_set,
        of_a_volume=True,
    ),
)
