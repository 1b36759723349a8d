"""Stored results: a target's inventory, a batch's result and failures, which the parts of a run keep for each other.

Volumes, prices and errors are written as a recording has them.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, RootModel

from plimsoll.clouds.recording import error_in, error_out
from plimsoll.jobs.document import StoredDocument, require_content, require_file
from plimsoll.model.errors import CloudError
from plimsoll.model.market import PriceBook
from plimsoll.model.volume import Volume
from plimsoll.ports import RunStore, Target, Usage
from plimsoll.reading.cost import Plan
from plimsoll.reports.totals import RunTotals
from plimsoll_service.events import ServiceEvent
from plimsoll_service.step_messages import TargetItem
from plimsoll_service.store_keys import RunKeys, VolumeBatch


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Spent(_Record):
    """The cost of asking: API calls, metrics and datapoints, and seconds by stage."""

    calls: int = 0
    metrics: int = 0
    datapoints: int = 0
    seconds: Mapping[str, float] = {}

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            calls=self.calls + other.calls,
            metrics=self.metrics + other.metrics,
            datapoints=self.datapoints + other.datapoints,
            seconds={
                stage: self.seconds.get(stage, 0.0) + other.seconds.get(stage, 0.0)
                for stage in sorted({*self.seconds, *other.seconds})
            },
        )

    @classmethod
    def from_usage(cls, usage: Usage, seconds: Mapping[str, float]) -> "Spent":
        return cls(calls=usage.calls, metrics=usage.metrics, datapoints=usage.datapoints, seconds=dict(seconds))

    @property
    def usage(self) -> Usage:
        return Usage(calls=self.calls, metrics=self.metrics, datapoints=self.datapoints)


class ListedTarget(_Record):
    """The record of a whole inventory: how many batches it has, the notices about it, and what it took."""

    batches: int
    totals: RunTotals
    spent: Spent


class BatchPart(_Record):
    """The state of a batch. If two attempts are under way, each points to its own files."""

    attempt: str = ""  # has the files, and no other attempt writes them
    answered: int = 0  # volumes
    spent: Spent = Spent()
    plans: Mapping[str, Plan] = {}  # the cost expected of the whole
    notices: Mapping[str, list[str]] = {}


class BatchResult(_Record):
    """The record of a whole answer: the attempt that has its files, its totals, news, and cost."""

    attempt: str
    totals: RunTotals
    news: list[ServiceEvent]
    spent: Spent


class _ErrorText(_Record):
    kind: str
    message: str


class _FailedBook(_Record):
    error: _ErrorText


class BookRecord(RootModel[PriceBook | _FailedBook | None]):
    """The record of a price book: null if there is none, the error if it could not be read."""

    @classmethod
    def from_answer(cls, answer: PriceBook | CloudError | None) -> "BookRecord":
        """The record of what was answered when the book was asked for."""
        return cls(_FailedBook(error=_ErrorText(**error_out(answer))) if isinstance(answer, CloudError) else answer)

    @property
    def answer(self) -> PriceBook | CloudError | None:
        """The answer when the book was asked for."""
        return error_in(self.root.error.model_dump()) if isinstance(self.root, _FailedBook) else self.root


def targets_document(keys: RunKeys, account: str) -> StoredDocument[list[TargetItem]]:
    return StoredDocument(keys.targets(account), list[TargetItem])


def find_targets(store: RunStore, keys: RunKeys, account: str) -> list[Target] | None:
    """The targets of an account. None if it was not entered yet."""
    items = targets_document(keys, account).get(store)
    return None if items is None else [item.target for item in items]


def result_document(keys: RunKeys, batch: VolumeBatch) -> StoredDocument[BatchResult]:
    return StoredDocument(keys.result(batch), BatchResult)


def batch_folders(
    store: RunStore, keys: RunKeys, folder: Path, names: Sequence[str], target: Target | None = None
) -> Iterator[Path]:
    """The folder, with those files of one answered batch after the other, of all targets or of one."""
    for batch in sorted(keys.answered_batches(store, target)):
        attempt = result_document(keys, batch).require(store).attempt
        for name in names:
            require_file(store, keys.answer_file(batch, attempt, name), folder / name)
        yield folder


def put_volumes(store: RunStore, key: str, volumes: Sequence[Volume]) -> None:
    """Keeps volumes, each as a line."""
    document = StoredDocument(key, Volume)
    store.put(key, b"".join(document.dump(volume) + b"\n" for volume in volumes))


def require_volumes(store: RunStore, key: str) -> list[Volume]:
    """The volumes under a key. Raises BadInput if they are gone or cannot be read."""
    document = StoredDocument(key, Volume)
    return [document.parse(line) for line in require_content(store, key).splitlines()]
