"""sysbench's output, 0.4 to 1.1: fileio is a result of storage; cpu, memory, mutex and threads are the host's profile.

Every value stands behind its name, so nothing relies on line ends. The command, where the text has it, tells what the
figures do not: the test, its mode, the size of its files.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from plimsoll.envelopes.printed import (
    DIRECTIONS,
    PrintedEntry,
    PrintedFigures,
    latency,
    number_in,
    present,
    rates,
    size_kib_in,
)
from plimsoll.model.envelope import JobShape, Latency, TimeSeries
from plimsoll.model.units import KIB_PER_MIB
from plimsoll_measure.readers.results import (
    BenchResult,
    Broken,
    Direction,
    Output,
    Profile,
    gib_of,
    line_at,
    mean_block_kib,
    unstated_mode,
)
from plimsoll_measure.readers.series import Work, series_of
from plimsoll_measure.readers.sysbench_04 import TOTAL_TIME, oldest_file_io_in

_N: Final = r"(\d+(?:\.\d+)?)"

START: Final = re.compile(
    r"(?P<fileio>\bread:\s+IOPS=\d[\d.]{0,20}\s)|(?P<old_fileio>(?<!,\s)\breads/s:)|(?P<cpu>\bevents per second:)"
    r"|(?P<oldest_fileio>\bOperations performed:\s+\d+\s+(?:[Rr]eads?),)|(?P<memory>\bTotal operations:)"
    r"|(?P<events>\bevents/s\s+\(eps\):)|(?P<old_events>\b(?:General statistics|Test execution summary):)"
)
"""The beginning of a test's figures, by the test."""

_OLTP: Final = re.compile(r"OLTP test statistics:|SQL statistics:|\btps:\s+[\d.]|\btransactions:\s+\d+\s+\(")
"""Text that only tests of a database print."""

_FILE_IO: Final = re.compile(
    rf"read:\s+IOPS={_N}\s+{_N}\s+MiB/s\s+\({_N}\s+MB/s\)\s+write:\s+IOPS={_N}\s+{_N}\s+MiB/s\s+\({_N}\s+MB/s\)"
    rf"\s+fsync:\s+IOPS={_N}(?=\s)"
)
_OLD_FILE_IO: Final = re.compile(
    rf"reads/s:\s+{_N}\s+writes/s:\s+{_N}\s+fsyncs/s:\s+{_N}\s+Throughput:\s+read,\s+MiB/s:\s+{_N}"
    rf"\s+written,\s+MiB/s:\s+{_N}(?=\s)"
)
_MEMORY: Final = re.compile(
    rf"Total operations:\s+(\d+)\s+\({_N}\s+per second\)(?:\s+{_N}\s+MiB transferred\s+\({_N}\s+MiB/sec\))?"
)
_EVENTS: Final = {
    "events_per_s_headline": re.compile(rf"events per second:\s+{_N}(?=\s)"),
    "events_per_s": re.compile(rf"events/s\s+\(eps\):\s+{_N}(?=\s)"),
    "time_elapsed_s": re.compile(rf"(?:time elapsed|total time):\s+{_N}s"),
    "events": re.compile(r"total number of events:\s+(\d+)(?=\s)"),
}
_LATENCY: Final = re.compile(
    rf"Latency\s+\(ms\):\s+min:\s+{_N}\s+avg:\s+{_N}\s+max:\s+{_N}"
    rf"\s+(?:(\d+th percentile):\s+{_N}\s+)?sum:\s+{_N}(?=\s|$)"
)
_FAIRNESS: Final = re.compile(
    r"events\s+\(avg/stddev\):\s+([\d.]+/[\d.]+)\s+execution time\s+\(avg/stddev\):\s+([\d.]+/[\d.]+)"
)


