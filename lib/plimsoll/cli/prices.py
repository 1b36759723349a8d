"""Read AWS's price list anew into a price file, for `plimsoll audit --prices` and where an audit may not ask.

It takes one permission, pricing:GetProducts. GovCloud's prices come with the credentials of any other account.
"""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from plimsoll.bootstrap.clocks import clock
from plimsoll.cli.exit_codes import PARTIAL
from plimsoll.cli.screen import Screen
from plimsoll.model.market import DOLLARS, PriceBook

_LISTED: Final = ("Audit", 9)


def prices_command(
    *,
    region: Annotated[
        list[str] | None, typer.Option(help="Regions, also with commas between. Without it: all whose prices ship.")
    ] = None,
    profile: Annotated[str | None, typer.Option(help="The profile of AWS to ask with.")] = None,
    out: Annotated[Path, typer.Option(help="The price file to write.")] = Path("prices.yaml"),
) -> None:
    import boto3
    import yaml

    from plimsoll.clouds.aws.errors import translate_errors
    from plimsoll.clouds.aws.price_lists import read_lists
    from plimsoll.clouds.aws.prices import GET_PRODUCTS, PRICE_CALL
    from plimsoll.clouds.common.dated_data import price_content, shipped_prices
    from plimsoll.files import check_place, write_lines

    check_place(out.parent)
    screen, shipped = Screen(), shipped_prices("aws")
    names = [name for names in region or [] for name in names.split(",") if name] or list(shipped.regions)
    shapes = {name: price for book in shipped.books() for name, price in book.types.items()}

    def client_of(endpoint_region: str) -> Any:
        with translate_errors("ask the Price List API", GET_PRODUCTS, PRICE_CALL):
            return boto3.Session(profile_name=profile).client("pricing", region_name=endpoint_region)

    with screen.doing("reading price lists"):
        lists = read_lists(client_of, names, shapes, clock().now().date())
    for note in lists.notes:
        screen.say(note, "yellow")
    for place, book in lists.books.items():
        prices, before = _write_prices(book), _write_prices(shipped.book(place))
        if book.currency != DOLLARS:
            for name, price in prices.items():
                screen.say(f"{place} {name}, in {book.currency}: {price}")
            continue
        changed = sorted(name for name, price in prices.items() if before.get(name) != price)
        screen.say(f"{place}: {len(book.types)} types; other than shipped: {', '.join(changed) or 'none'}")
    if lists.dollar_books():
        content = price_content(lists.dollar_books(), "GetProducts of AmazonEC2", lists.today)
        write_lines([yaml.safe_dump(content, sort_keys=False, width=120)], out, "utf-8")
        screen.say(f"written to {out}")
    if not lists.is_whole:
        raise typer.Exit(PARTIAL)


def _write_prices(book: PriceBook | None) -> dict[str, Any]:
    """The prices of a book as a price file has them."""
    from plimsoll.clouds.common.dated_data import written_price

    if book is None:
        return {}
    types = {name: written_price(price) for name, price in sorted(book.types.items())}
    return types | {"snapshots": written_price(book.snapshots)}
