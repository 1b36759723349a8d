"""Preparing: what a run needs before anything is made: its host, its task, and the order of its scratch volume."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from plimsoll.domain.errors import NotMeasured
from plimsoll.domain.scratch import ScratchOrder
from plimsoll.domain.task import Task, TaskMode
from plimsoll.domain.validation import MeasuringRun, Mode
from plimsoll.ports import BenchHost, Target
from plimsoll.validation.desk import Desk, Subject
from plimsoll.validation.hosts import choose
from plimsoll.validation.inspecting import stripe_sets
from plimsoll.validation.jobs import job_of, seconds_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What is to be carried out. `order` is that of the scratch volume which is made first, None where the volume is
    measured in place; `began` is from when on that is paid; `members` are the volumes that carry the load together in
    place, more than one where the volume is one of a stripe set."""

    target: Target
    host: BenchHost
    task: Task
    began: datetime
    order: ScratchOrder | None = None
    members: tuple[str, ...] = ()

    @property
    def volumes(self) -> int:
        """How many volumes carry the load together."""
        return max(1, len(self.members))

    def on(self, volume_id: str) -> Task:
        """The task on the scratch volume that was made."""
        return replace(self.task, volume_id=volume_id)


def prepare(run: MeasuringRun, subject: Subject, mode: Mode, desk: Desk) -> Prepared:
    """Chooses the host and writes the job of a run; nothing is made yet. NotMeasured or CloudError where there is no
    host, or nothing to measure by."""
    job = job_of(run, subject, mode, desk)
    limit_s = round(seconds_of(job, run, mode, desk) + desk.patience.setting_up_s)
    if mode is Mode.IN_PLACE:
        return _in_place(job, limit_s, subject, desk)
    return _on_scratch(run, job, limit_s, subject if mode is Mode.COPY else None, desk)


def _on_scratch(run: MeasuringRun, job: str, limit_s: int, copied: Subject | None, desk: Desk) -> Prepared:
    first = run.wants[0]
    target = desk.target(first.account, first.region)
    _check_makeable(run, desk)
    if copied is not None:
        _settled(copied)
    zones = run.zones if copied is None else (copied.volume.zone,)
    tags = () if desk.host_ids else desk.policy.bench_hosts
    host = choose(desk.bench.hosts(target, tags, desk.host_ids), run.spec, run.ceiling, zones, desk.is_free)
    began = desk.patience.now()
    order = ScratchOrder(
        validation_id=desk.new_id(),
        account=first.account,
        region=first.region,
        zone=host.zone,
        spec=run.spec,
        deadline=began + max(timedelta(hours=desk.policy.scratch_hours), desk.patience.longest(limit_s)),
        source=None if copied is None else copied.volume.id,
    )
    task = Task(
        mode=TaskMode.DEVICE,
        job=job,
        limit_s=limit_s,
        initialize=copied is not None,
        alarm=desk.policy.bench_alarm,
    )
    return Prepared(target=target, host=host, task=task, began=began, order=order)


def _in_place(job: str, limit_s: int, subject: Subject, desk: Desk) -> Prepared:
    volume, policy = subject.volume, desk.policy
    _settled(subject)
    if len(volume.hosts) != 1:
        raise NotMeasured(f"{volume.id} is not attached to exactly one known host: measure it with the mode canary.")
    target = desk.target(volume.account, volume.region)
    (host,) = desk.bench.hosts(target, (), (volume.hosts[0].id,))
    if not host.ready:
        raise NotMeasured(host.not_ready)
    began = desk.patience.now()
    sets = stripe_sets(host.host.id, target, began.date(), bench=desk.bench, patience=desk.patience)
    task = Task(
        mode=TaskMode.FILE,
        volume_id=volume.id,
        job=job,
        limit_s=limit_s,
        file_size_mib=desk.in_place_file_mib,
        most_queue=policy.in_place_most_queue,
        most_latency_us=policy.in_place_most_latency_us,
        alarm=policy.bench_alarm,
    )
    members = next((found.members for found in sets if volume.id in found.members), (volume.id,))
    return Prepared(target=target, host=host, task=task, began=began, members=members)


def _check_makeable(run: MeasuringRun, desk: Desk) -> None:
    """Refuses what no scratch volume can show: it is made in one zone, and as one volume."""
    kind = desk.types[run.spec.type]
    if kind.zones > 1:
        raise NotMeasured(
            f"{kind.name} is kept in {kind.zones} zones, and a scratch volume is made in one: {run.spec} is not "
            "measured."
        )
    if run.spec.size_gib > kind.most_size_gib:
        raise NotMeasured(
            f"{run.wants[0].volume_id} is to share what {run.spec.size_gib:,} GiB of {kind.name} on its host carry, "
            f"and one volume has at most {kind.most_size_gib:,} GiB: none can show it."
        )


def _settled(subject: Subject) -> None:
    """Refuses to measure what is still changing: during a modification a volume shows neither what it was nor is."""
    latest = subject.volume.modification
    if latest is not None and latest.in_progress:
        raise NotMeasured(f"{subject.volume.id} is being modified ({latest.state}): measure it when that is completed.")
