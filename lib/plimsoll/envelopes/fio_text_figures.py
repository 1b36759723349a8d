"""The figures of fio's normal output, by a campaign's names, as printed."""

import re
from typing import Final

from plimsoll.envelopes.campaign_file import Figures

_N: Final = r"(\d+(?:\.\d+)?[kKMG]?)"
_UNITS: Final = {"nsec": "ns", "usec": "us", "msec": "ms"}
_END: Final = r"(?=[\s,;]|$)"

_SIDE: Final = re.compile(r"\b(read|write|trim)\s*:\s+(?:IOPS|io)=")
_RATE: Final = re.compile(
    r"IOPS=\s*([\d.]+[kKMG]?),\s+BW=\s*([\d.]+[KMGT]?i?B/s)\s+\(([^()\s]+)\)\s*\(([^()/\s]+)/(\d{1,12})msec\)"
)
_OLD_RATE: Final = re.compile(
    r"io=\s*([\d.]+[KMGT]?i?B?),\s+bw=\s*([\d.]+)([KMGT]?)i?B/s,\s+iops=\s*([\d.]+[kKMG]?),\s+runt=\s*(\d{1,12})msec"
)
_SPREAD: Final = re.compile(
    rf"\b(slat|clat|lat)\s*\(([num]sec)\)\s*:\s*min=\s*{_N},\s*max=\s*{_N},\s*avg=\s*{_N},\s*stdev=\s*{_N}\s"
)
_PERCENTILES: Final = re.compile(
    r"\b(?:(clat|lat)\s+)percentiles\s+\(([num]sec)\)\s*:((?:[\s|,]{1,40}\d+\.\d+th=\[\s*\d+\])+)"
)
_NTH: Final = re.compile(r"(\d+\.\d+)th=\[\s*(\d+)\]")
_BANDWIDTH: Final = re.compile(
    rf"\bbw\s*\(\s*([KM])i?B\s*/s\)\s*:\s*min=\s*{_N},\s*max=\s*{_N},\s*per=\s*([\d.]+)%,\s*avg=\s*{_N},"
    rf"\s*stdev=\s*{_N}(?:,\s*samples=(\d+)|(?=\s))"
)
_SAMPLES: Final = re.compile(
    rf"\biops\s*:\s*min=\s*{_N},\s*max=\s*{_N},\s*avg=\s*{_N},\s*stdev=\s*{_N},\s*samples=(\d+)\s"
)
_DISTRIBUTION: Final = re.compile(r"\blat\s*\(([num]sec)\)\s*:\s*((?:(?:>=)?\d+=[\d.]+%,?\s*)+)")
_SHARE: Final = re.compile(r"((?:>=)?\d+)=([\d.]+)%")
_CPU: Final = re.compile(r"\bcpu\s*:\s*usr=([\d.]+)%,\s*sys=([\d.]+)%,\s*ctx=(\d+),\s*majf=(\d+),\s*minf=(\d+)")
_ROWS: Final = {
    "io_depths_pct": re.compile(r"\bIO depths\s*:\s*((?:(?:>=)?\d+=[\d.]+%,?\s*)+)"),
    "submit_pct": re.compile(r"\bsubmit\s*:\s*((?:(?:>=)?\d+=[\d.]+%,?\s*)+)"),
    "complete_pct": re.compile(r"\bcomplete\s*:\s*((?:(?:>=)?\d+=[\d.]+%,?\s*)+)"),
}
_ISSUED: Final = re.compile(r"\bissued\s*\w*\s*:\s*total=(\S+?),?\s+short=(\S+?),?\s+drop(?:ped)?=(\S+)")
_TARGET: Final = re.compile(r"\blatency\s*:\s*target=(\d+),\s*window=(\d+),\s*percentile=([\d.]+)%,\s*depth=(\d+)")
_STATUS: Final = re.compile(r"\[[rw]=(\S{1,40}?)\]\[[rw]=(\S{1,40}?)\s+IOPS\]")
_RUN: Final = re.compile(
    r"\b(READ|WRITE):\s+bw=(\S+)\s+\((\S+?)\),\s+(\S+)\s+\((\S+?)\),\s+io=(\S+)\s+\((\S+?)\),\s+run=(\S+?)msec"
)
_DISK: Final = re.compile(
    r":\s+(ios=\d+/\d+,\s+(?:sectors=[\d/]+,\s+)?merge=\d+/\d+,\s+ticks=\d+/\d+,\s+in_queue=\d+(?:,\s+util=[\d.]+%)?)"
    r"(,\s+aggr|;\s+aggr)?"
)


