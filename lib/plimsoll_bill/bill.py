"""A bill, read once as a stream into a small database: what was paid for block storage, with every row accounted for.

Memory is bounded: rows are added up by resource and month while they are read, and what does not fit is kept on disk.
Currencies stay apart. A row of block storage that no meter fits, or that lacks its cost, is named.
"""

import glob
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import duckdb

from plimsoll.model.errors import BadInput
from plimsoll.model.market import Meter
from plimsoll.reports.data.column_types import literal
from plimsoll.reports.wording import count_of
from plimsoll_bill.layouts import LAYOUTS, layout_of
from plimsoll_bill.meters import meter_of
from plimsoll_bill.sources import BillFile

_CONFIG: Final[dict[str, str | bool | int | float | list[str]]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "memory_limit": "600MB",  # with Python and what DuckDB does not count, the process stays under 1 GiB
    "threads": 2,
    "preserve_insertion_order": "false",
}
_ROWS: Final = 10_000

_CLOSE: Final = "1.01e-10 * (1 + abs(coalesce(list_price, 0))) + 1e-9 * abs(billed)"
"""A cost and a quantity that were rounded to ten decimals differ by no more from list price times quantity."""

_KIND: Final = ("provider", "usage_type", "description", "unit", "list_price")
"""The columns that say what a row counts."""

_TEXTS: Final = ("provider", "account", "region", "resource", "usage_type", "unit")
_KEYS: Final = ("is_storage", "kind", "currency", "is_costed", "account", "region", "month", "resource", *_KIND)
"""The columns by which rows are added up while they are read; those of other services have few of them."""

_SUMS: Final = {
    "rows": "count(*)",
    "quantity": "(sum(quantity) filter (kind = 'usage'))::double",
    "list_cost": "sum(priced)::double",
    "billed": "sum(billed)::double",
    "net": "sum(net)::double",
    "credit": "sum(credit)::double",
    "seconds": "(sum(coalesce(epoch(ended) - epoch(began), 3600)) filter (kind = 'usage'))::double",
    "ghosts": "count(*) filter (kind = 'usage' and quantity = 0 and billed = 0)",
    "at_list": f"count(*) filter (quantity <> 0 and abs(priced - billed) <= {_CLOSE})",
    "below_list": f"count(*) filter (quantity <> 0 and billed < priced - ({_CLOSE}))",
    "above_list": f"count(*) filter (quantity <> 0 and billed > priced + ({_CLOSE}))",
    "unpriced": "count(*) filter (kind = 'usage' and priced is null)",
    "unspread": "count(*) filter (is_unspread)",
}

_READ: Final = f"""
with ours as (select * replace (coalesce(is_storage, false) as is_storage) from (select {{select}} from {{source}})),
priced as (
    select * replace (
            coalesce(kind, '') as kind, case when is_storage then list_price end as list_price,
            {", ".join(f"case when is_storage then coalesce({name}, '') else '' end as {name}" for name in _TEXTS)},
            case when is_storage and not contains(coalesce(usage_type, ''), 'EBS:') then coalesce(description, '')
                else '' end as description
        ),
        period is not null and billed is not null as is_costed,
        case when is_storage then date_trunc('month', period)::date end as month,
        case when kind = 'usage' and is_storage then coalesce(list_price * quantity, list_cost) end as priced
    from ours
)
select {", ".join(_KEYS)}, {", ".join(f"{sql} as {name}" for name, sql in _SUMS.items())} from priced
group by {", ".join(_KEYS)}
"""

_VIEWS: Final = f"""
create view placed as
select lines.* exclude (quantity, net, credit), lines.quantity * scale as quantity, dimension, type, tier, apart,
    regexp_extract(resource, '([^/]+)$', 1) as volume, lines.list_price / scale as unit_price,
    case when kind in ('usage', 'discount') then net else 0 end as net,
    case when kind = 'credit' then billed else coalesce(credit, 0) end as credits,
    case when kind in ('usage', 'discount', 'credit') then 0 else billed end as others,
    case when not is_costed then 'its cost or month is missing'
        when currency is null then 'it has no currency'
        when lines.provider not in ('aws', 'google') then 'of a cloud that is not audited here'
        when dimension is null then 'what it counts is not known here' end as fault
from lines join meters on {" and ".join(f"lines.{name} is not distinct from meters.{name}" for name in _KIND)}
where is_storage;
create view charges as select * from placed where fault is null;
create view elsewhere as select * from lines where not is_storage
"""


class BilledMoney(NamedTuple):
    """The sums of rows, in one currency. `list` is None where a row of usage has no list price.

    `net` is after discounts; credits and others (refunds, taxes, fees) are apart, and are negative where they give.
    """

    rows: int
    quantity: float
    list: float | None
    net: float
    credits: float
    others: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.net + self.credits + self.others


