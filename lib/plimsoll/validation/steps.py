"""The steps of a validation by name. Each imports its module at its first call: a function of the service takes one or
two."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final

from plimsoll.validation.context import Context
from plimsoll.validation.job import Job, JobStep

StepFunction = Callable[[Job, Context], Job]


def _import_lazily(module: str, name: str) -> StepFunction:
    def take_step(job: Job, context: Context) -> Job:
        function: StepFunction = getattr(import_module(f"plimsoll.validation.{module}"), name)
        return function(job, context)

    return take_step


JOB_STEPS: Final[Mapping[JobStep, StepFunction]] = {
    JobStep.DECIDE: _import_lazily("deciding", "decide_run"),
    JobStep.PROPOSE: _import_lazily("proposing", "propose_run"),
    JobStep.CREATE: _import_lazily("measuring", "create"),
    JobStep.LOOK_AT_VOLUME: _import_lazily("measuring", "look_at_volume"),
    JobStep.ATTACH: _import_lazily("measuring", "attach"),
    JobStep.LOOK_AT_ATTACHMENT: _import_lazily("measuring", "look_at_attachment"),
    JobStep.SEND: _import_lazily("measuring", "send"),
    JobStep.LOOK_AT_COMMAND: _import_lazily("measuring", "look_at_command"),
    JobStep.CLEAN_UP: _import_lazily("measuring", "clean_up_run"),
    JobStep.CONCLUDE: _import_lazily("concluding", "conclude_run"),
}
