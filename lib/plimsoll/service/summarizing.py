"""The summary of a run: what its parts add up to, in the shape of every run.json."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.clouds.published import query_cost_of
from plimsoll.domain.errors import CloudError
from plimsoll.ports import FailedTarget, RunStore
from plimsoll.reports.tally import Tally
from plimsoll.run import Asked, describe, ended
from plimsoll.service.kept import Listed, Spent, needed, result_of, tally_in
from plimsoll.service.layout import RESULT, RunKeys
from plimsoll.service.messages import RunMessage, Summarized
from plimsoll.service.orders import order_of
from plimsoll.service.planning import planned_targets
from plimsoll.service.remembering import Remembered
from plimsoll.service.service import Service


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """What parts of a run add up to, in whatever order they come; what was `spent` by cloud."""

    tally: Tally = field(default_factory=Tally)
    remembered: Remembered = field(default_factory=Remembered)
    spent: Mapping[str, Spent] = field(default_factory=dict)

    def __add__(self, other: "Sum") -> "Sum":
        return Sum(
            tally=self.tally + other.tally,
            remembered=self.remembered + other.remembered,
            spent={
                cloud: self.spent.get(cloud, Spent()) + other.spent.get(cloud, Spent())
                for cloud in sorted({*self.spent, *other.spent})
            },
        )


def summarize(service: Service, told: RunMessage) -> Summarized:
    """Adds up what a run's targets and batches came to, and keeps it for the report."""
    store, keys = service.store, RunKeys(run_id=told.run_id)
    order = order_of(store, told.run_id).into(Path())
    whole = total(store, keys)
    status = ended(whole.tally)
    run = describe(
        order,
        whole.tally,
        status=status,
        asked={
            cloud: Asked(usage=spent.usage, query_cost=query_cost_of(cloud, service.settings))
            for cloud, spent in whole.spent.items()
        },
        seconds={"elapsed": 0.0, **sum(whole.spent.values(), Spent()).seconds},
    )
    run["history"] = whole.remembered.told
    store.put(keys.news, json.dumps(whole.remembered.news, ensure_ascii=False).encode())
    store.put(keys.summary, json.dumps(run, ensure_ascii=False).encode())
    return Summarized(run_id=told.run_id, status=status)


def total(store: RunStore, keys: RunKeys) -> Sum:
    """What all parts of a run add up to; only sums are held, so that memory does not grow with the fleet."""
    whole = Sum()
    for part in _parts(store, keys):
        whole += part
    return whole


def _parts(store: RunStore, keys: RunKeys) -> Iterator[Sum]:
    yield Sum(tally=tally_in(needed(store, keys.unnamed)))
    for target in keys.taken(store.keys(keys.inventories)):
        listed = Listed.model_validate_json(needed(store, keys.listed(target)))
        yield Sum(tally=listed.tally, spent={target.provider: listed.spent})
    for batch in keys.batches_in(store.keys(keys.results), keys.results, f"/{RESULT}"):
        result = result_of(store, keys.result(batch))
        yield Sum(tally=result.tally, remembered=result.remembered, spent={batch.target.provider: result.spent})
    for failed in failures(store, keys):
        yield Sum(tally=failed)
    yield Sum(tally=Tally.of(_unaccounted(store, keys)))


def failures(store: RunStore, keys: RunKeys) -> Iterator[Tally]:
    """What each target and batch that failed in this attempt leaves unanswered.

    One that was given up, and came to its end after that, has not failed: its volumes would count twice.
    """
    whole = {keys.failed_target(target) for target in keys.taken(store.keys(keys.inventories))}
    yield from (tally_in(needed(store, key)) for key in store.keys(keys.failed_targets) if key not in whole)
    answered = set(keys.batches_in(store.keys(keys.results), keys.results, f"/{RESULT}"))
    for batch in keys.batches_in(store.keys(keys.failed_batches), keys.failed_batches, ".json"):
        if batch not in answered:
            yield tally_in(needed(store, keys.failed_batch(batch)))


def _unaccounted(store: RunStore, keys: RunKeys) -> Iterator[FailedTarget]:
    """The targets of which nothing was kept, neither an inventory nor a failure: nothing is missing in silence."""
    taken = set(keys.taken(store.keys(keys.inventories)))
    for target in planned_targets(store, keys):
        if target not in taken and store.get(keys.failed_target(target)) is None:
            why = (
                f"cannot read {target}: its inventory was begun, and nothing says how it ended. Look at the failed "
                f"items of this execution, and run again with the run id {keys.run_id}."
            )
            yield FailedTarget(name=str(target), error=CloudError(why))