def file_io_in(body: str) -> PrintedFigures:
    """Reads, writes and fsyncs of a fileio test, and the latency of all of them together."""
    new = _FILE_IO.search(body)
    if new is not None:
        names = ("iops", "mib_s", "mb_s")
        sides = {
            "read": dict(zip(names, new.groups()[:3], strict=True)),
            "write": dict(zip(names, new.groups()[3:6], strict=True)),
        }
        return {**sides, "fsync": {"iops": new[7]}, **latency_in(body)}
    if body.startswith("Operations performed:"):
        return oldest_file_io_in(body)
    old = _OLD_FILE_IO.search(body)
    if old is None:
        raise ValueError("the test of files breaks off before its fsyncs or throughput")
    return {
        "read": {"iops": old[1], "mib_s": old[4]},
        "write": {"iops": old[2], "mib_s": old[5]},
        "fsync": {"iops": old[3]},
        **latency_in(body),
    }


def memory_in(body: str) -> PrintedFigures:
    """Operations and MiB a second of a memory test."""
    match = _MEMORY.search(body)
    if match is None:
        raise ValueError("the test of memory breaks off before its rate")
    return present(dict(zip(("operations", "operations_per_s", "mib", "mib_s"), match.groups(), strict=True)))


def events_in(body: str) -> PrintedFigures:
    """Events a second, their number, time and fairness, of any test. 1.0 prints the rate of cpu only."""
    figures: PrintedFigures = {}
    for name, pattern in _EVENTS.items():
        match = pattern.search(body)
        if match is not None:
            figures[name] = match[1]
    fairness = _FAIRNESS.search(body)
    if fairness is not None:
        figures["fairness"] = dict(zip(("events", "execution_time"), fairness.groups(), strict=True))
    return figures


def latency_in(body: str) -> PrintedFigures:
    """Milliseconds of a request. Empty if the output has none."""
    match = _LATENCY.search(body)
    if match is None:
        return {}
    least, mean, most, nth, percentile, total = match.groups()
    summary = {"min": least, "avg": mean, "max": most, "sum": total}
    return {"latency_ms": summary | ({nth: percentile} if nth is not None else {})}


_TESTS: Final = "cpu|memory|fileio|mutex|threads"
_COMMAND: Final = re.compile(rf"\bsysbench\s+((?:(?:--?[\w-]+(?:=\S+)?|\\|{_TESTS})\s+){{1,40}}?)run\b")
_OPTION: Final = re.compile(r"--([\w-]+)(?:=(\S+))?")
_VERSION: Final = re.compile(r"\bsysbench\s+(\d+\.\d+[\w.-]*)")
_HINT: Final = re.compile(
    r"\bsysbench\s+(?:--\S+\s+)*(?:cpu|memory|fileio|mutex|threads|\d+\.\d)|Running the test with following"
)
_FLAGS: Final = re.compile(r"Extra file open flags:\s*(\(none\)|\d+|(?:\b(?:sync|dsync|directio)\b\s*)+)")
_O_DIRECT: Final = 0x4000 | 0x10000
"""O_DIRECT in the flags of open(2), on x86 and on Arm."""
_THREADS: Final = re.compile(r"Number of threads:\s*(\d{1,6})\b")
_BLOCK: Final = re.compile(r"Block size\s+([\d.]+[KMG]?i?[Bb])")
_TOTAL: Final = re.compile(r"([\d.]+[KMG]?i?[Bb])\s+total file size")
_DOING: Final = {
    "sequential write (creation)": "seqwr",
    "sequential rewrite": "seqrewr",
    "sequential read": "seqrd",
    "random read": "rndrd",
    "random write": "rndwr",
    "random r/w": "rndrw",
}
_MODES: Final = frozenset(_DOING.values())
_INTERVAL: Final = re.compile(rf"\[\s*(\d{{1,9}})s\s*\]\s+reads:\s+{_N}\s+MiB/s\s+writes:\s+{_N}\s+MiB/s")


def is_sysbench(text: str) -> bool:
    """The text has a sign of sysbench: a test's figures, a command, or a database test."""
    return any(sign.search(text) is not None for sign in (START, _HINT, _OLTP))


