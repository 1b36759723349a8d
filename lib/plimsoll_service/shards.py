"""Shards: the answers of a run in parts that one function can combine, however many targets and batches there are.

A shard is some targets, or some batches of a large one, in the order of their names. It stays what it is while its
answers stay: a run that is gone on with combines only what is new.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from itertools import count, islice
from typing import Final

from pydantic import BaseModel, ConfigDict

from plimsoll.jobs.document import StoredDocument
from plimsoll.model.units import MIB
from plimsoll.ports import RunStore, Target
from plimsoll.reports.sorting import Largest
from plimsoll.reports.totals import RunTotals
from plimsoll_service.events import ServiceEvent
from plimsoll_service.history_update import announce, empty_news
from plimsoll_service.step_messages import BatchItem, ShardItem, TargetItem
from plimsoll_service.store_keys import STAKES, RunKeys, VolumeBatch, batch_of
from plimsoll_service.stored_results import Spent
from plimsoll_service.streams import put_items

SHARD_BYTES: Final = 320 * MIB
"""Bytes of answers that a shard has at most, unless one batch alone has more: some 24,000 volumes at 13,600 bytes
(`plimsoll.run.BYTES_A_VOLUME`). Their Parquet files have some 64 MiB together."""

SHARD_PARTS: Final = 1000
"""Targets and batches that a shard has at most: each takes a few reads of the store."""

Stake = tuple[bool, float, str]
"""A volume's stake: True if it is throttled today, its money, its full name."""


class Shard(BaseModel):
    """The targets whose inventories, and the batches whose answers, are combined together."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    targets: list[TargetItem]
    batches: list[BatchItem]


class Combined(BaseModel):
    """The sums of a shard: totals, what asking each cloud took, and news, at most MOST_NEWS."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    totals: RunTotals
    spent: Mapping[str, Spent]
    news: list[ServiceEvent]


@dataclass(slots=True, kw_only=True)
class ShardSums:
    """The sums of targets and batches: totals, what asking took by cloud, and the news to announce."""

    totals: RunTotals = field(default_factory=RunTotals)
    spent: dict[str, Spent] = field(default_factory=dict)
    news: Largest[ServiceEvent] = field(default_factory=empty_news)

    def spend(self, cloud: str, spent: Spent) -> None:
        """Adds the cost of asking a cloud."""
        self.spent[cloud] = self.spent.get(cloud, Spent()) + spent

    def merge(self, combined: Combined) -> None:
        """Adds the sums of a shard."""
        self.totals.merge(combined.totals)
        for cloud, spent in combined.spent.items():
            self.spend(cloud, spent)
        announce(self.news, combined.news)


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """The targets and batches of the combined shards."""

    targets: frozenset[Target]
    batches: frozenset[VolumeBatch]


def shard_document(keys: RunKeys, number: int) -> StoredDocument[Shard]:
    return StoredDocument(keys.parts(number), Shard)


def combined_document(keys: RunKeys, number: int) -> StoredDocument[Combined]:
    return StoredDocument(keys.combined_key(number), Combined)


def stakes_document(keys: RunKeys, number: int) -> StoredDocument[list[Stake]]:
    """The volumes of a shard with the most at stake, by its number."""
    return StoredDocument(keys.shard_file(number, STAKES), list[Stake])


def find_covered(store: RunStore, keys: RunKeys) -> Covered:
    """The targets and batches of the combined shards."""
    shards = [shard_document(keys, number).require(store) for number in keys.combined_shards(store)]
    return Covered(
        targets=frozenset(item.target for shard in shards for item in shard.targets),
        batches=frozenset(item.as_batch for shard in shards for item in shard.batches),
    )


def plan_shards(store: RunStore, keys: RunKeys, day: date) -> int:
    """Lists the shards that are yet to be combined, for a map, and returns their number.

    The content of a combined shard stays there. Parquet files of the run's day that belong to no shard are deleted.
    """
    combined, covered = set(keys.combined_shards(store)), find_covered(store, keys)
    numbers = (number for number in count() if number not in combined)
    listed = [target for target in keys.listed_targets(store) if target not in covered.targets]
    weights = {batch: size for batch, size in _weights(store, keys).items() if batch not in covered.batches}
    shards = list(_fill_shards(listed, weights))
    planned = dict(zip(islice(numbers, len(shards)), shards, strict=True))
    for number, shard in planned.items():
        shard_document(keys, number).put(store, shard)
    for key, number in list(keys.tables(store, day)):
        if number not in combined and number not in planned:
            store.delete(key)
    put_items(store, keys.shards_to_combine, (ShardItem(number=number) for number in planned))
    return len(planned)


def take_apart(store: RunStore, keys: RunKeys, batches: Iterable[VolumeBatch]) -> None:
    """Lets the shards with any of those batches be combined anew."""
    gone = frozenset(batches)
    for number in keys.combined_shards(store) if gone else ():
        if gone.intersection(item.as_batch for item in shard_document(keys, number).require(store).batches):
            combined_document(keys, number).delete(store)


def _weights(store: RunStore, keys: RunKeys) -> dict[VolumeBatch, int]:
    """The bytes of every whole answer, of all attempts."""
    sizes, whole = defaultdict[VolumeBatch, int](int), set[VolumeBatch]()
    for key, size in store.sizes(keys.results):
        batch = batch_of(key.removeprefix(keys.results))
        sizes[batch] += size
        if key == keys.result(batch):
            whole.add(batch)
    return {batch: sizes[batch] for batch in sorted(whole)}


def _fill_shards(targets: Iterable[Target], weights: Mapping[VolumeBatch, int]) -> Iterator[Shard]:
    """Shards of those targets' inventories and batches, in the order of their names, each filled up in turn."""
    parts = sorted([*((target, -1) for target in targets), *((batch.target, batch.number) for batch in weights)])
    shard, filled = Shard(targets=[], batches=[]), 0
    for target, number in parts:
        batch = None if number < 0 else VolumeBatch(target=target, number=number)
        size = 0 if batch is None else weights[batch]
        full = len(shard.targets) + len(shard.batches) >= SHARD_PARTS
        if full or (shard.batches and filled + size > SHARD_BYTES):
            yield shard
            shard, filled = Shard(targets=[], batches=[]), 0
        if batch is None:
            shard.targets.append(TargetItem.from_target(target))
        else:
            shard.batches.append(BatchItem.from_batch(batch))
        filled += size
    if shard.targets or shard.batches:
        yield shard
