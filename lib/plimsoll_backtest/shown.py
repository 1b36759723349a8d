"""A backtest on the terminal: what each rule saved and throttled, and what was promised against what was observed."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table

from plimsoll.reports.printable import printable
from plimsoll.reports.terminal.plot import plain_table
from plimsoll.reports.wording import count_of, duration
from plimsoll_backtest.aims import AimOutcome
from plimsoll_backtest.findings import Reliability, RuleOutcome, SameSaving
from plimsoll_backtest.outcome import BacktestOutcome


def show_outcome(console: Console, outcome: BacktestOutcome) -> None:
    """Prints a backtest."""
    about = outcome.about
    console.print(
        printable(f"Backtest of {about['fleet']}: {count_of(about['volumes'], 'volume')}, {about['days']:g} days")
    )
    console.print(
        f"each {about['present']} in {about['region']}, offered {about['to']}; operations {about['operations']}; "
        f"a promise is at most {about['budget_min']:g} throttled minutes in {about['promise_days']:g} days"
    )
    for (memory_days, times), rules in groupby(outcome.rules, key=lambda row: (row.memory_days, row.times)):
        console.print(f"\n{_days(memory_days)} of memory, demand times {times:g}")
        console.print(_rules_table(rules))
    console.print('"minutes" are throttled; "too long" counts, at each cut, volumes throttled for more than promised')
    console.print('\nCompared at the same saving as another rule; "more" holds in nine of ten resampled fleets')
    console.print(_same_saving_table(outcome.same_saving))
    shown = [row for row in outcome.reliability if row.times is None] or outcome.reliability
    console.print("\nPromised and observed risk of volumes reduced to more than gp3 includes")
    console.print(_reliability_table(shown))
    broken = [row for row in shown if row.is_kept is False]
    if broken:
        console.print(f"{count_of(len(broken), 'promise')} did not hold in 19 of 20 resampled fleets.")
    console.print("\nTargets of the learned headroom")
    console.print(_targets_table(outcome.targets))


def rule_words(rule: str, promised_pct: float | None) -> str:
    """A rule as people read it."""
    return rule if promised_pct is None else f"{rule}, {promised_pct:g} %"


def rule_cells(rule: RuleOutcome) -> list[str]:
    """A rule's effect as people read it: its name, how many it made cheaper, the saving, and what was throttled."""
    return [
        rule_words(rule.rule, rule.promised_pct),
        f"{rule.reduced:,}/{rule.volume_cuts:,}",
        f"{rule.saving_pct:.1f} %",
        f"{rule.throttled_minutes:,.0f}",
        f"{rule.throttled_volumes:,}",
        f"{rule.over_budget_volumes:,}",
        duration(rule.longest_wait_s),
    ]


def _days(days: float) -> str:
    return f"{days:g} days"


def _rules_table(rules: Iterable[RuleOutcome]) -> Table:
    table = plain_table(["rule"], ["cheaper", "saving", "minutes", "throttled", "too long", "longest wait"])
    for rule in rules:
        table.add_row(*rule_cells(rule))
    return table


def _same_saving_table(rows: Sequence[SameSaving]) -> Table:
    figures = ["memory", "demand", "saving", "minutes", "more", "of one volume", "too long", "more"]
    table = plain_table(["rule", "saves as much as"], figures)
    for row in rows:
        table.add_row(
            row.rule,
            row.other,
            f"{row.memory_days:g} d",
            f"x {row.times:g}",
            f"{row.saving_pct:.1f} %",
            f"{row.throttled_minutes:,.0f} for {row.other_throttled_minutes:,.0f}",
            f"{row.minutes_low:,.0f} to {row.minutes_high:,.0f}",
            printable(f"{row.worst}: {row.worst_minutes:,.0f} for {row.other_worst_minutes:,.0f}"),
            f"{row.over_budget_volumes:,.0f} for {row.other_over_budget_volumes:,}",
            f"{row.volumes_low:,.0f} to {row.volumes_high:,.0f}",
        )
    return table


def _reliability_table(rows: Sequence[Reliability]) -> Table:
    table = plain_table(["rule", "memory"], ["promised", "observed", "volumes", "resampled", ""])
    for row in rows:
        table.add_row(
            row.rule,
            _days(row.memory_days),
            f"{row.promised_pct:g} %",
            "no promise" if row.observed_pct is None else f"{row.observed_pct:.1f} %",
            f"{row.volumes:,}",
            "" if row.low_pct is None else f"{row.low_pct:.1f} to {row.high_pct:.1f} %",
            {None: "", True: "holds", False: "does not hold"}[row.is_kept],
        )
    return table


def _targets_table(rows: Sequence[AimOutcome]) -> Table:
    table = plain_table(["target", "against"], ["memory", "demand", "found", "at least", "at most", ""])
    for row in rows:
        table.add_row(
            row.aim.value,
            row.against,
            _days(row.memory_days),
            "all" if row.times is None else f"x {row.times:g}",
            "" if row.found is None else f"{row.found:,.1f}",
            "" if row.least is None else f"{row.least:,.1f}",
            f"{row.most:,.1f}",
            row.verdict,
        )
    return table
