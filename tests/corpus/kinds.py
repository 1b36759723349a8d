"""Kinds of results that lie, by rule: files that meet a rule, and files that only look so."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tests.corpus.made import a_disk, a_job, a_side, fio, text


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One made file: the rule that it is about, whether it meets it, and the gravest verdict on it and its grade.

    `against`: it speaks against its type. `spec` is what it was imported as.
    """

    name: str
    rule: str
    meets: bool
    output: str
    verdict: str
    grade: str
    against: bool = False
    spec: dict[str, Any] = field(default_factory=dict)


def _of(rule: str, verdict: str, grade: str, files: dict[str, str], **fields: Any) -> list[Kind]:
    return [
        Kind(name=name, rule=rule, meets=True, output=made, verdict=verdict, grade=grade, **fields)
        for name, made in files.items()
    ]


def _honest(rule: str, files: dict[str, str], verdict: str = "counts", grade: str = "A", **fields: Any) -> list[Kind]:
    return [
        Kind(name=name, rule=rule, meets=False, output=made, verdict=verdict, grade=grade, **fields)
        for name, made in files.items()
    ]


def _one(
    read: dict[str, Any] | None = None,
    *,
    write: dict[str, Any] | None = None,
    disks: Sequence[dict[str, Any]] = (),
    fields: dict[str, Any] | None = None,
    **options: str | None,
) -> str:
    """A file of one job."""
    return fio(a_job(options=options, read=read, write=write, **(fields or {})), disks=disks)


FIO_OF_2017: Final[dict[str, Any]] = {"fio version": "fio-2.21", "time": None, "timestamp": None}
FIO_OF_2021: Final[dict[str, Any]] = {"fio version": "fio-3.28"}
GROUP: Final[dict[str, Any]] = {"group_reporting": "1"}

LITTLE: Final = [
    *_of(
        "little",
        "rejected",
        "C",
        {
            "depth 1 that did 955 at 1.889 ms": _one(a_side(955, mean_us=1889.4), iodepth="1"),
            "16 jobs of psync that did 3,000 at 8 ms": _one(
                a_side(3_000, mean_us=8_000), ioengine="psync", numjobs="16", **GROUP
            ),
            "depth 4 with 3,000 at 2 ms, in normal output": text(
                sections=("rw=randread, bs=(R) 4096B-4096B, ioengine=libaio, iodepth=4",),
                more="    clat (usec): min=300, max=9000, avg=2000.00, stdev=100.00\n",
            ),
            "reads and writes together above their depth": _one(
                a_side(1_500, mean_us=3_000), write=a_side(1_500, mean_us=3_000), rw="randrw", iodepth="4"
            ),
            "an engine that ignores its depth of 32": _one(a_side(2_900, mean_us=1_000), ioengine="psync"),
        },
    ),
    *_honest(
        "little",
        {
            "depth 32 with 3,000 at 10.6 ms": _one(a_side(3_000, mean_us=10_600)),
            "32 jobs of psync": _one(
                a_side(2_990, mean_us=10_650), ioengine="psync", iodepth="1", numjobs="32", **GROUP
            ),
            "two sections in one entry, by its samples": _one(a_side(3_000, mean_us=20_000, samples=720), **GROUP),
            "both directions within their depth": _one(
                a_side(2_100, mean_us=10_600), write=a_side(900, mean_us=10_600), rw="randrw"
            ),
        },
    ),
]

