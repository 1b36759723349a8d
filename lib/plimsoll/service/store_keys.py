"""The keys of the service's store: where each part of a run is kept.

`work/` is what the parts of a run hand to each other, and goes after a month; everything else is there to stay.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

from plimsoll.clouds.targets import named_target
from plimsoll.ports import Target

RESULT: Final = "result.json"
_LISTED: Final = "listed.json"
LATEST_REPORT: Final = "reports/latest.json"
"""What names the run whose report is the latest."""
_BATCH_DIGITS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Batch:
    """Some volumes of a target, all of each of their hosts: what one function audits."""

    target: Target
    number: int

    def __str__(self) -> str:
        return f"{self.target}/{self.number:0{_BATCH_DIGITS}d}"

    @property
    def file_name(self) -> str:
        """The batch in one word."""
        return str(self).replace("/", "-")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKeys:
    """The keys of one run."""

    run_id: str

    @property
    def order(self) -> str:
        """What the run is to do."""
        return self._work("order.json")

    @property
    def targets(self) -> str:
        """The targets whose inventory is to be taken, as a JSON array."""
        return self._work("targets.json")

    @property
    def pending(self) -> str:
        """The batches that are to be audited, as a JSON array."""
        return self._work("pending.json")

    @property
    def unnamed(self) -> str:
        """The targets that could not even be named, as totals."""
        return self._work("unnamed.json")

    @property
    def summary(self) -> str:
        """What the run came to: run.json before anybody is told."""
        return self._work("run.json")

    @property
    def news(self) -> str:
        """The events of what is new, as a JSON array."""
        return self._work("news.json")

    @property
    def inventories(self) -> str:
        """Where all inventories are."""
        return self._work("inventory/")

    def inventory(self, target: Target, name: str) -> str:
        """A part of a target's inventory."""
        return f"{self.inventories}{target}/{name}"

    def listed(self, target: Target) -> str:
        """What says that a target's inventory is whole."""
        return self.inventory(target, _LISTED)

    def prices(self, target: Target) -> str:
        """The target's price book."""
        return self.inventory(target, "prices.json")

    def stripes(self, target: Target) -> str:
        """The target's stripe sets that are still what was found."""
        return self.inventory(target, "stripes.json")

    def batches(self, target: Target) -> str:
        """Where the target's batches are."""
        return self.inventory(target, "batches/")

    def volumes(self, batch: Batch) -> str:
        """The volumes of a batch, a line each."""
        return f"{self.batches(batch.target)}{batch.number:0{_BATCH_DIGITS}d}.jsonl"

    @property
    def results(self) -> str:
        """Where what was answered of all batches is."""
        return self._work("results/")

    def answered(self, batch: Batch, attempt: str, name: str) -> str:
        """A file of the run's folder of one batch, as one attempt at it left it."""
        return f"{self.results}{batch}/{attempt}/{name}"

    def result(self, batch: Batch) -> str:
        """What says that a batch is answered as a whole, and by which attempt."""
        return f"{self.results}{batch}/{RESULT}"

    def part(self, batch: Batch) -> str:
        """How far a batch is that may not be answered as a whole, and by which attempt."""
        return f"{self.results}{batch}/part.json"

    @property
    def failures(self) -> str:
        """Where everything is that failed in this attempt at the run."""
        return self._work("failures/")

    @property
    def failed_targets(self) -> str:
        """Where the targets that failed are."""
        return f"{self.failures}targets/"

    def failed_target(self, target: Target) -> str:
        """How a target failed."""
        return f"{self.failed_targets}{target}.json"

    @property
    def failed_batches(self) -> str:
        """Where the batches that failed are."""
        return f"{self.failures}batches/"

    def failed_batch(self, batch: Batch) -> str:
        """How a batch failed."""
        return f"{self.failed_batches}{batch}.json"

    @property
    def incomplete(self) -> str:
        """Where the batches are named some of whose volumes have no answer."""
        return f"{self.failures}volumes/"

    def incomplete_batch(self, batch: Batch) -> str:
        """That some of a batch's volumes have no answer."""
        return f"{self.incomplete}{batch}"

    def report(self, name: str) -> str:
        """A file of the run's report."""
        return f"reports/{self.run_id}/{name}"

    def table(self, table: str, day: date, batch: Batch) -> str:
        """The Parquet file of a batch in one of the tables, in the partition of the run's day."""
        return f"runs/{table}/run_date={day:%Y-%m-%d}/{self.run_id}-{batch.file_name}.parquet"

    def batches_in(self, keys: Iterable[str], prefix: str, ending: str) -> Iterator[Batch]:
        """The batches that keys under a prefix are of, those that end so."""
        for key in keys:
            if key.startswith(prefix) and key.endswith(ending):
                account, region, *_, number = key.removeprefix(prefix).removesuffix(ending).split("/")
                yield Batch(target=named_target(account, region), number=int(number))

    def taken(self, keys: Iterable[str]) -> Iterator[Target]:
        """The targets whose inventory is whole, by keys of all inventories."""
        for key in keys:
            if key.endswith(f"/{_LISTED}"):
                account, region, _ = key.removeprefix(self.inventories).split("/")
                yield named_target(account, region)

    def _work(self, name: str) -> str:
        return f"work/{self.run_id}/{name}"


def asked_key(execution: str) -> str:
    """Who asked in Slack for an execution, by its name, and where the answer goes."""
    return f"slack/asked/{execution}.json"


def ledger_key(target: Target) -> str:
    """Where the changes of a target's volumes are noted, from run to run."""
    return f"ledger/{target}.json"
