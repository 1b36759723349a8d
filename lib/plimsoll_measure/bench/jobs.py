"""Jobs of fio, as the text of a job file that names no place to write to.

Named jobs ship as files (benchmarks/jobs), each with its source. The workload-shaped job is made from a demand.
"""

import configparser
import math
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Final

from plimsoll.demand.workload import SEQUENTIAL_KIB, Moment, WorkloadShape
from plimsoll.model.ceiling import Ceiling
from plimsoll.model.errors import BadInput
from plimsoll.model.units import KIB, KIB_PER_MIB
from plimsoll_measure.bench.mix import bssplit, mean_as_run_kib

PACED: Final = "paced"
UNBOUNDED_PACE: Final = "unbounded"
AT_MOST_IOPS: Final = "iops"
AT_MOST_THROUGHPUT: Final = "throughput"

LEAST_JOB_DEPTH: Final = 32
MOST_JOB_DEPTH: Final = 512
IOPS_PER_DEPTH: Final = 1000
"""AWS: one outstanding I/O for each 1,000 IOPS, useful until about 32 (EBS, "Benchmark EBS volumes")."""

LEAST_RATE_BYTES_S: Final = 1
"""fio takes 0 for no limit."""

PERCENTILES: Final = "50:95:99:99.9"

SMALL_KIB: Final = 16
"""AWS's guidance measures IOPS with 16 KiB (EBS User Guide, "Benchmark EBS volumes")."""

LEAST_KIB: Final = 4

DEFAULT_READ_SHARE: Final = 0.5

_SIZE: Final = re.compile(r"(\d+)([kmg])", re.IGNORECASE)
_UNITS: Final = {"k": KIB, "m": KIB**2, "g": KIB**3}


def job_names() -> tuple[str, ...]:
    """The names of the jobs that ship."""
    return tuple(sorted(path.stem for path in _folder().glob("*.fio")))


def load_job(name: str, *, runtime_s: int, ramp_s: int) -> str:
    """The text of a job that ships. Each section runs for `runtime_s` after `ramp_s`.

    Raises BadInput for an unknown name.
    """
    if name not in job_names():
        raise BadInput(f"there is no job {name}: choose one of {', '.join(job_names())} (--job).")
    text = (_folder() / f"{name}.fio").read_text(encoding="utf-8")
    for option, seconds in (("runtime", runtime_s), ("ramp_time", ramp_s)):
        text = re.sub(rf"^{option}=\d+$", f"{option}={seconds}", text, flags=re.MULTILINE)
    return text


def job_seconds(job: str) -> int:
    """Seconds that a job runs, ramps included. Sections that wait for each other add up."""
    total = together = 0
    for section in _sections(job).values():
        seconds = int(section["runtime"]) + int(section.get("ramp_time", "0"))
        if "stonewall" in section:
            total, together = total + together, 0
        together = max(together, seconds)
    return total + together


def job_sections(job: str) -> tuple[str, ...]:
    """The names of a job's sections, in their order."""
    return tuple(_sections(job))


def job_files(job: str) -> tuple[int, int]:
    """The number of a job's files and the bytes of each. Processes share them from section to section."""
    sections = list(_sections(job).values())
    apart = any("$jobnum" in section.get("filename_format", "$jobnum") for section in sections)
    count = max(int(section.get("numjobs", "1")) for section in sections) if apart else 1
    return count, max(_bytes(section["size"]) for section in sections)


def workload_job(shape: WorkloadShape, *, runtime_s: int, ramp_s: int) -> str:
    """The job that repeats a workload's two peaks: first at the rates of the shape, then without any.

    Its rates are in bytes, because fio counts `rate_iops` in its smallest I/O: of mixed sizes it would make fewer.
    """
    moments = {AT_MOST_IOPS: shape.at_most_iops, AT_MOST_THROUGHPUT: shape.at_most_throughput}
    parts = [head(runtime_s=runtime_s, ramp_s=ramp_s)]
    for pace in (PACED, UNBOUNDED_PACE):
        for name, moment in moments.items():
            sequential = shape.sequential and moment.mean_kib >= SEQUENTIAL_KIB
            limits = {"rate": _rates(moment, name)} if pace == PACED else {}
            parts.append(section(f"{pace}-{name}", moment, sequential=sequential, limits=limits))
    return "\n".join(parts)


def head(*, runtime_s: int, ramp_s: int) -> str:
    """The [global] section of a job that is made here."""
    options = {
        "ioengine": "libaio",
        "direct": "1",
        "time_based": "",
        "runtime": str(runtime_s),
        "ramp_time": str(ramp_s),
        "norandommap": "",
        "randrepeat": "0",
        "group_reporting": "",
        "percentile_list": PERCENTILES,
    }
    return _section_text("global", options)


