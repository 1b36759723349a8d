"""The explanation of one volume on one screen: demand over time, ceilings, offers, evidence and how to change it."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from textwrap import wrap

from rich.console import Console, Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.kinds import CHANGES
from plimsoll.domain.metrics.seconds_seen import SecondsSeen
from plimsoll.domain.recommendation import Recommendation, SetAnswer
from plimsoll.reports.printable import printable
from plimsoll.reports.record import (
    CeilingRecord,
    DemandProfileRecord,
    DemandRecord,
    OfferRecord,
    RecommendationRecord,
    StripeSetRecord,
)
from plimsoll.reports.steps import CENT
from plimsoll.reports.terminal.plot import bar, plain_table, plot, spans_line
from plimsoll.reports.terminal.probe import seen_parts
from plimsoll.reports.terminal.run import action_text, printable_record
from plimsoll.reports.terminal.series import PlotSeries
from plimsoll.reports.wording import (
    FRONTIER_HEADS,
    FRONTIER_TITLE,
    coverage_words,
    epoch_text,
    frontier_rows,
    left_change_text,
    losses_in_words,
    outcome_text,
    owner_text,
    risk_text,
    spec_text,
    usd,
    wait_text,
    words_of,
)

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
    set_answer = recommendation.stripe_set
    _show(
        console,
        record,
        PlotSeries.from_demand(demand),
        link,
        None if set_answer is None else stripe_set_table(set_answer),
        seen,
    )


def show_record(
    console: Console,
    record: RecommendationRecord,
    profile: DemandProfileRecord | None,
    link: str | None,
    seen: SecondsSeen | None = None,
) -> None:
    """Prints the same of what a run keeps: its record, and the demand by spans instead of minutes."""
    set_text = None if record.stripe_set is None else _stripe_set(printable_record(record).stripe_set)
    _show(console, record, PlotSeries.from_profile(profile), link, set_text, seen)


def _show(
    console: Console,
    raw: RecommendationRecord,
    series: PlotSeries | None,
    link: str | None,
    stripe_set: RenderableType | None,
    seen: SecondsSeen | None,
) -> None:
    record = printable_record(raw)
    parts: list[RenderableType] = [_head(record)]
    if series is not None:
        parts += _plots(console, record, series)
        parts += _epochs(record, series, _plot_width(console))
    if record.demand is not None:
        parts += _demand(record.demand)
    if record.ceilings is not None:
        parts += [_ceilings_table({**_ceilings(record), "hosts at most": record.ceilings.hosts})]
        parts += [offers_table(record, console.width)]
    if record.frontier:
        parts.append(frontier_table(record))
    if stripe_set is not None:
        parts.append(stripe_set)
    probed = [] if seen is None else seen_parts(seen, _ceilings(record))
    console.print(Group(*parts, *_reason_lines(record), *probed))
    _print_whole(console, "how to change it", record.change)
    _print_whole(console, f"see it in {words_of(record.provider).monitoring}", link)


def _print_whole(console: Console, title: str, text: str | None) -> None:
    """Text to copy: never broken to fit the width."""
    if text:
        console.print(Rule(title, align="left", style="dim"))
        console.print(text, soft_wrap=True, markup=False, emoji=False, highlight=False)


def _head(record: RecommendationRecord) -> Group:
    name = f" {record.name}" if record.name else ""
    hosts = ", ".join(record.hosts) or "no host"
    money = "" if record.monthly_usd_now is None else f", {usd(record.monthly_usd_now)} a month"
    lines = [
        Text.assemble((record.volume_id, "bold"), name, f"  {record.account} {record.zone}"),
        Text(f"{spec_text(record.current)}{money}; on {hosts}; owner: {owner_text(record.owner)}"),
    ]
    answer = Text.assemble("answer: ", action_text(record.action))
    if record.action in CHANGES and record.target is not None:
        answer.append(f" to {spec_text(record.target)}, {usd(record.monthly_usd_then or 0)} a month")
        answer.append(f", {outcome_text(record)}", style="bold")
        if record.monthly_usd_saved_drop_in >= CENT:
            answer.append(f" ({usd(record.monthly_usd_saved_drop_in)} with the same limits)")
        for loss in losses_in_words(record):
            answer.append(f"\ngives up {loss}")
        if record.cuts:
            answer.append(f"\nrisk: {risk_text(record)}")
    if record.too_risky is not None:
        answer.append(f"\n{left_change_text(record.too_risky)}")
    if record.wait is not None:
        answer.append(f": {wait_text(record.wait)}")
    return Group(*lines, answer)


def _plots(console: Console, record: RecommendationRecord, series: PlotSeries) -> list[RenderableType]:
    width = _plot_width(console)
    drawn: list[RenderableType] = []
    for unit, figure in (("IOPS", "iops"), ("MiB/s", "throughput_mib_s")):
        what = "highest bucket of each column" if series.whole else "highest that was read in each column"
        drawn.append(Rule(f"{unit} over time, {what}", align="left", style="dim"))
        known = {label: getattr(ceiling, figure) for label, ceiling in _ceilings(record).items()}
        lines = {label: math.inf if level is None else level for label, level in known.items()}
        rows = plot(getattr(series, figure), width=width, height=PLOT_HEIGHT, lines=lines, unit=unit)
        drawn += [Text(row, no_wrap=True) for row in rows]
    drawn.append(Text(_axis(series, width), style="dim", no_wrap=True))
    return drawn


def _plot_width(console: Console) -> int:
    return max(20, min(console.width, 160) - _AXIS_INDENT - 1)


def _epochs(record: RecommendationRecord, series: PlotSeries, width: int) -> list[RenderableType]:
    """A line under the plots with what the volume was when, where it was changed in between."""
    if len(record.epochs) < 2:
        return []
    moments = [datetime.fromisoformat(epoch.start) for epoch in record.epochs]
    bounds = [min(1.0, max(0.0, (moment.timestamp() - series.start_s) / series.seconds)) for moment in moments]
    line = spans_line([*bounds, 1.0], min(width, len(series.iops)))
    drawn: list[RenderableType] = [Text(" " * _AXIS_INDENT + line, no_wrap=True)]
    for number, (epoch, moment) in enumerate(zip(record.epochs, moments, strict=True), start=1):
        throttled = f"; {epoch.throttled_minutes:,.0f} min throttled" if epoch.throttled_minutes else ""
        drawn.append(Text(f"{number:>3} from {moment:%m-%d %H:%M}: {epoch_text(epoch)}{throttled}", style="dim"))
    return drawn


def frontier_table(record: RecommendationRecord) -> Table:
    """The price of each budget of throttled minutes, with a bar for each price."""
    minutes, what, price, wait = FRONTIER_HEADS
    table = Table(title=FRONTIER_TITLE, title_justify="left", box=None, pad_edge=False, header_style="dim")
    table.add_column(minutes, justify="right", no_wrap=True)
    table.add_column(price, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True, min_width=_BAR, style="green")
    table.add_column(what, overflow="fold")
    table.add_column(wait, justify="right", no_wrap=True)
    most = max(step.monthly_usd for step in record.frontier)
    for step, (budget, spec, usd_month, longest) in zip(record.frontier, frontier_rows(record), strict=True):
        table.add_row(budget, usd_month, bar(step.monthly_usd / most if most else 0.0, _BAR), spec, longest)
    return table


def _axis(series: PlotSeries, width: int) -> str:
    start, end = (datetime.fromtimestamp(series.start_s + passed_s, UTC) for passed_s in (0, series.seconds))
    left, right = f"{start:%m-%d %H:%M}", f"{end:%m-%d %H:%M} UTC"
    return " " * _AXIS_INDENT + left + " " * max(1, width - len(left) - len(right)) + right


def _demand(demand: DemandRecord) -> list[RenderableType]:
    table = plain_table(["demand"], ["IOPS", "MiB/s"], header_style="dim")
    least, most = (
        (demand.least_peak_iops, demand.least_peak_throughput_mib_s),
        (demand.peak_iops, demand.peak_throughput_mib_s),
    )
    for label, iops, throughput_mib_s in (
        ("peak" if least == most else "peak, at most", demand.peak_iops, demand.peak_throughput_mib_s),
        ("peak while busy (upper bound)", demand.peak_busy_iops, demand.peak_busy_throughput_mib_s),
        ("busiest seconds", demand.peak_second_iops, demand.peak_second_throughput_mib_s),
        ("mean", demand.mean_iops, demand.mean_throughput_mib_s),
    ):
        if iops is not None:
            table.add_row(label, f"{iops:,.1f}", f"{throughput_mib_s or 0:,.2f}")
    size = "" if demand.mean_io_size_kib is None else f"; mean I/O {demand.mean_io_size_kib:,.1f} KiB"
    reads = "" if demand.read_share is None else f", {demand.read_share:.0%} reads"
    measured = demand.host_bound_measured_minutes
    known = f" ({measured:,.0f} measured)" if measured else ""
    quality = (
        f"{coverage_words(demand)}; by {demand.resolution_s} s{size}{reads}; "
        f"{demand.throttled_minutes:,.0f} min at the volume's ceiling, "
        f"{demand.host_bound_minutes:,.0f} at the host's{known}"
    )
    return [table, Text(quality, style="dim")]


def _ceilings(record: RecommendationRecord) -> dict[str, CeilingRecord]:
    """The volume's ceilings as it is and as offered; none where nothing was weighed."""
    if record.ceilings is None:
        return {}
    offered = {} if record.ceilings.offered is None else {"offered": record.ceilings.offered}
    return {"now": record.ceilings.now, **offered}


