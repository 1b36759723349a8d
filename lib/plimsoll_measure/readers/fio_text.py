"""fio's normal output, of 2.x and 3.x: on its own, among prose and shell prompts, or folded by a web page.

Nothing here relies on line ends. Each job's result begins with `name: (groupid=0, jobs=1): err= 0`; what it was asked
to do stands before it, the device's own counts stand at the end of the run.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from plimsoll.envelopes.printed import DIRECTIONS, MIXED, PrintedFigures, present, size_kib_in
from plimsoll_measure.readers.fio_options import outstanding_of
from plimsoll_measure.readers.results import (
    ALL_CLIENTS,
    BenchResult,
    Broken,
    JobPart,
    Output,
    combine_parts,
    disk_figures,
    line_at,
    shared_disks,
)

_N: Final = r"(\d+(?:\.\d+)?[kKMG]?)"
_UNITS: Final = {"nsec": "ns", "usec": "us", "msec": "ms"}

_SIDE: Final = re.compile(r"\b(read|write|trim|mixed)\s*:\s+(?:IOPS|io)=")
_RATE: Final = re.compile(
    r"IOPS=\s*([\d.]+[kKMG]?),\s+BW=\s*([\d.]+[KMGT]?i?(?:B|bit)/s)\s+\(([^()\s]+)\)\s*\(([^()/\s]+)/(\d{1,12})msec\)"
)
_OLD_RATE: Final = re.compile(
    r"io=\s*([\d.,]+[KMGT]?i?B?),\s+bw=\s*([\d.,]+)\s?([KMGT]?)i?B/s,\s+iops=\s*([\d.,]+[kKMG]?)\s*,"
    r"\s+runt=\s*(\d{1,12})msec"
)
_SPREAD: Final = re.compile(
    rf"\b(slat|clat|lat)\s*\(([num]sec)\)\s*:\s*min=\s*{_N}\s*,\s*max=\s*{_N}\s*,\s*avg=\s*{_N},\s*stdev=\s*{_N}\s"
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
_SHARES: Final = r"((?:(?:>=)?\d+=[\d.]+%,?\s*)+)"
_DISTRIBUTION: Final = re.compile(rf"\blat\s*\(([num]sec)\)\s*:\s*{_SHARES}")
_SHARE: Final = re.compile(r"((?:>=)?\d+)=([\d.]+)%")
_CPU: Final = re.compile(r"\bcpu\s*:\s*usr=([\d.]+)%,\s*sys=([\d.]+)%,\s*ctx=(\d+),\s*majf=(\d+),\s*minf=(\d+)")
_ROWS: Final = {
    f"{words.replace(' ', '_').lower()}_pct": re.compile(rf"\b{words}\s*:\s*{_SHARES}")
    for words in ("IO depths", "submit", "complete")
}
_ISSUED: Final = re.compile(r"\bissued\s*[\w/]*\s*:\s*total=(\S+?),?\s+short=(\S+?)(?:,?\s+drop(?:ped)?=(\S+)|(?=\s))")
_ERRORS: Final = re.compile(r"\berrors\s*:\s*total=\s*(\d+),\s*first_error=\s*(\d+)")
_TARGET: Final = re.compile(r"\blatency\s*:\s*target=(\d+),\s*window=(\d+),\s*percentile=([\d.]+)%,\s*depth=(\d+)")
_STATUS: Final = re.compile(r"\[[rw]=(\S{1,40}?)\]\[[rw]=(\S{1,40}?)\s+IOPS\]")
_RUN: Final = re.compile(
    r"\b(READ|WRITE|MIXED):\s+bw=(\S+)\s+\((\S+?)\),\s+(\S+)\s+\((\S+?)\),\s+io=(\S+)\s+\((\S+?)\),\s+run=(\S+?)msec"
)
_DISK: Final = re.compile(
    r":\s+(ios=\d+/\d+,\s+(?:sectors=[\d/]+,\s+)?merge=\d+/\d+,\s+ticks=\d+/\d+,\s+in_queue=\d+(?:,\s+util=[\d.]+%)?)"
    r"(,\s+aggr|;\s+aggr)?"
)


def sides_in(body: str) -> dict[str, PrintedFigures]:
    """Reads and writes of one job. Raises ValueError if a direction's line breaks off."""
    matches = list(_SIDE.finditer(body))
    ends = [match.start() for match in matches[1:]] + [len(body)] * bool(matches)
    sides = {match[1]: (body[match.start() : end]) for match, end in zip(matches, ends, strict=True)}
    names = [name for name in DIRECTIONS if name in sides] or [name for name in (MIXED,) if name in sides]
    return {name: _rate(name, sides[name]) | _spreads(sides[name]) for name in names}


