"""Processes that carry a plan out and are killed (SIGKILL), one after another, against an EC2 that goes on living.

    process 1 -> killed -> process 2 -> killed -> ... -> the last one ends by itself

The simulated account is a process of its own. Half of the kills come before or after a call, a write of the ledger or
a judgement; the others whenever the time is up. Some answers of ModifyVolume are lost as well.
"""

import json
import math
import os
import random
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from cloud_simulator.aws.cloudwatch import CloudWatch
from cloud_simulator.aws.fleet import Fleet
from cloud_simulator.aws.server import Front, serve
from cloud_simulator.clock import FAULTS_PATH, SimulatedClock, call_control
from cloud_simulator.devices.block_devices import Devices
from cloud_simulator.faults import Effect, Fault
from cloud_simulator.metrics.modifications import Modification
from cloud_simulator.metrics.unrest import Unrest
from cloud_simulator.running import Running
from plimsoll.bootstrap.clocks import SimulationClock
from plimsoll.clouds.common.calls import Pacer
from plimsoll.clouds.scope import Scope
from plimsoll.settings import Settings
from plimsoll_change.judging import MetricsJudge
from plimsoll_change.ledger import ChangeLedger, Leg, find_starts
from plimsoll_change.line import LineStep
from plimsoll_change.opening import find_plan, open_ledger, open_rollout, open_store
from plimsoll_change.people import note_approval
from plimsoll_change.plan import ChangePlan
from plimsoll_change.plan_files import keep_plan
from plimsoll_change.progress import Progress
from tests.changes.simulated import ACCOUNT, NOW, REGION, SimulatedChange, draw_changes, plan_changes

LINES = 5
ENDED, KILLED = 0, -signal.SIGKILL
_MOST_POINTS = 30
"""Calls, writes and judgements of a few passes."""

_MOST_S = 1.5
_LOST_SHARE = 0.2
_READY_S = 600


@dataclass(kw_only=True)
class Points:
    """The calls, writes and judgements of a process, which is killed at one of them."""

    left: int

    def pass_point(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class Mortal:
    """An object before and after each of whose calls the process may be killed."""

    def __init__(self, inside: Any, points: Points) -> None:
        self._inside, self._points = inside, points

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inside, name)
        if not callable(value):
            return value

        def call(*words: Any, **named: Any) -> Any:
            self._points.pass_point()
            answer = value(*words, **named)
            self._points.pass_point()
            return answer

        return call


