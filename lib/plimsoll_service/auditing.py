"""The audit of a lot, batch after batch.

Each batch is a small run in a folder of its own. The store carries the folder from one attempt to the next.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from plimsoll.auditing.ports import BY_MINUTES_S, AuditPorts
from plimsoll.clouds.ledger import Ledger
from plimsoll.decide.groups import StripeSet
from plimsoll.files import CHECKSUMS
from plimsoll.jobs.document import StoredDocument, require_file
from plimsoll.model.errors import PASSING, CloudError, OutOfTime
from plimsoll.orders import Order
from plimsoll.reports.run_files import DEMAND, RECOMMENDATIONS, RUN, UNANSWERED
from plimsoll.reports.run_reader import matched_records
from plimsoll.reports.totals import RunTotals
from plimsoll.run import RunProgress, carry_out
from plimsoll_service.history_update import excluded_volumes, remember
from plimsoll_service.inventory import StoredInventory, StoredPrices
from plimsoll_service.planning import order_of
from plimsoll_service.service import Service
from plimsoll_service.shared_measurements import bring_measurements
from plimsoll_service.step_messages import BatchMessage, LotMessage
from plimsoll_service.store_keys import RunKeys, VolumeBatch
from plimsoll_service.stored_results import (
    BatchPart,
    BatchResult,
    BookRecord,
    Spent,
    require_volumes,
    result_document,
)

SLICE_VOLUMES: Final = 100
"""Volumes of a batch that are read and decided at once: between two slices it can stop."""

KEPT_FILES: Final = (DEMAND, RECOMMENDATIONS, UNANSWERED, RUN, CHECKSUMS)
"""The files of a batch's folder that are kept, in that order: what is answered has its demand there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditAttempt:
    """The result of one attempt: volumes it answered, datapoints it read, and batches that it left unfinished."""

    volumes: int = 0
    datapoints: int = 0
    left: int = 0

    def __add__(self, other: "AuditAttempt") -> "AuditAttempt":
        return AuditAttempt(
            volumes=self.volumes + other.volumes,
            datapoints=self.datapoints + other.datapoints,
            left=self.left + other.left,
        )


def audit_lot(
    service: Service, message: LotMessage, *, stop: Callable[[], bool], slice_volumes: int = SLICE_VOLUMES
) -> AuditAttempt:
    """Audits the unanswered batches of a lot one after the other, and returns what this attempt did.

    Once `stop` says so no other batch is begun. An error that may pass soon is raised when all batches were tried.
    Errors are those of `audit_batch`; one batch that begins late in a function's time is left, not OutOfTime.
    """
    keys = RunKeys(run_id=message.run_id)
    unanswered = [item for item in message.lot.batches if service.store.get(keys.result(item.as_batch)) is None]
    share_s = BY_MINUTES_S / max(1, len(message.lot.batches))
    made, passing = AuditAttempt(), list[CloudError]()
    for number, batch in enumerate(unanswered):
        if number and stop():
            made += AuditAttempt(left=len(unanswered) - number)
            break
        item = BatchMessage(run_id=message.run_id, batch=batch, sharing=message.lot.sharing)
        try:
            made += audit_batch(service, item, stop=stop, slice_volumes=slice_volumes, by_minutes_s=share_s)
        except PASSING as error:
            passing.append(error)
        except OutOfTime:
            if not number:
                raise
            made += AuditAttempt(left=1)
    if passing:
        raise passing[0]
    return made


