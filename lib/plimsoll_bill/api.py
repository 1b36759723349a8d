"""Bills for commands and others: read one, reconcile it with a run, and make a price file of it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from plimsoll.api.runs import list_runs, run_folder
from plimsoll.clouds.common.dated_data import PriceFile, find_data, shipped_prices
from plimsoll.model.errors import BadInput
from plimsoll.model.market import PriceBook
from plimsoll.reports.run_folder import write_run
from plimsoll.reports.run_reader import read_run, stream_records
from plimsoll_bill.bill import Bill, open_bill
from plimsoll_bill.rates import net_prices, price_text, rates_of
from plimsoll_bill.realized import Realized, find_realized, follow_savings, totals_by_month
from plimsoll_bill.reconcile import Reconciliation, reconcile
from plimsoll_bill.sources import S3, find_files


@contextmanager
def read_bill(places: Sequence[str]) -> Iterator[Bill]:
    """The bill at some paths or addresses of S3. Raises BadInput, and CloudError if S3 does not answer."""
    client = _s3() if any(place.startswith(S3) for place in places) else None
    files = {file.name: file for place in places for file in find_files(place, client)}
    with open_bill(files.values()) as bill:
        yield bill


def reconcile_run(bill: Bill, folder: Path, month: date | None = None) -> Reconciliation:
    """The comparison of a run with a month, by itself the newest. Raises BadInput if the bill has none."""
    months = bill.months()
    if not months:
        raise BadInput("the bill has no block storage that can be reconciled.")
    place = run_folder(folder)
    run = read_run(place)
    is_net = bool(run.scope.get("prices"))
    return reconcile(bill, month or months[-1], run.id, stream_records(place), is_net=is_net)


def net_price_file(bill: Bill, where: str) -> tuple[str, list[str]]:
    """The text of a price file of the bill's net rates, and what is not in it."""
    made = net_prices(rates_of(bill), _list_books(), where)
    if not made.content["regions"]:
        raise BadInput(" ".join(["the bill has no rate in dollars for a price file.", *made.notes]))
    return price_text(made.content), made.notes


def realized_savings(bill: Bill, folders: Sequence[Path] | None = None) -> Realized:
    """The outcome of the savings of some runs, or of all on this machine. Raises BadInput if there is no run."""
    places = [run_folder(folder) for folder in folders] if folders else list_runs()
    if not places:
        raise BadInput("there is no run on this machine: give the folders of runs with --run.")
    runs = sorted(((read_run(place).as_of, place) for place in places), key=lambda run: run[0])
    savings = follow_savings((moment, stream_records(place)) for moment, place in runs)
    file = PriceFile.model_validate(net_prices(rates_of(bill), _list_books(), "the bill").content)
    return find_realized(bill, savings, {book.region: book for book in file.books()})


def note_realized(outcome: Realized) -> Path | None:
    """Notes the newest month in the newest run that has ended, whose reports show it; None if there is neither."""
    totals = list(totals_by_month(outcome))
    ended = next((place for place in list_runs() if read_run(place).status not in {"running", "interrupted"}), None)
    if not totals or ended is None:
        return None
    month, figures = totals[-1]
    savings = {name: round(usd, 2) for name, usd in asdict(figures).items()}
    write_run(ended, {**read_run(ended).plain, "realized": {"month": f"{month:%Y-%m}", **savings}})
    return ended


def _list_books() -> dict[str, dict[str, PriceBook]]:
    """The list prices that ship with each cloud that is installed, by region."""
    books = dict[str, dict[str, PriceBook]]()
    for cloud in ("aws", "google"):
        if find_data(cloud) is not None:
            books[cloud] = {book.region: book for book in shipped_prices(cloud).books()}
    return books


def _s3() -> Any:
    """A client of S3 by the credentials that boto3 finds."""
    import boto3  # noqa: PLC0415  # most bills lie on this machine

    return boto3.client("s3")
