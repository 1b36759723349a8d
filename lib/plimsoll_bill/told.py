"""The stories of a bill, of its reconciliation and of savings, for any printer; and the same as plain values."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import date
from typing import Any, Final

from rich.console import Console

from plimsoll.model.errors import BadInput
from plimsoll.reports.data.column_types import literal
from plimsoll.reports.printable import put_out
from plimsoll.reports.story import Figures, Headline, Note, StoryBlock, Topic
from plimsoll.reports.terminal.run import show_story
from plimsoll.reports.wording import count_of
from plimsoll_bill.bill import Bill, BilledMoney
from plimsoll_bill.meters import BILLED_DIMENSIONS
from plimsoll_bill.rates import rates_of
from plimsoll_bill.realized import Realized
from plimsoll_bill.reconcile import Reconciliation

_TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "type": ("type", "dimension", "tier", "apart"),
    "account": ("account",),
    "region": ("region",),
    "month": ("month",),
}
"""The sides that the money is shown by: the table's first head, and the columns that it groups by."""

_CHECKED: Final = {
    "at_list": "are list price times quantity",
    "ghosts": "count and cost nothing",
    "below_list": "are below it",
    "above_list": "are above it",
    "unpriced": "have no list price",
}


def tell_bill(bill: Bill, month: date | None, most: int) -> Iterator[StoryBlock]:
    """The money that was paid, currency by currency, and the rows that could not be placed."""
    where = _month_condition(month)
    currencies = bill.sums("currency", where=where)
    if not currencies:
        yield _note("No block storage that could be placed is in this bill.")
    for (name,), money in currencies:
        yield Headline(text=f"{name} {money.total:,.2f} paid for block storage")
        yield _note(_paid_parts(str(name), money))
        for title, by in _TABLES.items():
            sums = bill.sums(*by, where=f"{where} and currency = {literal(str(name))}")
            if title != "month" or len(sums) > 1:
                heads = (title, *(["quantity:"] if title == "type" else []), "list:", "net:")
                yield _table(heads, [_row(title, of, money) for of, money in sums], most)
    yield _note(*bill.notes, _checks_sentence(bill.checks()))
    unplaced = bill.find_unplaced()
    if unplaced:
        yield _note(f"{count_of(sum(entry.rows for entry in unplaced), 'row')} of block storage could not be placed:")
    for entry in unplaced:
        what = f"{entry.provider}, {count_of(entry.rows, 'row')}, {_cost(entry.currency, entry.cost, 4)}"
        yield _note(f"  {entry.text or 'no text'} ({what}): {entry.reason}")
    for currency, rows, cost in bill.other_rows():
        yield _note(f"The bill has {count_of(rows, 'other row')}, of {_cost(currency or 'no currency', cost)}.")


def tell_reconciliation(outcome: Reconciliation, most: int) -> Iterator[StoryBlock]:
    """The comparison of a month of the bill with a run."""
    prices = "net" if outcome.is_net else "list"
    agreed = f"{count_of(outcome.agreed, 'volume')} the same to the cent, of USD {outcome.agreed_usd:,.2f} a month"
    yield Headline(text=f"{outcome.month:%Y-%m} beside the run {outcome.run}, at {prices} prices: {agreed}")
    if outcome.differences:
        rows = [("/".join(of.key), of.reason, *map(_amount, of[2:])) for of in outcome.differences]
        yield _table((count_of(len(rows), "other volume"), "why", "run USD:", "bill USD:"), rows, most)
    unaudited = (f"{place} is not in the run: USD {usd:,.2f} a month" for place, usd in outcome.unaudited.items())
    others = f"{count_of(outcome.foreign, 'volume')} billed in another currency are in no sum of dollars."
    yield _note(*sorted(unaudited), *([others] if outcome.foreign else []))


def tell_realized(outcome: Realized) -> Iterator[StoryBlock]:
    """The outcome of savings: by month, by owner in the last month, and each that was lost again."""
    totals = outcome.totals
    if not totals:
        yield _note("No month of the bill comes after a run that promises a saving.")
        return
    last, heads = totals[-1][0], ("promised USD:", "carried out:", "realized:", "lost again:")
    owners = sorted((owner, figures) for (month, owner), figures in outcome.months.items() if month == last)
    months = [(f"{month:%Y-%m}", figures) for month, figures in totals]
    for head, parts in (("month", months), (f"owner in {last:%Y-%m}", owners)):
        yield _table((head, *heads), [(name, *map(_amount, asdict(of).values())) for name, of in parts], 0)
    for lost in outcome.lost:
        what = f"USD {lost.usd:,.2f} of {lost.key[2]} ({'/'.join(lost.key[:2])}), {lost.owner}"
        yield _note(f"lost in {lost.month:%Y-%m}: {what}: {lost.reason}")
    if outcome.unknown:
        volumes = count_of(len(outcome.unknown), "volume")
        yield _note(f"{volumes} changed as recommended: months without a bill or a price count for nothing.")


