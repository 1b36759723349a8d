"""Measuring: a run carried out at one go, on a scratch volume or where the volume is."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from plimsoll.bench.answer import BenchAnswer
from plimsoll.domain.scratch import ScratchOrder
from plimsoll.domain.validation import MeasuringRun, Mode
from plimsoll.ports import BenchHost
from plimsoll.reports.wording import duration
from plimsoll.validation.desk import Desk, Subject
from plimsoll.validation.preparing import Prepared, prepare
from plimsoll.validation.scratch_volume import Left, scratch_volume
from plimsoll.validation.tasks import run_task


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a bench host printed, the host, when that was, and for how many seconds a scratch volume was paid.

    `volumes` are those that carried the load together, more than one where a volume in use is one of a stripe set.
    """

    answer: BenchAnswer
    host: BenchHost
    at: datetime
    seconds: float
    volumes: int = 1


def measure(run: MeasuringRun, subject: Subject, mode: Mode, desk: Desk, left: Callable[[Left], None]) -> Measured:
    """Carries out a run; NotMeasured or CloudError where that fails, with nothing left behind but what `left` hears."""
    prepared = prepare(run, subject, mode, desk)
    if prepared.order is None:
        return _in_place(prepared, subject, desk)
    return _on_scratch(prepared, prepared.order, subject, desk, left)


def _on_scratch(
    prepared: Prepared, order: ScratchOrder, subject: Subject, desk: Desk, left: Callable[[Left], None]
) -> Measured:
    host, patience = prepared.host, desk.patience
    if subject.pool_gib is not None:
        desk.tell(
            f"{subject.volume.id} is to share what {subject.pool_gib:,} GiB of {order.spec.type} on its host carry: "
            "one volume as large is measured, and asked for what all of them need"
        )
    desk.tell(f"making a scratch volume of {order.spec} in {host.zone}, on {host.host.id} ({host.host.type})")
    with scratch_volume(order, host, prepared.target, bench=desk.bench, patience=patience, left=left) as volume_id:
        task = prepared.on(volume_id)
        desk.tell(f"measuring {volume_id} for about {duration(task.limit_s - patience.setting_up_s)}")
        answer = run_task(task, host.host.id, prepared.target, bench=desk.bench, patience=patience)
        desk.tell(f"measured; deleting {volume_id}")
    now = patience.now()
    return Measured(answer=answer, host=host, at=now, seconds=(now - prepared.began).total_seconds())


def _in_place(prepared: Prepared, subject: Subject, desk: Desk) -> Measured:
    host, volume_id = prepared.host, subject.volume.id
    what = volume_id if prepared.volumes == 1 else f"the stripe set of {', '.join(prepared.members)}"
    desk.tell(f"measuring {what} where it is, on {host.host.id}, within the free headroom of {volume_id}")
    answer = run_task(prepared.task, host.host.id, prepared.target, bench=desk.bench, patience=desk.patience)
    return Measured(answer=answer, host=host, at=desk.patience.now(), seconds=0.0, volumes=prepared.volumes)
