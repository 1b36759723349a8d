"""A bill, read once as a stream into a small database: what was paid for block storage, with every row accounted for.

Memory is bounded: rows are added up by resource and month while they are read, and what does not fit is kept on disk.
Currencies stay apart. A row of block storage that no meter fits, or that lacks its cost, is named.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import duckdb

from plimsoll.model.errors import BadInput
from plimsoll.reports.data.column_types import literal
from plimsoll_bill.layouts import LAYOUTS, layout_of
from plimsoll_bill.meters import meter_of
from plimsoll_bill.sources import BillFile

_MEMORY: Final = "600MB"
"""Memory that DuckDB may take: with Python and what DuckDB does not count, the process stays under 1 GiB."""

_THREADS: Final = 2
_ROWS: Final = 10_000

_CLOSE: Final = "1.01e-10 * (1 + abs(coalesce(list_price, 0))) + 1e-9 * abs(billed)"
"""A cost and a quantity that were rounded to ten decimals differ by no more from list price times quantity."""

_READ: Final = f"""
insert into lines
with ours as (select {{select}} from {{source}}),
priced as (
    select * replace (coalesce(kind, '') as kind),
        case when contains(usage_type, 'EBS:') then '' else description end as text,
        case when kind = 'usage' then coalesce(list_price * quantity, list_cost) end as priced
    from ours where is_storage
)
select coalesce(provider, ''), kind, currency, period is not null and billed is not null as is_costed,
    coalesce(account, ''), coalesce(region, ''), date_trunc('month', any_value(period))::date, coalesce(resource, ''),
    coalesce(usage_type, ''), coalesce(text, ''), coalesce(unit, ''), list_price, count(*),
    sum(quantity) filter (kind = 'usage'), sum(priced), sum(billed), sum(net), sum(credit),
    sum(coalesce(epoch(ended) - epoch(began), 3600)) filter (kind = 'usage'),
    count(*) filter (kind = 'usage' and quantity = 0 and billed = 0),
    count(*) filter (quantity <> 0 and abs(priced - billed) <= {_CLOSE}),
    count(*) filter (quantity <> 0 and billed < priced - ({_CLOSE})),
    count(*) filter (quantity <> 0 and billed > priced + ({_CLOSE})),
    count(*) filter (kind = 'usage' and priced is null), count(*) filter (is_unspread)
from priced
group by provider, kind, currency, is_costed, account, region, period, resource, usage_type, text, unit, list_price;
insert into elsewhere
with ours as (select {{select}} from {{source}})
select currency, coalesce(kind, ''), count(*), sum(billed), sum(net) from ours where is_storage is not true group by all
"""

_LINES: Final = """
create table lines (
    provider varchar, kind varchar, currency varchar, is_costed boolean, account varchar,
    region varchar, month date, resource varchar, usage_type varchar, description varchar, unit varchar,
    list_price double, rows bigint, quantity double, list_cost double, billed double, net double, credit double,
    seconds double, ghosts bigint, at_list bigint, below_list bigint, above_list bigint, unpriced bigint,
    unspread bigint
);
create table elsewhere (currency varchar, kind varchar, rows bigint, billed double, net double);
create table meters (
    provider varchar, usage_type varchar, description varchar, unit varchar, list_price double,
    dimension varchar, type varchar, tier integer, scale double, apart varchar
)
"""

_CHARGES: Final = """
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
from lines join meters on lines.provider = meters.provider and lines.usage_type = meters.usage_type
    and lines.description = meters.description and lines.unit = meters.unit
    and lines.list_price is not distinct from meters.list_price;
create view charges as select * from placed where fault is null
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


class Sum(NamedTuple):
    """The money of rows with the same values of some columns, by these columns."""

    of: Sequence[Any]
    money: BilledMoney


