"""What failed for good: kept by name and with the reason, so that a run goes on without it and says so."""

import json
from collections.abc import Iterable
from json import JSONDecodeError
from typing import Final

from plimsoll.domain import errors
from plimsoll.domain.errors import BadInput, CloudError, PlimsollError
from plimsoll.outcomes import FailedVolume, Outcome, Seen
from plimsoll.ports import FailedTarget, RunStore
from plimsoll.reports.tally import Tally
from plimsoll.service.kept import tally_out, volumes_in
from plimsoll.service.layout import Batch, RunKeys
from plimsoll.service.messages import FailureMessage, Nothing, StepError
from plimsoll.service.service import Service

_LONGEST: Final = 1000
"""How much of a cause is kept, in characters: Lambda's own may hold a traceback."""


def note_failure(service: Service, told: FailureMessage) -> Nothing:
    """Keeps that a target or a batch failed and why; BadInput where neither is named."""
    keys, why = RunKeys(run_id=told.run_id), sentence(told.error)
    if told.batch is not None:
        batch = told.batch.whole
        failed = Tally.of(_batch_failed(service.store, keys, batch, why))
        service.store.put(keys.failed_batch(batch), tally_out(failed))
    elif told.target is not None:
        target = told.target.target
        failed = Tally.of([FailedTarget(name=str(target), error=CloudError(why))])
        service.store.put(keys.failed_target(target), tally_out(failed))
    else:
        raise BadInput(f"a failure in run {told.run_id} names neither a target nor a batch: {why}")
    return Nothing()


def sentence(error: StepError) -> str:
    """Why a step failed, as people read it: our own errors are sentences, others are told by their names as well."""
    said = _said(error.cause)
    if _is_ours(error.error) and said:
        return said
    return f"{error.error}: {said}" if said else f"{error.error}, and Step Functions tells no more."


def _said(cause: str) -> str:
    """The message in a cause: Lambda writes one as JSON, other services as text."""
    try:
        found = json.loads(cause)
    except JSONDecodeError:
        found = cause
    message = found.get("errorMessage") if isinstance(found, dict) else found
    return " ".join(str(message or "").split())[:_LONGEST]


def _is_ours(name: str) -> bool:
    kind = getattr(errors, name, None)
    return isinstance(kind, type) and issubclass(kind, PlimsollError)


def _batch_failed(store: RunStore, keys: RunKeys, batch: Batch, why: str) -> Iterable[Outcome]:
    volumes = volumes_in(store, keys.volumes(batch))
    yield Seen(target=batch.target, volumes=len(volumes))
    reason = f"batch {batch} could not be audited: {why}"
    yield from (FailedVolume(target=batch.target, volume_id=volume.id, reason=reason) for volume in volumes)
