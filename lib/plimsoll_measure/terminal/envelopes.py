"""Envelopes in the terminal: the list, one in full, several side by side, and what a benchmark has just measured."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import wrap
from typing import Final

import numpy as np
from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from plimsoll.decide.evidence import Beside
from plimsoll.model.ceiling import Ceiling, Resource
from plimsoll.model.envelope import Admission, BoundBy, Envelope, Latency, Measurement
from plimsoll.model.policy import Grade
from plimsoll.reports.envelope_json import directions
from plimsoll.reports.terminal.plot import plain_table, plot

SHAPE_WIDTH: Final = 16
SYSTEM_WIDTH: Final = 32
"""Characters that a comparison's shapes and each system side by side take."""

_CHART_HEIGHT: Final = 5
_MOST_COLUMN: Final = 8
_MOST_DIGITS: Final = 5
_LABELS: Final = 12
"""Characters to the left of a chart's first column."""

_CLOSE: Final = (0, 1, 0, 0)
_BESIDE_SPEC: Final = 64
"""Columns of the list that what stands beside a configuration takes."""
_LEAST_SPEC: Final = 16
_ROOFS: Final = ">= marks the best seen where no limit was reached; - is not in the source."
_GRADES: Final = "A: measured by Plimsoll lately, in that account and region or on this machine; B: otherwise."
_DIRECTIONS: Final = "r: reads, w: writes, where they are limited apart; roofs are counted in reads."
_LEGEND: Final = (
    f"Latency: avg (mean), p50 (median), or < the upper edge of a bin, where the source has only that. {_ROOFS}"
)


def list_table(
    envelopes: Sequence[Envelope], campaigns: Mapping[str, str], grades: Mapping[str, Grade], width: int
) -> Table:
    """One line an envelope, under its campaign; `campaigns` and `grades` by envelope name.

    In few columns a configuration is broken between words and behind hyphens: Google's types are long.
    """
    side = max(_LEAST_SPEC, width - _BESIDE_SPEC)
    table = plain_table(("envelope", "volume"), ("grade", "IOPS", "MiB/s", "results"), padding=_CLOSE)
    table.columns[0].no_wrap = True
    for campaign, group in groupby(envelopes, lambda envelope: campaigns[envelope.name]):
        table.add_row(Text(campaign, style="dim"))
        for envelope in group:
            roofs = (roof(envelope, side) for side in Resource)
            table.add_row(
                f"  {envelope.name}",
                "\n".join(wrap(_spec(envelope), side)),
                grades[envelope.name].name,
                *roofs,
                str(len(envelope.measurements)),
            )
    table.caption = f"{_GRADES} {_ROOFS}"
    table.caption_justify = "left"
    return table


def show(envelope: Envelope, source: str, beside: Sequence[tuple[str, str]], others: Sequence[Beside] = ()) -> Group:
    """Everything about one envelope: its roofs and notes, and each measurement's figures as its source printed them.

    `beside` are further figures of the source, by name: the host's profile, published formulas. `others` are campaigns
    of the same configuration.
    """
    host = envelope.host_type or "an unnamed host"
    notes = Table.grid(padding=(0, 1))
    for note in envelope.notes:
        notes.add_row("-", note)
    parts: list[RenderableType] = [
        Text.assemble((envelope.name, "bold"), f"  {_spec(envelope)} on {host}"),
        Text(f"source: {source}"),
        Text(""),
        _limits(envelope),
        Text(""),
        notes,
        Text(""),
        _results(envelope.measurements),
        *_same_configuration(others),
    ]
    for measurement in envelope.measurements:
        parts += _as_printed(measurement)
    if beside:
        parts += [Rule("also in the source", align="left", style="dim"), *_figure_lines(beside)]
    return Group(*parts)


def _same_configuration(others: Sequence[Beside]) -> Iterator[RenderableType]:
    if not others:
        return
    table = plain_table(("same configuration", "host"), ("IOPS", "differs", "MiB/s", "differs"), padding=_CLOSE)
    for other in others:
        figures = [cell for side in Resource for cell in (roof(other.envelope, side), _percent(other.difference(side)))]
        table.add_row(other.envelope.name, other.envelope.host_type or "-", *figures)
    yield Text("")
    yield table


