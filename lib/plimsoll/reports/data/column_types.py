"""Columns: how the fields of a record are typed in a database, so that a run without a volume has the same ones.

Nothing here needs a database, so that what deploys the tables of Athena can read it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from plimsoll.reports.record import OLD_KEYS, DemandProfileRecord, RecommendationRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A database's types: `scalars` by the Python type, the others as formats."""

    scalars: Mapping[object, str]
    list_of: str
    map_of: str
    struct_of: str
    field: str
    between_fields: str


DUCKDB: Final = Dialect(
    scalars={str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"},
    list_of="{}[]",
    map_of="MAP({}, {})",
    struct_of="STRUCT({})",
    field='"{}" {}',
    between_fields=", ",
)

GLUE: Final = Dialect(
    scalars={str: "string", int: "bigint", float: "double", bool: "boolean"},
    list_of="array<{}>",
    map_of="map<{},{}>",
    struct_of="struct<{}>",
    field="{}:{}",
    between_fields=",",
)
"""As Hive writes them, and so the Glue Data Catalog and Athena."""

KEYS: Final = ("account", "region", "volume_id")
"""What names a volume in every view."""

RUN_ID: Final = "run_id"
"""The column that says which run a row is of, where rows of many runs are in one table."""

RUN_DATE: Final = "run_date"
"""The partition of the tables: the day of the run in UTC, as 2027-01-31."""


def column_types(model: type[BaseModel], dialect: Dialect = DUCKDB) -> dict[str, str]:
    """The type of each field of a model, by name; TypeError for a field that no column can hold."""
    return {name: _type(field.annotation, dialect) for name, field in model.model_fields.items()}


def column_struct(model: type[BaseModel]) -> str:
    """The type of a column that holds a whole record."""
    return _type(model, DUCKDB)


def glue_tables() -> Mapping[str, dict[str, str]]:
    """The columns of each table of Athena with their Glue types, as in its Parquet files, without the partition.

    Columns that earlier versions wrote under another name are kept under that one as well, at the end: Athena finds
    columns by their names, so that the partitions of then are still read. A demand profile has a row for each span: its
    lists are columns, after the time that the span begins.
    """
    types, profile = column_types(RecommendationRecord, GLUE), column_types(DemandProfileRecord, GLUE)
    old = {old: types[name] for name, old in OLD_KEYS.items()}
    keys = {name: profile[name] for name in KEYS}
    lists = {name: kind[len("array<") : -len(">")] for name, kind in profile.items() if kind.startswith("array<")}
    return {
        "recommendations": {
            **types,
            "risk_promised_pct": "double",
            "risk_level": "string",
            "step": "string",
            RUN_ID: "string",
            **old,
        },
        "demand": {**keys, "start": "timestamp", **lists, RUN_ID: "string"},
    }


def quote_name(name: str) -> str:
    """A name as SQL takes it whatever it is."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL takes it whatever it is."""
    return "'" + text.replace("'", "''") + "'"


def _type(annotation: Any, dialect: Dialect) -> str:
    kind = _without_none(annotation)
    if kind in dialect.scalars:
        return dialect.scalars[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is list:
        return dialect.list_of.format(_type(arguments[0], dialect))
    if origin is dict:
        return dialect.map_of.format(*(_type(argument, dialect) for argument in arguments))
    if origin is Literal and all(isinstance(word, str) for word in arguments):
        return dialect.scalars[str]
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return dialect.scalars[str]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        fields = (dialect.field.format(name, form) for name, form in column_types(kind, dialect).items())
        return dialect.struct_of.format(dialect.between_fields.join(fields))
    raise TypeError(f"no column can hold {annotation}")


def _without_none(annotation: Any) -> Any:
    """The type apart from null, which every column may hold."""
    if get_origin(annotation) not in {Union, UnionType}:
        return annotation
    others = [option for option in get_args(annotation) if option is not NoneType]
    return others[0] if len(others) == 1 else annotation
