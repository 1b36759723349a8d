"""fio held to a volume's rates by its own options, where the kernel does not: run as a program in fio's place.

`paced_fio.py IOPS MIB_S READ_SHARE FIO_ARGUMENTS...`: the real fio is the next on the PATH. Every section of every job
file gets the rates, divided by its number of jobs; lower rates of its own stay.
"""

import configparser
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_MIB = 1 << 20
_USUAL_BLOCK = 4096.0


def paced_job(job: str, iops: float, mib_s: float, read_share: float | None) -> str:
    """A job file whose sections never ask for more than these rates, each in operations of its own size.

    The rates are split between the directions by the share of reads where there is one, else each has the whole.
    """
    parsed = configparser.ConfigParser(
        allow_no_value=True, strict=False, interpolation=None, delimiters=("=",), default_section="global"
    )
    parsed.optionxform = str  # type: ignore[assignment, method-assign]  # fio's options are case-sensitive
    parsed.read_string("\n".join(line.strip() for line in job.splitlines()))
    lines: list[str] = []
    for name in parsed.sections():
        options: dict[str, str | None] = dict(parsed.items(name))
        options["rate_iops"] = _rate_iops(options, iops, mib_s * _MIB, read_share)
        options.pop("rate", None)
        lines += [f"[{name}]", *(key if value is None else f"{key}={value}" for key, value in options.items()), ""]
    return "\n".join(lines)


def _rate_iops(options: Mapping[str, str | None], iops: float, bytes_s: float, read_share: float | None) -> str:
    """fio's value for reads and writes: the lowest of a section's own rates and what the volume leaves it.

    fio takes either operations or bytes a second, so that bytes are counted as operations of the section's size.
    """
    jobs = float(options.get("numjobs") or 1)
    shares = (1.0, 1.0) if read_share is None else (read_share, 1 - read_share)
    limits = []
    for direction, share in enumerate(shares):
        size = _block_bytes(options, direction)
        rates = [iops * share / jobs, bytes_s * share / jobs / size]
        asked_iops, asked_bytes = (
            _option_value(options, "rate_iops", direction),
            _option_value(options, "rate", direction),
        )
        rates += [asked_iops] if asked_iops is not None else []
        rates += [asked_bytes / size] if asked_bytes is not None else []
        limits.append(max(1, round(min(rates))))
    return ",".join(str(rate) for rate in limits)


def _block_bytes(options: Mapping[str, str | None], direction: int) -> float:
    """The mean size of an operation; of a range, its largest."""
    split = options.get("bssplit")
    if split:
        parts = split.split(",")
        pairs = [pair.split("/") for pair in parts[min(direction, len(parts) - 1)].split(":")]
        shared = [(_number(size), float(share)) for size, share in pairs]
        return sum(size * share for size, share in shared) / sum(share for _, share in shared)
    asked = _option_value(options, "bs", direction) or _option_value(options, "blocksize", direction)
    return asked or _option_value(options, "bsrange", direction) or _USUAL_BLOCK


def _option_value(options: Mapping[str, str | None], option: str, direction: int) -> float | None:
    """A section's option for a direction (0: reads, 1: writes), None where it has none."""
    parts = [part for part in (options.get(option) or "").split(",") if part]
    return _number(parts[min(direction, len(parts) - 1)].rpartition("-")[2]) if parts else None


def _number(written: str) -> float:
    """A number as fio writes it, with k, m or g for powers of 1,024."""
    text = written.strip().lower()
    factor = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}.get(text[-1:], 1)
    return float(text.rstrip("kmg")) * factor


def _real_fio() -> str:
    """The fio that comes after this one on the PATH."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)[1:]
    path = shutil.which("fio", path=os.pathsep.join(folders))
    if path is None:
        sys.exit("fio: not installed on the machine that simulates this host")
    return path


def _run(iops: float, mib_s: float, read_share: float | None, words: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        replaced = []
        for number, word in enumerate(words):
            is_job = not word.startswith("-") and Path(word).is_file()
            text = sys.stdin.read() if word == "-" else Path(word).read_text(encoding="utf-8") if is_job else None
            if text is None:
                replaced.append(word)
                continue
            file = Path(folder) / f"{number}.fio"
            file.write_text(paced_job(text, iops, mib_s, read_share), encoding="utf-8")
            replaced.append(str(file))
        if list(replaced) == list(words):
            options = {name: value for name, _, value in (word.lstrip("-").partition("=") for word in words)}
            replaced.append(f"--rate_iops={_rate_iops(options, iops, mib_s * _MIB, read_share)}")
        sys.exit(os.spawnv(os.P_WAIT, _real_fio(), ["fio", *replaced]))  # noqa: S606  # the arguments as they came


if __name__ == "__main__":
    _run(float(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]) if sys.argv[3] else None, sys.argv[4:])