class Checks(NamedTuple):
    """Rows of usage of block storage: how list price times quantity compares with what was billed.

    A ghost names a volume, counts nothing and costs nothing. An unpriced row has no list price to compare with.
    """

    rows: int
    ghosts: int
    at_list: int
    below_list: int
    above_list: int
    unpriced: int


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

    def sums(self, *by: str, where: str = "true") -> list[Sum]:
        """The money by these columns of `charges`, the dearest first."""
        columns = ", ".join(by)
        answer = self.rows(
            f"select {columns}, sum(rows), coalesce(sum(quantity), 0), case when sum(unpriced) > 0 then null else "
            f"coalesce(sum(list_cost), 0) end, sum(net), sum(credits), sum(others) from charges where {where} "
            f"group by {columns} order by sum(net) desc, {columns}"
        )
        return [Sum(row[: len(by)], BilledMoney(*row[len(by) :])) for row in answer]

    def months(self) -> list[date]:
        """The months of the bill, the earliest first."""
        return [month for (month,) in self.rows("select distinct month from charges order by month")]

    def checks(self) -> Checks:
        """The comparison of what was billed with list prices, over all rows of usage that have a place."""
        (counts,) = self.rows(
            "select " + ", ".join(f"coalesce(sum({name}), 0)::bigint" for name in Checks._fields)
            + " from charges where kind = 'usage'"
        )  # fmt: skip
        return Checks(*counts)

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
        config: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "memory_limit": _MEMORY,
            "threads": _THREADS,
            "temp_directory": folder,
            "preserve_insertion_order": "false",
        }
        with duckdb.connect(str(Path(folder) / "bill.db"), config=config) as connection:
            connection.execute("set TimeZone = 'UTC'")
            connection.execute(_LINES)
            names = [_read_file(connection, file, Path(folder)) for file in files]
            _add_meters(connection)
            connection.execute(_CHARGES)
            yield Bill(connection=connection, notes=[*_notes_of(connection, names)])


def _read_file(connection: duckdb.DuckDBPyConnection, file: BillFile, scratch: Path) -> str:
    """Adds a file's rows to the lines. The name of its layout."""
    with file.here(scratch) as path:
        source = _source_of(path)
        try:
            relation = connection.sql(f"from {source}")
            present = dict(zip(relation.columns, map(str, relation.types), strict=True))
            layout = layout_of(present)
            if layout is None:
                known = ", ".join(layout.name for layout in LAYOUTS)
                raise BadInput(f"{file.name} is no bill that can be read: its columns are none of {known}.")
            connection.execute(_READ.format(select=layout.select(present), source=source))
        except duckdb.Error as error:
            reason = str(error).strip().partition("\n")[0].rstrip(".")
            raise BadInput(f"{file.name} cannot be read as a bill: {reason}.") from error
    return layout.name


def _source_of(path: Path) -> str:
    if path.suffix.lower() == ".parquet":
        return f"read_parquet({literal(str(path))}, hive_partitioning = false)"
    return (
        f"read_csv({literal(str(path))}, header = true, all_varchar = true, delim = ',', quote = '\"', "
        "escape = '\"', nullstr = ['', 'NULL'], hive_partitioning = false)"
    )


def _add_meters(connection: duckdb.DuckDBPyConnection) -> None:
    """Adds the meter of each kind of row; one without a meter stands there with nulls."""
    kinds = connection.execute(
        "select distinct provider, usage_type, description, unit, list_price from lines"
    ).fetchall()
    rows = [(*kind, *(_fields_of(*kind))) for kind in kinds]
    if rows:
        connection.executemany(f"insert into meters values ({', '.join('?' * len(rows[0]))})", rows)


def _fields_of(provider: str, usage_type: str, description: str, unit: str, list_price: float | None) -> Sequence[Any]:
    meter = meter_of(provider, usage_type, description, unit, list_price)
    if meter is None:
        return (None,) * 5
    return meter.dimension, meter.type, meter.tier, meter.scale, meter.apart


def _notes_of(connection: duckdb.DuckDBPyConnection, names: Sequence[str]) -> Iterator[str]:
    """The sentences on how a bill was read."""
    for name in dict.fromkeys(names):
        count = names.count(name)
        yield f"{count} {'file' if count == 1 else 'files'} read as {name}."
    (unspread,) = connection.execute("select coalesce(sum(unspread), 0)::bigint from lines").fetchone() or (0,)
    if unspread:
        yield f"The effective cost of {unspread:,} rows is 0 although they were billed: what was billed is taken."
    (adrift,) = connection.execute(
        "select sum(net) from elsewhere where kind = 'discount' having sum(net) <> 0"
    ).fetchone() or (None,)
    if adrift:
        yield f"Discounts of {adrift:,.2f} name no usage type of block storage: net rates are without them."
