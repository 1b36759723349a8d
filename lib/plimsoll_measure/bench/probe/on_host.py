"""A host's counts of its volumes, read once a second and summed up there. It only reads, and runs on any Python from
3.7 on without other packages: `python3 on_host.py VOLUME,VOLUME SECONDS`. A volume is an id, or the path of a device.

EBS devices of Nitro instances keep statistics of their own in the NVMe log page 0xD0: 4,096 bytes, little-endian. The
magic number 0x3C23B510 comes first, the counters from byte 8 on, the histograms of latency from byte 512 on (one of
reads, one of writes: the number of bins, then 64 bins of lower and upper bound in us and a count). Times are in us. The
counts never fall while the volume is attached. (amazon-ec2-utils, `ebsnvme`; Amazon CloudWatch User Guide, "Collect
Amazon EBS NVMe driver metrics"; both read 2026-11-23.) Elsewhere /proc/diskstats counts operations, sectors and their
time (Linux, Documentation/admin-guide/iostats.rst).
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import signal
import struct
import sys
import time
from fcntl import ioctl
from pathlib import Path
from typing import Any, NamedTuple

RATIO = 1.1  # the upper bound of a bin of rates, as a multiple of its lower bound
MOST_ANSWER_CHARACTERS = 20_000  # the API tells the first 24,000 of what is printed

PAGE_BYTES = 4096
MAGIC = 0x3C23B510
COUNTER_WORDS = struct.Struct("<11Q")  # from byte 8 on
COUNTERS_AT = 8
HISTOGRAMS_AT = (512, 2056)
BIN = struct.Struct("<QQII")
MOST_BINS = 64

ADMIN_COMMAND = struct.Struct("<BBHIQQQIIIIIIIIQ")  # struct nvme_admin_cmd, 72 bytes (linux/nvme_ioctl.h)
IOCTL_ADMIN_COMMAND = 0xC0484E41
GET_LOG_PAGE = 0x02
STATISTICS_PAGE = 0xD0

EXCEEDED = ("volume_iops", "volume_throughput", "host_iops", "host_throughput")
signals: list[int] = []  # those that came


class Counts(NamedTuple):
    """A device's counts up to a moment. `exceeded_us` are the us above a limit, by limit.

    `latency_us` are the histograms of reads and of writes, by (lower, upper). Both are empty if nobody counts them.
    """

    operations: int
    size_bytes: int
    spent_us: int
    queue: int
    exceeded_us: dict[str, int] = {}
    latency_us: list[dict[tuple[int, int], int]] = []


def parse_page(page: bytes) -> Counts | None:
    """The counts of a log page. None if it is not EBS's."""
    if len(page) < PAGE_BYTES or struct.unpack_from("<I", page)[0] != MAGIC:
        return None
    counters = COUNTER_WORDS.unpack_from(page, COUNTERS_AT)
    return Counts(
        operations=counters[0] + counters[1],
        size_bytes=counters[2] + counters[3],
        spent_us=counters[4] + counters[5],
        queue=counters[10],
        exceeded_us=dict(zip(EXCEEDED, counters[6:10])),
        latency_us=[_histogram(page, at) for at in HISTOGRAMS_AT],
    )


def _histogram(page: bytes, at: int) -> dict[tuple[int, int], int]:
    count = min(MOST_BINS, struct.unpack_from("<Q", page, at)[0])
    bins = (BIN.unpack_from(page, at + 8 + number * BIN.size) for number in range(count))
    return {(lower, upper): times for lower, upper, times, _ in bins}


def read_page(device: str) -> bytes:
    """The log page of an NVMe device. Empty if it has none or refuses."""
    buffer = ctypes.create_string_buffer(PAGE_BYTES)
    words = PAGE_BYTES // 4 - 1
    command = bytearray(
        ADMIN_COMMAND.pack(
            *(GET_LOG_PAGE, 0, 0, 1, 0, 0, ctypes.addressof(buffer), 0, PAGE_BYTES),
            *(STATISTICS_PAGE | words << 16, 0, 0, 0, 0, 0, 0),
        )
    )
    try:
        descriptor = os.open(device, os.O_RDONLY)
    except OSError:
        return b""
    try:
        ioctl(descriptor, IOCTL_ADMIN_COMMAND, command)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    return buffer.raw