def _ceilings_table(ceilings: Mapping[str, CeilingRecord]) -> Table:
    table = plain_table(["ceiling"], ["IOPS", "sustained", "MiB/s", "sustained"], header_style="dim")
    for label, ceiling in ceilings.items():
        figures = (ceiling.iops, ceiling.sustained_iops, ceiling.throughput_mib_s, ceiling.sustained_throughput_mib_s)
        table.add_row(label, *map(_figure, figures))
        if (ceiling.write_iops, ceiling.write_throughput_mib_s) != (None, None):
            iops = ceiling.iops if ceiling.write_iops is None else ceiling.write_iops
            moved = ceiling.throughput_mib_s
            moved = moved if ceiling.write_throughput_mib_s is None else ceiling.write_throughput_mib_s
            table.add_row(f"{label}, writes alone", _figure(iops), "", _figure(moved), "")
    return table


def _stripe_set(record: StripeSetRecord | None) -> RenderableType:
    """The volumes that change together, as a run's record names them."""
    if record is None:
        return Text("")
    lines = [
        f"stripe set {record.name} ({record.level}) on {record.host}: changed together with {', '.join(record.members)}"
    ]
    lines += [f"held back by {volume}: {reason}" for volume, reason in record.held_back_by.items()]
    return Text("\n".join(lines))


