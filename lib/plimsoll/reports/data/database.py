"""SQL over a run: its files are views of a database in memory. A selection says which volumes a report is about.

The database reads nothing else, asks no network and leaves nothing behind. The extra `sql` brings DuckDB, so it is
imported when the first run is opened.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from plimsoll.model.errors import BadInput
from plimsoll.model.volume_names import NamedVolume, choose_volume, nearest_hint, quote_word
from plimsoll.reports.data import views
from plimsoll.reports.data.column_types import KEYS, literal, quote_name
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord, StateRecord, earlier_change
from plimsoll.reports.run_files import DEMAND, RECOMMENDATIONS, STATES_FILE, UNANSWERED, check_export
from plimsoll.reports.run_reader import UnansweredRecord, check_files, damage_error, read_run
from plimsoll.reports.run_record import Failures, PaidRecord

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from duckdb.sqltypes import DuckDBPyType

_MEMORY: Final = "1GB"
_THREADS: Final = min(4, os.cpu_count() or 1)
_ROWS: Final = 1000
"""How many rows are fetched at once."""

_ANSWERS: Final = ("SELECT", "MULTI")
"""Statements that answer with rows and change nothing; a pivot is several in one."""


_READ: Final = (RECOMMENDATIONS, DEMAND, UNANSWERED, STATES_FILE)
"""The files of a run that queries read."""

SELECTED: Final = "selected"
"""The table of the selected volumes, by account, region and volume id."""

_HELD: Final = "held"
"""The table of the volumes for which the condition holds, likewise."""

_FULL_NAME: Final = " || '/' || ".join(KEYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """A connection on which runs are views; what a query is wrong in is a BadInput of one sentence."""

    connection: "DuckDBPyConnection"
    folders: tuple[Path, ...]
    schemas: tuple[str, ...]
    scratch: Path
    """The one folder where a statement of ours may write."""

    def rows(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """The rows of an answer. A time with its zone cannot be fetched: cast it to text or to seconds."""
        with self._refusing():
            answer = self.connection.execute(sql)
            while chunk := answer.fetchmany(_ROWS):
                yield from chunk

    def run(self, sql: str) -> None:
        """Carries a statement out."""
        with self._refusing():
            self.connection.execute(sql)

    @contextmanager
    def function(self, name: str, called: Callable[[str, str], str]) -> Iterator[None]:
        """Lets statements call a function of ours on two texts, neither of them null."""
        self.connection.create_function(name, called, ["VARCHAR", "VARCHAR"], "VARCHAR")
        try:
            yield
        finally:
            self.connection.remove_function(name)

    def columns(self, sql: str) -> list[tuple[str, "DuckDBPyType"]]:
        """The names and types of an answer's columns; a name that comes twice has a number the second time."""
        with self._refusing():
            relation = self.connection.sql(f"select * from ({sql}\n)")
            return list(zip(relation.columns, relation.types, strict=True))

    def statement(self, sql: str) -> str:
        """The one query in a text, as it can be put into brackets; BadInput for what does not answer with rows."""
        with self._refusing():
            statements = self.connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type.name not in _ANSWERS:
                raise BadInput(
                    "give one query that answers with rows, such as: select action, count(*) from recommendations "
                    "group by action; files are written with --format and --out."
                )
            alone = statements[0].query.strip().rstrip(";")
            if len(self.connection.extract_statements(f"from ({alone}\n)")) != 1:
                raise BadInput("give one query: this one closes a bracket that it did not open.")
            return alone

    def condition(self, sql: str) -> str:
        """The one condition in a text; BadInput for what is none, or has a comment."""
        import duckdb  # noqa: PLC0415  # the extra `sql` brings it

        with self._refusing():
            if any(kind == duckdb.token_type.comment for _, kind in duckdb.tokenize(sql)):
                raise BadInput(f"give one condition without a comment, not {sql}.")
            try:
                duckdb.SQLExpression(sql)
            except duckdb.InvalidInputException as error:
                raise BadInput(f"give one condition, not several: {sql}.") from error
            self.statement(f"select ({sql}) from recommendations")
            return sql

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Raises what DuckDB refuses inside as BadInput, which says what to do."""
        import duckdb  # noqa: PLC0415  # as above

        try:
            yield
        except duckdb.Error as error:
            for folder, schema in zip(self.folders, self.schemas, strict=True):
                for name in _READ:
                    if f'file "{self.scratch / schema / name}"' in str(error):
                        raise damage_error(folder / name) from error
            if isinstance(error, duckdb.PermissionException):
                raise BadInput(
                    "a query reads this run and nothing else on this machine: name another file with `plimsoll query "
                    "--file FILE` where it is to be read."
                ) from error
            first = str(error).strip().partition("\n")[0].rstrip(".")
            raise BadInput(f"the query cannot be answered: {first}. The views are {', '.join(views.VIEWS)}.") from error


@contextmanager
def open_runs(*folders: Path, files: Sequence[str] = ()) -> Iterator[Database]:
    """A database with the views of a run; of several runs, each in a schema of its own: run_0, run_1 ...

    Queries read those runs, and `files` by the names that they are given here. BadInput where a folder holds no run,
    or where a file is a run's own and is damaged.
    What does not fit into memory goes to a folder that is removed at the end.
    """
    import duckdb  # noqa: PLC0415  # as above

    for file in files:
        check_export(Path(file))
    whole = tuple(folder.absolute() for folder in folders)
    schemas = tuple(f"run_{number}" for number in range(len(whole))) if len(whole) > 1 else ("main",)
    with (
        TemporaryDirectory(prefix="plimsoll-") as spill,
        duckdb.connect(":memory:", config=_settings(spill)) as connection,
    ):
        connection.create_function(views.EARLIER_CHANGE, earlier_change, ["VARCHAR", "VARCHAR"], "VARCHAR")
        for folder, schema in zip(whole, schemas, strict=True):
            _add_run(connection, folder, schema, Path(spill))
        connection.execute("set TimeZone = 'UTC'")
        # A link is followed to its file before it is asked whether that may be read.
        run_files = [str((folder / name).resolve()) for folder in whole for name in _READ]
        _shut(connection, [*run_files, *files], spill)
        yield Database(connection=connection, folders=whole, schemas=schemas, scratch=Path(spill))


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Some volumes of a run, and which they are in words."""

    keys: frozenset[tuple[str, str, str]]
    words: str

    def includes(self, record: RecommendationRecord) -> bool:
        """True if a recommendation is among the selected ones."""
        return (record.account, record.region, record.volume_id) in self.keys