def read_diskstats(path: Path = Path("/proc/diskstats")) -> dict[str, Counts]:
    """The counts of every device by the kernel's name. A sector is 512 bytes there, on every device."""
    disks = {}
    for line in path.read_text().splitlines():
        name, *words = line.split()[2:]
        numbers = [int(word) for word in words]
        disks[name] = Counts(
            operations=numbers[0] + numbers[4],
            size_bytes=(numbers[2] + numbers[6]) * 512,
            spent_us=(numbers[3] + numbers[7]) * 1000,
            queue=numbers[8],
        )
    return disks


def device_of(volume: str) -> str | None:
    """The kernel's name of a volume's device. None if no device, or more than one, has the volume's id."""
    if volume.startswith("/"):
        name = Path(volume).resolve().name
        return name if Path("/sys/class/block", name).exists() else None
    serial, names = volume.replace("-", ""), set()
    for path in Path("/sys/block").glob("*/device/serial"):
        if path.read_text().strip() == serial:
            names.add(path.parts[3])
    for link in Path("/dev/disk/by-id").glob("*" + serial):
        if Path("/sys/block", link.resolve().name).exists():
            names.add(link.resolve().name)
    return names.pop() if len(names) == 1 else None


def bin_of(rate: float) -> int:
    """The bin of a rate: bin 0 begins at 1 a second, and bin -1 is below it."""
    return -1 if rate < 1 else int(math.log(rate) / math.log(RATIO) + 1e-9)


class Watched:
    """A watched volume, and the sums of its seconds so far."""

    def __init__(self, volume: str, name: str) -> None:
        """Nothing is known yet."""
        self.volume, self.name = volume, name
        self.before: Counts | None = None
        self.before_s = 0.0
        self.source = ""
        self.seconds = self.missed = self.restarts = 0
        self.operations = self.size_bytes = self.spent_us = 0
        self.peaks = {"iops": (0.0, 0), "bytes_s": (0.0, 0)}
        self.bins: dict[str, dict[int, int]] = {"iops": {}, "bytes_s": {}}
        self.most_queue = self.queues = 0
        self.exceeded: dict[str, list[int]] = {}
        self.latency: list[dict[tuple[int, int], int]] = [{}, {}]

    def look(self, now_s: float, at_s: int, disks: dict[str, Counts]) -> None:
        """Adds the counts since the last look. `now_s` is of a clock that nobody sets, `at_s` the time of day."""
        counts = parse_page(read_page("/dev/" + self.name)) if self.name.startswith("nvme") else None
        source = "nvme" if counts is not None else "diskstats"
        counts = counts or disks.get(self.name)
        before, spent_s = self.before, now_s - self.before_s
        self.before, self.before_s = counts, now_s
        if before is None and counts is not None and not self.source:
            self.source = source
            return
        if counts is None or before is None or source != self.source or not _grew(before, counts):
            self.restarts += 1  # detached, attached anew, or another page than before
            self.source = source if counts is not None else self.source
            return
        self._add(before, counts, spent_s, at_s)

    def _add(self, before: Counts, counts: Counts, spent_s: float, at_s: int) -> None:
        self.seconds += 1
        self.missed += max(0, round(spent_s) - 1)
        done, moved = counts.operations - before.operations, counts.size_bytes - before.size_bytes
        self.operations += done
        self.size_bytes += moved
        self.spent_us += counts.spent_us - before.spent_us
        for name, rate in (("iops", done / spent_s), ("bytes_s", moved / spent_s)):
            if rate > self.peaks[name][0] or self.seconds == 1:
                self.peaks[name] = (rate, at_s)
            number = bin_of(rate)
            self.bins[name][number] = self.bins[name].get(number, 0) + 1
        self.most_queue = max(self.most_queue, counts.queue)
        self.queues += counts.queue
        for name in counts.exceeded_us:
            increase = counts.exceeded_us[name] - before.exceeded_us[name]
            total = self.exceeded.setdefault(name, [0, 0])
            total[0] += increase
            total[1] += increase > 0
        for kept, new, old in zip(self.latency, counts.latency_us, before.latency_us):
            for bounds in new:
                increase = new[bounds] - old.get(bounds, 0)
                if increase > 0:
                    kept[bounds] = kept.get(bounds, 0) + increase

    def summarize(self) -> dict[str, object]:
        """The volume's sums as plain data."""
        has_page = self.source == "nvme"
        return {
            "volume": self.volume,
            "device": "/dev/" + self.name,
            "source": self.source,
            "seconds": self.seconds,
            "missed_s": self.missed,
            "restarts": self.restarts,
            "operations": self.operations,
            "bytes": self.size_bytes,
            "spent_us": self.spent_us,
            "peaks": {name: [round(rate, 1), at_s] for name, (rate, at_s) in self.peaks.items()},
            "ratio": RATIO,
            "bins": {name: sorted(bins.items()) for name, bins in self.bins.items()},
            "most_queue": self.most_queue,
            "mean_queue": round(self.queues / self.seconds, 2) if self.seconds else None,
            "exceeded": self.exceeded if has_page else None,
            "latency_us": [
                [[*bounds, count] for bounds, count in sorted(histogram.items())] for histogram in self.latency
            ]
            if has_page
            else None,
        }


