"""The explanation of one volume: its story with its demand drawn over time, on two screens or whole."""

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from textwrap import wrap
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.segment import Segment, SegmentLines
from rich.table import Table
from rich.text import Text

from plimsoll.decide.answer import Recommendation
from plimsoll.demand.demand import Demand
from plimsoll.demand.seconds import SecondsSeen
from plimsoll.reports.printable import printable
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.story import Figures, Story, StoryBlock, Topic
from plimsoll.reports.story.volume import CHOSEN, ceilings_of, tell_volume
from plimsoll.reports.terminal.plot import PlotSeries, bar, plot, spans_line
from plimsoll.reports.terminal.run import lay_out, printable_record, show_story
from plimsoll.reports.wording import cut

PLOT_HEIGHT = 5
_AXIS_INDENT = 12
_BAR = 12
"""The width of the longest bar of a frontier."""

_SPEC_WIDTH = 41
"""Characters of an offer's configuration that leave room for its price and result in 80 columns."""

SCREEN_ROWS: Final = 45
"""The rows of two screens of 24, without the sentence that ends an explanation."""

_FIRST: Final = {
    Topic.HEADLINE: 2,
    Topic.PLACE: 2,
    Topic.ANSWER: 5,
    Topic.MONEY: 2,
    Topic.RISK: 2,
    Topic.DEMAND: 6,
    Topic.OFFERS: 6,
    Topic.GROUP: 3,
    Topic.WHY: 3,
    Topic.EVIDENCE: 1,
    Topic.CHANGE: 9,
    Topic.UNDO: 3,
}
"""The topics of the two screens, each with the rows that it always has: all of them have room together."""

_PLOT_ROWS: Final = 6
"""The rows of the lowest plot: its title, levels above it, two of columns, its axis, and the volume's epochs."""

_FOR_A_PLOT: Final = (Topic.EVIDENCE, Topic.WHY, Topic.UNDO)
_FOR_THE_END: Final = (*_FOR_A_PLOT[::-1], Topic.OFFERS, Topic.CHANGE, *_FIRST)
"""The topics that are shortened in turn, to make room for a plot and to end on the second screen."""

_COPIED: Final = frozenset({Topic.CHANGE, Topic.UNDO})

_Row = list[Segment]


def show_explanation(
    console: Console,
    recommendation: Recommendation,
    demand: Demand | None,
    record: RecommendationRecord,
    link: str | None,
    seen: SecondsSeen | None = None,
    *,
    whole: bool = False,
) -> None:
    """Prints a volume's answer and its reasons on two screens, or the `whole` of what is known.

    `seen` is what its host saw by the second.
    """
    story = tell_volume(record, together=recommendation.stripe_set, seen=seen, link=link or "")
    _show(console, record, PlotSeries.from_demand(demand), story, whole=whole)


def show_record(
    console: Console,
    record: RecommendationRecord,
    profile: DemandProfileRecord | None,
    link: str | None,
    seen: SecondsSeen | None = None,
    *,
    whole: bool = False,
) -> None:
    """Prints the same of what a run keeps: its record, and the demand by spans instead of minutes."""
    story = tell_volume(record, seen=seen, link=link or "")
    _show(console, record, PlotSeries.from_profile(profile), story, whole=whole)


def _show(console: Console, raw: RecommendationRecord, series: PlotSeries | None, story: Story, *, whole: bool) -> None:
    record = printable_record(raw)
    if not whole:
        for rows in _fit(console, record, series, story):
            console.print(SegmentLines(rows, new_lines=True), soft_wrap=True, end="")
        return
    for block in story:
        if isinstance(block, Figures) and block.topic is Topic.OFFERS:
            console.print(offers_table(block, console.width))
        elif isinstance(block, Figures) and block.topic is Topic.FRONTIER:
            console.print(frontier_table(block, record))
        else:
            show_story(console, (block,))
        if block.topic is Topic.RISK and series is not None:
            for part in _plots(console, record, series, tuple(_SIDES), PLOT_HEIGHT):
                console.print(part)


