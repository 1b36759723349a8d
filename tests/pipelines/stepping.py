"""A laboratory whose validations are carried out step by step, as the state machine does it: in a plain loop."""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta

from functions.entry_point import message_types
from plimsoll.clouds.local_store import FolderStore
from plimsoll.clouds.validation_book import ValidationBook
from plimsoll.envelopes.library import load_library
from plimsoll.settings import Settings
from plimsoll_measure.validation.job import JobName, job_document
from plimsoll_service.choosing import choose_volumes
from plimsoll_service.config import ServiceConfig
from plimsoll_service.step_messages import StepError
from plimsoll_service.validating import (
    attach_scratch,
    clean_up_job,
    conclude_job,
    create_scratch,
    look_at_job,
    propose_measurement,
    send_command,
)
from plimsoll_service.validation_messages import ChooseMessage
from tests.builders import NOW
from tests.in_memory.service import MemoryClaims, MemoryEvents
from tests.service_loop import a_service

from .lab import DAYS, TYPES, Lab

STEPS = (
    "propose",
    "create_scratch",
    "look volume",
    "attach_scratch",
    "look attachment",
    "send_command",
    "look command",
    "clean_up",
    "conclude",
)
"""What an item goes through."""


def take_step(step, service, name, **more):
    """A step's answer to a message, or about a job by its name, in the message that the step itself takes."""
    if not isinstance(name, JobName):
        return step(service, name)
    about = {"validation": name.validation, "index": name.index, "job": name.key}
    return step(service, message_types(step)["message"].model_validate({**about, **more}))


class Killed(Exception):
    """The process of a step ended: nobody knows how far it came."""


@dataclass(frozen=True, kw_only=True)
class LabPlaces:
    """The lab's one account, entered anew by each step."""

    lab: Lab

    def accounts(self):
        return list(dict.fromkeys(target.account for target in self.lab.ports.inventory.targets()))

    def targets(self, account):
        return [target for target in self.lab.ports.inventory.targets() if target.account == account]

    def ports(self, target, *, now, measured, ledger, sharing=1):
        envelopes = tuple(load_library([measured], TYPES).envelopes.values())
        return replace(
            self.lab.ports,
            envelopes=envelopes,
            failed_measurements=ValidationBook(folder=measured).failed_measurements(),
        )

    def bench(self, target):
        return self.lab.bench

    def prober(self, target):
        return self.lab.bench


@dataclass(kw_only=True)
class Stepping:
    """A service over a lab. `times` is how often each step is called; `killed` names the step that is killed, before or
    after what it does, at its first `kills` calls; `attempts` is how often a step is tried before it is given up."""

    lab: Lab
    store: object = None
    times: int = 1
    killed: str | None = None
    after: bool = False
    kills: int = 1
    attempts: int = 1
    bounds: dict = field(default_factory=dict)
    calls: Counter = field(default_factory=Counter)

    def __post_init__(self):
        self.store = self.store or FolderStore(self.lab.folder / "store")
        self.claims, self.events = MemoryClaims(), MemoryEvents()

    @property
    def service(self):
        config = ServiceConfig.parse({"policy": {"lookback_days": DAYS, "risk_pct": 100}, "validation": self.bounds})
        return replace(
            a_service(config, LabPlaces(lab=self.lab), self.lab.folder, NOW),
            settings=Settings(volume_wait_s=60, command_grace_s=60),
            store=self.store,
            claims=self.claims,
            events=self.events,
            clock=self.lab.clock,
            pause=self.lab.pause,
        )

    def validate(self, name="v", **given):
        """Carries out a whole validation, item by item, and gives the job of each as it ended."""
        chosen = self.call("choose", choose_volumes, ChooseMessage(name=name, given=given or {"volume_id": "vol-1"}))
        names = [JobName(validation=name, index=index) for index in range(len(chosen.items))]
        for one in names:
            self.item(one)
        return [job_document(one).require(self.store) for one in names]

    def item(self, name):
        """The states of one item, each of which may fail: then it is cleaned up after."""
        try:
            while (proposed := self.call("propose", propose_measurement, name)).next != "done":
                if proposed.next == "wait":
                    self.lab.clock.time += timedelta(seconds=60)
                    continue
                if proposed.next == "create":
                    self.call("create_scratch", create_scratch, name)
                    self.until_ready("volume", name, wait_s=5)
                    self.call("attach_scratch", attach_scratch, name)
                    self.until_ready("attachment", name, wait_s=5)
                self.call("send_command", send_command, name)
                self.until_ready("command", name, wait_s=30)
                self.call("clean_up", clean_up_job, name)
                if not self.call("conclude", conclude_job, name).again:
                    return
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  # as States.ALL does
            self.rescue(name, StepError(error=type(error).__name__, cause=str(error)))

    def rescue(self, name, error):
        for _ in range(3):
            try:
                take_step(clean_up_job, self.service, name, error=error)
            except (Exception, KeyboardInterrupt):  # noqa: BLE001  # as a state's retry
                self.lab.clock.time += timedelta(seconds=5)
            else:
                return

    def until_ready(self, what, name, *, wait_s):
        while not self.call(f"look {what}", look_at_job, name, at=what).ready:
            self.lab.clock.time += timedelta(seconds=wait_s)

    def call(self, step, function, name, **more):
        for attempt in range(1, self.attempts + 1):
            try:
                return self._called(step, function, name, **more)
            except Exception:
                if attempt == self.attempts:
                    raise
                self.lab.clock.time += timedelta(seconds=5)
        raise AssertionError(step)

    def _called(self, step, function, name, **more):
        number = self.calls[step]
        self.calls[step] += 1
        is_killed = step == self.killed and number < self.kills
        if is_killed and not self.after:
            raise Killed(step)
        answers = [take_step(function, self.service, name, **more) for _ in range(self.times)]
        if is_killed:
            raise Killed(step)
        assert answers.count(answers[0]) == len(answers) or step.startswith("look")
        return answers[-1]