def select(database: Database, where: str | None, volumes: Sequence[str]) -> Selection | None:
    """The volumes, of those named, for which a condition over the view `recommendations` holds; None where all are
    meant.

    Volumes are named as people call them (`volume_names`). BadInput for a condition that is none, for a volume without
    a recommendation, for a name of several volumes, and where nothing is left.
    """
    if where is None and not volumes:
        return None
    condition = "true" if where is None else database.condition(where)
    called = [volume for words in volumes for volume in _volumes_called(words, database)]
    named = " or ".join(map(_name_condition, called)) or "true"
    # The condition is asked by itself, so that nothing in it has a say in which volumes were named.
    database.run(f"create temp table {_HELD} as select {', '.join(KEYS)} from recommendations where ({condition})")
    database.run(f"create temp table {SELECTED} as from {_HELD} where {named}")
    keys = frozenset((account, region, volume_id) for account, region, volume_id in database.rows(f"from {SELECTED}"))
    words = " and ".join(filter(None, (", ".join(volumes), where)))
    if not keys:
        raise BadInput(f"no volume of this run answers to {words}: `plimsoll query RUN` lists what can be asked for.")
    return Selection(keys=keys, words=words)


def _settings(spill: str) -> dict[str, str | bool | int | float | list[str]]:
    """Nothing is ever fetched, and memory and threads are bounded."""
    return {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "extension_directory": spill,
        "temp_directory": spill,
        "memory_limit": _MEMORY,
        "threads": _THREADS,
    }