COUNTING: Final = [
    *_of(
        "operations-over-time",
        "rejected",
        "C",
        {
            "IOPS six times the operations over time": _one(a_side(3_000) | {"total_ios": 90_000}),
            "half the run time": _one(a_side(3_000) | {"runtime": 90_000, "io_bytes": None, "io_kbytes": None}),
            "normal output whose total does not fit": text(
                more="     issued rwts: total=100000,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
            ),
            "of one of two directions": _one(a_side(2_000), write=a_side(1_000) | {"total_ios": 20_000}, rw="randrw"),
        },
    ),
    *_honest(
        "operations-over-time",
        {
            "operations in flight at both ends": _one(a_side(3_000) | {"total_ios": 540_032}),
            "normal output that rounds": text(
                more="     issued rwts: total=540123,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
            ),
            "no count of operations": _one({key: value for key, value in a_side(3_000).items() if key != "total_ios"}),
        },
    ),
    *_honest(
        "operations-over-time",
        {
            "2.7 IOPS, printed as 2": text(
                line="read: IOPS=2, BW=11.0KiB/s (11.3kB/s)(1944KiB/180002msec)",
                more="     issued rwts: total=486,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n",
            )
        },
        against=True,
    ),
    *_of(
        "bytes-over-time",
        "rejected",
        "C",
        {
            "bandwidth twice the bytes over time": _one(
                a_side(3_000) | {"io_bytes": 1_105_920_000, "io_kbytes": 1_080_000}
            ),
            "normal output": text(line="read: IOPS=3000, BW=11.7MiB/s (12.3MB/s)(4218MiB/180002msec)"),
        },
    ),
    *_honest(
        "bytes-over-time",
        {
            "fio 2 counts bytes in KiB": fio(
                a_job(
                    read={key: value for key, value in a_side(3_000).items() if key not in {"bw_bytes", "io_kbytes"}}
                    | {"io_bytes": 2_160_000}
                ),
                **FIO_OF_2017,
            ),
        },
        grade="B",
    ),
    *_honest(
        "bytes-over-time",
        {"gibibytes to one digit": text(line="read: IOPS=3000, BW=11.7MiB/s (12.3MB/s)(2.1GiB/180002msec)")},
    ),
    *_of(
        "bytes-per-operation",
        "rejected",
        "C",
        {
            "operations of 4 KiB that moved 16": _one(a_side(3_000, kib=16)),
            "normal output": text(line="read: IOPS=3000, BW=46.9MiB/s (49.2MB/s)(8437MiB/180002msec)"),
        },
    ),
    *_honest(
        "bytes-per-operation",
        {
            "a range of sizes": _one(a_side(3_000, kib=16), bs=None, bsrange="4k-28k"),
            "a size for reads and one for writes": _one(
                a_side(1_500, kib=4), write=a_side(1_500, kib=16), rw="randrw", bs="4k,16k"
            ),
            "k of 1,000": _one(a_side(3_000, kib=4000 / 1024), kb_base="1000"),
            "two sections of two sizes in one entry": _one(a_side(3_000, kib=20, samples=720), **GROUP),
        },
    ),
    *_honest(
        "bytes-per-operation",
        {
            "two jobs of two sizes in a group": fio(
                a_job("a", read=a_side(1_500, kib=4)), a_job("b", options={"bs": "32k"}, read=a_side(1_500, kib=32))
            )
        },
    ),
    *_honest(
        "bytes-per-operation",
        {
            "two sections of two sizes in normal output": text(
                sections=(
                    "rw=randread, bs=(R) 4096B-4096B, ioengine=libaio, iodepth=16",
                    "rw=randread, bs=(R) 64.0KiB-64.0KiB, ioengine=libaio, iodepth=16",
                ),
                jobs=2,
                line="read: IOPS=3000, BW=99.6MiB/s (104MB/s)(17.5GiB/180002msec)",
            )
        },
    ),
]