def beside_in(body: str) -> PrintedFigures:
    """The figures of one job that cover both directions."""
    figures: PrintedFigures = {}
    shares = {
        f"{edge} {row[1]}": share for row in _DISTRIBUTION.finditer(body) for edge, share in _SHARE.findall(row[2])
    }
    if shares:
        figures["lat_distribution_pct"] = shares
    figures |= _match_group("cpu", _CPU, body, ("usr_pct", "sys_pct", "ctx", "majf", "minf"))
    for name, pattern in _ROWS.items():
        row = pattern.search(body)
        if row is not None:
            figures[name] = dict(_SHARE.findall(row[1]))
    figures |= _match_group("issued_rwts", _ISSUED, body, ("total", "short", "dropped"))
    failed = _ERRORS.search(body)
    figures |= {"total_err": failed[1]} if failed is not None and int(failed[1]) else {}
    return figures | _match_group("latency_target", _TARGET, body, ("target", "window", "percentile_pct", "depth"))


def status_in(before: str) -> PrintedFigures:
    """The last status line that fio showed while a job of one direction ran."""
    statuses = _STATUS.findall(before)
    return {"last_status": {"bw": statuses[-1][0], "iops": statuses[-1][1]}} if statuses else {}


def run_status_in(tail: str, group: int) -> dict[str, PrintedFigures]:
    """The closing figures of a group by direction."""
    _, _, mine = tail.partition(f"Run status group {group} ")
    names = ("bw", "bw_decimal", "bw_range", "bw_range_decimal", "io", "io_decimal", "run_ms")
    mine = mine.partition("Run status group")[0]
    return {match[1].lower(): dict(zip(names, match.groups()[1:], strict=True)) for match in _RUN.finditer(mine)}


def disks_in(tail: str) -> PrintedFigures:
    """The counts of the devices themselves. For an md device only its own, not its members' again."""
    counts = [(match, tail[max(0, match.start() - 80) : match.start()].split()) for match in _DISK.finditer(tail)]
    striped = [pair for pair in counts if pair[0][2]]
    members = [words[-1] for match, words in counts if not match[2] and words] if striped else []
    beside = {"members": " ".join(members)} if members else {}
    return disk_figures(
        {words[-1] if words else "a device": {**_disk(match[1]), **beside} for match, words in striped or counts}
    )


def _disk(printed: str) -> PrintedFigures:
    pairs = dict(pair.strip().split("=") for pair in printed.split(","))
    return {"util_pct" if name == "util" else name: value.rstrip("%") for name, value in pairs.items()}


def _rate(name: str, text: str) -> PrintedFigures:
    """The printed rates of one direction, as new or old versions of fio write them. Raises ValueError without any."""
    new = _RATE.search(text)
    if new is not None:
        return {"iops": new[1], "throughput": new[2], "bw_decimal": new[3], "io": new[4], "runtime_ms": new[5]}
    old = _OLD_RATE.search(text)
    if old is None:
        raise ValueError(f"its line of {name}s is not whole")
    plain = old[2].replace(",", "")
    binary = f"{plain}{old[3]}{'i' if old[3] else ''}B/s"  # fio 1.x and 2.x print KB for 1,024 bytes
    return {"iops": old[4].replace(",", ""), "throughput": binary, "io": old[1], "runtime_ms": old[5]}


def _spreads(text: str) -> PrintedFigures:
    """The printed latencies, percentiles and bandwidth spread in a text, each under its name and unit."""
    figures: PrintedFigures = {}
    for match in _SPREAD.finditer(text):
        summary = dict(zip(("min", "max", "avg", "stdev"), match.groups()[2:], strict=True))
        figures.setdefault(f"{match[1]}_{_UNITS[match[2]]}", summary)
    for match in _PERCENTILES.finditer(text):
        figures.setdefault(f"{match[1]}_percentiles_{_UNITS[match[2]]}", dict(_NTH.findall(match[3])))
    bandwidth = _BANDWIDTH.search(text)
    if bandwidth is not None:
        names = ("min", "max", "per_pct", "avg", "stdev", "samples")
        summary = dict(zip(names, bandwidth.groups()[1:], strict=True))
        unit = "bw_kib_s" if bandwidth[1] == "K" else "bw_mib_s"
        figures[unit] = {key: value for key, value in summary.items() if value is not None}
    return figures | _match_group("iops_samples", _SAMPLES, text, ("min", "max", "avg", "stdev", "samples"))