def _shut(connection: "DuckDBPyConnection", files: Sequence[str], spill: str) -> None:
    """Leaves a connection these files and that folder: a query may come from anybody, and reads nothing else."""
    connection.execute(f"set allowed_paths = [{', '.join(map(literal, files))}]")
    connection.execute(f"set allowed_directories = [{literal(spill)}]")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def _add_run(connection: "DuckDBPyConnection", folder: Path, schema: str, spill: Path) -> None:
    run, here = read_run(folder), spill / schema
    check_files(folder)
    here.mkdir()
    connection.execute(f"create schema if not exists {schema}")
    failed = run.failures
    _table(connection, f"{schema}.unread_places", ("place", "reason"), list(failed.targets.items()))
    records = views.records(_link_file(folder / RECOMMENDATIONS, here))
    unanswered = views.lines(UnansweredRecord, _copy_whole_lines(folder / UNANSWERED, here))
    if not (folder / UNANSWERED).exists():
        unanswered = f"{schema}.failed_volumes"
        columns = (*KEYS, "outcome", "reason", "provider")
        _table(connection, unanswered, columns, list(_failed_volumes(failed)))
    states_link = _link_file(folder / STATES_FILE, here)
    for name, sql in {
        "recommendations": views.recommendations(records),
        "offers": views.offers(records),
        "frontier": views.frontier(records),
        "epochs": views.epochs(records),
        "demand": views.demand(views.lines(DemandProfileRecord, _copy_whole_lines(folder / DEMAND, here))),
        "failures": views.failures(unanswered, f"{schema}.unread_places"),
        "states": views.states(states_link, "states", StateRecord),
        "paid": views.states(states_link, "picture", PaidRecord),
    }.items():
        connection.execute(f"create view {schema}.{name} as {sql}")


def _table(connection: "DuckDBPyConnection", name: str, columns: tuple[str, ...], rows: list[Any]) -> None:
    connection.execute(f"create table {name} ({', '.join(f'{quote_name(column)} varchar' for column in columns)})")
    if rows:
        places = ", ".join("?" * len(columns))
        connection.executemany(f"insert into {name} values ({places})", [list(row) for row in rows])


def _failed_volumes(failures: Failures) -> Iterator[tuple[str, str, str, str, str, None]]:
    """The failed volumes as run.json has them; runs that knew no unanswered.jsonl name no skipped ones and no cloud."""
    for place, reasons in failures.volumes.items():
        account, _, region = place.partition("/")
        for reason, ids in reasons.items():
            yield from ((account, region, volume_id, "failed", reason, None) for volume_id in ids)


def _link_file(path: Path, beside: Path) -> str | None:
    """A link to the file where queries may read: the folder of a run may have any name, and other files in it."""
    if not path.exists():
        return None
    link = beside / path.name
    link.symlink_to(path)
    return str(link)


def _copy_whole_lines(path: Path, beside: Path) -> str | None:
    """The file by a link, or a copy of its whole lines: what a killed run left of a last line is no damage."""
    if not path.exists():
        return None
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 1))
        if file.read() in {b"", b"\n"}:
            return _link_file(path, beside)
        file.seek(0)
        whole = beside / path.name
        with whole.open("wb") as copy:
            copy.writelines(line for line in file if line.endswith(b"\n"))
    return str(whole)


def _name_condition(volume: NamedVolume) -> str:
    return f"{literal(volume.full)} = {_FULL_NAME}"


def _volumes_called(words: str, database: Database) -> Sequence[NamedVolume]:
    """The recommended volume that words mean; where they mean none as a whole, those between their commas.

    BadInput for none, with the nearest, and for several of one name.
    """
    keys = ", ".join(KEYS)
    both = f"select {keys}, name from recommendations union all select {keys}, null from failures where what = 'volume'"
    volume = choose_volume(words, ((name, name) for name in map(NamedVolume._make, database.rows(both))))
    parts = list(filter(None, map(str.strip, words.split(","))))
    if volume is None and len(parts) > 1:
        return [volume for part in parts for volume in _volumes_called(part, database)]
    if volume is None:
        near = nearest_hint(words, map(NamedVolume._make, database.rows(f"select {keys}, name from recommendations")))
        hint = near or "look for it with another run, or explain it anew."
        raise BadInput(f"{quote_word(words)} is not in this run: {hint}")
    failed = next(database.rows(f"select outcome, reason from failures where {_name_condition(volume)}"), None)
    if failed is not None:
        raise BadInput(f"{volume.id} has no recommendation in this run: {failed[0]}, {failed[1]}")
    return [volume]
