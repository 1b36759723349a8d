"""A backtest on the terminal: what each rule saved and throttled, and what was promised against what was observed."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table

from plimsoll.backtesting.aims import Target
from plimsoll.backtesting.findings import Reliability, RuleOutcome, SameSaving
from plimsoll.backtesting.outcome import Outcome
from plimsoll.reports.printable import printable
from plimsoll.reports.terminal.plot import plain_table
from plimsoll.reports.wording import count_of, duration


def show_outcome(console: Console, outcome: Outcome) -> None:
    """Prints a backtest."""
    about = outcome.about
    console.print(
        printable(f"Backtest of {about['fleet']}: {count_of(about['volumes'], 'volume')}, {about['days']:g} days")
    )
    console.print(
        f"each {about['present']} in {about['region']}, offered {about['to']}; operations {about['operations']}; "
        f"a promise is at most {about['budget_min']:g} throttled minutes in {about['promise_days']:g} days"
    )
    for (memory_days, times), rules in groupby(outcome.rules, key=lambda one: (one.memory_days, one.times)):
        console.print(f"\n{_days(memory_days)} of memory, demand times {times:g}")
        console.print(_rules_table(rules))
    console.print('"minutes" are throttled; "too long" counts, at each cut, volumes throttled for more than promised')
    console.print('\nAt the same saving as another rule; "more" is what all but a tenth of resampled fleets show')
    console.print(_same_saving_table(outcome.same_saving))
    shown = [one for one in outcome.reliability if one.times is None] or outcome.reliability
    console.print("\nPromised, and observed of the volumes that were cut to a line above what is free")
    console.print(_reliability_table(shown))
    broken = [one for one in shown if one.holds is False]
    if broken:
        console.print(f"{count_of(len(broken), 'promise')} did not hold in 19 of 20 resampled fleets.")
    console.print("\nTargets of the learned headroom")
    console.print(_targets_table(outcome.targets))


def rule_words(rule: str, promised_pct: float | None) -> str:
    """A rule as people read it."""
    return rule if promised_pct is None else f"{rule}, {promised_pct:g} %"


def rule_cells(one: RuleOutcome) -> list[str]:
    """What a rule did, as people read it: its name, how many it made cheaper, the saving, and what was throttled."""
    return [
        rule_words(one.rule, one.promised_pct),
        f"{one.reduced:,}/{one.volume_cuts:,}",
        f"{one.saving_pct:.1f} %",
        f"{one.throttled_minutes:,.0f}",
        f"{one.throttled_volumes:,}",
        f"{one.over_budget_volumes:,}",
        duration(one.longest_wait_s),
    ]


def _days(days: float) -> str:
    return f"{days:g} days"


def _rules_table(rules: Iterable[RuleOutcome]) -> Table:
    table = plain_table(["rule"], ["cheaper", "saving", "minutes", "throttled", "too long", "longest wait"])
    for one in rules:
        table.add_row(*rule_cells(one))
    return table


def _same_saving_table(found: Sequence[SameSaving]) -> Table:
    figures = ["memory", "demand", "saving", "minutes", "more", "of one volume", "too long", "more"]
    table = plain_table(["rule", "saves as much as"], figures)
    for one in found:
        table.add_row(
            one.rule,
            one.other,
            f"{one.memory_days:g} d",
            f"x {one.times:g}",
            f"{one.saving_pct:.1f} %",
            f"{one.throttled_minutes:,.0f} for {one.other_throttled_minutes:,.0f}",
            f"{one.minutes_low:,.0f} to {one.minutes_high:,.0f}",
            printable(f"{one.worst}: {one.worst_minutes:,.0f} for {one.other_worst_minutes:,.0f}"),
            f"{one.over_budget_volumes:,.0f} for {one.other_over_budget_volumes:,}",
            f"{one.volumes_low:,.0f} to {one.volumes_high:,.0f}",
        )
    return table


def _reliability_table(found: Sequence[Reliability]) -> Table:
    table = plain_table(["rule", "memory"], ["promised", "observed", "volumes", "resampled", ""])
    for one in found:
        table.add_row(
            one.rule,
            _days(one.memory_days),
            f"{one.promised_pct:g} %",
            "no promise" if one.observed_pct is None else f"{one.observed_pct:.1f} %",
            f"{one.volumes:,}",
            "" if one.low_pct is None else f"{one.low_pct:.1f} to {one.high_pct:.1f} %",
            {None: "", True: "holds", False: "does not hold"}[one.holds],
        )
    return table


def _targets_table(found: Sequence[Target]) -> Table:
    table = plain_table(["target", "against"], ["memory", "demand", "found", "at least", "at most", ""])
    for one in found:
        table.add_row(
            one.aim.value,
            one.against,
            _days(one.memory_days),
            "all" if one.times is None else f"x {one.times:g}",
            "" if one.found is None else f"{one.found:,.1f}",
            "" if one.least is None else f"{one.least:,.1f}",
            f"{one.most:,.1f}",
            one.verdict,
        )
    return table