def _match_group(group: str, pattern: re.Pattern[str], text: str, names: tuple[str, ...]) -> PrintedFigures:
    match = pattern.search(text)
    return {} if match is None else {group: present(dict(zip(names, match.groups(), strict=True)))}


_HEAD: Final = re.compile(
    r":\s+\(groupid=(?P<group>\d{1,9}),\s+jobs=(?P<jobs>\d{1,6})\):\s+err=\s*(?P<error>\d{1,6})\b(?:\s*\([^()]{0,300}\))?:"
    r"\s+pid=(?P<pid>\d+):?\s+(?P<finished>[A-Z][a-z]{2}\s+[A-Z][a-z]{2}\s+\d+\s+[\d:]{8}\s+\d{4})?"
)
_ANY_HEAD: Final = re.compile(r"\(groupid=\d+,\s+jobs=\d+\):\s+err=")
_ASKED: Final = re.compile(
    r":\s+\(g=(?P<group>\d{1,9})\):\s+rw=(?P<rw>\w+),\s+bs=(?P<bs>[^=]{1,120}?),\s+ioengine=(?P<engine>[\w-]+),"
    r"\s+iodepth=(?P<depth>\d{1,9})"
)
_RANGE: Final = re.compile(r"(?:\((?P<side>[RWT])\)\s*)?(?P<low>[\d.]+[KMG]?i?B?)-(?P<high>[\d.]+[KMG]?i?B?)")
_COMMAND: Final = re.compile(r"\bfio\s+(?=-)")
_OPTION: Final = re.compile(r"--(?P<name>\w[\w-]*)(?:=(?P<value>\S+)|\s+(?P<apart>[^\s>\\-]\S*))?")
_VERSION: Final = re.compile(r"\bfio[- ](\d+\.\d+(?:\.\d+)?)")
_SECTION: Final = re.compile(r"\s*\[([\w.:-]{1,80})\]\s*")
_INI_OPTION: Final = re.compile(r"\s*([a-z]\w{1,30})\s*(?:=\s*(\S[^;#]*?))?\s*(?:[;#].*)?")
_HOST: Final = re.compile(r"\bhostname=([^\s,]+),\s+be=")
_RUN_END: Final = "Run status group"
_RAN: Final = re.compile(r"(?:/|runt=\s*)(\d{1,12})msec")


@dataclass(frozen=True, slots=True)
class _Run:
    """The heads of one run of fio, and the positions at which its text begins and ends."""

    start: int
    heads: Sequence[re.Match[str]]
    end: int


def is_fio_text(text: str) -> bool:
    return _ANY_HEAD.search(text) is not None


def read_fio_text(text: str) -> Output:
    """Every result in a text. Raises Broken if one breaks off."""
    for head in _ANY_HEAD.finditer(text):
        if _HEAD.search(text, max(0, head.start() - 3), head.start() + 600) is None:
            raise Broken("the result's first line breaks off before its pid", line_at(text, head.start()))
    return Output(
        results=tuple(result for run in _last_snapshots(text, list(_runs(text))) for result in _results(text, run))
    )


def _last_snapshots(text: str, runs: Sequence[_Run]) -> Iterator[_Run]:
    """The last snapshot of each run. Snapshots (--status-interval) have the same processes."""
    first: _Run | None = None
    for at, run in enumerate(runs):
        first = first or run
        if at + 1 < len(runs) and _is_later(text, run, runs[at + 1]):
            continue
        yield _Run(first.start, run.heads, run.end)
        first = None


def _is_later(text: str, earlier: _Run, later: _Run) -> bool:
    """The later run is a snapshot of the earlier: the same processes, not begun anew, have run longer."""
    processes = [[(head["group"], head["pid"]) for head in run.heads] for run in (earlier, later)]
    begun = _beginnings(text, earlier.heads[-1].end(), later.heads[0].start())
    return processes[0] == processes[1] and not begun and _ran_ms(text, earlier) < _ran_ms(text, later)


def _ran_ms(text: str, run: _Run) -> int:
    return max((int(match[1]) for match in _RAN.finditer(text, run.heads[0].end(), run.end)), default=0)