def bill_values(bill: Bill, month: date | None, outcome: Reconciliation | None) -> dict[str, Any]:
    """A bill as plain values: money by currency and dimension, rates, what has no place, and a reconciliation."""
    where = _month_condition(month)
    by = ("month", "currency", "provider", "account", "region", "type", "dimension", "tier", "apart")
    sums = bill.sums(*by, where=where)
    values: dict[str, Any] = plain_values({
        "paid": {str(name): money for (name,), money in bill.sums("currency", where=where)},
        "sums": [dict(zip(by, of, strict=True)) | plain_values(money) for of, money in sums],
        "rates": rates_of(bill),
        "checks": bill.checks(),
        "unplaced": bill.find_unplaced(),
        "elsewhere": [{"currency": currency, "rows": rows, "cost": cost} for currency, rows, cost in bill.other_rows()],
        "notes": list(bill.notes),
        "reconciled": outcome,
    })  # fmt: skip
    return values


def realized_values(outcome: Realized) -> dict[str, Any]:
    """The outcome of savings as plain values: by month and owner, and each that was lost again."""
    months = [{"month": month, "owner": owner, **asdict(of)} for (month, owner), of in sorted(outcome.months.items())]
    values: dict[str, Any] = plain_values({"months": months, "lost": outcome.lost, "unknown": sorted(outcome.unknown)})
    return values


def put_told(console: Console, format_: str, story: Iterable[StoryBlock], values: Callable[[], Any]) -> None:
    """Prints a story, or its values as JSON. Raises BadInput for another format."""
    if format_ not in {"text", "json"}:
        raise BadInput(f"--format {format_}: it must be one of text, json.")
    if format_ == "json":
        put_out([json.dumps(values(), indent=1), "\n"])
    else:
        show_story(console, tuple(story))


def plain_values(value: Any) -> Any:
    """A value as JSON has it: structures by their names, and a month as 2026-10."""
    if isinstance(value, date):
        return f"{value:%Y-%m}"
    if isinstance(value, BilledMoney):
        return {**value._asdict(), "paid": value.total}
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {key: plain_values(entry) for key, entry in value.items()}
    return [plain_values(entry) for entry in value] if isinstance(value, list | tuple) else value


def _row(title: str, of: Sequence[Any], money: BilledMoney) -> tuple[str, ...]:
    figures = _amount(money.list), _amount(money.net)
    if title != "type":
        return (f"{of[0]:%Y-%m}" if isinstance(of[0], date) else of[0] or "not said"), *figures
    type_, dimension, tier, apart = of
    title, unit = BILLED_DIMENSIONS[dimension]
    words = [type_, title, f"tier {tier}" if tier > 1 else "", f"in {apart}" if apart else ""]
    return " ".join(filter(None, words)), f"{money.quantity:,.2f} {unit}", *figures


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], most: int) -> Figures:
    """A table of at most `most` rows (0: all), with the number of those left out in its last."""
    shown = list(rows[: most or None])
    left = len(rows) - len(shown)
    shown += [(f"{left:,} more; --rows 0 shows all.", *[""] * (len(heads) - 1))] if left else []
    return Figures(topic=Topic.BILL, heads=heads, rows=tuple(shown))


def _amount(amount: float | None) -> str:
    return "not known" if amount is None else f"{amount:,.2f}"


def _checks_sentence(checks: Mapping[str, int]) -> str:
    """The sentence on list price times quantity beside what was billed."""
    parts = [f"{checks[name]:,} {words}" for name, words in _CHECKED.items() if checks[name] or name == "at_list"]
    return f"Of {count_of(checks['rows'], 'row')} of usage {', '.join(parts)}."


def _paid_parts(currency: str, money: BilledMoney) -> str:
    """The parts of what was paid: list, net, and what is neither."""
    listed = "a list price that is not known" if money.list is None else f"{currency} {money.list:,.2f} at list prices"
    parts = [listed, f"{currency} {money.net:,.2f} after discounts"]
    parts += [f"{currency} {money.credits:,.2f} of credits"] if money.credits else []
    parts += [f"{currency} {money.others:,.2f} of refunds, taxes and fees"] if money.others else []
    return ", ".join(parts)


def _cost(currency: str | None, cost: float | None, digits: int = 2) -> str:
    return "no cost" if cost is None else f"{currency or ''} {cost:,.{digits}f}".strip()


def _note(*lines: str) -> Note:
    return Note(topic=Topic.BILL, lines=lines)


def _month_condition(month: date | None) -> str:
    return "true" if month is None else f"month = date '{month}'"