@dataclass(kw_only=True)
class KilledWorld:
    """A plan, its account, and the processes so far."""

    plan: ChangePlan
    changes: Sequence[SimulatedChange]
    organization: Running
    settings: Settings
    judge: MetricsJudge | None = None  # in the place of the one that reads metrics
    endings: list[int] = field(default_factory=list)

    @property
    def kills(self) -> int:
        return self.endings.count(KILLED)

    def run_process(self, chance: random.Random | None) -> int:
        """A process that carries the plan out until it is killed by chance (None: never). Gives how it ended."""
        if chance is not None and chance.random() < _LOST_SHARE:
            lost = Fault(operation="ModifyVolume", effect=Effect.LOST, times=1)
            call_control(self.organization.endpoint, "POST", FAULTS_PATH, [asdict(lost)])
        by_point = chance is not None and chance.random() < 0.5
        points = Points(left=chance.randint(1, _MOST_POINTS) if chance is not None and by_point else 0)
        limit_s = None if chance is None or by_point else chance.uniform(0.05, _MOST_S)
        reads, ready = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reads)
            self._carry_out(points, ready)
        os.close(ready)
        os.read(reads, 1)  # it has signed in, and begins
        os.close(reads)
        if limit_s is not None:
            time.sleep(limit_s)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        self.endings.append(os.waitstatus_to_exitcode(status))
        return self.endings[-1]

    def _carry_out(self, points: Points, ready: int) -> None:
        """Is the process from here on."""
        code = 70
        try:
            os.environ.update({**self.organization.environment, **self.organization.clock_environment})
            rollout = open_rollout(self.open_ledger(), self.settings, lambda _text: None)
            context = rollout.context
            changer = context.changer.tools("aws").changer  # type: ignore[attr-defined]  # it signs in
            changer.lookups = Pacer(math.inf)  # real seconds are not waited for
            context.ledger.store = Mortal(context.ledger.store, points)
            rollout.context = replace(
                context, changer=Mortal(context.changer, points), claims=Mortal(context.claims, points)
            )
            rollout.judge = Mortal(self.judge or rollout.judge, points)
            os.write(ready, b".")
            rollout.run()
            code = ENDED
        finally:
            os._exit(code)

    def open_ledger(self) -> ChangeLedger:
        """The ledger as a new process reads it, of the plan in its file."""
        return open_ledger(find_plan(self.plan.id, self.settings), self.settings)

    @property
    def modifications(self) -> list[Modification]:
        return self.organization.modifications()

    @property
    def progress(self) -> Progress:
        return Progress.read(self.open_ledger())

    def find_wrongs(self) -> Iterator[str]:
        """Every volume that was changed twice or lost, and every slot that the ledger does not account for.

        One that the cloud was never asked for is lost unless its class stopped before.
        """
        made, progress = self.modifications, self.progress
        is_stopped = any(each.stop for each in progress.classes.values())
        for job in progress.jobs.values():
            line, own = job.line, [each for each in made if each.volume_id == job.line.volume_id]
            for name, target in (("forth", line.then), ("back", line.back)):
                arrived = [each for each in own if each.after == target and not each.is_failed]
                if len(arrived) > 1:
                    yield f"{line.id}: changed {name} {len(arrived)} times"
            if strange := [each.after for each in own if each.after not in (line.then, line.back)]:
                yield f"{line.id}: changed to {strange}"
            is_asked = job.leg is Leg.BACK or bool(find_starts(job.facts))
            if job.next is not LineStep.DONE and (is_asked or not is_stopped):
                yield f"{line.id}: lost at {job.next}"
            spent = sorted(int(each.started_s) for each in own)
            noted = sorted(int(started.timestamp()) for started in find_starts(job.facts))
            if spent != noted:
                yield f"{line.id}: slots spent at {spent}, noted at {noted}"


@contextmanager
def killed_world(folder: Path, seed: int, *, judge: MetricsJudge | None = None) -> Iterator[KilledWorld]:
    """A new account and an approved plan of some changes, most of which do harm."""
    changes = draw_changes(LINES, seed, harmed=0.6, raised=0.0)
    fleet = Fleet(
        now=NOW,
        accounts=(ACCOUNT,),
        regions=(REGION,),
        volumes=tuple(change.volume for change in changes),
        unrest=Unrest(seed=seed),
    )
    with _served(fleet) as organization:
        settings = Settings(runs_dir=folder)
        drawn = plan_changes(changes, ())
        scope = Scope(clouds=("aws",), regions=(REGION,)).as_dict()
        plan = keep_plan(open_store(settings), replace(drawn, id=f"killed-{seed}", scope=scope, digest=""))
        time_there = SimulationClock(organization.clock_environment["PLIMSOLL_SIMULATED_CLOCK"])
        missing = note_approval(open_ledger(plan, settings), by="ada", at=time_there.now())
        assert missing is None, missing
        yield KilledWorld(plan=plan, changes=changes, organization=organization, settings=settings, judge=judge)


@contextmanager
def _served(fleet: Fleet) -> Iterator[Running]:
    """The account in a process of its own, which ends with the block."""
    reads, port_file = os.pipe()
    hold, stays = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        os.close(stays)
        _serve_until(fleet, port_file, hold)
    os.close(port_file)
    os.close(hold)
    try:
        with os.fdopen(reads) as told:
            port = json.loads(told.readline())
        yield Running(endpoint=f"http://127.0.0.1:{port}", fleet=fleet)
    finally:
        os.close(stays)
        os.waitpid(child, 0)


def _serve_until(fleet: Fleet, port_file: int, hold: int) -> None:
    """Is the simulated account until the other end of `hold` is closed."""
    try:
        front = Front(
            fleet, CloudWatch(fleet), devices=Devices(plain=True), clock=SimulatedClock(fleet.now, passing=False)
        )
        server = serve(front)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        os.write(port_file, f"{server.server_port}\n".encode())
        os.read(hold, 1)
    finally:
        os._exit(0)