def _runs(text: str) -> Iterator[_Run]:
    """Runs of fio: consecutive heads of one time, with neither an end nor a beginning between them."""
    runs: list[list[re.Match[str]]] = []
    heads = list(_HEAD.finditer(text))
    clients = [head for head in heads if not _is_sum(text, head)]
    for head in clients or heads:
        if runs and _same_run(text, runs[-1], head):
            runs[-1].append(head)
        else:
            runs.append([head])
    start = 0
    for at, run in enumerate(runs):
        following = runs[at + 1][0].start() if at + 1 < len(runs) else len(text)
        end = min([following, *_beginnings(text, run[-1].end(), following)])
        yield _Run(start, run, end)
        start = end


def _same_run(text: str, run: Sequence[re.Match[str]], other: re.Match[str]) -> bool:
    """The head belongs to the run. A process that the run has already begins another print."""
    last = run[-1]
    ended = text.find(_RUN_END, last.end(), other.start()) >= 0
    again = any(_process(text, head) == _process(text, other) for head in run)
    begun = _beginnings(text, last.end(), other.start())
    return not (ended or again or begun) and last["finished"] == other["finished"]


def _is_sum(text: str, head: re.Match[str]) -> bool:
    """The result is the sum over all machines of a run."""
    return text.endswith(ALL_CLIENTS, 0, head.start())


def _hosts(text: str, run: _Run) -> PrintedFigures:
    """The number of machines of a run, if fio was their client. 0 if only their sum is printed."""
    names = set(_HOST.findall(text, run.start, run.heads[-1].start()))
    alone = len(run.heads) == 1 and _is_sum(text, run.heads[0]) and len(names) != 1
    return {"hosts": str(0 if alone and not names else len(names))} if names or alone else {}


def _process(text: str, head: re.Match[str]) -> tuple[str, str, str]:
    return _name_before(text, head.start()), head["group"], head["pid"]


def _beginnings(text: str, start: int, end: int) -> list[int]:
    """Positions at which a run may begin: a command, or the options that fio repeats."""
    return [match.start() for match in (_ASKED.search(text, start, end), _COMMAND.search(text, start, end)) if match]


def _results(text: str, run: _Run) -> Iterator[BenchResult]:
    tail = text.find(_RUN_END, run.heads[-1].end(), run.end)
    bodies = [*(head.start() for head in run.heads[1:]), run.end if tail < 0 else tail]
    parts = [_part(text, run, head, body) for head, body in zip(run.heads, bodies, strict=True)]
    groups = {part.group: [member for member in parts if member.group == part.group] for part in parts}
    finished = {int(head["group"]): head["finished"] for head in run.heads}
    disk = disks_in(text[tail : run.end]) if tail >= 0 else {}
    disk = disk if len(groups) == 1 else shared_disks(disk, list(groups.values()))
    version = _last(_VERSION.finditer(text, 0, run.heads[0].start()))
    for group, together in groups.items():
        tool_version = version[1] if version else None
        try:
            whole = {**disk, **_hosts(text, run)}
            yield combine_parts(together, version=tool_version, measured_on=finished[group], disk=whole)
        except ValueError as error:
            line = line_at(text, run.heads[0].start())
            raise Broken(f"the result of {together[0].name} cannot be read: {error}", line) from error


def _part(text: str, run: _Run, head: re.Match[str], end: int) -> JobPart:
    """The part of one job in a result. Raises Broken with the line where it breaks off."""
    name, body = _name_before(text, head.start()), text[head.end() : end]
    try:
        sides, beside = sides_in(body), beside_in(body)
    except ValueError as error:
        raise Broken(f"the result of {name} breaks off: {error}", line_at(text, head.start())) from error
    if not sides and not int(head["error"]) and "cpu" not in beside:
        raise Broken(f"the result of {name} breaks off after its first line", line_at(text, head.start()))
    status = run_status_in(text[end : run.end], int(head["group"])) if len(run.heads) == 1 else {}
    for direction, figures in status.items():
        if direction in sides:
            sides[direction]["run_status"] = figures
    process = {"pid": head["pid"], **({"finished": head["finished"]} if head["finished"] else {})}
    last = status_in(text[run.start : head.start()]) if len(run.heads) == 1 else {}
    sections, jobs = _sections(text, run, head, name), int(head["jobs"])
    options = _options(text, run, head, name, sections, list(sides))
    target = beside.get("latency_target", {}).get("target", "0")
    options |= {} if target == "0" else {"latency_target": target}
    depths = [
        outstanding_of(asked, whole=False, jobs=jobs)
        for asked in (map(_section_options, sections) if sections else [options])
    ]
    return JobPart(
        name=name,
        group=int(head["group"]),
        error=int(head["error"]),
        jobs=jobs,
        options=options,
        sides=sides,
        beside={**beside, **last, **process},
        operations=_operations(beside, list(sides)),
        outstanding=None if None in depths else max((depth for depth in depths if depth is not None), default=None),
    )


