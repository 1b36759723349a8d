"""Say what is paid for block storage: of a Cost and Usage Report, FOCUS or Google's detailed export.

Give files, folders of an export, or s3://BUCKET/PREFIX (`plimsoll permissions --for bill`).
"""

from datetime import date
from pathlib import Path
from typing import Annotated, Final

import typer

from plimsoll.cli.screen import Screen
from plimsoll.model.errors import BadInput

_LISTED: Final = ("Read a run", 6)
BillPlaces = Annotated[
    list[str], typer.Argument(metavar="FILE...", help="Files, folders or s3:// addresses of a bill.")
]
BillFormat = Annotated[str, typer.Option("--format", help="text or json.")]


def bill_command(
    places: BillPlaces,
    *,
    run: Annotated[Path | None, typer.Option(help="Reconcile a month with the inventory of this run's folder.")] = None,
    month: Annotated[str | None, typer.Option(help="This month alone, as 2026-10; else all.")] = None,
    net_prices: Annotated[
        Path | None, typer.Option(help="Write a price file of net rates, for `plimsoll audit --prices`.")
    ] = None,
    rows: Annotated[int, typer.Option(min=0, help="Most rows of a table; 0 lists all.")] = 20,
    format_: BillFormat = "text",
) -> None:
    from plimsoll.files import check_place, write_lines
    from plimsoll_bill.api import net_price_file, read_bill, reconcile_run
    from plimsoll_bill.told import bill_values, put_told, tell_bill, tell_reconciliation

    if net_prices is not None:
        check_place(net_prices.parent)
    screen = Screen(stderr=format_ == "json")
    with screen.doing("reading the bill"), read_bill(places) as bill:
        chosen = _month_of(month, bill.months())
        reconciled = None if run is None else reconcile_run(bill, run, chosen)
        story = [*tell_bill(bill, chosen, rows), *([] if reconciled is None else tell_reconciliation(reconciled, rows))]
        put_told(screen, format_, story, lambda: bill_values(bill, chosen, reconciled))
        if net_prices is not None:
            text, notes = net_price_file(bill, ", ".join(places))
            write_lines([text], net_prices, "utf-8")
            for note in notes:
                screen.say(note, "yellow")
            screen.say(f"net prices written to {net_prices}: plimsoll audit --prices {net_prices}")


def _month_of(text: str | None, months: list[date]) -> date | None:
    """The month that is meant. Raises BadInput if the bill does not have it."""
    known = {f"{month:%Y-%m}": month for month in months}
    if text is not None and text not in known:
        raise BadInput(f"the bill has no {text}: it has {', '.join(known) or 'nothing'}. Write a month as 2026-10.")
    return None if text is None else known[text]