def _percent(difference: float | None) -> str:
    return "-" if difference is None else f"{100 * difference:+.0f} %"


def compare(envelopes: Sequence[Envelope], width: int) -> Group:
    """The envelopes over mode and I/O size: IOPS, MiB/s and latency, side by side where so many characters allow it;
    then their roofs beside what is published for their volumes and hosts."""
    beside = width >= SHAPE_WIDTH + SYSTEM_WIDTH * len(envelopes)
    limits = plain_table(("limits", ""), ("roof", "as published", "host at most"), padding=_CLOSE)
    for envelope in envelopes:
        for name, side in zip((envelope.name, ""), Resource, strict=True):
            limits.add_row(
                name, side.unit, roof(envelope, side), _limit(envelope.published, side), _limit(envelope.host, side)
            )
    table = _side_by_side(envelopes) if beside else _stacked_table(envelopes)
    legend = f"{_LEGEND} {_DIRECTIONS}" if any(map(_has_directions, envelopes)) else _LEGEND
    return Group(table, Text(""), limits, Text(legend, style="dim"))


def roof(envelope: Envelope, side: Resource) -> str:
    """A roof, or the best seen where none was reached, or - where the source tells nothing of that side."""
    fitted, best = envelope.roof(side), envelope.best(side)
    if fitted is not None or best is None:
        return "-" if fitted is None else f"{fitted:,.0f}"
    return f">= {best:,.3g}" if best < 100 else f">= {best:,.0f}"


def latency_text(latency: Latency) -> str:
    """A latency in a few characters, as its source gives it; empty where it gives none."""
    if latency.mean_us is not None:
        return f"avg {latency.mean_us:,.0f} us"
    if (median_us := latency.percentile_us(50.0)) is not None:
        return f"p50 {median_us:,.0f} us"
    if latency.under_us is not None:
        return f"< {latency.under_us / 1000:,.0f} ms"
    return ">= 2,000 ms" if latency.upper_bound else ""


def _side_by_side(envelopes: Sequence[Envelope]) -> Table:
    table = plain_table(("\nmode",), ("\nKiB",), padding=_CLOSE)
    for envelope in envelopes:
        for head in ("\nIOPS", "\nMiB/s", f"{envelope.name}\nlatency"):
            table.add_column(head, justify="right", overflow="fold")
    for mode, block_kib in _shapes(envelopes):
        cells = [cell for envelope in envelopes for cell in _cells(envelope, mode, block_kib)]
        table.add_row(mode, f"{block_kib:g}", *cells)
    return table


def _stacked_table(envelopes: Sequence[Envelope]) -> Table:
    table = plain_table(("mode",), ("KiB",), padding=_CLOSE)
    table.add_column("envelope", overflow="fold")
    for head in ("IOPS", "MiB/s", "latency"):
        table.add_column(head, justify="right", no_wrap=True)
    for mode, block_kib in _shapes(envelopes):
        shape = (mode, f"{block_kib:g}")
        for envelope in envelopes:
            cells = _cells(envelope, mode, block_kib)
            if any(cells):
                table.add_row(*shape, envelope.name, *cells)
                shape = ("", "")
    return table


def _shapes(envelopes: Sequence[Envelope]) -> list[tuple[str, float]]:
    return sorted(
        {
            (measurement.job.mode, measurement.job.block_kib)
            for envelope in envelopes
            for measurement in envelope.measurements
        }
    )


def _cells(envelope: Envelope, mode: str, block_kib: float) -> tuple[str, str, str]:
    measurements = [
        measurement
        for measurement in envelope.measurements
        if (measurement.job.mode, measurement.job.block_kib) == (mode, block_kib)
    ]
    return (
        "\n".join(_rate(measurement.iops) for measurement in measurements),
        "\n".join(_rate(measurement.throughput_mib_s) for measurement in measurements),
        "\n".join(latency_text(measurement.latency) for measurement in measurements),
    )


def _rate(figure: float | None) -> str:
    if figure is None:
        return "-"
    return f"{figure:,.0f}" if figure >= 1000 or figure == round(figure) else f"{figure:,.4g}"