def section(name: str, moment: Moment, *, sequential: bool = False, limits: Mapping[str, str] | None = None) -> str:
    """A section with the I/O of a moment. It waits for all before it, and `limits` are its only rates."""
    return _section_text(name, {"stonewall": "", **_io_options(moment, sequential=sequential), **(limits or {})})


def _io_options(moment: Moment, *, sequential: bool) -> dict[str, str]:
    """Direction, mix and depth of a section. Small sequential I/O would be merged, so it is random here."""
    reads, writes, both = ("read", "write", "rw") if sequential else ("randread", "randwrite", "randrw")
    depth = max(LEAST_JOB_DEPTH, min(MOST_JOB_DEPTH, math.ceil(2 * moment.iops / IOPS_PER_DEPTH)))
    percent = _read_percent(moment)
    if percent in {0, 100}:
        sizes = moment.read_sizes_kib if percent else moment.write_sizes_kib
        return {"rw": reads if percent else writes, "bssplit": bssplit(sizes), "iodepth": str(depth)}
    mix = f"{bssplit(moment.read_sizes_kib)},{bssplit(moment.write_sizes_kib)}"
    return {"rw": both, "rwmixread": str(percent), "bssplit": mix, "iodepth": str(depth)}


def _rates(moment: Moment, side: str) -> str:
    """Bytes a second that make the moment's IOPS or MiB/s. Two figures if there are reads and writes."""
    percent = _read_percent(moment)
    read_share = moment.read_share if 0 < percent < 100 else percent / 100
    parts = [
        share * mean_as_run_kib(sizes)
        for share, sizes in ((read_share, moment.read_sizes_kib), (1 - read_share, moment.write_sizes_kib))
        if share
    ]
    operations = moment.iops if side == AT_MOST_IOPS else moment.throughput_mib_s * KIB_PER_MIB / sum(parts)
    return ",".join(str(max(LEAST_RATE_BYTES_S, round(operations * part * KIB))) for part in parts)


def _read_percent(moment: Moment) -> int:
    return round(100 * moment.read_share)


def _section_text(section: str, options: Mapping[str, str]) -> str:
    lines = (f"{name}={value}" if value else name for name, value in options.items())
    return "\n".join([f"[{section}]", *lines, ""])


def _sections(job: str) -> Mapping[str, Mapping[str, str]]:
    """A job's sections, each with the options of [global]."""
    parser = configparser.RawConfigParser(
        allow_no_value=True, delimiters=("=",), comment_prefixes=("#", ";"), default_section="global", strict=True
    )
    parser.read_string(job)
    return {name: {key: value or "" for key, value in parser[name].items()} for name in parser.sections()}


def _bytes(size: str) -> int:
    match = _SIZE.fullmatch(size)
    if match is None:
        raise ValueError(f"{size!r} is no size such as 1g")
    return int(match.group(1)) * _UNITS[match.group(2).lower()]


def _folder() -> Path:
    """The folder of jobs that ship: inside the installed package, or benchmarks/jobs of a checkout."""
    installed = Path(str(files("plimsoll_measure.bench"))) / "jobs"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "benchmarks" / "jobs"


def corner_jobs(ceiling: Ceiling, shape: WorkloadShape | None) -> Iterator[str]:
    """The sections `ceiling-iops` and `ceiling-throughput`, if the shape's jobs do not reach that side of the ceiling.

    Without a shape there are both, half of them reads.
    """
    ridge_kib = ceiling.throughput_mib_s * KIB_PER_MIB / ceiling.iops
    if shape is None or shape.at_most_iops.mean_kib > ridge_kib:
        read_share = DEFAULT_READ_SHARE if shape is None else shape.at_most_iops.read_share
        small_kib = max(LEAST_KIB, _power_below(min(SMALL_KIB, ridge_kib)))
        yield section("ceiling-iops", _moment(ceiling, small_kib, read_share))
    if shape is None or shape.at_most_throughput.mean_kib < ridge_kib:
        read_share = DEFAULT_READ_SHARE if shape is None else shape.at_most_throughput.read_share
        yield section("ceiling-throughput", _moment(ceiling, int(ceiling.io_kib or KIB_PER_MIB), read_share))


def _moment(ceiling: Ceiling, size_kib: int, read_share: float) -> Moment:
    """The full load of a ceiling at one I/O size."""
    iops = ceiling.iops_at(size_kib)
    sizes = ((size_kib, 1.0),)
    return Moment(
        iops=iops,
        throughput_mib_s=iops * size_kib / KIB_PER_MIB,
        read_share=read_share,
        read_sizes_kib=sizes,
        write_sizes_kib=sizes,
    )


def _power_below(size_kib: float) -> int:
    return 1 << max(0, int(size_kib).bit_length() - 1)