def sides_in(body: str) -> dict[str, Figures]:
    """Reads and writes of one job; ValueError where the line of one breaks off."""
    found = list(_SIDE.finditer(body))
    ends = [*(one.start() for one in found[1:]), len(body)]
    sides = {one[1]: (body[one.start() : end]) for one, end in zip(found, ends, strict=True)}
    return {name: _rate(name, text) | _spreads(text) for name, text in sides.items() if name != "trim"}


def beside_in(body: str) -> Figures:
    """What one job printed of both directions."""
    found: Figures = {}
    shares = {
        f"{edge} {row[1]}": share for row in _DISTRIBUTION.finditer(body) for edge, share in _SHARE.findall(row[2])
    }
    if shares:
        found["lat_distribution_pct"] = shares
    found |= _named("cpu", _CPU, body, ("usr_pct", "sys_pct", "ctx", "majf", "minf"))
    for name, pattern in _ROWS.items():
        row = pattern.search(body)
        if row is not None:
            found[name] = dict(_SHARE.findall(row[1]))
    found |= _named("issued_rwts", _ISSUED, body, ("total", "short", "dropped"))
    return found | _named("latency_target", _TARGET, body, ("target", "window", "percentile_pct", "depth"))


def status_in(before: str) -> Figures:
    """The last status line that fio showed while a job of one direction ran."""
    found = _STATUS.findall(before)
    return {"last_status": {"bw": found[-1][0], "iops": found[-1][1]}} if found else {}


def run_status_in(tail: str, group: int) -> dict[str, Figures]:
    """The closing figures of a group by direction."""
    _, _, mine = tail.partition(f"Run status group {group} ")
    names = ("bw", "bw_decimal", "bw_range", "bw_range_decimal", "io", "io_decimal", "run_ms")
    mine = mine.partition("Run status group")[0]
    return {one[1].lower(): dict(zip(names, one.groups()[1:], strict=True)) for one in _RUN.finditer(mine)}


def disks_in(tail: str) -> Figures:
    """What the devices themselves counted; of an md device its own figures, and not its members' again."""
    found = [(one, tail[max(0, one.start() - 80) : one.start()].split()) for one in _DISK.finditer(tail)]
    striped = [pair for pair in found if pair[0][2]]
    told = {words[-1] if words else "a device": _disk(one[1]) for one, words in striped or found}
    if len(told) == 1:
        ((name, figures),) = told.items()
        return {"disk": {"name": name, **figures}}
    return {"disks": told} if told else {}


def _disk(printed: str) -> Figures:
    pairs = dict(pair.strip().split("=") for pair in printed.split(","))
    return {"util_pct" if name == "util" else name: value.rstrip("%") for name, value in pairs.items()}


def _rate(name: str, text: str) -> Figures:
    new = _RATE.search(text)
    if new is not None:
        return {"iops": new[1], "throughput": new[2], "bw_decimal": new[3], "io": new[4], "runtime_ms": new[5]}
    old = _OLD_RATE.search(text)
    if old is None:
        raise ValueError(f"its line of {name}s is not whole")
    binary = f"{old[2]}{old[3]}{'i' if old[3] else ''}B/s"  # fio 2.x prints KB for 1,024 bytes
    return {"iops": old[4], "throughput": binary, "io": old[1], "runtime_ms": old[5]}


def _spreads(text: str) -> Figures:
    found: Figures = {}
    for one in _SPREAD.finditer(text):
        told = dict(zip(("min", "max", "avg", "stdev"), one.groups()[2:], strict=True))
        found.setdefault(f"{one[1]}_{_UNITS[one[2]]}", told)
    for one in _PERCENTILES.finditer(text):
        found.setdefault(f"{one[1]}_percentiles_{_UNITS[one[2]]}", dict(_NTH.findall(one[3])))
    bandwidth = _BANDWIDTH.search(text)
    if bandwidth is not None:
        names = ("min", "max", "per_pct", "avg", "stdev", "samples")
        told = dict(zip(names, bandwidth.groups()[1:], strict=True))
        unit = "bw_kib_s" if bandwidth[1] == "K" else "bw_mib_s"
        found[unit] = {key: value for key, value in told.items() if value is not None}
    return found | _named("iops_samples", _SAMPLES, text, ("min", "max", "avg", "stdev", "samples"))


def _named(group: str, pattern: re.Pattern[str], text: str, names: tuple[str, ...]) -> Figures:
    found = pattern.search(text)
    return {} if found is None else {group: dict(zip(names, found.groups(), strict=True))}