TIME: Final = [
    *_of(
        "elapsed",
        "rejected",
        "C",
        {
            "six jobs one after another": _one(
                a_side(3_000, seconds=36), fields={"elapsed": 217}, numjobs="6", wait_for="job", **GROUP
            ),
            "a chain on files": _one(
                a_side(3_000, seconds=36),
                fields={"elapsed": 217},
                numjobs="6",
                wait_for="job",
                filename="/mnt/data/file",
                **GROUP,
            ),
            "twice the time on a device": _one(
                a_side(3_000, seconds=60), fields={"elapsed": 121}, numjobs="2", **GROUP
            ),
            "more run time than passed": _one(fields={"elapsed": 60}),
        },
    ),
    *_honest(
        "elapsed",
        {
            "a ramp of a minute": _one(fields={"elapsed": 242}, ramp_time="60"),
            "a delay of a minute": _one(fields={"elapsed": 241}, startdelay="1m"),
            "three groups with stonewalls": fio(
                *(a_job(f"job{at}", group=at, elapsed=543, options={"stonewall": "1"}) for at in range(3)),
            ),
            "a few seconds to start and to end": _one(fields={"elapsed": 188}),
        },
    ),
    *_honest(
        "elapsed",
        {"a file that was laid out first": _one(fields={"elapsed": 600}, filename="/mnt/data/file", size="10g")},
        verdict="unknown",
        grade="B",
    ),
    *_of(
        "chained",
        "unknown",
        "B",
        {
            "a chain in normal output": text(
                command="--direct=1 --filename=/dev/nvme1n1 --numjobs=2 --wait_for=job", jobs=2
            ),
            "a job that began when the other was done": fio(
                a_job("a", read=a_side(1_500, seconds=60), elapsed=122),
                a_job("b", options={"startdelay": "60"}, read=a_side(1_500, seconds=60), elapsed=122),
            ),
        },
    ),
    *_honest("chained", {"one job that waited for another group": _one(wait_for="fill")}),
    *_of(
        "rate-limit",
        "rejected",
        "C",
        {
            "3,000 of jobs held to 1,000": _one(rate_iops="1000"),
            "three jobs held to 500 each": _one(rate_iops="500", numjobs="3", **GROUP),
            "more bytes than its rate": _one(a_side(100, kib=1024), rate="50m", bs="1m"),
            "in normal output": text(command="--direct=1 --filename=/dev/nvme1n1 --rate_iops=1000"),
            "its own rate, one after another": _one(
                a_side(100, kib=1024, seconds=180), numjobs="4", wait_for="job", rate="25m", bs="1m", **GROUP
            ),
        },
    ),
    *_honest(
        "rate-limit",
        {
            "2 % above its rate": _one(a_side(1_020), rate_iops="1000"),
            "six jobs of a rate each": _one(a_side(3_000), rate_iops="500", numjobs="6", **GROUP),
            "a rate for writes alone": _one(rate_iops=",500"),
            "a rate for each direction": _one(a_side(500), write=a_side(250), rw="randrw", rate_iops="500,250"),
        },
    ),
]


def _percentiles(**changes: float) -> dict[str, Any]:
    side = a_side(3_000, mean_us=10_600)
    side["clat_ns"]["percentile"] |= {
        name.removeprefix("p") + ".000000": int(value * 1000) for name, value in changes.items()
    }
    return side


def _clat(**changes: float) -> dict[str, Any]:
    side = a_side(3_000, mean_us=10_600)
    side["clat_ns"] |= changes
    return side


CLOCK: Final = [
    *_of(
        "clock",
        "rejected",
        "C",
        {
            "1 % of operations took no time": _one(_percentiles(p1=0)),
            "a median below the first percentile": _one(_percentiles(p50=1_000)),
            "a mean above the highest": _one(_clat(max=9_000_000)),
            "a mean below the lowest": _one(_clat(min=12_000_000)),
            "a tenth of operations that took more than all": _one(_percentiles(p90=200_000, p99=200_000)),
        },
    ),
    *_of("clock", "unknown", "B", {"one operation of 0 ns": _one(_clat(min=0))}),
    *_honest(
        "clock",
        {
            "a long tail": _one(_percentiles(p99=45_000)),
            "percentiles that are alike": _one(_percentiles(p1=10_000, p50=10_000, p90=10_000)),
            "no latency at all": _one(a_side(3_000)),
        },
    ),
    *_of(
        "dates",
        "unknown",
        "B",
        {
            "2037": fio(a_job(), time="Wed Oct 14 17:46:40 2037", timestamp=2_139_068_800),
            "a clock in words and one in numbers": fio(a_job(), timestamp=1_500_000_000),
            "a fio that is younger than its run": fio(
                a_job(), time="Wed Oct 14 17:46:40 2015", timestamp=1_444_844_800
            ),
            "next month": fio(a_job(), time="Wed Dec 30 10:00:00 2026", timestamp=1_798_624_800),
        },
    ),
    *_honest(
        "dates",
        {
            "another time zone": fio(a_job(), time="Tue Nov 24 01:00:00 2026"),
            "numbers alone": fio(a_job(), time=None),
            "a fio of two years ago": fio(a_job(), **FIO_OF_2021),
        },
    ),
]

