"""fio's options: what a job was asked to do, as far as its options are known.

`whole` says that all options are known that were set, so that fio's defaults hold for the others.
"""

from collections.abc import Mapping
from typing import Final

from plimsoll.envelopes.printed import size_kib_in

_SYNCING: Final = ("fsync", "fdatasync", "end_fsync", "fsync_on_close", "sync", "sync_file_range")
_OFF: Final = frozenset({"0", "none", "null", "false"})
_DEVICES: Final = "/dev/"


def block_kib_of(options: Mapping[str, str]) -> float | None:
    """The block size of a job that has a single one."""
    if any(option in options for option in ("bsrange", "bssplit", "blocksize_range")):
        return None
    return size_kib_in(options.get("bs") or options.get("blocksize") or "")


def direct_of(options: Mapping[str, str], *, whole: bool) -> bool | None:
    """Whether I/O went past the page cache."""
    if "direct" in options:
        return options["direct"] != "0"
    if "buffered" in options:
        return options["buffered"] == "0"
    return False if whole else None


def synced_of(options: Mapping[str, str], *, whole: bool) -> bool | None:
    """Whether what was written had to reach the device."""
    if any(options.get(name, "0") not in _OFF for name in _SYNCING):
        return True
    return False if whole else None


def verified_of(options: Mapping[str, str], *, whole: bool) -> bool | None:
    """Whether what was written was read back and compared."""
    if "verify" in options:
        return options["verify"] not in _OFF
    return False if whole else None


def target_of(options: Mapping[str, str]) -> str | None:
    """The device nodes that were named; a path of files says nothing of the device, and is nobody's business."""
    named = options.get("filename") or options.get("directory") or ""
    devices = [name for name in named.split(":") if name.startswith(_DEVICES)]
    return ":".join(devices) or None


def seconds_of(runtime: str | None) -> float | None:
    """Seconds of a runtime option that is a plain number or ends with s."""
    told = (runtime or "").removesuffix("s")
    return float(told) if told.isdecimal() and len(told) < 10 else None
