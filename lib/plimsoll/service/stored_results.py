"""Stored results: a target's inventory, a batch's result and failures, which the parts of a run keep for each other.

Volumes, prices and errors are written as a recording has them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from plimsoll.clouds.recording import book_adapter, error_in, error_out, volume_adapter
from plimsoll.domain.errors import CloudError
from plimsoll.domain.metrics.reading_cost import Plan
from plimsoll.domain.prices import PriceBook
from plimsoll.domain.volume import Volume
from plimsoll.ports import RunStore, Target, Usage
from plimsoll.reports.totals import RunTotals
from plimsoll.service.events import ServiceEvent
from plimsoll.service.needed import require_content, require_file
from plimsoll.service.step_messages import TargetItem
from plimsoll.service.store_keys import RunKeys


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
        """The cost of a usage, with its seconds by stage."""
        return cls(calls=usage.calls, metrics=usage.metrics, datapoints=usage.datapoints, seconds=dict(seconds))

    @property
    def usage(self) -> Usage:
        """The calls, metrics and datapoints."""
        return Usage(calls=self.calls, metrics=self.metrics, datapoints=self.datapoints)


class ListedTarget(_Record):
    """The record of a whole inventory: how many batches it has, the notices about it, and what it took."""

    batches: int
    totals: RunTotals
    spent: Spent


class BatchPart(_Record):
    """The state of a batch: how many of its volumes are answered, its cost, and the cost expected of the whole.

    `attempt` has the files, and no other attempt writes them. If two attempts are under way, each points to its own.
    """

    attempt: str = ""
    answered: int = 0
    spent: Spent = Spent()
    plans: Mapping[str, Plan] = {}
    notices: Mapping[str, list[str]] = {}


class BatchResult(_Record):
    """The record of a whole answer: the attempt that has its files, its totals, news, and cost."""

    attempt: str
    totals: RunTotals
    news: list[ServiceEvent]
    spent: Spent


def targets_out(targets: Sequence[Target]) -> bytes:
    """Targets as JSON."""
    return json.dumps([TargetItem.from_target(target).model_dump() for target in targets]).encode()


def found_targets(store: RunStore, keys: RunKeys, account: str) -> list[Target] | None:
    """The targets of an account. None if it was not entered yet."""
    content = store.get(keys.targets(account))
    return None if content is None else [TargetItem.model_validate(item).target for item in json.loads(content)]


def batch_result(store: RunStore, key: str) -> BatchResult:
    """The result under a key."""
    return BatchResult.model_validate_json(require_content(store, key))


def batch_folders(
    store: RunStore, keys: RunKeys, folder: Path, names: Sequence[str], target: Target | None = None
) -> Iterator[Path]:
    """The folder, with those files of one answered batch after the other, of all targets or of one."""
    for batch in sorted(keys.answered_batches(store, target)):
        attempt = batch_result(store, keys.result(batch)).attempt
        for name in names:
            require_file(store, keys.answer_file(batch, attempt, name), folder / name)
        yield folder


def totals_out(totals: RunTotals) -> bytes:
    """Totals as JSON."""
    return json.dumps(totals.plain).encode()


def totals_in(content: bytes) -> RunTotals:
    """The totals in JSON."""
    return RunTotals.parse(json.loads(content))


def volumes_out(volumes: Sequence[Volume]) -> bytes:
    """Volumes as JSON lines."""
    return b"".join(volume_adapter().dump_json(volume) + b"\n" for volume in volumes)


def volumes_in(store: RunStore, key: str) -> list[Volume]:
    """The volumes under a key."""
    return [volume_adapter().validate_json(line) for line in require_content(store, key).splitlines()]


def book_out(book: PriceBook | CloudError | None) -> bytes:
    """A price book as JSON: null if there is none, the error if it could not be read."""
    if isinstance(book, CloudError):
        return json.dumps({"error": error_out(book)}).encode()
    return b"null" if book is None else book_adapter().dump_json(book)


def book_in(store: RunStore, key: str) -> PriceBook | CloudError | None:
    """The price book under a key."""
    content = require_content(store, key)
    if content == b"null":
        return None
    plain = json.loads(content)
    return error_in(plain["error"]) if "error" in plain else book_adapter().validate_json(content)