MERGES: Final = [
    *_of(
        "merged",
        "shown only",
        "A",
        {
            "sequential writes of 4 KiB": _one(write=a_side(3_000), rw="write"),
            "sequential reads of 64 KiB": _one(a_side(1_990, kib=64), rw="read", bs="64k"),
            "random I/O that goes on for eight": _one(rw="randread:8"),
            "half of it sequential": _one(percentage_random="50"),
            "random in words, merged by the kernel": _one(
                write=a_side(3_000), rw="randwrite", disks=[a_disk(ios=(0, 40_000), merges=(0, 500_000))]
            ),
        },
    ),
    *_honest(
        "merged",
        {
            "random writes": _one(
                write=a_side(3_000), rw="randwrite", disks=[a_disk(ios=(0, 540_100), merges=(0, 900))]
            ),
            "sequential reads of 1 MiB": _one(a_side(125, kib=1024), rw="read", bs="1m"),
            "reads beside writes that a journal merged": _one(
                a_side(3_000), disks=[a_disk(ios=(540_000, 100), merges=(0, 5_000))]
            ),
        },
    ),
    *_of(
        "directions",
        "shown only",
        "C",
        {
            "random writes told as reads": _one(a_side(3_000), rw="randwrite"),
            "reads told as writes": _one(write=a_side(3_000)),
        },
    ),
    *_honest(
        "directions",
        {
            "both": _one(a_side(1_500), write=a_side(1_500), rw="randrw"),
            "writes": _one(write=a_side(3_000), rw="randwrite"),
        },
    ),
    *_of(
        "not-the-device",
        "rejected",
        "C",
        {"a cache that served nine of ten": _one(a_side(3_000), disks=[a_disk(ios=(54_000, 0))])},
    ),
    *_of(
        "not-the-device",
        "unknown",
        "B",
        {
            "the same in two groups": fio(
                a_job("a", elapsed=362), a_job("b", group=1, elapsed=362), disks=[a_disk(ios=(300_000, 0))]
            )
        },
    ),
    *_honest(
        "not-the-device",
        {
            "two groups that the device counted": fio(
                a_job("a", elapsed=362), a_job("b", group=1, elapsed=362), disks=[a_disk(ios=(1_080_000, 9))]
            )
        },
    ),
    *_of(
        "lost-io",
        "shown only",
        "C",
        {
            "errors that were counted": _one(fields={"total_err": 90_000, "first_error": 5}, continue_on_error="all"),
            "errors in normal output": text(
                more="     issued rwts: total=540000,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
                "     errors    : total=90000, first_error=5/<Input/output error>\n"
            ),
        },
    ),
    *_of("lost-io", "unknown", "B", {"a few errors": _one(fields={"total_err": 9, "first_error": 5})}),
    *_honest("lost-io", {"none, though it would have gone on": _one(fields={"total_err": 0}, continue_on_error="all")}),
]

SET: Final = [
    *_of(
        "small-set",
        "unknown",
        "B",
        {
            "256 MiB that 16 jobs share": _one(size="256m", numjobs="16", **GROUP),
            "files of 16 MiB": _one(filesize="16m", nrfiles="8", size="10g"),
            "a zone of 64 MiB": _one(size="100g", zonerange="64m", zonesize="64m", zonemode="strided"),
            "jobs of one name and 512 MiB": fio(
                *(a_job(f"j{at}", options={"size": "512m"}, read=a_side(750)) for at in range(4))
            ),
            "Zipf": _one(size="100g", random_distribution="zipf:1.2"),
            "a few hot percent": _one(size="100g", random_distribution="zoned:90/5:10/95"),
        },
    ),
    *_honest(
        "small-set",
        {
            "16 jobs of 100 MiB each": _one(size="100m", numjobs="16", offset_increment="100m", **GROUP),
            "10 GiB that 16 jobs share": _one(size="10g", numjobs="16", **GROUP),
            "all of a device": _one(size="100%"),
            "every offset alike": _one(size="10g", random_distribution="random"),
        },
    ),
]

