"""The keys of the service's store for each part of a run.

`work/` is what the parts of a run hand to each other, and goes after a month; everything else is there to stay.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

from plimsoll.clouds.targets import named_target
from plimsoll.ports import RunStore, Target

LATEST_REPORT: Final = "reports/latest.json"
"""The key with the run of the latest report."""

TABLES: Final = ("recommendations", "demand")
"""The tables of results, by the names of their folders."""

STAKES: Final = "stakes.json"
"""The file with the volumes of a shard that have the most at stake."""

_WHOLE: Final = "/whole"
_RESULT: Final = "result.json"
_LISTED: Final = "listed.json"
_TABLE: Final = ".parquet"
_PARTS: Final = "parts.json"
_COMBINED: Final = "combined.json"
_DIGITS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class VolumeBatch:
    """Some volumes of a target, all of each of their hosts. One function audits a batch."""

    target: Target
    number: int

    def __str__(self) -> str:
        return f"{self.target}/{self.number:0{_DIGITS}d}"


class RunKeys:
    """The keys of one run; those that end in a slash stand before others."""

    def __init__(self, run_id: str) -> None:
        self.run_id, work = run_id, f"work/{run_id}"
        self.order = f"{work}/order.json"
        self.accounts = f"{work}/accounts.json"  # those whose inventories are to be taken
        self.pending = f"{work}/pending.json"
        self.unnamed = f"{work}/unnamed.json"  # what could not even be named as an account, as totals
        self.summary = f"{work}/run.json"
        self.news = f"{work}/news.json"  # the events of what is new
        self.reported = f"{work}/told.json"  # the names of the volumes of events that were sent
        self._entered = f"{work}/accounts/"
        self.inventories = f"{work}/inventory/"
        self.results = f"{work}/results/"
        self.shards = f"{work}/shards/"  # targets and batches, combined into one part of the report and the tables
        self.shards_to_combine = f"{work}/shards.json"
        self.failures = f"{work}/failures/"  # those of this attempt at the run
        self.failed_targets = f"{self.failures}targets/"
        self._failed_accounts = f"{self.failures}accounts/"
        self._failed_batches = f"{self.failures}batches/"
        self._alone = f"{self.failures}alone/"
        self._incomplete = f"{self.failures}volumes/"

    def targets(self, account: str) -> str:
        return f"{self._entered}{account}/targets.json"

    def account_mark(self, account: str) -> str:
        """A mark: the inventories of all of an account's targets are whole."""
        return f"{self._entered}{account}{_WHOLE}"

    def complete_accounts(self, store: RunStore) -> frozenset[str]:
        """The accounts whose inventories are all whole."""
        keys = (key for key in store.keys(self._entered) if key.endswith(_WHOLE))
        return frozenset(key.removeprefix(self._entered).removesuffix(_WHOLE) for key in keys)

    def failed_account(self, account: str) -> str:
        """The reason why an account could not be entered, or its targets not be found."""
        return f"{self._failed_accounts}{account}.json"

    def failed_accounts(self, store: RunStore) -> Iterator[str]:
        return store.keys(self._failed_accounts)

    def listed_key(self, target: Target) -> str:
        """The record of a target's whole inventory."""
        return f"{self.inventories}{target}/{_LISTED}"

    def prices(self, target: Target) -> str:
        return f"{self.inventories}{target}/prices.json"

    def stripes(self, target: Target) -> str:
        """The target's stripe sets that are still as they were found."""
        return f"{self.inventories}{target}/stripes.json"

    def batches(self, target: Target) -> str:
        return f"{self.inventories}{target}/batches/"

    def volumes(self, batch: VolumeBatch) -> str:
        return f"{self.batches(batch.target)}{batch.number:0{_DIGITS}d}.jsonl"

    def answer_file(self, batch: VolumeBatch, attempt: str, name: str) -> str:
        """A file of the run's folder of one batch, as one attempt left it."""
        return f"{self.results}{batch}/{attempt}/{name}"

    def result(self, batch: VolumeBatch) -> str:
        """The result of a batch that is answered as a whole, with the attempt that has its files."""
        return f"{self.results}{batch}/{_RESULT}"

    def part(self, batch: VolumeBatch) -> str:
        """The state of a batch that may be unfinished, with its attempt."""
        return f"{self.results}{batch}/part.json"

    def failed_target(self, target: Target) -> str:
        return f"{self.failed_targets}{target}.json"

    def failed_batch(self, batch: VolumeBatch) -> str:
        return f"{self._failed_batches}{batch}.json"

    def batch_alone(self, batch: VolumeBatch) -> str:
        """A mark: the batch is to be audited alone, because a batch that shared its function has failed."""
        return f"{self._alone}{batch}"

    def batches_alone(self, store: RunStore) -> frozenset[VolumeBatch]:
        return frozenset(_batches(store.keys(self._alone), self._alone, ""))

    def incomplete_batch(self, batch: VolumeBatch) -> str:
        """A mark: some of the batch's volumes have no answer."""
        return f"{self._incomplete}{batch}"

    def report(self, name: str) -> str:
        return f"reports/{self.run_id}/{name}"

    def parts(self, shard: int) -> str:
        return f"{self._shard(shard)}{_PARTS}"

    def combined_key(self, shard: int) -> str:
        return f"{self._shard(shard)}{_COMBINED}"

    def shard_file(self, shard: int, name: str) -> str:
        return f"{self._shard(shard)}{name}"

    def table(self, table: str, day: date, shard: int) -> str:
        """The Parquet file of a shard in one of the tables, in the partition of the run's day."""
        return f"{self._day_key(table, day)}{shard:0{_DIGITS}d}{_TABLE}"

    def tables(self, store: RunStore, day: date) -> Iterator[tuple[str, int]]:
        """The run's Parquet files in all tables, each with the number of its shard."""
        for prefix in (self._day_key(table, day) for table in TABLES):
            for key in store.keys(prefix):
                number = key.removeprefix(prefix).removesuffix(_TABLE)
                if number.isdigit():  # else the name of another run begins as this one's
                    yield key, int(number)

    def _day_key(self, table: str, day: date) -> str:
        return f"runs/{table}/run_date={day:%Y-%m-%d}/{self.run_id}-"

    def combined_shards(self, store: RunStore) -> list[int]:
        """The numbers of the shards that are combined."""
        paths = (key.removeprefix(self.shards).split("/") for key in store.keys(self.shards))
        return [int(number) for number, name in paths if name == _COMBINED]

    def _shard(self, shard: int) -> str:
        return f"{self.shards}{shard:0{_DIGITS}d}/"

    def listed_targets(self, store: RunStore, account: str | None = None) -> Iterator[Target]:
        """The targets whose inventory is whole, of all accounts or of one."""
        prefix = self.inventories if account is None else f"{self.inventories}{account}/"
        return self._targets(store.keys(prefix))

    def listed_batches(self, store: RunStore) -> dict[VolumeBatch, int]:
        """The batches of all whole inventories, each with the bytes of its volumes."""
        sizes, whole = dict[VolumeBatch, int](), set[Target]()
        for key, size in store.sizes(self.inventories):
            sizes.update((batch, size) for batch in _batches([key], self.inventories, ".jsonl"))
            whole.update(self._targets([key]))
        return {batch: size for batch, size in sizes.items() if batch.target in whole}

    def answered_batches(self, store: RunStore, target: Target | None = None) -> Iterator[VolumeBatch]:
        """The batches that are answered as a whole, of all targets or of one."""
        prefix = self.results if target is None else f"{self.results}{target}/"
        return _batches(store.keys(prefix), self.results, f"/{_RESULT}")

    def failed_batches(self, store: RunStore) -> Iterator[VolumeBatch]:
        return _batches(store.keys(self._failed_batches), self._failed_batches, ".json")

    def incomplete_batches(self, store: RunStore) -> list[VolumeBatch]:
        return list(_batches(store.keys(self._incomplete), self._incomplete, ""))

    def _targets(self, keys: Iterable[str]) -> Iterator[Target]:
        for key in keys:
            if key.endswith(f"/{_LISTED}"):
                account, region, _ = key.removeprefix(self.inventories).split("/")
                yield named_target(account, region)


def ledger_key(target: Target) -> str:
    """The key of the ledger of a target's changes, from run to run."""
    return f"ledger/{target}.json"


def batch_of(name: str) -> VolumeBatch:
    """The batch of a key, from the part after the common prefix: account/region/number/..."""
    account, region, number, *_ = name.split("/")
    return VolumeBatch(target=named_target(account, region), number=int(number))


def _batches(keys: Iterable[str], prefix: str, ending: str) -> Iterator[VolumeBatch]:
    """The batches of keys with a prefix and an ending."""
    for key in keys:
        if key.endswith(ending):
            account, region, *_, number = key.removeprefix(prefix).removesuffix(ending).split("/")
            yield VolumeBatch(target=named_target(account, region), number=int(number))