def _fit(
    console: Console, record: RecommendationRecord, series: PlotSeries | None, story: Story
) -> Iterator[list[_Row]]:
    """The rows of each topic of the two screens. What takes too many is shortened, and a plot has the room left."""
    rows: dict[Topic, list[_Row]] = {topic: [] for topic in _FIRST}
    for block in story:
        if block.topic in rows:
            rows[block.topic] += _rows(console, block, f" {record.current.size_gib:,} GiB")
    with_plot = _shorten_topics(console, rows, _FOR_A_PLOT, SCREEN_ROWS - _PLOT_ROWS)
    fits = series is not None and _sum_heights(console, with_plot) <= SCREEN_ROWS - _PLOT_ROWS
    rows = with_plot if fits else _shorten_topics(console, rows, _FOR_THE_END, SCREEN_ROWS)
    for topic, part in rows.items():
        if topic is Topic.DEMAND and series is not None:
            yield _plot_rows(console, record, series, SCREEN_ROWS - _sum_heights(console, rows))
        yield part


def _sum_heights(console: Console, rows: Mapping[Topic, list[_Row]]) -> int:
    return sum(_height(console, part) for part in rows.values())


def _shorten_topics(
    console: Console, rows: Mapping[Topic, list[_Row]], topics: Iterable[Topic], most: int
) -> dict[Topic, list[_Row]]:
    """The rows of all topics, in no more than `most` lines: these topics are shortened in turn."""
    shortened = dict(rows)
    for topic in topics:
        over = _sum_heights(console, shortened) - most
        if over > 0:
            shortened[topic] = _shorten(console, topic, shortened[topic], over)
    return shortened


def _rows(console: Console, block: StoryBlock, size: str) -> Iterator[_Row]:
    """A block as rows of the console; a text to be copied is a row for each of its lines, however wide."""
    if isinstance(block, Figures) and block.topic is Topic.OFFERS:
        title = f"{block.title}, USD a month"
        parts: list[RenderableType | str] = [Rule(title, align="left", style="dim"), *_short_offers(block, size)]
    else:
        parts = list(lay_out(block))
    for part in parts:
        if isinstance(part, str):
            yield from ([Segment(line)] for line in part.splitlines())
        else:
            yield from console.render_lines(part, pad=False)


def _height(console: Console, rows: list[_Row]) -> int:
    """The number of lines that rows take on a screen."""
    return sum(max(1, math.ceil(Segment.get_line_length(row) / console.width)) for row in rows)


def _shorten(console: Console, topic: Topic, rows: list[_Row], over: int) -> list[_Row]:
    """The rows of a topic, shorter by `over` lines if it has them to spare. The end says that some are left out."""
    room = max(_FIRST[topic], _height(console, rows) - over)
    if _height(console, rows) <= room:
        return rows
    most = room - (topic in _COPIED)
    kept = next(rows[:count] for count in range(len(rows), -1, -1) if _height(console, rows[:count]) <= most)
    if topic in _COPIED:
        return [*kept, [Segment(f"… {len(rows) - len(kept):,} more lines: add --all")]]
    return [
        *kept[:-1],
        [*Segment.adjust_line_length(kept[-1], min(console.width - 2, _width(kept[-1]))), Segment(" …")],
    ]


def _width(row: _Row) -> int:
    return cell_len("".join(segment.text for segment in row).rstrip())


_SIDES: Final = {"IOPS": "iops", "MiB/s": "throughput_mib_s"}


def _plot_rows(console: Console, record: RecommendationRecord, series: PlotSeries, room: int) -> list[_Row]:
    """The plot of the side that is nearer to its limit, as high as there is room; no rows if there is little."""
    side = _nearest_side(record, series)
    for height in range(PLOT_HEIGHT - 1, 1, -1):
        parts = _plots(console, record, series, (side,), height)
        rows = [row for part in parts for row in console.render_lines(part, pad=False)]
        if len(rows) <= room:
            return rows
    return []


def _nearest_side(record: RecommendationRecord, series: PlotSeries) -> str:
    """The side whose highest column is nearest to its limit; IOPS where no limit is known."""
    ceiling = ceilings_of(record).get("now")
    if ceiling is None:
        return next(iter(_SIDES))

    def share(unit: str) -> float:
        return float(getattr(series, _SIDES[unit]).max(initial=0.0)) / (getattr(ceiling, _SIDES[unit]) or math.inf)

    return max(_SIDES, key=share)


