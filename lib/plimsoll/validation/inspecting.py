"""Inspecting: a host asked how its volumes are put together, by the same document that measures, read-only."""

from datetime import date

from plimsoll.bench.answer import BenchAnswer
from plimsoll.bench.inspection import stacks
from plimsoll.domain.errors import NotMeasured
from plimsoll.domain.stripes import StripeSet
from plimsoll.domain.task import Task, TaskMode
from plimsoll.ports import Bench, Target
from plimsoll.validation.command import Command, command_s
from plimsoll.validation.patience import Patience

LIMIT_S = 120
"""Looking at block devices takes a second; a host that needs longer than this has other troubles."""


def stripe_sets(host_id: str, target: Target, today: date, *, bench: Bench, patience: Patience) -> list[StripeSet]:
    """The md and LVM devices of a host that are made of its volumes; NotMeasured or CloudError where it cannot tell."""
    answer = _run(Task(mode=TaskMode.INSPECT, limit_s=LIMIT_S), host_id, target, bench=bench, patience=patience)
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


def _run(task: Task, host_id: str, target: Target, *, bench: Bench, patience: Patience) -> BenchAnswer:
    """What a task printed on a host; NotMeasured when it failed, ended badly or did not end in time.

    A command that is given up is asked to stop; the document bounds itself on the host, so that it does stop.
    """
    command = Command(id=bench.send(target, host_id, task), target=target, host_id=host_id)
    limit_s = command_s(task, patience)
    try:
        outcome = patience.wait_for(lambda: command.look(bench), limit_s=limit_s, otherwise=command.overdue(limit_s))
    except BaseException:
        command.give_up(bench)
        raise
    return command.answer(outcome)
