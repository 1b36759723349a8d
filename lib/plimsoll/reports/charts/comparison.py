"""The picture of envelopes beside each other: IOPS, MiB/s and latency over I/O size, a row for each kind of I/O."""

from collections.abc import Iterator, Sequence
from typing import Final

from plimsoll.domain.ceiling import Resource
from plimsoll.domain.envelope import Envelope, Latency, Measurement
from plimsoll.reports.charts.headlines import envelopes_title
from plimsoll.reports.charts.picture import Picture, Row

RESULTS: Final = "results"

_WORK: Final = {
    "random reads": ("randread", "rndrd"),
    "random writes": ("randwrite", "rndwr"),
    "random reads and writes": ("randrw", "rndrw"),
    "sequential reads": ("read", "seqrd"),
    "sequential writes": ("write", "seqwr", "seqrewr"),
    "sequential reads and writes": ("rw", "readwrite"),
}
"""The modes of fio and of sysbench that do the same kind of work."""

FIGURES: Final = {"iops": "IOPS", "throughput_mib_s": "MiB/s", "latency_us": "latency, us"}
_SIDES: Final = {"iops": Resource.IOPS, "throughput_mib_s": Resource.THROUGHPUT}
_LATENCY: Final = "Latency as its source tells it: median (p50), mean, p99 (hollow), or at most the edge of a bin."
_PERCENTILES: Final = ("p50", "p99")


def comparison_picture(envelopes: Sequence[Envelope]) -> Picture:
    """The picture of what each envelope served at each I/O size; rejected figures are left out, and kinds of work that
    only one of them has are told instead of drawn, unless there is no other."""
    rows = [row for one in envelopes for row in _rows(one)]
    systems = {work: {row["envelope"] for row in rows if row["work"] == work} for work in kinds_of_work(rows)}
    alone = {work: next(iter(found)) for work, found in systems.items() if len(found) == 1}
    if len(alone) == len(systems):
        alone = {}
    told = ", ".join(f"{work} ({name})" for work, name in alone.items())
    drawn = [row for row in rows if row["work"] not in alone]
    lines = [
        _LATENCY if some(drawn, figure="latency_us") else "",
        f"Only one has, so not drawn: {told}." if told else "",
    ]
    return Picture(
        kind="comparison",
        subject="",
        title=envelopes_title(_best(drawn)),
        subtitle="\n".join(filter(None, lines)),
        datasets={RESULTS: drawn},
    )


def kinds_of_work(rows: Sequence[Row]) -> list[str]:
    """The kinds of work that the rows have, in the order they are drawn in."""
    return [work for work in [*_WORK, *sorted({row["work"] for row in rows} - set(_WORK))] if some(rows, work=work)]


def some(rows: Sequence[Row], **fields: str) -> bool:
    """Whether any row has these fields."""
    return any(all(row[name] == value for name, value in fields.items()) for row in rows)


def _best(rows: Sequence[Row]) -> dict[Resource, dict[str, float]]:
    best: dict[Resource, dict[str, float]] = {}
    for figure, side in _SIDES.items():
        found = best.setdefault(side, {})
        for row in rows:
            if row["figure"] == figure:
                found[row["envelope"]] = max(row["value"], found.get(row["envelope"], 0.0))
    return best


def _rows(envelope: Envelope) -> Iterator[Row]:
    for one in envelope.measurements:
        shape = {
            "envelope": envelope.name,
            "work": next((work for work, modes in _WORK.items() if one.job.mode in modes), one.job.mode),
            "mode": one.job.mode,
            "io_size_kib": one.job.block_kib,
            "load": _load(one),
        }
        for figure, side in _SIDES.items():
            if served := one.served(side):
                yield {**shape, "figure": figure, "statistic": "", "value": served}
        for statistic, latency_us in _latencies(one.latency):
            yield {**shape, "figure": "latency_us", "statistic": statistic, "value": latency_us}


def _load(one: Measurement) -> str:
    told = {"jobs": one.job.jobs, "deep": one.job.iodepth}
    return ", ".join(f"{count} {what}" for what, count in told.items() if count is not None) or "not told"


def _latencies(found: Latency) -> Iterator[tuple[str, float]]:
    """A latency's figures by statistic; the mean only where the source has no median, upper bounds as such."""
    p50, p99 = found.at(50.0), found.at(99.0)
    told = {"p50": p50, "p99": p99, "mean": found.mean_us if p50 is None else None, "at most": found.under_us}
    for statistic, latency_us in told.items():
        if latency_us:
            yield f"{statistic}, at most" if found.upper_bound and statistic in _PERCENTILES else statistic, latency_us
