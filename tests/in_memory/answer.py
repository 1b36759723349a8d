"""What a volume in memory answers to a fio job: exactly its published ceiling, in fio's own JSON."""

import configparser
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from plimsoll.model.ceiling import Ceiling
from plimsoll.model.market import VolumeType, type_of
from plimsoll.model.task import Task, TaskMode
from plimsoll.model.units import HOUR_S, KIB, MINUTE_S
from plimsoll.model.volume import VolumeSpec

LATENCY_US: Final = 600.0
"""The mean latency of a volume in memory that is not asked for more than it carries."""

_FACTORS: Final = {"": 1, "b": 1, "k": KIB, "m": KIB**2, "g": KIB**3}
_SECONDS: Final = {"": 1, "s": 1, "m": MINUTE_S, "h": HOUR_S}
_READ_SHARES: Final = {"read": 1.0, "randread": 1.0, "write": 0.0, "randwrite": 0.0}
_PERCENTILES: Final = {"50.000000": 1.0, "95.000000": 1.25, "99.000000": 1.5, "99.900000": 2.0}
"""By fio's names: multiples of the mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AsPublished:
    """Measures what the published types say. `share` of the ceiling is delivered; `simulated` is what the answer says
    of itself, `bench` what the bench says of its own load (None: nothing). UnknownVolumeType for another type,
    ValueError for a job that is none."""

    types: Mapping[str, VolumeType]
    share: float = 1.0
    simulated: bool = True
    bench: Mapping[str, object] | None = None

    def __call__(self, spec: VolumeSpec | None, task: Task) -> str:
        """The line that the document prints."""
        answer: dict[str, Any] = {"plimsoll": 1, "mode": task.mode.value}
        if task.mode is TaskMode.INSPECT or spec is None:
            return _line({**answer, "lsblk": {"blockdevices": []}})
        in_file = task.mode is TaskMode.FILE
        return _line(
            {
                **answer,
                "volume_id": task.volume_id,
                "device": "/dev/nvme1n1",
                "filesystem": "ext4" if in_file else None,
                "simulated": self.simulated,
                "stopped": None,
                "bench": self.bench,
                "fio": self._fio(spec, task.job),
            }
        )

    def _fio(self, spec: VolumeSpec, job: str) -> Mapping[str, Any]:
        parsed = configparser.ConfigParser(
            allow_no_value=True, interpolation=None, strict=False, delimiters=("=",), default_section="global"
        )
        parsed.read_string(job)
        ceiling = type_of(spec, self.types).ceiling(spec)
        jobs = []
        for number, name in enumerate(parsed.sections()):
            options = {option: value or "" for option, value in parsed[name].items()}
            asked = _Asked.of(options)
            carried = asked.carried_by(ceiling) * self.share
            jobs.append(_job(number, name, options, asked, carried))
        shared = {option: value or "" for option, value in parsed.defaults().items()}
        return {"fio version": "fio-3.33", "global options": shared, "jobs": jobs, "disk_util": []}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What a job asks for: I/O sizes in KiB, the reads' share, and the most operations a second of each direction."""

    read_kib: float
    write_kib: float
    read_share: float
    rates: tuple[float, float] | None
    depth: int
    runtime_s: int

    @property
    def mean_kib(self) -> float:
        return self.read_share * self.read_kib + (1 - self.read_share) * self.write_kib

    def carried_by(self, ceiling: Ceiling) -> float:
        """The operations a second of this mix that a ceiling carries, whose figures are those of reads."""
        counted, read_bytes = ceiling.accounting, self.read_share * self.read_kib / self.mean_kib
        of_mix = replace(
            ceiling,
            iops=ceiling.iops / counted.mean_iops_cost(self.read_share),
            throughput_mib_s=ceiling.throughput_mib_s / counted.mean_throughput_cost(read_bytes),
        )
        return of_mix.iops_at(self.mean_kib)

    @classmethod
    def of(cls, options: Mapping[str, str]) -> "_Asked":
        mixed = float(options.get("rwmixread") or 50) / 100
        read_kib, write_kib = _sizes_kib(options)
        rates = None
        if options.get("rate_iops"):
            rates = _both(options["rate_iops"], _bytes)
        elif options.get("rate"):
            read_b, write_b = _both(options["rate"], _bytes)
            rates = (read_b / KIB / read_kib, write_b / KIB / write_kib)
        return cls(
            read_kib=read_kib,
            write_kib=write_kib,
            read_share=_READ_SHARES.get(options.get("rw") or options.get("readwrite") or "read", mixed),
            rates=rates,
            depth=int(options.get("iodepth") or 1) * int(options.get("numjobs") or 1),
            runtime_s=_seconds(options.get("runtime") or "60"),
        )

    def delivered(self, carried: float) -> tuple[float, float]:
        """IOPS of reads and of writes where so many are carried together."""
        wanted = carried
        if self.rates is not None:
            directions = ((self.read_share, self.rates[0]), (1 - self.read_share, self.rates[1]))
            wanted = min(rate / share for share, rate in directions if share > 0)
        total = min(carried, wanted)
        return total * self.read_share, total * (1 - self.read_share)