def _limits(envelope: Envelope) -> Table:
    table = plain_table(("",), ("roof", "volume as published", "host at most", "best seen"), padding=_CLOSE)
    for side in Resource:
        published = (_limit(envelope.published, side), _limit(envelope.host, side))
        table.add_row(side.unit, roof(envelope, side), *published, _rate(envelope.best(side)))
    return table


def _limit(ceiling: Ceiling | None, side: Resource) -> str:
    """A published limit; that of reads and that of writes where they differ."""
    reads, writes = directions(ceiling, side)
    if reads is None or writes is None or f"{reads:,.0f}" == f"{writes:,.0f}":
        return "-" if reads is None else f"{reads:,.0f}"
    return f"{reads:,.0f} r {writes:,.0f} w"


def _has_directions(envelope: Envelope) -> bool:
    """True if a write is published to cost another share than a read."""
    ceilings = [ceiling for ceiling in (envelope.published, envelope.host) if ceiling is not None]
    return any((ceiling.write_iops_cost, ceiling.write_throughput_cost) != (1, 1) for ceiling in ceilings)


def _results(measurements: Iterable[Measurement]) -> Table:
    table = plain_table(("mode",), ("KiB", "IOPS", "MiB/s", "latency", "p99"), padding=_CLOSE)
    table.add_column("bound by", overflow="fold")
    for measurement in measurements:
        p99 = "" if (p99_us := measurement.latency.percentile_us(99.0)) is None else f"{p99_us:,.0f} us"
        rates = (_rate(measurement.iops), _rate(measurement.throughput_mib_s), latency_text(measurement.latency))
        bound_by = "" if measurement.bound_by is BoundBy.UNKNOWN else measurement.bound_by.value
        table.add_row(measurement.job.mode, f"{measurement.job.block_kib:g}", *rates, p99, bound_by)
    return table


def _as_printed(measurement: Measurement) -> Iterator[RenderableType]:
    made, job = measurement.provenance, measurement.job
    version = f" {made.tool_version}" if made.tool_version else ""
    facts = {
        "by": f"{made.tool}{version}",
        "engine": job.engine,
        "iodepth": job.iodepth,
        "jobs": job.jobs,
        "runtime": None if job.runtime_s is None else f"{job.runtime_s:g} s",
        "dated": made.dated,
        "source": made.reference,
    }
    yield Rule(f"{job.mode} {job.block_kib:g} KiB, as printed", align="left", style="dim")
    yield Text(", ".join(f"{name} {value}" for name, value in facts.items() if value is not None), style="dim")
    if measurement.note:
        yield Text(f"note: {measurement.note}")
    yield Text(f"verdict: {verdict_of(measurement)}", style="bold")
    for ruling in measurement.rulings:
        yield Text(f"- {ruling.admission.value} ({ruling.rule}): {ruling.text}")
    yield from _figure_lines(measurement.printed)


def verdict_of(measurement: Measurement) -> str:
    """The verdict of a measurement, on each side where they differ."""
    iops, throughput = (measurement.admission(side).value for side in Resource)
    return iops if iops == throughput else f"IOPS: {iops}; throughput: {throughput}"


_NEVER_A: Final = "never grade A"
_CONSEQUENCES: Final = {
    Admission.COUNTS: "",
    Admission.BOUNDED: "",
    Admission.UNKNOWN: f" ({_NEVER_A})",
    Admission.SHOWN: " (not fitted, no evidence)",
    Admission.REJECTED: " (not fitted, no evidence)",
}


def counting(measurements: Sequence[Measurement]) -> Iterator[Text]:
    """A line for each set of results under the same rules: its verdict, and why."""
    alike: dict[tuple[tuple[str, str], ...], list[Measurement]] = {}
    for measurement in measurements:
        alike.setdefault(tuple((ruling.rule, ruling.admission.value) for ruling in measurement.rulings), []).append(
            measurement
        )
    for group in alike.values():
        first = group[0]
        gravest = max((first.admission(side) for side in Resource), key=lambda measurement: measurement.gravity)
        shapes = ", ".join(
            dict.fromkeys(f"{measurement.job.mode} {measurement.job.block_kib:g} KiB" for measurement in group)
        )
        yield Text(f"{shapes}: {verdict_of(first)}{_CONSEQUENCES[gravest]}")
        for ruling in first.rulings:
            yield Text(f"  - {ruling.admission.value} ({ruling.rule}): {ruling.text}")


