"""The steps of a validation by name. Each imports what carries it out when it is taken: a function of the service takes
one or two."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final

from plimsoll.validation.context import Context
from plimsoll.validation.job import Job, Step

Taken = Callable[[Job, Context], Job]


def _from(module: str, name: str) -> Taken:
    def taken(job: Job, context: Context) -> Job:
        found: Taken = getattr(import_module(f"plimsoll.validation.{module}"), name)
        return found(job, context)

    return taken


STEPS: Final[Mapping[Step, Taken]] = {
    Step.DECIDE: _from("deciding", "decide"),
    Step.PROPOSE: _from("proposing", "propose"),
    Step.CREATE: _from("measuring", "create"),
    Step.LOOK_AT_VOLUME: _from("measuring", "look_at_volume"),
    Step.ATTACH: _from("measuring", "attach"),
    Step.LOOK_AT_ATTACHMENT: _from("measuring", "look_at_attachment"),
    Step.SEND: _from("measuring", "send"),
    Step.LOOK_AT_COMMAND: _from("measuring", "look_at_command"),
    Step.CLEAN_UP: _from("measuring", "clean_up"),
    Step.CONCLUDE: _from("concluding", "conclude"),
}