def read_sysbench(text: str) -> Output:
    """Every result and profile in a text. Raises Broken if there is none or one breaks off."""
    starts = _find_starts(text)
    if not starts and _OLTP.search(text) is not None:
        return Output(databases=1)
    if not starts:
        hint = _HINT.search(text)
        raise Broken("it breaks off before any figure of a test", line_at(text, hint.start() if hint else 0))
    results: list[BenchResult] = []
    profiles: list[Profile] = []
    databases = 0
    asked = _Request()
    for at, start in enumerate(starts):
        end = starts[at + 1].start() if at + 1 < len(starts) else len(text)
        body, asked = text[start.start() : end], asked.follow(text[starts[at - 1].end() if at else 0 : start.start()])
        try:
            if start.lastgroup in {"fileio", "old_fileio", "oldest_fileio"}:
                results.append(_result(body, asked))
            elif _OLTP.search(asked.text) is not None:
                databases += 1
            else:
                profiles.append(_profile(start, body, asked))
        except ValueError as error:
            raise Broken(str(error), line_at(text, start.start())) from error
    return Output(results=tuple(results), profiles=tuple(profiles), databases=databases)


@dataclass(frozen=True, slots=True)
class _Request:
    """The text before a result: the nearest command's words, sysbench's version, and the text itself."""

    words: tuple[str, ...] = ()
    version: str | None = None
    text: str = ""

    def follow(self, text: str) -> "_Request":
        """The request after another text. The last command and version stay if the text has none."""
        commands, versions = list(_COMMAND.finditer(text)), list(_VERSION.finditer(text))
        words = tuple(word for word in commands[-1][1].split() if word != "\\") if commands else self.words
        return _Request(words, versions[-1][1] if versions else self.version, text)

    @property
    def command(self) -> str | None:
        """The command in one line. None if the text has none."""
        return " ".join(["sysbench", *self.words, "run"]) if self.words else None

    @property
    def test(self) -> str | None:
        """The test that the command names."""
        named = next((word for word in self.words if not word.startswith("-")), None)
        return named or self.options.get("test")

    @property
    def options(self) -> Mapping[str, str]:
        """The command's options."""
        return dict(_OPTION.findall(self.command or ""))


def _find_starts(text: str) -> list[re.Match[str]]:
    """The beginning of each test's figures. Events belong to the test before them, until its latency or a command."""
    starts: list[re.Match[str]] = []
    ended, before = True, 0
    for start in START.finditer(text):
        ended = ended or text.find("Latency (ms)", before, start.start()) >= 0
        ended = ended or _COMMAND.search(text, before, start.start()) is not None
        before = start.end()
        if ended or start.lastgroup not in {"events", "old_events"}:
            starts.append(start)
            ended = False
    return starts


def _result(body: str, asked: _Request) -> BenchResult:
    printed = PrintedEntry(figures={**file_io_in(body), **_request_counts(body)})
    iops, throughput_mib_s = rates(printed)
    by_direction = {name: printed.figures[name] for name in DIRECTIONS}
    synced, took = number_in(printed.figures["fsync"]["iops"]) > 0, TOTAL_TIME.search(body)
    used = {name: figures for name, figures in by_direction.items() if number_in(figures["iops"]) > 0}
    mode = _mode(asked, list(used))
    job = _shape(asked, mode, iops, throughput_mib_s, synced=synced, took_s=took[1] if took else None)
    return BenchResult(
        name=mode,
        group=0,
        tool="sysbench",
        tool_version=asked.version,
        job=job,
        series=_series(asked, job),
        iops=iops if used else None,
        throughput_mib_s=throughput_mib_s if used else None,
        latency=latency(printed),
        directions={name: _direction(figures) for name, figures in used.items()},
        printed=printed,
        options=asked.options,
    )


def _request_counts(body: str) -> PrintedFigures:
    """The number of requests, and the time that they took."""
    matches = {"events": _EVENTS["events"].search(body), "total_time_s": _EVENTS["time_elapsed_s"].search(body)}
    return {name: match[1] for name, match in matches.items() if match is not None}


def _series(asked: _Request, job: JobShape) -> TimeSeries | None:
    """The series of sysbench's reports (--report-interval): MiB/s since the line before, and the IOPS that follow."""
    reports = _INTERVAL.findall(asked.text)
    ends_s = [float(seconds) for seconds, _, _ in reports]
    if len(reports) < 2 or any(later <= earlier for earlier, later in pairwise(ends_s)):
        return None
    rates = [float(read_sysbench) + float(written) for _, read_sysbench, written in reports]
    per_mib = KIB_PER_MIB / job.block_kib
    return series_of([Work.from_rates(ends_s, [rate * per_mib for rate in rates])], [Work.from_rates(ends_s, rates)])


