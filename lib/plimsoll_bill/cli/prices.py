"""Read AWS's price list anew into a price file, for `plimsoll audit --prices` and where an audit may not ask.

It takes one permission, pricing:GetProducts. GovCloud's prices come with the credentials of any other account.
"""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from plimsoll.bootstrap.clocks import clock
from plimsoll.cli.exit_codes import PARTIAL
from plimsoll.cli.screen import Screen

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

    from plimsoll.clouds.aws.errors import translate_errors
    from plimsoll.clouds.aws.prices import GET_PRODUCTS, PRICE_CALL
    from plimsoll.clouds.common.dated_data import shipped_prices
    from plimsoll.files import check_place, write_lines
    from plimsoll_bill.price_lists import list_file, read_lists
    from plimsoll_bill.rates import price_shapes, price_text, written_price

    check_place(out.parent)
    screen, shipped = Screen(), shipped_prices("aws")
    names = [name for names in region or [] for name in names.split(",") if name] or list(shipped.regions)

    def client_of(endpoint_region: str) -> Any:
        with translate_errors("ask the Price List API", GET_PRODUCTS, PRICE_CALL):
            return boto3.Session(profile_name=profile).client("pricing", region_name=endpoint_region)

    with screen.doing("reading price lists"):
        lists = read_lists(client_of, names, price_shapes(shipped.books()))
    for place, (currency, types) in lists.foreign.items():
        for name, price in sorted(types.items()):
            screen.say(f"{place} {name}, in {currency}: {written_price(price)}")
    for note in lists.notes:
        screen.say(note, "yellow")
    for place, types in lists.types.items():
        book = shipped.book(place)
        filed = {name: written_price(price) for name, price in (book.types if book else {}).items()}
        changed = [name for name, price in types.items() if filed.get(name) != written_price(price)]
        screen.say(f"{place}: {len(types)} types; other than shipped: {', '.join(sorted(changed)) or 'none'}")
    if lists.types:
        write_lines([price_text(list_file(lists, clock().now().date()))], out, "utf-8")
        screen.say(f"written to {out}")
    if not lists.is_whole:
        raise typer.Exit(PARTIAL)
