"""fio's options: what a job was asked to do, as far as its options are known.

`whole` says that all options are known that were set, so that fio's defaults hold for the others.
"""

import re
from collections.abc import Collection, Mapping
from typing import Final

from plimsoll.envelopes.printed import DIRECTIONS, size_kib_in
from plimsoll.model.envelope import SYNCHRONOUS
from plimsoll.model.units import KIB, KIB_PER_MIB

_SYNCING: Final = ("fsync", "fdatasync", "end_fsync", "fsync_on_close", "sync", "sync_file_range")
_OFF: Final = frozenset({"0", "none", "null", "false"})
_DEVICES: Final = "/dev/"
_KNOWN_PLACE: Final = re.compile(r"/dev/|(?:/var)?/run/|/proc/|\\\\[.?]\\")
"""Names that say what answers: device nodes of Linux and of Windows, and folders that are always in memory."""

_COLON: Final = re.compile(r"(?<!\\):")
_DURATION: Final = re.compile(r"(\d{1,9}(?:\.\d+)?)\s*(us|ms|s|m|h|d)?")
_SECONDS: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_HOLDING: Final = ("thinktime", "latency_target", "flow", "read_iolog", "cgroup_weight")
"""Options that pause, throttle or pace a job (fio's documentation, "I/O rate", "I/O latency", "I/O replay")."""

_WAITING: Final = ("fsync", "fdatasync", "sync", "sync_file_range", "write_barrier")
"""Options by which writes wait for the device's own cache."""


def block_kib_of(options: Mapping[str, str]) -> float | None:
    """The block size of a job, KiB. None if it has several or states none."""
    if any(option in options for option in ("bsrange", "bssplit", "blocksize_range")):
        return None
    return size_kib_in(options.get("bs") or options.get("blocksize") or "")


def direct_of(options: Mapping[str, str], *, whole: bool) -> bool | None:
    """I/O bypassed the page cache. None if the options leave it open."""
    if "direct" in options:
        return options["direct"] != "0"
    if "buffered" in options:
        return options["buffered"] == "0"
    return False if whole else None


def is_synced(options: Mapping[str, str], *, whole: bool) -> bool | None:
    """Writes waited until they reached the device. None if the options leave it open."""
    if any(options.get(name, "0") not in _OFF for name in _SYNCING):
        return True
    return False if whole else None


def is_verified(options: Mapping[str, str], *, whole: bool) -> bool | None:
    """Writes were read back and compared. None if the options leave it open."""
    if "verify" in options:
        return options["verify"] not in _OFF
    return False if whole else None


def job_targets(options: Mapping[str, str]) -> tuple[str, ...]:
    """The device nodes and files in memory that a job names. Paths of other files stay private."""
    return tuple(name for name in _file_names(options) if _KNOWN_PLACE.match(name))


def job_places(options: Mapping[str, str]) -> tuple[str, ...]:
    """The device nodes of a job, and the folders of its files."""
    if "filename" not in options and "filename_format" not in options:
        return _split_names(options.get("directory", ""))
    names = _file_names(options)
    folders = [name if name.startswith(_DEVICES) else name.rpartition("/")[0] for name in names]
    return tuple(dict.fromkeys(folders))


def outstanding_of(options: Mapping[str, str], *, whole: bool, jobs: int) -> int | None:
    """The most I/O that all jobs keep in flight. None if the options leave it open."""
    engine = options.get("ioengine", "psync" if whole else "")
    if engine in SYNCHRONOUS:
        return jobs
    depth = options.get("iodepth", "1" if whole else "")
    return int(depth) * jobs if depth.isdecimal() and len(depth) < 10 else None


def holding_options(options: Mapping[str, str], *, writes: bool) -> str | None:
    """The options that held a job's load back, as printed. None if there are none."""
    names = (*_HOLDING, *(_WAITING if writes else ()))
    holding = [f"{name}={options[name]}" for name in names if options.get(name, "0").strip() not in {"", *_OFF}]
    return ", ".join(holding) or None


def rate_of(options: Mapping[str, str], *, iops: bool, used: Collection[str]) -> float | None:
    """The job's rate limit over the directions in use, IOPS or MiB/s. None if one of them was free."""
    printed = options.get("rate_iops" if iops else "rate", "")
    listed = [*printed.split(","), ""][:2] if "," in printed else [printed, printed]
    limits = [_plain(listed[at], iops=iops) for at, name in enumerate(DIRECTIONS) if name in used]
    return None if not limits or None in limits else sum(limit for limit in limits if limit)


def _plain(printed: str, *, iops: bool) -> float | None:
    kib = size_kib_in(printed)
    return None if not kib else kib * KIB if iops else kib / KIB_PER_MIB


def set_gib_of(options: Mapping[str, str], jobs: int) -> float | None:
    """GiB that the jobs could touch. A shared file counts once, and a zone limits it. None if unstated."""
    sizes = [_gib(options.get(name)) for name in ("size", "zonerange")]
    each = _gib(options.get("filesize", "").rpartition("-")[2] or None)
    listed = len(_file_names(options))
    if each is not None:
        count = options.get("nrfiles", "1")
        sizes.append(each * max(listed, int(count) if count.isdecimal() and len(count) < 8 else 1))
    known_gib = [size for size in sizes if size]
    shared = listed > 0 and "filename_format" not in options and "offset_increment" not in options
    return min(known_gib) * (1 if shared else jobs) if known_gib else None


def skew_of(options: Mapping[str, str]) -> str | None:
    """The distribution of offsets, as printed, if some are hotter than others. None if all are alike."""
    distribution = options.get("random_distribution", "random")
    return None if distribution.partition(":")[0] in {"", "random"} else distribution


def is_partly_sequential(options: Mapping[str, str]) -> bool:
    """Random I/O with sequential stretches: randread:8, or percentage_random under 100."""
    runs = (options.get("rw") or options.get("readwrite") or "").partition(":")[2]
    random_pct = options.get("percentage_random", "100").split(",")[0]
    return (runs.isdecimal() and runs not in {"0", "1"}) or (random_pct.isdecimal() and int(random_pct[:4]) < 100)


def start_of(options: Mapping[str, str]) -> float:
    """Seconds from the start of a run until a job's figures begin: its delay and its ramp."""
    return sum(duration_s(options.get(name)) or 0.0 for name in ("startdelay", "ramp_time"))


def duration_s(printed: str | None) -> float | None:
    """Seconds in an option: 90, 30s, 5m or 1h. None for anything else."""
    match = _DURATION.fullmatch((printed or "").strip().partition("-")[0])
    return None if match is None else float(match[1]) * _SECONDS[match[2] or "s"]


def _file_names(options: Mapping[str, str]) -> tuple[str, ...]:
    """The files and devices of a job. fio separates them by colons. A colon in a name has a backslash."""
    name = options.get("filename_format") or options.get("filename") or ""
    folder = options.get("directory", "")
    listed = _split_names(name) or (_split_names(folder) if folder else ())
    if folder and name and not name.startswith("/"):
        listed = tuple(f"{where}/{entry}" for where in _split_names(folder) for entry in listed)
    return listed


def _split_names(names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in _COLON.split(names) if name.strip()))


def _gib(size: str | None) -> float | None:
    kib = None if size is None else size_kib_in(size)
    return None if kib is None else kib / KIB**2