ENGINES: Final = [
    *_of(
        "engine-without-device",
        "rejected",
        "C",
        {
            name: _one(ioengine=name)
            for name in (
                "rados",
                "rbd",
                "nbd",
                "http",
                "libiscsi",
                "librpma_apm_client",
                "libpmem",
                "dev-dax",
                "null",
                "mmap",
                "exec",
            )
        },
    ),
    *_of(
        "engine-without-device",
        "shown only",
        "C",
        {
            "an engine of somebody's own": _one(ioengine="external:/opt/engines/spdk.so"),
            "a path to one": _one(ioengine="/opt/spdk/build/fio/spdk_nvme"),
        },
    ),
    *_of("engine-without-device", "unknown", "B", {"an engine that nobody knows": _one(ioengine="foo")}),
    *_honest(
        "engine-without-device",
        {
            name: _one(a_side(2_990), ioengine=name)
            for name in ("io_uring", "io_uring_cmd", "posixaio", "windowsaio", "sg")
        },
    ),
]


def _group_of(*names: str) -> str:
    return fio(
        *(a_job(f"j{at}", options={"filename": name}, read=a_side(3_000 / len(names))) for at, name in enumerate(names))
    )


_REPEATED: Final = json.dumps("/dev/nvme1n1")


def _same_key(*names: str) -> str:
    """A job whose option `filename` is printed once for each device."""
    made = _one()
    return made.replace(f'"filename": {_REPEATED}', ",\n".join(f'"filename": {json.dumps(name)}' for name in names))


TWO: Final = ("/dev/nvme1n1", "/dev/nvme2n1")

NAMES: Final = [
    *_of(
        "several-volumes",
        "shown only",
        "C",
        {
            "a list between colons": _one(filename=":".join(TWO)),
            "the same key twice": _same_key(*TWO),
            "one name a job": _group_of(*TWO),
            "folders of two": _one(filename=None, directory="/mnt/a:/mnt/b"),
            "files in two folders": _one(filename="/mnt/a/f:/mnt/b/f"),
            "two devices that counted it": _one(
                filename="/mnt/a/f", disks=[a_disk(ios=(270_000, 0)), a_disk("nvme2n1", ios=(270_000, 0))]
            ),
            "a RAID": _one(filename="/dev/md0"),
            "a RAID behind files, in two groups": fio(
                a_job("a", options={"filename": "/mnt/f"}, elapsed=362),
                a_job("b", group=1, options={"filename": "/mnt/f"}, elapsed=362),
                disks=[a_disk("md0", ios=(1_080_000, 0))],
            ),
            "two machines": fio(
                client_stats=[a_job("j", hostname=host, read=a_side(1_500)) for host in ("a", "b")], jobs=[]
            ),
        },
    ),
    *_of(
        "several-volumes",
        "unknown",
        "B",
        {
            "two groups of files, two devices": fio(
                a_job("a", options={"filename": "/mnt/f"}, elapsed=362),
                a_job("b", group=1, options={"filename": "/mnt/f"}, elapsed=362),
                disks=[a_disk(ios=(540_000, 0)), a_disk("nvme2n1", ios=(540_000, 0))],
            ),
            "a logical volume": _one(filename="/dev/mapper/vg-data"),
            "the sum of all clients": fio(client_stats=[a_job("All clients")], jobs=[]),
        },
    ),
    *_honest(
        "several-volumes",
        {
            "two partitions of one device": _one(filename="/dev/nvme1n1p1:/dev/nvme1n1p2"),
            "a group each on its own device": fio(
                a_job("a", elapsed=362),
                a_job("b", group=1, options={"filename": "/dev/nvme2n1"}, elapsed=362),
                disks=[a_disk(), a_disk("nvme2n1")],
            ),
            "a link's name and the kernel's": _one(
                filename="/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0123", disks=[a_disk()]
            ),
            "files in two folders of one device": _one(filename="/mnt/a/f:/mnt/b/f", disks=[a_disk()]),
            "one machine": fio(client_stats=[a_job("j", hostname="a")], jobs=[]),
        },
    ),
    *_of(
        "no-volume",
        "rejected",
        "C",
        {
            **{
                name: _one(filename=name)
                for name in (
                    "/dev/loop3",
                    "/dev/nbd0",
                    "/dev/pmem0",
                    "/dev/dax0.0",
                    "/dev/rbd0",
                    "/dev/ram0",
                    "/run/shm/file",
                    "/dev/shm/file",
                    "/dev/disk/by-id/nvme-Amazon_EC2_NVMe_Instance_Storage_AWS22F",
                    "/dev/disk/by-id/google-local-nvme-ssd-0",
                    "/dev/zero",
                )
            },
            "a folder in memory": _one(filename=None, directory="/dev/shm"),
            "a name in a folder in memory": _one(filename="data", directory="/run/shm"),
            "a loop device with a second group": fio(
                a_job("a", options={"filename": "/mnt/f"}, elapsed=362),
                a_job("b", group=1, options={"filename": "/mnt/f"}, elapsed=362),
                disks=[a_disk("loop0", ios=(1_080_000, 0))],
            ),
            "the second job's name": _group_of("/dev/nvme1n1", "/dev/loop0"),
        },
    ),
    *_honest(
        "no-volume",
        {
            name: _one(filename=name)
            for name in ("/dev/sdf", "/dev/xvdf", "/dev/vdb", "/dev/nvme11n1", "\\\\.\\PhysicalDrive1")
        },
    ),
    *_of(
        "device-unknown",
        "unknown",
        "B",
        {
            "a file and no counts": _one(filename="/mnt/data/file"),
            "a folder and no counts": _one(filename=None, directory="/mnt/data"),
            "a device that nobody knows": _one(filename="/dev/foo0"),
            "normal output without device": text(command="--direct=1 --directory=/mnt/data"),
        },
    ),
    *_honest(
        "device-unknown",
        {
            "a file on a device that counted it": _one(filename="/mnt/data/file", disks=[a_disk()]),
            "files of two groups on one device": fio(
                a_job("a", options={"filename": "/mnt/f"}, elapsed=362),
                a_job("b", group=1, options={"filename": "/mnt/f"}, elapsed=362),
                disks=[a_disk(ios=(1_080_000, 0))],
            ),
            "normal output with the device's counts": text(
                command="--direct=1 --directory=/mnt/data",
                tail="\nRun status group 0 (all jobs):\n   READ: bw=11.7MiB/s\n\nDisk stats (read/write):\n"
                "  nvme1n1: ios=540000/0, merge=0/0, ticks=1/0, in_queue=1, util=99.00%\n",
            ),
        },
    ),
]


