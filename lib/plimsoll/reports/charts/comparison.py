"""The picture of envelopes beside each other: IOPS, MiB/s and latency over I/O size, a row for each kind of I/O."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import altair as alt

from plimsoll.model.ceiling import Resource
from plimsoll.model.envelope import Envelope, Latency, Measurement
from plimsoll.reports.charts.pictures import AXIS_PX, Picture, Row, envelopes_title
from plimsoll.reports.charts.specs import UPRIGHT, log_axis
from plimsoll.reports.charts.theme import SHAPES, Theme

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

_STATISTICS: Final = {
    "p50": [1, 0],
    "mean": [7, 3],
    "p99": [2, 2],
    "p50, at most": [9, 3, 2, 3],
    "p99, at most": [5, 2, 1, 2],
    "at most": [12, 4],
}
_LEGEND: Final = alt.Legend(labelLimit=0, columns=3, symbolOpacity=1)
_FAR_APART: Final = 10
_BETWEEN_PX: Final = 14
_HIGH_PX, _LOW_PX = 250, 150


def comparison_picture(envelopes: Sequence[Envelope]) -> Picture:
    """The picture of what each envelope served at each I/O size, without rejected figures.

    Kinds of work that only one envelope has are named instead of drawn, unless there is no other.
    """
    rows = [row for envelope in envelopes for row in _rows(envelope)]
    systems = {work: {row["envelope"] for row in rows if row["work"] == work} for work in kinds_of_work(rows)}
    alone = {work: next(iter(names)) for work, names in systems.items() if len(names) == 1}
    if len(alone) == len(systems):
        alone = {}
    only_words = ", ".join(f"{work} ({name})" for work, name in alone.items())
    drawn = [row for row in rows if row["work"] not in alone]
    lines = [
        _LATENCY if has_row(drawn, figure="latency_us") else "",
        f"Only one has, so not drawn: {only_words}." if only_words else "",
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
    return [work for work in [*_WORK, *sorted({row["work"] for row in rows} - set(_WORK))] if has_row(rows, work=work)]


def has_row(rows: Sequence[Row], **fields: str) -> bool:
    """True if any row has these fields."""
    return any(all(row[name] == value for name, value in fields.items()) for row in rows)


def _best(rows: Sequence[Row]) -> dict[Resource, dict[str, float]]:
    best: dict[Resource, dict[str, float]] = {}
    for figure, side in _SIDES.items():
        served = best.setdefault(side, {})
        for row in rows:
            if row["figure"] == figure:
                served[row["envelope"]] = max(row["value"], served.get(row["envelope"], 0.0))
    return best


def _rows(envelope: Envelope) -> Iterator[Row]:
    for measurement in envelope.measurements:
        shape = {
            "envelope": envelope.name,
            "work": next(
                (work for work, modes in _WORK.items() if measurement.job.mode in modes), measurement.job.mode
            ),
            "mode": measurement.job.mode,
            "io_size_kib": measurement.job.block_kib,
            "load": _load(measurement),
        }
        for figure, side in _SIDES.items():
            if served := measurement.served_figure(side):
                yield {**shape, "figure": figure, "statistic": "", "value": served}
        for statistic, latency_us in _latencies(measurement.latency):
            yield {**shape, "figure": "latency_us", "statistic": statistic, "value": latency_us}


def _load(measurement: Measurement) -> str:
    counts = {"jobs": measurement.job.jobs, "deep": measurement.job.iodepth}
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count is not None) or "not told"


def _latencies(latency: Latency) -> Iterator[tuple[str, float]]:
    """A latency's figures by statistic; the mean only where the source has no median, upper bounds as such."""
    p50, p99 = latency.percentile_us(50.0), latency.percentile_us(99.0)
    figures = {"p50": p50, "p99": p99, "mean": latency.mean_us if p50 is None else None, "at most": latency.under_us}
    for statistic, latency_us in figures.items():
        if latency_us:
            yield (
                f"{statistic}, at most" if latency.upper_bound and statistic in _PERCENTILES else statistic,
                latency_us,
            )


