"""The explanation of one volume on one screen: its story, with its demand drawn over time."""

import math
from datetime import UTC, datetime
from textwrap import wrap

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from plimsoll.decide.answer import Recommendation
from plimsoll.demand.demand import Demand
from plimsoll.demand.seconds import SecondsSeen
from plimsoll.reports.printable import printable
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.story import Figures, Story, Topic
from plimsoll.reports.story.volume import ceilings_of, tell_volume
from plimsoll.reports.terminal.plot import PlotSeries, bar, plot, spans_line
from plimsoll.reports.terminal.run import printable_record, show_story

PLOT_HEIGHT = 5
_AXIS_INDENT = 12
_BAR = 12
"""The width of the longest bar of a frontier."""


def show_explanation(
    console: Console,
    recommendation: Recommendation,
    demand: Demand | None,
    record: RecommendationRecord,
    link: str | None,
    seen: SecondsSeen | None = None,
) -> None:
    """Prints everything that is known of one volume and why the answer is what it is.

    `given` is its record, and `seen` what its host saw by the second.
    """
    story = tell_volume(record, together=recommendation.stripe_set, seen=seen, link=link or "")
    _show(console, record, PlotSeries.from_demand(demand), story)


def show_record(
    console: Console,
    record: RecommendationRecord,
    profile: DemandProfileRecord | None,
    link: str | None,
    seen: SecondsSeen | None = None,
) -> None:
    """Prints the same of what a run keeps: its record, and the demand by spans instead of minutes."""
    _show(console, record, PlotSeries.from_profile(profile), tell_volume(record, seen=seen, link=link or ""))


def _show(console: Console, raw: RecommendationRecord, series: PlotSeries | None, story: Story) -> None:
    record = printable_record(raw)
    for block in story:
        if isinstance(block, Figures) and block.topic is Topic.OFFERS:
            console.print(offers_table(block, console.width))
        elif isinstance(block, Figures) and block.topic is Topic.FRONTIER:
            console.print(frontier_table(block, record))
        else:
            show_story(console, (block,))
        if block.topic is Topic.ANSWER and series is not None:
            for part in _plots(console, record, series):
                console.print(part)


def _plots(console: Console, record: RecommendationRecord, series: PlotSeries) -> list[RenderableType]:
    width = _plot_width(console)
    drawn: list[RenderableType] = []
    for unit, figure in (("IOPS", "iops"), ("MiB/s", "throughput_mib_s")):
        what = "highest bucket of each column" if series.whole else "highest that was read in each column"
        drawn.append(Rule(f"{unit} over time, {what}", align="left", style="dim"))
        known = {label: getattr(ceiling, figure) for label, ceiling in ceilings_of(record).items()}
        lines = {label: math.inf if level is None else level for label, level in known.items()}
        rows = plot(getattr(series, figure), width=width, height=PLOT_HEIGHT, lines=lines, unit=unit)
        drawn += [Text(row, no_wrap=True) for row in rows]
    drawn.append(Text(_axis(series, width), style="dim", no_wrap=True))
    return [*drawn, *_spans(record, series, width)]


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


def _wrap_text(text: str, width: int) -> Text:
    return Text("\n".join(wrap(printable(text), width)))
