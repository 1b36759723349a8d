"""The kernel of jobs: a job's steps are taken, each may be repeated, and what comes of it is kept.

    take a step -> keep the job -> take the next, or wait -> ... -> done, or the way out

A job is its document. Whoever finds it goes on with it, whatever ended the process before. Two drivers take the same
steps: a loop on the command line, and a state machine, which waits between two functions of the service.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any, Final, Generic, Protocol, TypeVar

from plimsoll.jobs.document import StoredDocument
from plimsoll.model.errors import NotMeasured, PlimsollError
from plimsoll.ports import RunStore
from plimsoll.settings import Settings

LookResult = TypeVar("LookResult")

DONE: Final = "done"
"""The step of a job that has ended."""

LOOK_EVERY_S: Final = 60
"""Seconds between the state machine's looks at a command, which takes a day at most: an execution may have 25,000
events, and a look has nine of them (AWS Step Functions Developer Guide, "Service quotas", read 2026-11-21)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchPatience:
    """A clock, a pause, and the most seconds of each step."""

    now: Callable[[], datetime]
    pause: Callable[[float], None]
    every_s: float = 5.0
    create_s: float = 600.0
    attach_s: float = 180.0
    detach_s: float = 180.0
    setting_up_s: float = 600.0  # for a task's work on its host besides its jobs: installing fio, finding the device
    grace_s: float = 300.0  # for a command beyond its own limit, delivery included: a dead agent never ends it
    claim_s: float = 4 * 3600.0  # for another's measurement of the same class

    @classmethod
    def from_settings(
        cls, settings: Settings, *, now: Callable[[], datetime], pause: Callable[[float], None]
    ) -> "BenchPatience":
        """The patience of the settings."""
        return cls(
            now=now,
            pause=pause,
            every_s=settings.poll_s,
            attach_s=settings.volume_wait_s,
            detach_s=settings.volume_wait_s,
            setting_up_s=settings.setting_up_s,
            grace_s=settings.command_grace_s,
        )

    def longest(self, limit_s: float) -> timedelta:
        """The longest time that a task of that limit needs its scratch volume."""
        return timedelta(seconds=self.create_s + self.attach_s + limit_s + self.grace_s + 2 * self.detach_s)

    def wait_for(self, look: Callable[[], LookResult | None], *, limit_s: float, otherwise: str) -> LookResult:
        """The first result of `look` that is not None. Raises NotMeasured(otherwise) after the limit."""
        since = self.now()
        while (result := look()) is None:
            self.check(since, limit_s=limit_s, otherwise=otherwise)
            self.pause(self.every_s)
        return result

    def check(self, since: datetime, *, limit_s: float, otherwise: str) -> None:
        """Raises NotMeasured(otherwise) if the limit has passed since that time."""
        if self.now() >= since + timedelta(seconds=limit_s):
            raise NotMeasured(otherwise)


class ResumableJob(Protocol):
    """A document that knows its next step, DONE after the last."""

    @property
    def next(self) -> str: ...


class JobContext(Protocol):
    """The tools of a job's steps, as far as the kernel needs them."""

    @property
    def jobs(self) -> RunStore: ...

    @property
    def patience(self) -> BenchPatience: ...


JobT = TypeVar("JobT", bound=ResumableJob)
ContextT = TypeVar("ContextT", bound=JobContext)


@dataclass(frozen=True, slots=True)
class JobStepRow:
    """A row of a kind's step table. Its function looks or acts once, and never waits.

    It takes the job and its context, and returns the job after it. Its module is imported at the first call: a function
    of the service takes one or two steps.
    """

    function: str  # module:name
    every_s: int = 0  # until the state machine takes the step again, while the job has not left it


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedJob(Generic[JobT]):
    """A job that has left some steps or waits in one, and the error that ended it. None if it did not fail."""

    job: JobT
    error: PlimsollError | None = None


def _usual_pause_s(_jobs: Collection[object], patience: BenchPatience) -> float:
    return patience.every_s


@dataclass(frozen=True, slots=True, kw_only=True)
class JobKind(Generic[JobT, ContextT]):
    """A kind of job.

    A step that must not happen twice notes that it begins before its call, and reads the world before it repeats it.
    """

    document: Callable[[JobT], StoredDocument[JobT]]
    steps: Mapping[str, JobStepRow]
    way_out: str  # module:name of what frees, stops and deletes what a job holds, after an error
    pause_s: Callable[[Collection[JobT], BenchPatience], float] = _usual_pause_s  # while all jobs wait
    outlives_process: bool = False  # an interrupted process leaves the job to the next
    is_forgotten: bool = False  # the document goes with the end of the job

    def take(self, job: JobT, context: ContextT, step: str | None = None) -> JobT:
        """The job after a step, by default its next. It is kept if anything came of it."""
        after: JobT = _import_function(self.steps[step or job.next].function)(job, context)
        if self.is_forgotten and after.next == DONE:
            self.document(job).delete(context.jobs)
        elif after != job:
            self.document(after).put(context.jobs, after)
        return after

    def go_on(self, job: JobT, context: ContextT, steps: Collection[str]) -> JobT:
        """The job after as many of these steps as can be taken without waiting."""
        *_, latest = self._follow(job, context, steps)
        return latest

    def drive(self, jobs: Iterable[JobT], context: ContextT, steps: Collection[str]) -> Iterator[EndedJob[JobT]]:
        """Each job as it ends: it has left these steps, or failed and taken the way out. Pauses while all jobs wait.

        Interrupted, all of them take the way out, unless their kind outlives the process.
        """
        running = deque(jobs)
        try:
            while running:
                for _ in range(len(running)):
                    ended = self.advance(running[0], context, steps)
                    running.popleft()
                    if ended.error is None and ended.job.next in steps:
                        running.append(ended.job)
                    else:
                        yield ended
                if running:
                    context.patience.pause(self.pause_s(running, context.patience))
        except BaseException as error:
            for job in () if self.outlives_process else running:
                self.leave(job, error, context)
            raise

    def advance(self, job: JobT, context: ContextT, steps: Collection[str]) -> EndedJob[JobT]:
        """The job after as many of these steps as can be taken without waiting. One that failed takes the way out."""
        latest = job
        try:
            for after in self._follow(job, context, steps):
                latest = after
        except PlimsollError as error:
            return EndedJob(job=self.leave(latest, error, context), error=error)
        return EndedJob(job=latest)

    def _follow(self, job: JobT, context: ContextT, steps: Collection[str]) -> Iterator[JobT]:
        """The job, and what it becomes by each of these steps, until it has to wait in one."""
        yield job
        while (step := job.next) in steps:
            job = self.take(job, context)
            yield job
            if job.next == step:
                return

    def leave(self, job: JobT, error: BaseException, context: ContextT) -> JobT:
        """The job after its way out."""
        left: JobT = _import_function(self.way_out)(job, error, context)
        return left


def _import_function(path: str) -> Callable[..., Any]:
    module, _, name = path.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