def audit_batch(
    service: Service,
    message: BatchMessage,
    *,
    stop: Callable[[], bool],
    slice_volumes: int = SLICE_VOLUMES,
    by_minutes_s: float = BY_MINUTES_S,
) -> AuditAttempt:
    """Audits a batch unless that is done already, and returns what this attempt did.

    It is read by the minute if that takes no longer than `by_minutes_s`, shared with those that share its quota.

    Once `stop` says so it goes no further, and keeps its answers: the next attempt goes on from there. Raises OutOfTime
    if there are none.
    """
    keys, batch = RunKeys(run_id=message.run_id), message.batch.as_batch
    if service.store.get(keys.result(batch)) is not None:
        return AuditAttempt()
    with TemporaryDirectory(prefix="plimsoll-") as temporary:
        order = order_of(service.store, message.run_id).order_in(Path(temporary))
        audit = _BatchAudit(
            service=service,
            keys=keys,
            batch=batch,
            order=order,
            sharing=message.sharing,
            by_minutes_s=by_minutes_s / message.sharing,
        )
        return audit.go_on(audit.resume(), stop, slice_volumes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _BatchAudit:
    """The audit of one batch: its run's order into a folder of this machine, and its place in the store."""

    service: Service
    keys: RunKeys
    batch: VolumeBatch
    order: Order
    sharing: int  # batches that share the target's quota
    by_minutes_s: float
    attempt: str = field(default_factory=lambda: secrets.token_hex(8))  # an earlier one may be under way still

    def resume(self) -> BatchPart:
        """Brings the answers of earlier attempts, and returns what they took."""
        store, keys = self.service.store, self.keys
        part = self._part_document.get(store)
        if part is None:
            return BatchPart()
        for name in KEPT_FILES:
            require_file(store, keys.answer_file(self.batch, part.attempt, name), self.order.folder / name)
        return part

    def go_on(self, before: BatchPart, stop: Callable[[], bool], slice_volumes: int) -> AuditAttempt:
        """Audits the volumes without an answer, keeps the result, and returns what this attempt did."""
        progress, ports = RunProgress(), self._ports(slice_volumes)
        run, _best = carry_out(self.order, [ports], lambda _progress, _outcome: None, stop=stop, progress=progress)
        usage, totals = ports.metrics.usage, progress.totals
        totals.merge(RunTotals(notices=dict(before.notices)))
        part = BatchPart(
            attempt=self.attempt,
            answered=totals.answered_count,
            spent=before.spent + Spent.from_usage(usage, run.seconds),
            plans=before.plans or totals.plans,
            notices=totals.notices,
        )
        stopped = run.status == "interrupted"
        if stopped and part.answered == before.answered:
            raise OutOfTime(
                f"no volume of batch {self.batch} of run {self.order.id} could be answered within a function's time: "
                "give it a longer limit, or more memory, which brings processors."
            )
        self._keep(part)
        if not stopped:
            totals.plans = dict(part.plans)
            self._conclude(totals, part.spent)
        return AuditAttempt(
            volumes=part.answered - before.answered, datapoints=usage.datapoints, left=1 if stopped else 0
        )

    def _ports(self, slice_volumes: int) -> AuditPorts:
        """The batch's volumes as they were listed, at the prices of then; metrics are read now."""
        service, keys, target = self.service, self.keys, self.batch.target
        bring_measurements(service.store, service.measured)
        ledger = Ledger(path=self.order.folder / "ledger.json")
        ports = service.places.ports(
            target, now=self.order.now, measured=service.measured, ledger=ledger, sharing=self.sharing
        )
        volumes = require_volumes(service.store, keys.volumes(self.batch))
        here = {volume.id for volume in volumes}
        stripes = StoredDocument(keys.stripes(target), list[StripeSet]).require(service.store)
        book = StoredDocument(keys.prices(target), BookRecord).require(service.store)
        return replace(
            ports,
            inventory=StoredInventory(target=target, given=volumes),
            prices=StoredPrices(answer=book.answer),
            stripes=[stripe_set for stripe_set in stripes if here.issuperset(stripe_set.members)],
            batch_volumes=slice_volumes,
            by_minutes_s=self.by_minutes_s,
            excluded=excluded_volumes(service.history, target, [volume.id for volume in volumes]),
        )

    def _keep(self, part: BatchPart) -> None:
        for name in KEPT_FILES:
            self.service.store.put_file(self.keys.answer_file(self.batch, self.attempt, name), self.order.folder / name)
        self._part_document.put(self.service.store, part)

    @property
    def _part_document(self) -> StoredDocument[BatchPart]:
        return StoredDocument(self.keys.part(self.batch), BatchPart)

    def _conclude(self, totals: RunTotals, spent: Spent) -> None:
        """Keeps the news of the batch, and last the result that marks it as answered as a whole."""
        store, keys, order = self.service.store, self.keys, self.order
        history, news = remember(
            matched_records(order.folder, None), self.service.history, run_id=order.id, now=order.now
        )
        totals.merge(history)
        if totals.failed_count:
            store.put(keys.incomplete_batch(self.batch), b"")
        result = BatchResult(attempt=self.attempt, totals=totals, news=news, spent=spent)
        result_document(keys, self.batch).put(store, result)
