"""Bills for commands and others: read one, reconcile it with a run, and make a price file of it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date
from pathlib import Path

import yaml

from plimsoll.api.runs import list_runs, run_folder
from plimsoll.clouds.common.dated_data import find_data, price_content, shipped_prices
from plimsoll.clouds.registry import CLOUDS
from plimsoll.model.errors import BadInput
from plimsoll.model.market import DOLLARS, PriceBook
from plimsoll.reports.run_folder import has_ended, note_in_run
from plimsoll.reports.run_reader import read_run, stream_records
from plimsoll_bill.bill import Bill, open_bill
from plimsoll_bill.rates import net_books, rates_of
from plimsoll_bill.realized import Realized, find_realized, follow_savings
from plimsoll_bill.reconcile import Reconciliation, billed_volumes, reconcile
from plimsoll_bill.sources import find_files


@contextmanager
def read_bill(places: Sequence[str]) -> Iterator[Bill]:
    """The bill at some paths or addresses of S3. Raises BadInput, and CloudError if S3 does not answer."""
    files = {file.name: file for place in places for file in find_files(place)}
    with open_bill(files.values()) as bill:
        yield bill


def reconcile_run(bill: Bill, folder: Path, month: date | None = None) -> Reconciliation:
    """The comparison of a run with a month, by itself the newest. Raises BadInput if the bill has none."""
    months = bill.months()
    if not months:
        raise BadInput("the bill has no block storage that can be reconciled.")
    place = run_folder(folder)
    run = read_run(place)
    return reconcile(bill, month or months[-1], run.id, stream_records(place), is_net=bool(run.scope.get("prices")))


def read_costs(places: Sequence[str]) -> dict[str, float]:
    """USD a month of each volume in the newest month of a bill, by id. Raises BadInput for what is no bill."""
    with read_bill(places) as bill:
        volumes = (volume for month in bill.months()[-1:] for volume in billed_volumes(bill, month))
        return {volume.key[2]: volume.net for volume in volumes if volume.currency == DOLLARS}


def net_price_file(bill: Bill, where: str) -> tuple[str, list[str]]:
    """The text of a price file of the bill's net rates, and what is not in it."""
    books, notes = net_books(rates_of(bill), _list_books())
    if not books:
        raise BadInput(" ".join(["the bill has no rate in dollars for a price file.", *notes]))
    content = price_content(books, where, max(book.as_of for book in books if book.as_of is not None))
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120), notes


def realized_savings(bill: Bill, folders: Sequence[Path] | None = None) -> Realized:
    """The outcome of the savings of some runs, or of all on this machine. Raises BadInput if there is no run."""
    places = [run_folder(folder) for folder in folders] if folders else list_runs()
    if not places:
        raise BadInput("there is no run on this machine: give the folders of runs with --run.")
    runs = sorted(((read_run(place).as_of, place) for place in places), key=lambda run: run[0])
    savings = follow_savings((moment, stream_records(place)) for moment, place in runs)
    books, _ = net_books(rates_of(bill), _list_books())
    return find_realized(bill, savings, {book.region: book for book in books})


def note_realized(outcome: Realized) -> Path | None:
    """Notes the newest month in the newest run that has ended, whose reports show it; None if there is neither."""
    totals = outcome.totals
    newest = next(filter(has_ended, list_runs()), None)
    if not totals or newest is None:
        return None
    month, figures = totals[-1]
    savings = {name: round(usd, 2) for name, usd in asdict(figures).items()}
    note_in_run(newest, realized={"month": f"{month:%Y-%m}", **savings})
    return newest


def _list_books() -> dict[str, dict[str, PriceBook]]:
    """The list prices that ship with each cloud that is installed, by region."""
    clouds = (cloud for cloud in CLOUDS if find_data(cloud) is not None)
    return {cloud: {book.region: book for book in shipped_prices(cloud).books()} for cloud in clouds}
