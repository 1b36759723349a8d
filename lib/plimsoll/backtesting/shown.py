"""A backtest on the terminal: what each rule saved and throttled, and what was promised against what was observed."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table

from plimsoll.backtesting.aims import Target
from plimsoll.backtesting.findings import Reliability, RuleOutcome, SameSaving
from plimsoll.backtesting.outcome import Outcome
from plimsoll.backtesting.splits import SPLITS, Spread
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
    console.print('"minutes" are throttled; "too long" are volumes throttled for more than the promise allows')
    console.print("\nAt the same saving as another rule")
    console.print(_same_saving_table(outcome.same_saving))
    shown = [one for one in outcome.reliability if one.times is None] or outcome.reliability
    console.print("\nPromised, and observed of the volumes that were cut to a line above what is free")
    console.print(_reliability_table(shown))
    broken = [one for one in shown if one.holds is False]
    if broken:
        console.print(f"{count_of(len(broken), 'promise')} did not hold: more was observed than the 95 % band allows.")
    if outcome.spreads:
        console.print(
            f"\nThe same, learned from half of the volumes and judged by the other, in {SPLITS} random halvings"
        )
        console.print(_spreads_table(outcome.spreads))
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
    table = plain_table(["rule", "saves as much as"], ["memory", "demand", "saving", "minutes", "too long"])
    for one in found:
        table.add_row(
            one.rule,
            one.other,
            f"{one.memory_days:g} d",
            f"x {one.times:g}",
            f"{one.saving_pct:.1f} %",
            f"{one.throttled_minutes:,.0f} of {one.other_throttled_minutes:,.0f}",
            f"{one.over_budget_volumes:,.0f} of {one.other_over_budget_volumes:,}",
        )
    return table


def _reliability_table(found: Sequence[Reliability]) -> Table:
    table = plain_table(["rule", "memory"], ["promised", "observed", "volumes", "at most", ""])
    for one in found:
        table.add_row(
            one.rule,
            _days(one.memory_days),
            f"{one.promised_pct:g} %",
            "no promise" if one.observed_pct is None else f"{one.observed_pct:.1f} %",
            f"{one.volumes:,}",
            "" if one.most_pct is None else f"{one.most_pct:.1f} %",
            {None: "", True: "holds", False: "does not hold"}[one.holds],
        )
    return table


def _spreads_table(found: Sequence[Spread]) -> Table:
    table = plain_table(["rule", "memory"], ["promised", "least", "mean", "most"])
    for one in found:
        figures = (f"{figure:.1f} %" for figure in (one.least_pct, one.mean_pct, one.most_pct))
        table.add_row(one.rule, _days(one.memory_days), f"{one.promised_pct:g} %", *figures)
    return table


def _targets_table(found: Sequence[Target]) -> Table:
    table = plain_table(["target", "against"], ["memory", "demand", "found", "at most", ""])
    for one in found:
        table.add_row(
            one.aim.value,
            one.against,
            _days(one.memory_days),
            "all" if one.times is None else f"x {one.times:g}",
            "no promise" if one.found is None else f"{one.found:,.1f}",
            f"{one.most:,.1f}",
            {None: "", True: "reached", False: "missed"}[one.reached],
        )
    return table
