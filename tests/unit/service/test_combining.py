"""However a run's answers are cut into shards, it reads the same; a run that is gone on with combines what is new."""

import json
from dataclasses import dataclass, field, replace

import duckdb
import pytest

from plimsoll.clouds.local_store import FolderStore
from plimsoll.model.errors import BadInput, Unexpected
from plimsoll.reports.data.exports import PARQUET
from plimsoll.reports.run_files import PAGE, RECOMMENDATIONS, TABLE, UNANSWERED
from plimsoll_service import shards
from plimsoll_service.planning import find_pending
from plimsoll_service.shards import shard_document
from plimsoll_service.step_messages import PendingMessage
from plimsoll_service.store_keys import TABLES, RunKeys
from plimsoll_service.streams import join_lines, records_in
from tests.builders import NOW
from tests.service_loop import Loop, files, run_json
from tests.unit.service.places import places_of, service_of, volumes

KEYS = RunKeys(run_id="first")
BROKEN = {"vol-us-east-1-003": Unexpected("no such thing")}
ALIKE = ("volumes", "actions", "monthly_usd", "failures", "notices", "prices", "plan", "history")


@dataclass(frozen=True, slots=True)
class Watched(FolderStore):
    """A folder that knows what was read of it."""

    read: list[str] = field(default_factory=list)

    def get(self, key):
        self.read.append(key)
        return FolderStore.get(self, key)

    def get_file(self, key, path):
        self.read.append(key)
        return FolderStore.get_file(self, key, path)

    def pieces(self, key):
        self.read.append(key)
        return FolderStore.pieces(self, key)


def a_loop(folder, broken=None):
    places = places_of([*volumes(7), *volumes(4, region="eu-west-1")], broken_metrics=broken)
    return Loop(service=service_of(places, folder), now=NOW, batch_volumes=2)


def told(loop):
    folder = files(loop.service, "first")
    run = run_json(folder)
    return {key: run[key] for key in ALIKE}, {
        name: (folder / name).read_bytes() for name in (RECOMMENDATIONS, TABLE, UNANSWERED)
    }


def rows(loop, table):
    place = f"{loop.service.root}/runs/{table}/run_date={NOW:%Y-%m-%d}/*.parquet"
    return sorted(
        text for (text,) in duckdb.sql(f"select found::varchar from read_parquet('{place}') found").fetchall()
    )


@pytest.mark.parametrize("limits", [{"SHARD_PARTS": 1}, {"SHARD_PARTS": 3}, {"SHARD_BYTES": 1}])
def test_a_run_reads_the_same_however_its_answers_are_cut(tmp_path, monkeypatch, limits):
    whole = a_loop(tmp_path / "whole", BROKEN)
    whole.run()
    for name, limit in limits.items():
        monkeypatch.setattr(shards, name, limit)
    cut = a_loop(tmp_path / "cut", BROKEN)
    cut.run()
    assert len(KEYS.combined_shards(whole.service.store)) == 1 < len(KEYS.combined_shards(cut.service.store))
    assert told(cut) == told(whole)
    assert all(rows(cut, table) == rows(whole, table) for table in TABLES)


def test_summary_and_report_read_shards_and_no_batch(tmp_path):
    loop = a_loop(tmp_path)
    loop.audit_batches(begun(loop))
    loop.combine_shards("first")
    loop.service = replace(loop.service, store=Watched(loop.service.store.folder))
    loop.end("first")
    assert not [key for key in loop.service.store.read if key.startswith(KEYS.results)]


def begun(loop):
    run_id = loop.begin()
    loop.take_inventories(run_id)
    return run_id


def test_the_report_holds_no_table_on_its_own_disk(tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr(FolderStore, "put_file", lambda _self, key, _path: kept.append(key))
    loop = a_loop(tmp_path)
    monkeypatch.undo()
    loop.audit_batches(begun(loop))
    loop.combine_shards("first")
    monkeypatch.setattr(FolderStore, "put_file", lambda _self, key, _path: kept.append(key))
    loop.end("first")
    assert {key.rpartition("/")[2] for key in kept} == {PAGE, "run.json"}


def test_a_rerun_combines_only_the_shards_with_new_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "SHARD_PARTS", 2)
    first = a_loop(tmp_path, BROKEN)
    first.run()
    store = first.service.store
    before = {number: store.get(KEYS.combined_key(number)) for number in KEYS.combined_shards(store)}
    rerun = a_loop(tmp_path)
    rerun.begin("second", run_id="first")
    left = {number for number in before if store.get(KEYS.combined_key(number)) is not None}
    assert len(left) == len(before) - 1
    rerun.audit_batches("first")
    assert find_pending(rerun.service, PendingMessage(run_id="first")).shards == 1
    assert rerun.end("first").status == "complete"
    assert all(store.get(KEYS.combined_key(number)) == before[number] for number in left)
    whole = a_loop(tmp_path / "whole")
    whole.run()
    assert all(rows(rerun, table) == rows(whole, table) for table in TABLES)


def test_the_tables_lose_the_rows_of_answers_that_are_gone(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "SHARD_PARTS", 1)
    loop = a_loop(tmp_path)
    loop.run()
    store = loop.service.store
    (*_, last) = KEYS.combined_shards(store)
    (gone,) = shard_document(KEYS, last).require(store).batches
    store.delete(KEYS.combined_key(last))
    store.delete(KEYS.result(gone.as_batch))
    other = KEYS.table("recommendations", NOW.date(), 7).replace("first-", "first-2-")
    store.put(other, b"another run's")
    service = loop.service
    assert last in {number for _, number in KEYS.tables(store, NOW.date())}
    monkeypatch.setattr(RunKeys, "listed_batches", lambda *_: {})
    assert find_pending(service, PendingMessage(run_id="first")).shards == 0
    assert last not in {number for _, number in KEYS.tables(store, NOW.date())}
    assert store.get(other) == b"another run's"


def test_the_tables_are_those_of_the_parquet_files():
    assert {f"{table}.parquet" for table in TABLES} == set(PARQUET)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_lines_come_whole_in_whatever_pieces(size):
    content = b'one\n\ntwo, "three"\r\nfour'
    pieces = (content[start : start + size] for start in range(0, len(content), size))
    assert list(join_lines(pieces)) == content.split(b"\n")


@pytest.mark.parametrize("kept", [b'[{"a": 1}]\n', b"[\n{}", b"{}\n", b'[\n{"action": 1}\n]\n'])
def test_a_list_that_is_damaged_is_an_error_and_not_a_shorter_list(tmp_path, kept):
    store = FolderStore(tmp_path)
    store.put("list", kept)
    with pytest.raises(BadInput, match="the document list cannot be read"):
        list(records_in(store, "list"))


def test_a_run_without_a_volume_combines_its_places(tmp_path):
    loop = Loop(service=service_of(places_of(()), tmp_path), now=NOW)
    assert loop.run().status == "complete"
    assert json.loads((files(loop.service, "first") / RECOMMENDATIONS).read_text()) == []