def _job(number: int, name: str, options: Mapping[str, str], asked: _Asked, carried: float) -> Mapping[str, object]:
    read, write = asked.delivered(carried)
    full = read + write >= carried
    latency_us = max(LATENCY_US, asked.depth / carried * 1e6) if full else LATENCY_US
    return {
        "jobname": name,
        "groupid": number,
        "error": 0,
        "job options": {"name": name, **options},
        "read": _direction(read, asked.read_kib, asked.runtime_s, latency_us),
        "write": _direction(write, asked.write_kib, asked.runtime_s, latency_us),
        "job_runtime": asked.runtime_s * 1000,
    }


def _direction(iops: float, size_kib: float, runtime_s: int, latency_us: float) -> Mapping[str, object]:
    mean_ns = latency_us * 1000 if iops else 0.0
    count = round(iops * runtime_s)
    latency: dict[str, object] = {"min": mean_ns / 2, "max": mean_ns * 3, "mean": mean_ns, "stddev": 0.0, "N": count}
    percentile = {"percentile": {name: round(mean_ns * times) for name, times in _PERCENTILES.items()}} if iops else {}
    return {
        "io_bytes": round(iops * size_kib * KIB * runtime_s),
        "bw_bytes": round(iops * size_kib * KIB),
        "bw": round(iops * size_kib),
        "iops": iops,
        "runtime": runtime_s * 1000 if iops else 0,
        "total_ios": count,
        "short_ios": 0,
        "drop_ios": 0,
        "clat_ns": {**latency, **percentile},
        "lat_ns": latency,
    }


def _sizes_kib(options: Mapping[str, str]) -> tuple[float, float]:
    """The mean size of reads and of writes, from `bssplit` or `bs`."""
    if options.get("bssplit"):
        return _both(options["bssplit"], _split_kib)
    return _both(options.get("bs") or options.get("blocksize") or "4k", lambda text: _bytes(text) / KIB)


def _split_kib(text: str) -> float:
    """The mean of "4k/60:16k/40"; sizes without a share have what is left, evenly."""
    parts = [part.partition("/") for part in text.split(":")]
    given = sum(float(share) for _, _, share in parts if share)
    silent = sum(1 for _, _, share in parts if not share)
    left = (100 - given) / silent if silent else 0.0
    weights = [(_bytes(size) / KIB, float(share) if share else left) for size, _, share in parts]
    return sum(size * weight for size, weight in weights) / sum(weight for _, weight in weights)


def _both(text: str, read: Any) -> tuple[float, float]:
    """A value for reads and writes: "a,b", or one for both."""
    reads, _, writes = text.partition(",")
    first = read(writes if not reads.strip() else reads)
    return first, read(writes) if writes.strip() else first


def _bytes(text: str) -> float:
    found = re.fullmatch(r"([0-9.]+)([bkmg]?)(?:i?b)?", text.strip().lower())
    if found is None:
        raise ValueError(f"{text!r} is no size of fio's: write it as 4k or 1m.")
    return float(found[1]) * _FACTORS[found[2]]


def _seconds(text: str) -> int:
    return int(text.rstrip("smh")) * _SECONDS[text.lstrip("0123456789")]


def _line(answer: Mapping[str, object]) -> str:
    return json.dumps(answer, separators=(",", ":")) + "\n"