def _direction(figures: PrintedFigures) -> Direction:
    """Reads or writes, without a latency: sysbench prints one for all requests together."""
    iops, mib_s = number_in(figures["iops"]), number_in(figures["mib_s"])
    return Direction(iops=iops, throughput_mib_s=mib_s, operations=None, latency=Latency())


def _mode(asked: _Request, used: Sequence[str]) -> str:
    printed = next((mode for words, mode in _DOING.items() if f"Doing {words}" in asked.text), None)
    stated = printed or asked.options.get("file-test-mode")
    return stated if stated in _MODES else unstated_mode(used or DIRECTIONS)


def _shape(
    asked: _Request, mode: str, iops: float | None, throughput_mib_s: float | None, *, synced: bool, took_s: str | None
) -> JobShape:
    options = asked.options
    commanded = asked.command is not None
    threads = _THREADS.search(asked.text)
    total = _TOTAL.search(asked.text)
    block = _BLOCK.search(asked.text)
    stated = options.get("file-block-size") or (block[1] if block else "")
    threaded = options.get("threads") or options.get("num-threads") or ("1" if commanded else "")
    jobs = threads[1] if threads else threaded
    set_gib = gib_of(options.get("file-total-size") or (total[1] if total else None))
    asynchronous = "asynchronous I/O mode" in asked.text or options.get("file-io-mode") == "async"
    runtime = options.get("time") or options.get("max-time") or took_s or ("10" if commanded else "")
    return JobShape(
        mode=mode,
        block_kib=size_kib_in(stated) or mean_block_kib(iops, throughput_mib_s) or 16.0,
        jobs=int(jobs) if jobs.isdecimal() and len(jobs) < 7 else None,
        engine=options.get("file-io-mode", "sync" if commanded else None),
        runtime_s=_seconds(runtime),
        direct=_direct(asked),
        file_size_gib=set_gib,
        set_gib=set_gib,
        synced=synced,
        held_by=_holding_limit(options, synced=synced and mode not in {"seqrd", "rndrd"}),
        outstanding=int(jobs) if jobs.isdecimal() and len(jobs) < 7 and not asynchronous else None,
    )


def _holding_limit(options: Mapping[str, str], *, synced: bool) -> str | None:
    """The limit that held the test's load back: a rate of requests, or syncs between them. None without one."""
    if options.get("rate", "0") != "0":
        return f"rate={options['rate']}"
    return "fsync" if synced else None


def _seconds(printed: str) -> float | None:
    return number_in(printed) or None if re.fullmatch(_N, printed) and len(printed) < 12 else None


def _direct(asked: _Request) -> bool | None:
    """Files were opened for direct I/O, by sysbench's output or its command. None if neither tells."""
    flags = _FLAGS.search(asked.text)
    if flags is not None and flags[1].isdecimal():
        return bool(int(flags[1][:9]) & _O_DIRECT)
    if flags is not None:
        return "directio" in flags[1]
    return "direct" in asked.options.get("file-extra-flags", "") if asked.command is not None else None


def _profile(start: re.Match[str], body: str, asked: _Request) -> Profile:
    kind = start.lastgroup if start.lastgroup in {"cpu", "memory"} else None
    figures = {**(memory_in(body) if kind == "memory" else {}), **events_in(body), **latency_in(body)}
    same_test = asked.test is not None and (kind is None or kind == asked.test) and asked.test != "fileio"
    _check_rate(figures)
    return Profile(
        kind=kind or (asked.test if same_test and asked.test else "events"),
        job=asked.command if same_test else None,
        figures=figures,
    )


def _check_rate(figures: PrintedFigures) -> None:
    """Raises ValueError if a test has no rate. For most tests 1.0 prints only events and time."""
    stated = [
        figures[name] for name in ("operations_per_s", "events_per_s", "events_per_s_headline") if name in figures
    ]
    if stated:
        number_in(stated[0])
    elif "events" not in figures or not number_in(figures.get("time_elapsed_s", "0")):
        raise ValueError("the test breaks off before its rate")