def _plots(
    console: Console, record: RecommendationRecord, series: PlotSeries, units: tuple[str, ...], height: int
) -> Iterator[RenderableType]:
    """Plots of IOPS or MiB/s, with one axis, and the numbers of epochs where the volume was changed."""
    width = _plot_width(console)
    for unit in units:
        figure = _SIDES[unit]
        what = "highest bucket of each column" if series.whole else "highest that was read in each column"
        yield Rule(f"{unit} over time, {what}", align="left", style="dim")
        known = {label: getattr(ceiling, figure) for label, ceiling in ceilings_of(record).items()}
        lines = {label: math.inf if level is None else level for label, level in known.items()}
        for row in plot(getattr(series, figure), width=width, height=height, lines=lines, unit=unit):
            yield Text(row, no_wrap=True)
    yield Text(_axis(series, width), style="dim", no_wrap=True)
    yield from _spans(record, series, width)


def _plot_width(console: Console) -> int:
    return max(20, min(console.width, 160) - _AXIS_INDENT - 1)


def _spans(record: RecommendationRecord, series: PlotSeries, width: int) -> list[RenderableType]:
    """A line under the plots with the numbers of the volume's epochs, where it was changed in between."""
    if len(record.epochs) < 2:
        return []
    moments = [datetime.fromisoformat(epoch.start).timestamp() for epoch in record.epochs]
    bounds = [min(1.0, max(0.0, (moment - series.start_s) / series.seconds)) for moment in moments]
    line = spans_line([*bounds, 1.0], min(width, len(series.iops)))
    return [Text(" " * _AXIS_INDENT + line, no_wrap=True)]


def frontier_table(frontier: Figures, record: RecommendationRecord) -> Table:
    """The price of each budget of throttled minutes, with a bar for each price."""
    minutes, what, price, wait = (head.removesuffix(":") for head in frontier.heads)
    table = Table(title=frontier.title, title_justify="left", box=None, pad_edge=False, header_style="dim")
    table.add_column(minutes, justify="right", no_wrap=True)
    table.add_column(price, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True, min_width=_BAR, style="green")
    table.add_column(what, overflow="fold")
    table.add_column(wait, justify="right", no_wrap=True)
    most = max(step.monthly_usd for step in record.frontier)
    for step, (budget, spec, usd_month, longest) in zip(record.frontier, frontier.rows, strict=True):
        table.add_row(budget, usd_month, bar(step.monthly_usd / most if most else 0.0, _BAR), Text(spec), longest)
    return table


def _axis(series: PlotSeries, width: int) -> str:
    start, end = (datetime.fromtimestamp(series.start_s + passed_s, UTC) for passed_s in (0, series.seconds))
    left, right = f"{start:%m-%d %H:%M}", f"{end:%m-%d %H:%M} UTC"
    return " " * _AXIS_INDENT + left + " " * max(1, width - len(left) - len(right)) + right


def offers_table(offers: Figures, width: int) -> Table:
    """The offers, wrapped also behind hyphens: Google's types are long."""
    table = Table(title=offers.title, title_justify="left", box=None, pad_edge=False, header_style="dim")
    side = max(20, (width - 12) // 2)
    configuration, price, why = (head.removesuffix(":") for head in offers.heads)
    table.add_column(configuration, overflow="fold")
    table.add_column(price, justify="right", no_wrap=True)
    table.add_column(why, overflow="fold", ratio=1, max_width=max(20, width - 45))
    for spec, usd_month, refusal in offers.rows:
        table.add_row(_wrap_text(spec, side), usd_month, _wrap_text(refusal, side))
    return table


def _short_offers(offers: Figures, size: str) -> Iterator[Text]:
    """The offers in one line each, the chosen one marked, without the size that the volume has; what is too long ends
    in an ellipsis."""
    names = [cut(printable(spec).replace(size, ""), _SPEC_WIDTH) for spec, _, _ in offers.rows]
    names = [name if name.startswith(CHOSEN) else f"{' ' * len(CHOSEN)}{name}" for name in names]
    width = max(map(cell_len, names))
    price = max(len(usd_month) for _, usd_month, _ in offers.rows)
    for name, (_, usd_month, result) in zip(names, offers.rows, strict=True):
        line = f"{set_cell_size(name, width)} {usd_month:>{price}}  {printable(result)}"
        yield Text(line, no_wrap=True, overflow="ellipsis", style="bold" if name.startswith(CHOSEN) else "")


def _wrap_text(text: str, width: int) -> Text:
    return Text("\n".join(wrap(printable(text), width)))
