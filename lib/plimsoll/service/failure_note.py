"""The note of a failure: what failed for good is kept by name with the reason, and the run goes on without it."""

from collections.abc import Iterable

from plimsoll.domain.errors import BadInput, CloudError
from plimsoll.outcomes import FailedVolume, Outcome, Seen
from plimsoll.ports import FailedTarget, RunStore
from plimsoll.reports.totals import Totals
from plimsoll.service.service import Service
from plimsoll.service.step_messages import FailureMessage, Nothing
from plimsoll.service.store_keys import Batch, RunKeys
from plimsoll.service.stored_results import totals_out, volumes_in


def note_failure(service: Service, told: FailureMessage) -> Nothing:
    """Keeps that a target or a batch failed and why; BadInput where neither is named.

    What was kept as a whole has not failed, whatever became of the function that kept it.
    """
    store, keys, why = service.store, RunKeys(run_id=told.run_id), told.error.sentence
    if told.batch is not None:
        batch = told.batch.whole
        if store.get(keys.result(batch)) is None:
            store.put(keys.failed_batch(batch), totals_out(Totals.of(_batch_failed(store, keys, batch, why))))
    elif told.target is not None:
        target = told.target.target
        if store.get(keys.listed(target)) is None:
            failed = FailedTarget(name=str(target), error=CloudError(why))
            store.put(keys.failed_target(target), totals_out(Totals.of([failed])))
    else:
        raise BadInput(f"a failure in run {told.run_id} names neither a target nor a batch: {why}")
    return Nothing()


def _batch_failed(store: RunStore, keys: RunKeys, batch: Batch, why: str) -> Iterable[Outcome]:
    volumes = volumes_in(store, keys.volumes(batch))
    yield Seen(target=batch.target, volumes=len(volumes))
    reason = f"batch {batch} could not be audited: {why}"
    yield from (FailedVolume(target=batch.target, volume_id=volume.id, reason=reason) for volume in volumes)