def _sections(text: str, run: _Run, head: re.Match[str], name: str) -> list[re.Match[str]]:
    """The option lines of a result: its job's, and those of its group's jobs without a result."""
    asked = [section for section in _ASKED.finditer(text, run.start, head.start()) if section["group"] == head["group"]]
    named = {_name_before(text, other.start()) for other in run.heads if other["group"] == head["group"]} - {name}
    mine = [section for section in asked if _name_before(text, section.start()) not in named]
    return mine[-int(head["jobs"]) :]


def _section_options(section: re.Match[str]) -> dict[str, str]:
    return {"rw": section["rw"], "ioengine": section["engine"], "iodepth": section["depth"]}


def _options(
    text: str, run: _Run, head: re.Match[str], name: str, sections: Sequence[re.Match[str]], used: Sequence[str]
) -> dict[str, str]:
    """The job's options: those of a job file and of the command, overridden by those that fio printed."""
    first = _ASKED.search(text, run.start, head.start())
    until = head.start() if first is None else first.start() - len(_name_before(text, first.start()))
    command = _last(_COMMAND.finditer(text, run.start, until))
    names = dict.fromkeys([name, *(_name_before(text, section.start()) for section in sections)])
    options = _job_file(text[run.start : until], list(names))
    options |= _command_options(text[command.end() : until]) if command else {}
    if not sections:
        return options
    modes = {section["rw"] for section in sections}
    both = "randrw" if all(mode.startswith("rand") for mode in modes) else "rw"
    options |= _section_options(sections[-1]) | ({"rw": both} if len(modes) > 1 else {})
    blocks = [_block(section["bs"], used) for section in sections]
    alike = all(block == blocks[0] for block in blocks)
    return {**options, **(blocks[0] if alike else {"bsrange": " ".join(section["bs"] for section in sections)})}


def _job_file(before: str, names: Sequence[str]) -> dict[str, str]:
    """The options of a job file before the result: those of [global], and the jobs' own.

    The first job's options hold, with the files of all.
    """
    sections: dict[str, dict[str, str]] = {}
    current: dict[str, str] = {}
    for line in before.splitlines():
        head, option = _SECTION.fullmatch(line), _INI_OPTION.fullmatch(line)
        if head is not None:
            current = sections.setdefault(head[1], {})
        elif option is not None:
            current[option[1]] = option[2] if option[2] is not None else "1"
    if names[0] not in sections:
        return {}
    shared = sections.get("global", {})
    mine = [{**shared, **sections[name]} for name in names if name in sections]
    files = dict.fromkeys(job["filename"] for job in mine if "filename" in job)
    return {**mine[0], **({"filename": ":".join(files)} if files else {})}


def _command_options(command: str) -> dict[str, str]:
    return {option["name"]: option["value"] or option["apart"] or "" for option in _OPTION.finditer(command)}


def _block(printed: str, used: Sequence[str]) -> dict[str, str]:
    """The block size of the directions in use if it is a single one, else a range."""
    ranges = list(_RANGE.finditer(printed))
    letters = {"read": "R", "write": "W", MIXED: "R"}
    places = {"read": 0, "write": 1, MIXED: 0}
    mine = [
        block_range
        for at, block_range in enumerate(ranges)
        if any(
            block_range["side"] == letters[name] or (block_range["side"] is None and places[name] == at)
            for name in used
        )
    ]
    sizes = {size_kib_in(block_range[edge]) for block_range in mine for edge in ("low", "high")}
    return {"bs": mine[0]["low"]} if len(sizes) == 1 else {"bsrange": printed}


def _operations(beside: PrintedFigures, used: Sequence[str]) -> dict[str, int]:
    """The number of issued operations by direction, of those used; left out where it is not printed."""
    total = str(beside.get("issued_rwts", {}).get("total", ""))
    counts = [count.rpartition("=")[2] for count in re.split(r"[,/]", total)]
    by_direction = dict(zip(("read", "write"), counts, strict=False))
    return {
        name: int(by_direction[name])
        for name in used
        if by_direction.get(name, "").isdecimal() and len(by_direction[name]) < 20
    }


def _name_before(text: str, at: int) -> str:
    words = text[max(0, at - 200) : at].split()
    return words[-1] if words else "job"


def _last(matches: Iterator[re.Match[str]]) -> re.Match[str] | None:
    return next(reversed(list(matches)), None)
