"""A bill as people and programs read it: tables on a terminal, and JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import date
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from plimsoll.reports.data.column_types import literal
from plimsoll.reports.printable import printable
from plimsoll.reports.terminal.plot import plain_table
from plimsoll.reports.wording import count_of
from plimsoll_bill.bill import Bill, BilledMoney, Sum, Unplaced
from plimsoll_bill.meters import BILLED_DIMENSIONS
from plimsoll_bill.rates import NetRate, rates_of
from plimsoll_bill.realized import MonthOf, Realized, totals_by_month
from plimsoll_bill.reconcile import Reconciliation, VolumeDifference

_TABLES: Final[Sequence[tuple[str, tuple[str, ...]]]] = (
    ("type", ("type", "dimension", "tier", "apart")),
    ("account", ("account",)),
    ("region", ("region",)),
    ("month", ("month",)),
)
"""What the money is shown by: the table's name, and the columns that it groups by."""


def show_bill(console: Console, bill: Bill, month: date | None, most: int) -> None:
    """Prints what was paid, currency by currency, by type, account, region and month, and what could not be placed."""
    where = _month_condition(month)
    currencies = bill.sums("currency", where=where)
    if not currencies:
        console.print(_plain("No block storage that could be placed is in this bill."))
    for (name,), money in currencies:
        console.print(Text(f"{name} {money.total:,.2f} paid for block storage", style="bold"))
        console.print(_plain(_parts(str(name), money)))
        for title, by in _TABLES:
            sums = bill.sums(*by, where=f"{where} and currency = {literal(str(name))}")
            if title != "month" or len(sums) > 1:
                _print_table(console, title, sums, most)
    for sentence in (*bill.notes, checks_sentence(bill)):
        console.print(_plain(sentence), style="dim", soft_wrap=True)
    unplaced = bill.find_unplaced()
    if unplaced:
        rows = sum(entry.rows for entry in unplaced)
        console.print(_plain(f"{count_of(rows, 'row')} of block storage could not be placed:"), style="yellow")
        for entry in unplaced:
            console.print(_plain(f"  {unplaced_text(entry)}"), soft_wrap=True)
    for elsewhere, rows, cost in bill.other_rows():
        shown = "no cost" if cost is None else f"{cost:,.2f}"
        sentence = f"The bill has {count_of(rows, 'other row')}, of {elsewhere or 'no currency'} {shown}."
        console.print(_plain(sentence), style="dim", soft_wrap=True)


def unplaced_text(entry: Unplaced) -> str:
    """One kind of row without a place."""
    cost = "no cost" if entry.cost is None else f"{entry.currency or ''} {entry.cost:,.4f}".strip()
    return f"{entry.text or 'no text'} ({entry.provider}, {count_of(entry.rows, 'row')}, {cost}): {entry.reason}"


def checks_sentence(bill: Bill) -> str:
    """The sentence on list price times quantity beside what was billed."""
    checks = bill.checks()
    parts = [f"{checks.at_list:,} of {count_of(checks.rows, 'row')} of usage are list price times quantity"]
    for rows, words in (
        (checks.ghosts, "count and cost nothing"),
        (checks.below_list, "are below it"),
        (checks.above_list, "are above it"),
        (checks.unpriced, "have no list price"),
    ):
        parts += [f"{rows:,} {words}"] if rows else []
    return f"{', '.join(parts)}."


def show_reconciliation(console: Console, outcome: Reconciliation, most: int) -> None:
    """Prints how a month of the bill compares with a run."""
    prices = "net" if outcome.is_net else "list"
    console.print(_plain(f"{outcome.month:%Y-%m} beside the run {outcome.run}, at {prices} prices:"), style="bold")
    agreed = f"{count_of(outcome.agreed, 'volume')} the same to the cent, of USD {outcome.agreed_usd:,.2f} a month"
    console.print(_plain(agreed))
    for title, differences in (
        ("differ", outcome.differing),
        ("in the run alone", outcome.unbilled),
        ("in the bill alone", outcome.unknown),
    ):
        if differences:
            console.print(_plain(f"{count_of(len(differences), 'volume')} {title}:"), style="yellow")
            shown = differences if not most else differences[:most]
            for difference in shown:
                console.print(_plain(f"  {billed_difference_text(difference)}"), soft_wrap=True)
            if len(differences) > len(shown):
                console.print(_plain(f"  {len(differences) - len(shown):,} more; --rows 0 shows all."), style="dim")
    for place, usd in sorted(outcome.unaudited.items()):
        console.print(_plain(f"{place} is not in the run: USD {usd:,.2f} a month"), style="yellow", soft_wrap=True)
    if outcome.foreign:
        sentence = f"{count_of(outcome.foreign, 'volume')} billed in another currency are in no sum of dollars."
        console.print(_plain(sentence), style="dim")


def billed_difference_text(difference: VolumeDifference) -> str:
    """A volume that differs: where, why, and both sides' money."""
    run, billed = ("not known" if usd is None else f"{usd:,.2f}" for usd in (difference.run, difference.billed))
    where = f"{difference.volume_id} ({difference.account}/{difference.region})"
    return f"{where}: {difference.reason}; run {run}, bill {billed}"


