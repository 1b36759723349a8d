"""Inspecting: a host asked how its volumes are put together, by the same document that measures, read-only."""

from datetime import date

from plimsoll.bench.inspection import stacks
from plimsoll.domain.errors import NotMeasured
from plimsoll.domain.stripes import StripeSet
from plimsoll.domain.task import Task, TaskMode
from plimsoll.ports import Bench, Target
from plimsoll.validation.patience import Patience
from plimsoll.validation.tasks import run_task

LIMIT_S = 120
"""Looking at block devices takes a second; a host that needs longer than this has other troubles."""


def stripe_sets(host_id: str, target: Target, today: date, *, bench: Bench, patience: Patience) -> list[StripeSet]:
    """The md and LVM devices of a host that are made of its volumes; NotMeasured or CloudError where it cannot tell."""
    answer = run_task(Task(mode=TaskMode.INSPECT, limit_s=LIMIT_S), host_id, target, bench=bench, patience=patience)
    if answer.inspection is None:
        raise NotMeasured(f"{host_id} in {target} did not say how its volumes are put together: try again.")
    return [
        StripeSet(
            name=stack.name,
            account=target.account,
            region=target.region,
            host_id=host_id,
            members=stack.members,
            level=stack.level or "unknown",
            mounts=stack.mounts,
            found=today,
        )
        for stack in stacks(answer.inspection)
    ]
