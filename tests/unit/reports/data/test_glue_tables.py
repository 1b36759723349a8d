"""The warehouse: tables have the columns of the Parquet files that are written, with the types that they have there."""

import subprocess
import sys

import duckdb
import pytest

from plimsoll.reports.data.column_types import RUN_ID, glue_tables
from plimsoll.reports.data.database import open_runs
from plimsoll.reports.data.exports import write_parquet
from plimsoll.reports.record import OLD_KEYS
from tests.unit.reports.recommendations import a_record, every_action
from tests.unit.reports.runs import a_run

SCALARS = {
    "VARCHAR": "string",
    "BIGINT": "bigint",
    "DOUBLE": "double",
    "BOOLEAN": "boolean",
    "TIMESTAMP WITH TIME ZONE": "timestamp",
}


def in_hive(kind):
    """A type as DuckDB reads it from a file, in the words of Hive."""
    if kind.id == "list":
        return f"array<{in_hive(kind.child)}>"
    children = kind.children if kind.id in {"struct", "map"} else []
    if kind.id == "map":
        return f"map<{','.join(in_hive(child) for _, child in children)}>"
    if kind.id == "struct":
        return f"struct<{','.join(f'{name}:{in_hive(child)}' for name, child in children)}>"
    return SCALARS[str(kind)]


@pytest.mark.parametrize("records", [[], [a_record(action, volume_id=f"vol-{action}") for action in every_action()]])
def test_each_table_is_typed_as_its_files_are_also_where_a_run_has_no_volume(tmp_path, records):
    run = a_run(tmp_path / "run", records)
    with open_runs(run) as database:
        written = write_parquet(database, tmp_path, None)
    assert {path.stem for path in written} == set(glue_tables())
    for path in written:
        relation = duckdb.sql(f"select *, 'a run' as {RUN_ID} from read_parquet('{path}')")
        found = dict(zip(relation.columns, map(in_hive, relation.types), strict=True))
        old = {name: found[new] for new, name in OLD_KEYS.items() if new in found}
        assert {**found, **old} == glue_tables()[path.stem]
        assert [*found, *old] == list(glue_tables()[path.stem])


def test_what_deploys_the_tables_needs_no_database():
    script = "import sys, plimsoll.reports.data.column_types, plimsoll_service.queries; print('duckdb' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
