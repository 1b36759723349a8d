"""Commands: tasks that were sent to a host. They are looked at until they end, and read."""

from dataclasses import dataclass
from datetime import date
from typing import Final

from plimsoll.decide.groups import StripeSet
from plimsoll.jobs.kernel import BenchPatience
from plimsoll.model.errors import CloudError, NotMeasured
from plimsoll.model.task import Task, TaskEnd, TaskMode, TaskOutcome
from plimsoll.ports import Bench, Target
from plimsoll_measure.bench.answer import BenchAnswer, read_bench_answer
from plimsoll_measure.bench.inspection import stacks

FAILED_LOOKS: Final = 5
"""A command is given up after this many failed looks in a row."""

LOOKING_S: Final = 120
"""An inspection takes a second. A host that needs longer than this has other troubles."""

_ENDS: Final = {
    TaskEnd.FAILED: "failed",
    TaskEnd.TIMED_OUT: "ran into its time limit",
    TaskEnd.CANCELLED: "was cancelled, by somebody or by its alarm",
    TaskEnd.UNDELIVERED: "could not be delivered to the agent",
}


def command_s(task: Task, patience: BenchPatience) -> float:
    """The seconds after which the command of a task is given up."""
    return task.limit_s + patience.grace_s


@dataclass(slots=True, kw_only=True)
class HostCommand:
    """A command that was sent to a host, and its number of failed looks in a row."""

    id: str
    target: Target
    host_id: str
    failed_looks: int = 0

    def look(self, bench: Bench) -> TaskOutcome | None:
        """The command's outcome. None while it runs or a look fails. Raises CloudError after too many in a row."""
        try:
            outcome = bench.outcome(self.target, self.host_id, self.id)
        except CloudError:
            self.failed_looks += 1
            if self.failed_looks >= FAILED_LOOKS:
                raise
            return None
        self.failed_looks = 0
        return outcome

    def overdue(self, limit_s: float) -> str:
        """The sentence for a command that has not ended in time."""
        return (
            f"the command {self.id} on {self.host_id} did not end within {limit_s:,.0f} s: its agent may be dead. "
            "Look at the instance, or name another with --bench-host."
        )

    def give_up(self, bench: Bench) -> None:
        """Asks the command to stop."""
        try:
            bench.cancel(self.target, self.host_id, self.id)
        except CloudError:
            return  # the document's own limit ends it; why the command was given up is what people have to know

    def answer(self, outcome: TaskOutcome) -> BenchAnswer:
        """The command's answer. Raises NotMeasured if it ended badly, in the document's own words if it has any."""
        if outcome.end is TaskEnd.SUCCESS:
            return read_bench_answer(outcome.output)
        if outcome.output:
            read_bench_answer(outcome.output)
        reason = f" ({outcome.reason.rstrip('.')})" if outcome.reason else ""
        raise NotMeasured(
            f"the command {self.id} on {self.host_id} {_ENDS[outcome.end]}{reason}. Nothing was measured; look at "
            "the command's error output, and try again."
        )


def stripe_sets(host_id: str, target: Target, today: date, *, bench: Bench, patience: BenchPatience) -> list[StripeSet]:
    """The md and LVM devices of a host that are made of its volumes.

    Raises NotMeasured or CloudError if the host cannot tell. The document bounds itself on the host, so that a command
    that is given up does stop.
    """
    task = Task(mode=TaskMode.INSPECT, limit_s=LOOKING_S)
    command = HostCommand(id=bench.send(target, host_id, task), target=target, host_id=host_id)
    limit_s = command_s(task, patience)
    try:
        outcome = patience.wait_for(lambda: command.look(bench), limit_s=limit_s, otherwise=command.overdue(limit_s))
    except BaseException:
        command.give_up(bench)
        raise
    answer = command.answer(outcome)
    if answer.inspection is None:
        raise NotMeasured(f"{host_id} in {target} did not say how its volumes are joined: try again.")
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
