"""The warehouse: the columns of a run's Parquet files as the Glue Data Catalog names their types, for Athena.

Nothing here needs a database, so that what deploys the tables can read it.
"""

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel

from plimsoll.reports.data.column_types import GLUE, column_types
from plimsoll.reports.data.views import KEYS
from plimsoll.reports.profile_record import DemandProfileRecord
from plimsoll.reports.record import OLD_KEYS, RecommendationRecord

RUN_ID: Final = "run_id"
"""The column that says which run a row is of, where rows of many runs are in one table."""

RUN_DATE: Final = "run_date"
"""The partition of the tables: the day of the run in UTC, as 2027-01-31."""


def glue_types(model: type[BaseModel]) -> dict[str, str]:
    """The Glue type of each field of a model, by name; TypeError for a field that no column can hold."""
    return column_types(model, GLUE)


def glue_tables() -> Mapping[str, dict[str, str]]:
    """The columns of each table with their Glue types, as in its Parquet files, without the partition.

    Columns that earlier versions wrote under another name are kept under that one as well, at the end: Athena finds
    columns by their names, so that the partitions of then are still read.
    """
    types = glue_types(RecommendationRecord)
    old = {old: types[name] for name, old in OLD_KEYS.items()}
    return {
        "recommendations": {**types, "step": "string", RUN_ID: "string", **old},
        "demand": {**_spans(), RUN_ID: "string"},
    }


def _spans() -> dict[str, str]:
    """A demand profile has a row for each span: its lists are columns, after the time that the span begins."""
    each = glue_types(DemandProfileRecord)
    lists = {name: _element(kind) for name, kind in each.items() if kind.startswith("array<")}
    return {**{name: each[name] for name in KEYS}, "start": "timestamp", **lists}


def _element(kind: str) -> str:
    return kind.removeprefix("array<").removesuffix(">")