def _grew(before: Counts, counts: Counts) -> bool:
    return counts.operations >= before.operations and counts.size_bytes >= before.size_bytes


def format_answer(began_s: int, watched: list[Watched], absent: list[str]) -> str:
    """The one line that is printed. If it is too long, bins of the longest volume are joined two by two."""
    volumes = [volume.summarize() for volume in watched]
    while True:
        document = {"plimsoll": 1, "mode": "probe", "began_s": began_s, "volumes": volumes, "absent": absent}
        line = json.dumps(document, separators=(",", ":"))
        if len(line) <= MOST_ANSWER_CHARACTERS or not _join(max(volumes, key=_bins_of)):
            return line


def _bins_of(summary: dict[str, Any]) -> int:
    """The number of all bins of a volume."""
    return sum(map(len, (*summary["bins"].values(), *(summary["latency_us"] or ()))))


def _join(summary: dict[str, Any]) -> bool:
    """Joins a volume's bins two by two. False if there was nothing to join."""
    before = _bins_of(summary)
    for name, bins in summary["bins"].items():
        joined: dict[int, int] = {}
        for number, count in bins:
            half = -1 if number < 0 else number // 2
            joined[half] = joined.get(half, 0) + count
        summary["bins"][name] = sorted(joined.items())
    summary["ratio"] = summary["ratio"] ** 2
    if summary["latency_us"] is not None:
        summary["latency_us"] = [_join_pairs(bins) for bins in summary["latency_us"]]
    return _bins_of(summary) < before


def _join_pairs(bins: list[list[int]]) -> list[list[int]]:
    """Bins of latency, each two as one."""
    pairs = (bins[at : at + 2] for at in range(0, len(bins), 2))
    return [[pair[0][0], pair[-1][1], sum(latency_bin[2] for latency_bin in pair)] for pair in pairs]


def watch_volumes(volumes: list[str], seconds: int) -> str:
    """Looks once a second for `seconds`, or until a signal comes, and returns the answer's line."""
    devices = [(volume, device_of(volume)) for volume in volumes]
    watched = [Watched(volume, name) for volume, name in devices if name is not None]
    began_s, began = int(time.time()), time.monotonic()
    tick = 0
    while watched:
        disks = read_diskstats()
        for watched_volume in watched:
            watched_volume.look(time.monotonic(), int(time.time()), disks)
        tick = max(tick + 1, math.ceil(time.monotonic() - began))  # a look that came late is not made up for
        if tick > seconds or signals:
            break
        time.sleep(max(0.0, began + tick - time.monotonic()))
    return format_answer(began_s, watched, [volume for volume, name in devices if name is None])


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: signals.append(number))
    print(watch_volumes(sys.argv[1].split(","), int(sys.argv[2])))