def comparison_spec(theme: Theme, rows: Sequence[Row], width: int) -> dict[str, Any]:
    """The Vega-Lite spec of `comparison_picture` for its results, `width` pixels wide in all."""
    works = kinds_of_work(rows)
    figures = [figure for figure in FIGURES if any(row["figure"] == figure for row in rows)]
    frame_px = len(figures) * AXIS_PX + (len(figures) - 1) * _BETWEEN_PX + 12
    size = {"width": (width - frame_px) // max(1, len(figures)), "height": _HIGH_PX if len(works) == 1 else _LOW_PX}
    panels = [
        alt.HConcatChart(
            hconcat=[_panel(theme, rows, work, figure).properties(**size) for figure in figures],
            spacing=_BETWEEN_PX + AXIS_PX,
            bounds="flush",
        )
        for work in works
    ]
    return {**alt.VConcatChart(vconcat=panels, spacing=_BETWEEN_PX).to_dict(validate=False), "config": theme.config}


def _panel(theme: Theme, rows: Sequence[Row], work: str, figure: str) -> alt.LayerChart:
    names = list(dict.fromkeys(row["envelope"] for row in rows))
    colors, shapes = (alt.Scale(domain=names, range=list(signs)) for signs in (theme.series, SHAPES))
    base = (
        alt.Chart(alt.NamedData(name=RESULTS))
        .transform_filter(alt.FieldEqualPredicate(field="work", equal=work))
        .transform_filter(alt.FieldEqualPredicate(field="figure", equal=figure))
        .encode(
            x=_x(rows),
            y=_y(rows, work, figure),
            color=alt.Color("envelope:N", legend=_LEGEND, scale=colors),
            tooltip=_tooltips(figure),
        )
    )
    dash = alt.StrokeDash(
        "statistic:N",
        scale=alt.Scale(domain=list(_STATISTICS), range=list(_STATISTICS.values())),
        legend=alt.Legend(values=[name for name in _STATISTICS if has_row(rows, statistic=name)], symbolSize=600),
    )
    detail = ["envelope:N", "mode:N", "load:N", "statistic:N"]
    line = base.mark_line(strokeWidth=1.8).encode(detail=detail)
    hollow = alt.condition("slice(datum.statistic, 0, 3) === 'p99'", alt.value(0), alt.value(1))
    point = base.mark_point(filled=True, size=45, opacity=1, strokeWidth=1.2).encode(
        shape=alt.Shape("envelope:N", legend=_LEGEND, scale=shapes),
        fillOpacity=hollow,
        stroke=alt.Stroke("envelope:N", legend=_LEGEND, scale=colors),
    )
    title = FIGURES[figure] if len(kinds_of_work(rows)) == 1 else f"{work}, {FIGURES[figure]}"
    layers = [line.encode(strokeDash=dash) if figure == "latency_us" else line, point]
    return alt.LayerChart(layer=layers, title=alt.Title(title, fontSize=12, offset=6))


def _x(rows: Sequence[Row]) -> alt.X:
    sizes = sorted({row["io_size_kib"] for row in rows})
    axis = alt.Axis(title="I/O size, KiB", titleAnchor="end", values=sizes, format=",~r", labelOverlap="greedy")
    domain = [sizes[0] / 2, sizes[-1] * 2] if len(sizes) == 1 else [sizes[0], sizes[-1]]
    scale = alt.Scale(type="log", base=2, nice=False, domain=domain, padding=8)
    return alt.X("io_size_kib", type="quantitative", scale=scale, axis=axis)


def _y(rows: Sequence[Row], work: str, figure: str) -> alt.Y:
    """From zero on, or logarithmic where the figures of the panel are far apart."""
    values = [row["value"] for row in rows if (row["work"], row["figure"]) == (work, figure)]
    if values and max(values) <= _FAR_APART * min(values):
        axis = alt.Axis(title=None, tickCount=4, format=",~r", **UPRIGHT)
        return alt.Y(
            "value", type="quantitative", scale=alt.Scale(domain=[0, max(values) * 1.08], nice=False), axis=axis
        )
    return alt.Y("value", type="quantitative", scale=alt.Scale(type="log", nice=False, padding=10), axis=log_axis(None))


def _tooltips(figure: str) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("envelope:N", title="envelope"),
        alt.Tooltip("mode:N", title="mode"),
        alt.Tooltip("io_size_kib:Q", title="I/O size, KiB", format=",~r"),
        alt.Tooltip("load:N", title="load"),
        alt.Tooltip("value:Q", title=FIGURES[figure], format=",.4~r"),
        *([alt.Tooltip("statistic:N", title="statistic")] if figure == "latency_us" else []),
    ]
