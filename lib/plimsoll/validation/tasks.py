"""Running a task on a host: sent, waited for within bounds, and read."""

from typing import Final

from plimsoll.bench.answer import BenchAnswer, read_answer
from plimsoll.domain.errors import CloudError, NotMeasured
from plimsoll.domain.task import Task, TaskEnd, TaskOutcome
from plimsoll.ports import Bench, Target
from plimsoll.validation.patience import Patience

FAILED_LOOKS: Final = 5
"""How many looks at a command may fail one after another before it is given up."""

_ENDS: Final = {
    TaskEnd.FAILED: "failed",
    TaskEnd.TIMED_OUT: "ran into its time limit",
    TaskEnd.CANCELLED: "was cancelled, by somebody or by its alarm",
    TaskEnd.UNDELIVERED: "could not be delivered to the agent",
}


def run_task(task: Task, host_id: str, target: Target, *, bench: Bench, patience: Patience) -> BenchAnswer:
    """What a task printed on a host; NotMeasured when it failed, ended badly or did not end in time.

    A command that is given up is asked to stop; the document bounds itself on the host, so that it does stop.
    """
    command_id = bench.send(target, host_id, task)
    looks = _Looks(bench, target, host_id, command_id)
    limit_s = task.limit_s + patience.grace_s
    try:
        outcome = patience.wait_for(
            looks.look,
            limit_s=limit_s,
            otherwise=f"the command {command_id} on {host_id} did not end within {limit_s:,.0f} s: its agent may be "
            "dead. Look at the instance, or name another with --bench-host.",
        )
    except BaseException:
        _cancel(bench, target, host_id, command_id)
        raise
    if outcome.end is not TaskEnd.SUCCESS:
        raise NotMeasured(_why(outcome, command_id, host_id))
    return read_answer(outcome.output)


class _Looks:
    """Looks at a command, of which some in a row may fail."""

    def __init__(self, bench: Bench, target: Target, host_id: str, command_id: str) -> None:
        self._asked = (target, host_id, command_id)
        self._bench = bench
        self._failed = 0

    def look(self) -> TaskOutcome | None:
        try:
            found = self._bench.outcome(*self._asked)
        except CloudError:
            self._failed += 1
            if self._failed >= FAILED_LOOKS:
                raise
            return None
        self._failed = 0
        return found


def _cancel(bench: Bench, target: Target, host_id: str, command_id: str) -> None:
    try:
        bench.cancel(target, host_id, command_id)
    except CloudError:
        return  # the document's own limit ends it; why the command was given up is what people have to know


def _why(outcome: TaskOutcome, command_id: str, host_id: str) -> str:
    """The document's own sentence where it gave one, else how the command ended."""
    if outcome.output:
        try:
            read_answer(outcome.output)
        except NotMeasured as error:
            return str(error)
    reason = f" ({outcome.reason.rstrip('.')})" if outcome.reason else ""
    return (
        f"the command {command_id} on {host_id} {_ENDS[outcome.end]}{reason}. Nothing was measured; look at "
        "the command's error output, and try again."
    )
