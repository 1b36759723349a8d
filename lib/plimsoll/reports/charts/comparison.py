"""The picture of envelopes beside each other: IOPS, MiB/s and latency over I/O size."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import altair as alt

from plimsoll.domain.ceiling import Resource
from plimsoll.domain.envelope import Envelope, Latency
from plimsoll.reports.charts.picture import Picture, Row
from plimsoll.reports.charts.theme import Theme

RESULTS: Final = "results"
_LEFT_PX: Final = 56
FRAME_PX: Final = 3 * _LEFT_PX + 60
_PANELS: Final = {"iops": "IOPS", "throughput_mib_s": "MiB/s", "latency_us": "latency, us"}


def comparison_picture(envelopes: Sequence[Envelope]) -> Picture:
    """The picture of what each envelope served at each I/O size; what is rejected or not told is not drawn."""
    rows = [row for one in envelopes for row in _rows(one)]
    return Picture(
        kind="comparison",
        subject=", ".join(one.name for one in envelopes),
        title="What was measured, over I/O size",
        subtitle="Latency as the source tells it: median, 99th percentile, mean, or the edge of a bin.",
        datasets={RESULTS: rows},
    )


def comparison_spec(theme: Theme, width: int = 1000) -> dict[str, Any]:
    """The Vega-Lite spec of `comparison_picture`, `width` pixels wide in all."""
    panels = [_panel(theme, field, title, (width - FRAME_PX) // 3) for field, title in _PANELS.items()]
    return {**alt.hconcat(*panels).to_dict(), "config": theme.config}


def _rows(envelope: Envelope) -> Iterator[Row]:
    for one in envelope.measurements:
        shape = {"envelope": envelope.name, "mode": one.job.mode, "io_size_kib": one.job.block_kib}
        for field, side in (("iops", Resource.IOPS), ("throughput_mib_s", Resource.THROUGHPUT)):
            if served := one.served(side):
                yield {**shape, "figure": field, "statistic": "", "value": served}
        for statistic, latency_us in _latencies(one.latency):
            yield {**shape, "figure": "latency_us", "statistic": statistic, "value": latency_us}


def _latencies(found: Latency) -> Iterator[tuple[str, float]]:
    bound = "at most " if found.upper_bound else ""
    told = {"p50": found.at(50.0), "p99": found.at(99.0), "mean": found.mean_us, "under": found.under_us}
    for statistic, latency_us in told.items():
        if latency_us:
            yield f"{bound}{statistic}" if statistic.startswith("p") else statistic, latency_us


def _panel(theme: Theme, field: str, title: str, width: int) -> alt.LayerChart:
    base = alt.Chart(alt.NamedData(name=RESULTS)).transform_filter(alt.FieldEqualPredicate(field="figure", equal=field))
    x = alt.X("io_size_kib:Q", scale=alt.Scale(type="log", base=2, nice=False), axis=alt.Axis(title="I/O size, KiB"))
    y = alt.Y("value:Q", scale=alt.Scale(type="log"), axis=alt.Axis(title=None, format=",~r", minExtent=_LEFT_PX))
    colour = alt.Color("envelope:N", scale=alt.Scale(range=list(theme.series)))
    line = base.mark_line().encode(x=x, y=y, color=colour, strokeDash="statistic:N", detail=["mode:N"])
    point = base.mark_point(filled=True).encode(x=x, y=y, color=colour, shape="mode:N")
    return alt.layer(line, point).properties(width=width, height=240, title=alt.Title(title, fontSize=12))