def stripe_set_table(answer: SetAnswer) -> Table:
    """Every volume of a stripe set with its peaks, and what all carry together against what their host does."""
    title = Text(printable(f"stripe set {answer.stripes}"))
    table = plain_table(["volume", ""], ["IOPS", "MiB/s"], title=title, title_justify="left", header_style="dim")
    for member in answer.members:
        peaks = ["not read"] * 2
        if member.demand is not None:
            peaks = [f"{member.demand.peak_iops:,.0f}", f"{member.demand.peak_throughput_mib_s:,.1f}"]
        held = f"; held back: {member.held}" if member.held else ""
        shown = printable(f"{spec_text(member.spec)}, peak{held}")
        table.add_row(member.volume_id, Text(shown), *peaks)
    if answer.together is not None:
        figures = (answer.together.iops, answer.together.throughput_mib_s)
        table.add_row("all together", "are provisioned to carry", *map(_figure, figures))
    host = answer.host.ceiling
    table.add_row(answer.host.id, f"{answer.host.type} at most", *map(_figure, (host.iops, host.throughput_mib_s)))
    limits = answer.host.limits
    if limits is not None and host.buckets:
        baseline = (limits.baseline_iops, limits.baseline_throughput_mib_s)
        table.add_row("", "sustained", *map(_figure, baseline))
    return table


def _figure(figure: float | None) -> str:
    return "not known" if figure is None or math.isinf(figure) else f"{figure:,.0f}"


def offers_table(record: RecommendationRecord, width: int) -> Table:
    """Every offer, cheapest feasible first, and the first reason why the others lost."""
    table = Table(title="offers", title_justify="left", box=None, pad_edge=False, header_style="dim")
    side = max(20, (width - 12) // 2)
    table.add_column("configuration", overflow="fold")
    table.add_column("USD/month", justify="right", no_wrap=True)
    table.add_column("why not", overflow="fold", ratio=1, max_width=max(20, width - 45))
    weighed = [(offer, _first_refusal(offer)) for offer in record.offers if offer != record.relief]
    if record.drop_in is not None:
        weighed.append((record.drop_in, "same-limits replacement: keeps the IOPS and MiB/s of today"))
    if record.relief is not None:
        weighed.append((record.relief, "would end the throttling"))
    for offer, why in weighed:
        usd_month = "" if offer.monthly_usd is None else f"{offer.monthly_usd:,.2f}"
        table.add_row(_lines(spec_text(offer.spec), side), usd_month, _lines(why, side))
    return table


def _lines(text: str, width: int) -> Text:
    """A text wrapped to a width, also behind hyphens: Google's types are long."""
    return Text("\n".join(wrap(text, width)))


def _first_refusal(offer: OfferRecord) -> str:
    """The first reason against an offer, and how many more recommendations.json has."""
    if not offer.refused:
        return "feasible"
    others = len(offer.refused) - 1
    return offer.refused[0] + (f" (and {others} more)" if others else "")


def _reason_lines(record: RecommendationRecord) -> list[RenderableType]:
    lines: list[RenderableType] = [Text(f"- {reason}") for reason in record.reasons]
    if record.evidence is not None:
        lines.append(Text(f"evidence {record.evidence.grade}: {record.evidence.text}"))
    if record.risk is not None:
        lines.append(Text(f"risk: {record.risk.text}"))
    lines += [Text(f"blocked: {blocker.text}", style="red") for blocker in record.blockers]
    return lines