def bill_json(bill: Bill, month: date | None, outcome: Reconciliation | None) -> dict[str, Any]:
    """A bill as plain values: money by currency and dimension, rates, what has no place, and a reconciliation."""
    where = _month_condition(month)
    by = ("month", "currency", "provider", "account", "region", "type", "dimension", "tier", "apart")
    return {
        "paid": {str(name): _money(money) for (name,), money in bill.sums("currency", where=where)},
        "sums": [
            {**dict(zip(by, map(_value, of), strict=True)), **_money(money)}
            for of, money in bill.sums(*by, where=where)
        ],
        "rates": [_rate(rate) for rate in rates_of(bill)],
        "checks": bill.checks()._asdict(),
        "unplaced": [entry._asdict() for entry in bill.find_unplaced()],
        "elsewhere": [{"currency": currency, "rows": rows, "cost": cost} for currency, rows, cost in bill.other_rows()],
        "notes": list(bill.notes),
        "reconciled": None if outcome is None else _reconciliation_json(outcome),
    }


def show_realized(console: Console, outcome: Realized) -> None:
    """Prints what became of savings: by month, by owner in the last month, and each that was lost again."""
    totals = list(totals_by_month(outcome))
    if not totals:
        console.print(_plain("No month of the bill comes after a run that promises a saving."))
        return
    console.print(_money_table("month", [(f"{month:%Y-%m}", figures) for month, figures in totals]))
    last = totals[-1][0]
    owners = sorted((owner, figures) for (month, owner), figures in outcome.months.items() if month == last)
    console.print(_money_table(f"owner in {last:%Y-%m}", owners))
    for lost in outcome.lost:
        where = f"{lost.key[2]} ({'/'.join(lost.key[:2])}), {lost.owner}"
        console.print(
            _plain(f"lost in {lost.month:%Y-%m}: USD {lost.usd:,.2f} of {where}: {lost.reason}"), soft_wrap=True
        )
    if outcome.unknown:
        volumes = count_of(len(outcome.unknown), "volume")
        console.print(_plain(f"{volumes} changed as recommended: months without a bill or a price count for nothing."))


def realized_json(outcome: Realized) -> dict[str, Any]:
    """The outcome of savings as plain values: by month and owner, and each that was lost again."""
    return {
        "months": [
            {"month": _value(month), "owner": owner, **asdict(figures)}
            for (month, owner), figures in sorted(outcome.months.items())
        ],
        "lost": [{name: _value(value) for name, value in lost._asdict().items()} for lost in outcome.lost],
        "unknown": sorted(outcome.unknown),
    }


def _money_table(title: str, rows: Iterable[tuple[str, MonthOf]]) -> Table:
    table = plain_table([title], ["promised USD", "carried out", "realized", "lost again"])
    for name, figures in rows:
        cells = (figures.promised, figures.carried_out, figures.realized, figures.lost)
        table.add_row(_plain(name), *(f"{usd:,.2f}" for usd in cells))
    return table


def _print_table(console: Console, title: str, sums: Sequence[Sum], most: int) -> None:
    table = plain_table([title], ["quantity", "", "list", "net"] if title == "type" else ["list", "net"])
    for of, money in sums if not most else sums[:most]:
        figures = ["not known" if money.list is None else f"{money.list:,.2f}", f"{money.net:,.2f}"]
        if title == "type":
            dimension = BILLED_DIMENSIONS[of[1]]
            figures = [f"{money.quantity:,.2f}", dimension.unit, *figures]
        table.add_row(_plain(_label(title, of)), *figures)
    console.print(table)
    if most and len(sums) > most:
        console.print(_plain(f"{len(sums) - most:,} more; --rows 0 shows all."), style="dim")


def _label(title: str, of: Sequence[Any]) -> str:
    if title == "month":
        return f"{of[0]:%Y-%m}"
    if title != "type":
        return str(of[0]) or "not said"
    type_, dimension, tier, apart = of
    words = [
        type_,
        BILLED_DIMENSIONS[dimension].title,
        f"tier {tier}" if tier > 1 else "",
        f"in {apart}" if apart else "",
    ]
    return " ".join(filter(None, words))


def _parts(currency: str, money: BilledMoney) -> str:
    """The parts of what was paid: list, net, and what is neither."""
    listed = "a list price that is not known" if money.list is None else f"{currency} {money.list:,.2f} at list prices"
    parts = [listed, f"{currency} {money.net:,.2f} after discounts"]
    parts += [f"{currency} {money.credits:,.2f} of credits"] if money.credits else []
    parts += [f"{currency} {money.others:,.2f} of refunds, taxes and fees"] if money.others else []
    return ", ".join(parts)


def _plain(text: str) -> Text:
    return Text(printable(text))


def _month_condition(month: date | None) -> str:
    return "true" if month is None else f"month = date '{month}'"


def _value(value: Any) -> Any:
    """The value as JSON has it: a month as 2026-10."""
    return f"{value:%Y-%m}" if isinstance(value, date) else value


def _money(money: BilledMoney) -> dict[str, float | None]:
    return {**money._asdict(), "paid": money.total}


def _rate(rate: NetRate) -> dict[str, Any]:
    return {name: _value(value) for name, value in rate._asdict().items()}


def _reconciliation_json(outcome: Reconciliation) -> dict[str, Any]:
    named: Iterable[str] = ("differing", "unbilled", "unknown")
    plain = {**asdict(outcome), **{name: [entry._asdict() for entry in getattr(outcome, name)] for name in named}}
    return {name: _value(value) for name, value in plain.items()}
