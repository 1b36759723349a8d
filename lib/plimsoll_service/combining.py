"""The combination of a shard: its sums, its part of the report, and its rows of the tables as one Parquet file each.

It is one level of a tree: the summary and the report read what a few shards have become, and no batch.
"""

from collections.abc import Iterator
from datetime import date
from heapq import nlargest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from plimsoll.files import CHECKSUMS
from plimsoll.jobs.document import StoredDocument, require_file
from plimsoll.model.kinds import CountsAs
from plimsoll.ports import RunStore
from plimsoll.reports.csv_table import RunTables, run_tables
from plimsoll.reports.data.database import open_runs
from plimsoll.reports.data.exports import write_parquet
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_files import DEMAND, RECOMMENDATIONS, RUN, TABLE, UNANSWERED
from plimsoll.reports.run_reader import full_name, matched_records, stream_records, stream_unanswered
from plimsoll_service.config import MOST_ON_A_PAGE
from plimsoll_service.history_update import announce
from plimsoll_service.planning import order_of
from plimsoll_service.service import Service
from plimsoll_service.shards import (
    Combined,
    Shard,
    ShardSums,
    Stake,
    combined_document,
    shard_document,
    stakes_document,
)
from plimsoll_service.step_messages import ShardMessage
from plimsoll_service.store_keys import RunKeys
from plimsoll_service.stored_results import ListedTarget, result_document

_BROUGHT: Final = (RECOMMENDATIONS, DEMAND, UNANSWERED, RUN)
_KEPT: Final = (RECOMMENDATIONS, TABLE, DEMAND, UNANSWERED)
"""The files of a batch that are brought, and those of a shard that are kept."""


def combine(service: Service, message: ShardMessage) -> None:
    """Combines a shard unless that is done already. What says that it is done is kept last.

    Memory does not grow with the shard; the disk of this machine holds its answers twice.
    """
    store, keys, number = service.store, RunKeys(run_id=message.run_id), message.shard.number
    if store.get(keys.combined_key(number)) is not None:
        return
    shard, order = shard_document(keys, number).require(store), order_of(store, message.run_id)
    sums = ShardSums()
    for item in shard.targets:
        listed = StoredDocument(keys.listed_key(item.target), ListedTarget).require(store)
        sums.totals.merge(listed.totals)
        sums.spend(item.target.provider, listed.spent)
    if shard.batches:
        with TemporaryDirectory(prefix="plimsoll-") as temporary:
            _put_together(store, keys, shard, Path(temporary), sums)
            _keep(store, keys, number, Path(temporary) / message.run_id, order.now.date())
    combined = Combined(totals=sums.totals, spent=sums.spent, news=sums.news.items)
    combined_document(keys, number).put(store, combined)


def _put_together(store: RunStore, keys: RunKeys, shard: Shard, temporary: Path, sums: ShardSums) -> None:
    """Makes one run's folder of the shard's batches, and adds up what they came to."""
    whole, beside = temporary / keys.run_id, temporary / "batch"
    whole.mkdir()
    with run_tables(whole) as tables:
        for batch in (item.as_batch for item in shard.batches):
            result = result_document(keys, batch).require(store)
            for name in _BROUGHT:
                require_file(store, keys.answer_file(batch, result.attempt, name), beside / name)
            if not store.get_file(keys.answer_file(batch, result.attempt, CHECKSUMS), beside / CHECKSUMS):
                (beside / CHECKSUMS).unlink(missing_ok=True)  # of an earlier version, or of the batch before
            _add(beside, tables)
            sums.totals.merge(result.totals)
            sums.spend(batch.target.provider, result.spent)
            announce(sums.news, result.news)
    (beside / RUN).replace(whole / RUN)


def _add(batch: Path, tables: RunTables) -> None:
    for record, profile in matched_records(batch, None):
        tables.add(record, profile)
    for volume in stream_unanswered(batch):
        tables.leave_out(volume)


def _keep(store: RunStore, keys: RunKeys, number: int, folder: Path, day: date) -> None:
    """Keeps the shard's files, the volumes with the most at stake, and its rows of the tables."""
    for name in _KEPT:
        store.put_file(keys.shard_file(number, name), folder / name)
    stakes_document(keys, number).put(store, list(_stakes(folder)))
    with TemporaryDirectory(prefix="plimsoll-") as tables, open_runs(folder) as database:
        for path in write_parquet(database, Path(tables), None, run_id=keys.run_id):
            store.put_file(keys.table(path.stem, day, number), path)


def _stakes(folder: Path) -> Iterator[Stake]:
    """The volumes to look at first: those throttled today, then those with the most money, each by its full name."""
    yield from nlargest(MOST_ON_A_PAGE, (_stake(record) for record in stream_records(folder)))


def _stake(record: RecommendationRecord) -> Stake:
    money = (record.monthly_usd_now or 0.0) if record.kind.money is CountsAs.COST else record.monthly_usd_saved
    return record.kind.money is CountsAs.MORE, money, full_name(record)