def _figure_lines(figures: Iterable[tuple[str, str]]) -> Iterator[Text]:
    """One line a group of figures: what stands before the first dot of their names."""
    for group, members in groupby(figures, lambda figure: figure[0].partition(".")[0] if "." in figure[0] else ""):
        line = ", ".join(f"{name.removeprefix(f'{group}.')} {text}" for name, text in members)
        yield Text(f"{group}: {line}" if group else line)


def _spec(envelope: Envelope) -> str:
    spec = envelope.spec
    words = [f"{envelope.volumes} x {spec.type}" if envelope.volumes > 1 else spec.type]
    figures = {"GiB": spec.size_gib, "IOPS": spec.iops, "MiB/s": spec.throughput_mib_s}
    return " ".join(words + [f"{figure:,} {unit}" for unit, figure in figures.items() if figure])


def results(envelope: Envelope, climbing: Sequence[str], width: int) -> Group:
    """The measurements of a benchmark, charts of both sides over them, the roofs, and what to beware of."""
    parts: list[RenderableType] = [_measurements_table(envelope.measurements)]
    for title, shown in _group_charts(envelope.measurements):
        for side in Resource:
            parts += [Text(""), Text(f"{side.unit}, {title}", style="bold")]
            parts += list(_chart(shown, envelope.roof(side), side, width))
    roofs = ", ".join(f"{roof(envelope, side)} {side.unit}" for side in Resource)
    parts += [Text(""), Text.assemble(("roofs: ", "bold"), f"{roofs} (>=: the best seen, where none was reached)")]
    parts += [Text(f"- {line}") for line in (*climbing, *envelope.notes)]
    return Group(*parts)


def _measurements_table(measurements: Sequence[Measurement]) -> Table:
    right = ("KiB", "IOPS", "MiB/s", "p50 us", "p99 us", "p99.9 us")
    table = plain_table(["mode"], right, padding=(0, 2, 0, 0))
    for measurement in measurements:
        latency = [_figure(measurement.latency.percentile_us(percentile), 0) for percentile in (50.0, 99.0, 99.9)]
        rates = [_figure(measurement.iops, 0), _figure(measurement.throughput_mib_s, 1)]
        table.add_row(measurement.job.mode, f"{measurement.job.block_kib:,.5g}", *rates, *latency)
    return table


def _figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _group_charts(measurements: Sequence[Measurement]) -> Iterator[tuple[str, Sequence[Measurement]]]:
    """A chart for each mode with several sizes, and one of all the others together, each with its title."""
    modes: dict[str, list[Measurement]] = {}
    for measurement in measurements:
        modes.setdefault(measurement.job.mode, []).append(measurement)
    yield from ((f"{mode} by KiB", seen) for mode, seen in modes.items() if len(seen) > 1)
    single = [seen[0] for seen in modes.values() if len(seen) == 1]
    if single:
        yield f"{', '.join(measurement.job.mode for measurement in single)} by KiB", single


def _chart(shown: Sequence[Measurement], fitted: float | None, side: Resource, width: int) -> Iterator[Text]:
    """Columns in the order of the run, with the roof as a line, and sizes underneath."""
    column = max(2, min(_MOST_COLUMN, (width - _LABELS) // len(shown)))
    drawn = np.repeat([measurement.figure(side) or 0.0 for measurement in shown], column)
    drawn[column - 1 :: column] = 0.0
    lines = {} if fitted is None else {"roof": fitted}
    for line in plot(drawn, width=len(drawn), height=_CHART_HEIGHT, lines=lines, unit=side.unit):
        yield Text(line)
    sizes = "".join(f"{measurement.job.block_kib:<{column}.4g}" for measurement in shown)
    yield Text(" " * _LABELS + sizes if column > _MOST_DIGITS else "")
