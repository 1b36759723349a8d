"""fio's terse output, versions 2 to 5: one line a job, fields between semicolons, KiB/s and microseconds.

Versions 2, 4 and 5 report trims after reads and writes, 5 adds samples of bandwidth and IOPS to each direction. The
version of fio and the job's options are not all there: the mode is told as unstated. The device's counts are those of
the whole run, so they count where the run had one group. With unified_rw_reporting there is one direction, and what
follows it are the processor's shares.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from plimsoll.envelopes.printed import DIRECTIONS, MIXED, PrintedFigures, number_in
from plimsoll_measure.readers.results import (
    BenchResult,
    Broken,
    JobPart,
    Output,
    combine_parts,
    disk_figures,
    line_at,
    shared_disks,
)

_LINE: Final = re.compile(r"(?<![^\s])([2345]);(?:(fio-[^;\s]*);)?([^;\n]*);(\d{1,9});(\d{1,6});([^\n]*)")
_SPREAD: Final = ("min", "max", "avg", "stdev")
_NO_SAMPLES: Final = ("2", "3", "4")
_FIELDS: Final = 41
_MORE_FIELDS: Final = 47
_LATENCIES: Final = {"slat_us": 4, "clat_us": 8, "lat_us": 32}
_PERCENTILES: Final = slice(12, 32)


def is_fio_terse(text: str) -> bool:
    return _LINE.search(text) is not None


def read_fio_terse(text: str) -> Output:
    """Every result in a text. Raises Broken if a line has too few fields or one that is no figure."""
    runs: dict[tuple[str, ...], dict[int, list[re.Match[str]]]] = {}
    once: dict[str, re.Match[str]] = {}
    for line in _LINE.finditer(text):
        once.setdefault(line[0].strip(), line)
    for line in once.values():
        runs.setdefault(_run_of(line), {}).setdefault(int(line[4]), []).append(line)
    return Output(results=tuple(result for groups in runs.values() for result in _results(text, groups)))


def _run_of(line: re.Match[str]) -> tuple[str, ...]:
    """The key of a line's run. Lines of a run end with the same counts of its devices. A line without counts is "
    "alone."""
    disk = _disk(line)
    return (str(disk),) if disk else (str(line.start()),)


def _results(text: str, groups: Mapping[int, Sequence[re.Match[str]]]) -> Iterator[BenchResult]:
    each = {at: [_part(line, line_at(text, line.start())) for line in together] for at, together in groups.items()}
    for at, together in groups.items():
        parts, counted = each[at], _disk(together[-1])
        disk = counted if len(groups) == 1 else shared_disks(counted, list(each.values()))
        version = next((line[2].removeprefix("fio-") for line in together if line[2]), None)
        try:
            yield combine_parts(parts, version=version, measured_on=None, disk=disk)
        except ValueError as error:
            line = line_at(text, together[0].start())
            raise Broken(f"the job {parts[0].name} cannot be read: {error}", line) from error


def _part(line: re.Match[str], number: int) -> JobPart:
    """The part of one terse line in a result. Raises Broken if the line breaks off."""
    version, fields = line[1], line[6].split(";")
    each = _FIELDS if version in _NO_SAMPLES else _MORE_FIELDS
    least = each * (2 if version == "3" else 3)
    alone = len(fields) > each and fields[each].endswith("%")
    if len(fields) < (each if alone else least):
        raise Broken(f"the line breaks off: {len(fields)} fields of at least {least} (terse version {version})", number)
    try:
        sides = {
            name: _side(fields[at * each : (at + 1) * each])
            for at, name in enumerate((MIXED,) if alone else DIRECTIONS)
            if number_in(fields[at * each + 2]) > 0 or number_in(fields[at * each + 1]) > 0
        }
    except ValueError as error:
        raise Broken(f"the job {line[3]}: {error}", number) from error
    return JobPart(name=line[3] or "job", group=int(line[4]), error=int(line[5]), jobs=1, options={}, sides=sides)


def _side(fields: Sequence[str]) -> PrintedFigures:
    """The printed figures of one direction from its fields."""
    figures: PrintedFigures = {
        "iops": fields[2],
        "throughput": f"{fields[1]}KiB/s",
        "io": f"{fields[0]}KiB",
        "runtime_ms": fields[3],
    }
    for name, start in _LATENCIES.items():
        if number_in(fields[start + 1]) > 0:
            figures[name] = dict(zip(_SPREAD, fields[start : start + 4], strict=True))
    pairs = [field.split("%=") for field in fields[_PERCENTILES]]
    percentiles = {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and number_in(pair[0]) > 0}
    if percentiles:
        figures["clat_percentiles_us"] = percentiles
    figures["bw_kib_s"] = dict(zip(("min", "max", "per_pct", "avg", "stdev"), _plain(fields[36:41]), strict=True))
    if len(fields) == _MORE_FIELDS:
        figures["bw_kib_s"]["samples"] = fields[41]
        figures["iops_samples"] = dict(zip((*_SPREAD, "samples"), fields[42:47], strict=True))
    return figures


def _plain(fields: Sequence[str]) -> list[str]:
    return [field.rstrip("%") for field in fields]


def _disk(line: re.Match[str]) -> PrintedFigures:
    """The counts of the devices at the line's end, nine fields each. A mapped device precedes its members."""
    fields = line[6].rstrip().split(";")
    disks: dict[str, PrintedFigures] = {}
    while len(fields) >= _DISK_FIELDS and (disk := _one_disk(fields[-_DISK_FIELDS:])) is not None:
        disks = {disk.pop("name"): disk, **disks}
        fields = fields[:-_DISK_FIELDS]
    mapped = next((name for name in disks if _MAPS.fullmatch(name)), None)
    if mapped is not None and len(disks) > 1:
        return disk_figures({mapped: {**disks[mapped], "members": " ".join(name for name in disks if name != mapped)}})
    return disk_figures(disks)


_DISK_FIELDS: Final = 9
_MAPS: Final = re.compile(r"(?:md|dm-)\d+")


def _one_disk(fields: Sequence[str]) -> PrintedFigures | None:
    """The printed counts of one disk from its fields; None if they are not such counts."""
    counts = fields[1:8]
    if not fields[8].endswith("%") or not all(count.isdecimal() for count in counts):
        return None
    return {
        "name": fields[0],
        "ios": f"{counts[0]}/{counts[1]}",
        "merge": f"{counts[2]}/{counts[3]}",
        "ticks": f"{counts[4]}/{counts[5]}",
        "in_queue": counts[6],
        "util_pct": fields[8].rstrip("%"),
    }