def _short(**options: Any) -> str:
    """300 of 3,000 IOPS."""
    return _one(a_side(300), **options)


AGAINST: Final = [
    *_of(
        "held-back",
        "counts",
        "A",
        {
            "a pause after each": _short(thinktime="100000"),
            "a latency to be kept": _short(latency_target="1000"),
            "a flow": _short(flow="8"),
            "a replay": _short(read_iolog="trace.log"),
            "an fsync after each write": _one(write=a_side(300), rw="randwrite", fsync="1"),
            "synchronous writes": _one(write=a_side(300), rw="randwrite", sync="1"),
        },
    ),
    *_honest(
        "held-back",
        {
            "32 in flight, and 300": _short(),
            "the same with its latency": _one(a_side(300, mean_us=106_000)),
            "an fsync at the end": _one(write=a_side(300), rw="randwrite", end_fsync="1"),
            "reads, which need no fsync": _short(fsync="1"),
            "options that are off": _short(thinktime="0", flow="0", sync="none"),
        },
        against=True,
    ),
    *_of(
        "depth-not-reached",
        "counts",
        "A",
        {
            "32 told, 1 in flight by its latency": _one(a_side(300, mean_us=3_300)),
            "64 told, 2 by its histogram": _one(
                a_side(300), fields={"iodepth_level": {"1": 40.0, "2": 60.0, "4": 0.1, ">=64": 0.0}}, iodepth="64"
            ),
            "32 told, 5 in flight": _one(a_side(300, mean_us=17_000)),
        },
    ),
    *_honest("depth-not-reached", {"depth 1": _one(a_side(300, mean_us=3_300), iodepth="1")}),
    *_honest(
        "depth-not-reached",
        {
            "24 of 32": _one(a_side(300, mean_us=80_000)),
            "32 by its histogram": _one(a_side(300), fields={"iodepth_level": {"1": 0.1, "32": 99.9}}),
        },
        against=True,
    ),
]

KINDS: Final[tuple[Kind, ...]] = (*LITTLE, *COUNTING, *TIME, *CLOCK, *MERGES, *SET, *ENGINES, *NAMES, *AGAINST)