class Unplaced(NamedTuple):
    """Rows of block storage that are in no sum, with the reason; `cost` is None where the bill has none."""

    provider: str
    text: str
    reason: str
    currency: str | None
    rows: int
    cost: float | None
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """A bill in its database. `notes` are what people should know of how it was read."""

    connection: duckdb.DuckDBPyConnection
    notes: Sequence[str]

    def rows(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """The rows of an answer over the view `charges`, and the tables below it."""
        answer = self.connection.execute(sql)
        while chunk := answer.fetchmany(_ROWS):
            yield from chunk

    def sums(self, *by: str, where: str = "true") -> list[tuple[Sequence[Any], BilledMoney]]:
        """The values of these columns of `charges` with the money of their rows, the dearest first."""
        columns = ", ".join(by)
        answer = self.rows(
            f"select {columns}, sum(rows), coalesce(sum(quantity), 0), case when sum(unpriced) > 0 then null else "
            f"coalesce(sum(list_cost), 0) end, sum(net), sum(credits), sum(others) from charges where {where} "
            f"group by {columns} order by sum(net) desc, {columns}"
        )
        return [(row[: len(by)], BilledMoney(*row[len(by) :])) for row in answer]

    def months(self) -> list[date]:
        """The months of the bill, the earliest first."""
        return [month for (month,) in self.rows("select distinct month from charges order by month")]

    def checks(self) -> dict[str, int]:
        """The rows of usage that have a place, by how list price times quantity compares with what was billed.

        A ghost names a volume, counts nothing and costs nothing. An unpriced row has no list price to compare with.
        """
        names = ("rows", "ghosts", "at_list", "below_list", "above_list", "unpriced")
        counts = ", ".join(f"coalesce(sum({name}), 0)::bigint" for name in names)
        (row,) = self.rows(f"select {counts} from charges where kind = 'usage'")
        return dict(zip(names, row, strict=True))

    def find_unplaced(self) -> list[Unplaced]:
        """Rows of block storage without a place, the dearest first."""
        sql = (
            "select provider, coalesce(nullif(usage_type, ''), description) as text, fault, currency, "
            "sum(rows)::bigint, sum(billed), any_value(resource) from placed where fault is not null "
            "group by provider, text, fault, currency order by sum(abs(billed)) desc nulls first, text"
        )
        return [Unplaced(*row) for row in self.rows(sql)]

    def other_rows(self) -> list[tuple[str | None, int, float | None]]:
        """The rest of the bill, which is no block storage: its currency, rows and cost."""
        sql = "select currency, sum(rows)::bigint, sum(billed) from elsewhere group by 1 order by 1"
        return [(currency, rows, cost) for currency, rows, cost in self.rows(sql)]


@contextmanager
def open_bill(files: Iterable[BillFile]) -> Iterator[Bill]:
    """Reads a bill's files, one after the other, and removes at the end what was kept on disk meanwhile.

    Raises BadInput if a file is no bill, or is damaged.
    """
    with TemporaryDirectory(prefix="plimsoll-") as folder:
        config = {**_CONFIG, "temp_directory": folder}
        with duckdb.connect(str(Path(folder) / "bill.db"), config=config) as connection:
            connection.execute("set TimeZone = 'UTC'")
            read = Counter(_read_file(connection, file, Path(folder)) for file in files)
            _add_meters(connection)
            connection.execute(_VIEWS)
            notes = [f"{count_of(count, 'file')} read as {name}." for name, count in read.items()]
            yield Bill(connection=connection, notes=[*notes, *_notes_of(connection)])


def _read_file(connection: duckdb.DuckDBPyConnection, file: BillFile, scratch: Path) -> str:
    """Adds a file's rows to the lines. The name of its layout."""
    with file.locate(scratch) as path:
        source = _source_of(path)
        try:
            relation = connection.sql(f"from {source}")
            present = dict(zip(relation.columns, map(str, relation.types), strict=True))
            layout = layout_of(present)
            if layout is None:
                known = ", ".join(layout.name for layout in LAYOUTS)
                raise BadInput(f"{file.name} is no bill that can be read: its columns are none of {known}.")
            read = _READ.format(select=layout.select(present), source=source)
            connection.execute(f"create table if not exists lines as from ({read}) limit 0")
            connection.execute(f"insert into lines {read}")
        except duckdb.Error as error:
            reason = str(error).strip().partition("\n")[0].rstrip(".")
            raise BadInput(f"{file.name} cannot be read as a bill: {reason}.") from error
    return layout.name


def _source_of(path: Path) -> str:
    """The SQL of a file's rows: signs of its name mean nothing to DuckDB."""
    name = literal(glob.escape(str(path)))
    if path.suffix.lower() == ".parquet":
        return f"read_parquet({name}, hive_partitioning = false)"
    return (
        f"read_csv({name}, header = true, all_varchar = true, delim = ',', quote = '\"', escape = '\"', "
        "nullstr = ['', 'NULL'], hive_partitioning = false)"
    )


def _add_meters(connection: duckdb.DuckDBPyConnection) -> None:
    """Adds the meter of each kind of row; one without a meter stands there with nulls."""
    connection.execute(
        "create table meters (provider varchar, usage_type varchar, description varchar, unit varchar, "
        "list_price double, dimension varchar, type varchar, tier integer, scale double, apart varchar)"
    )
    kinds = connection.execute(f"select distinct {', '.join(_KIND)} from lines where is_storage").fetchall()
    rows = [(*kind, *(meter_of(*kind) or (None,) * len(Meter._fields))) for kind in kinds]
    if rows:
        connection.executemany(f"insert into meters values ({', '.join('?' * len(rows[0]))})", rows)


def _notes_of(connection: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """The sentences on what a bill lacks."""
    unspread, adrift = connection.execute(
        "select coalesce(sum(unspread) filter (is_storage), 0)::bigint, "
        "coalesce(sum(net) filter (not is_storage and kind = 'discount'), 0) from lines"
    ).fetchall()[0]
    if unspread:
        yield f"The effective cost of {unspread:,} rows is 0 although they were billed: what was billed is taken."
    if adrift:
        yield f"Discounts of {adrift:,.2f} name no usage type of block storage: net rates are without them."
