"""The job of a validation: one volume, its present measurement, and its verdicts so far.

It is one document, kept after each step. Whoever finds it can go on with it, whatever ended the process before.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.demand.workload import WorkloadShape
from plimsoll.jobs.document import StoredDocument
from plimsoll.jobs.kernel import DONE
from plimsoll.model.ceiling import Need
from plimsoll.model.errors import BadInput
from plimsoll.model.task import ScratchOrder, Task, TaskOutcome
from plimsoll.model.volume import Volume, VolumeSpec
from plimsoll.ports import BenchHost, Claims, RunStore, Target
from plimsoll.reports.record import RecommendationRecord
from plimsoll_measure.runs import Budget, MeasuringRun, Mode

JOBS: Final = "validations/"
_KEY: Final = re.compile(JOBS + r"(?P<validation>[^/]+)/(?P<index>\d+)\.json")


class JobStep(StrEnum):
    """The next step of a job."""

    DECIDE = "decide"
    PROPOSE = "propose"
    CREATE = "create"
    LOOK_AT_VOLUME = "look-at-volume"
    ATTACH = "attach"
    LOOK_AT_ATTACHMENT = "look-at-attachment"
    SEND = "send"
    LOOK_AT_COMMAND = "look-at-command"
    CLEAN_UP = "clean-up"
    CONCLUDE = "conclude"
    DONE = DONE


MEASURING_STEPS: Final = frozenset(JobStep) - {JobStep.DECIDE, JobStep.DONE}
"""The steps from a decision to its verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobName:
    """An item of a validation, by its number from 0."""

    validation: str
    index: int

    @property
    def key(self) -> str:
        return f"{JOBS}{self.validation}/{self.index}.json"

    @property
    def holder(self) -> str:
        """The name under which the job claims."""
        return f"{self.validation}/{self.index}"

    @property
    def scratch_id(self) -> str:
        """The tag of all its scratch volumes. They are found by it even if the document is lost."""
        return f"{self.validation}-{self.index}"

    @classmethod
    def from_key(cls, key: str) -> "JobName":
        """The item with that document key. Raises BadInput if the key is another's."""
        match = _KEY.fullmatch(key)
        if match is None:
            raise BadInput(f"{key} is no job of a validation: begin with `choose`, and pass on what it gives.")
        return cls(validation=match["validation"], index=int(match["index"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The volume whose workload is run. Need and peaks are counted as the ceiling of the run counts."""

    volume: Volume
    need: Need  # that of all volumes that share the target's type
    shape: WorkloadShape | None  # with real rates; None without any I/O
    peak_iops: float
    peak_throughput_mib_s: float
    today_mean_latency_us: float | None  # None if the cloud publishes none
    pool_gib: int | None = None  # the size of all volumes that share the target's type


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The next run and the volume whose workload it has. `usd_month` is the list price of the spec."""

    run: MeasuringRun
    subject: Subject
    usd_month: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A measurement with its host and task, ready to begin."""

    host: BenchHost
    task: Task
    began: datetime  # from then on the scratch volume is paid
    order: ScratchOrder | None = None  # of the scratch volume; None in place
    members: tuple[str, ...] = ()  # the volumes that carry the load in place, several of a stripe set

    @property
    def volumes(self) -> int:
        """The number of volumes that carry the load together."""
        return max(1, len(self.members))


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuringAttempt:
    """One measurement and its progress. Times are those of a step's first call: limits count from there."""

    number: int
    proposal: Proposal
    prepared: Prepared
    creating: datetime | None = None
    volume_id: str | None = None
    made: bool = False
    attaching: datetime | None = None
    attached: bool = False
    sending: datetime | None = None
    command_id: str | None = None
    failed_looks: int = 0
    outcome: TaskOutcome | None = None
    cleaned: datetime | None = None  # the scratch volume was gone
    judged: datetime | None = None
    reported: bool = False  # others have heard of the verdict

    @property
    def next(self) -> JobStep:
        """The next step of the measurement."""
        on_scratch = self.prepared.order is not None
        ahead = (
            (JobStep.CREATE, on_scratch and self.volume_id is None),
            (JobStep.LOOK_AT_VOLUME, on_scratch and not self.made),
            (JobStep.ATTACH, on_scratch and self.attaching is None),
            (JobStep.LOOK_AT_ATTACHMENT, on_scratch and not self.attached),
            (JobStep.SEND, self.command_id is None),
            (JobStep.LOOK_AT_COMMAND, self.outcome is None),
            (JobStep.CLEAN_UP, self.cleaned is None),
        )
        return next((step for step, is_ahead in ahead if is_ahead), JobStep.CONCLUDE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """An item of a validation."""

    name: JobName
    place: Target
    volume_id: str
    mode: Mode
    now: datetime  # the time of the decision
    budget: Budget
    asked: str | None = None  # the user's target; None for the recommended one
    asked_spec: VolumeSpec | None = None  # the configuration that it names
    following: MeasuringRun | None = None  # the run that was chosen beforehand
    to_decide: bool = True  # there is no decision yet, or none since the last verdict
    before: RecommendationRecord | None = None  # the recommendation at the job's beginning
    after: RecommendationRecord | None = None  # that since its last verdict
    tried: tuple[str, ...] = ()
    lines: tuple[ValidationLine, ...] = ()
    proposal: Proposal | None = None
    attempt: MeasuringAttempt | None = None
    claimed: str | None = None  # the class that it claims, or waits for
    claimed_host: str | None = None  # the bench host: two loads on one host would each measure the other
    waiting_since: datetime | None = None
    note: str | None = None  # the reason why it ended without a measurement
    bench_limits: int = 0  # the tries of the present run whose bench was the limit
    vain_usd: tuple[float, ...] = ()  # the costs of such tries' scratch volumes, those of earlier runs included

    @property
    def next(self) -> JobStep:
        """The next step of the job."""
        if self.attempt is not None:
            return self.attempt.next
        if self.note is not None:
            return JobStep.DONE
        if self.to_decide:
            return JobStep.DECIDE
        return JobStep.DONE if self.proposal is None else JobStep.PROPOSE

    @property
    def usd(self) -> float:
        """The cost of its scratch volumes so far, USD."""
        return sum(self.vain_usd) + sum(line.usd or 0.0 for line in self.lines)

    @property
    def current_attempt(self) -> MeasuringAttempt:
        """The measurement that is under way. Raises BadInput if there is none."""
        if self.attempt is None:
            raise BadInput(f"nothing is being measured for {self.name.key}: propose first.")
        return self.attempt

    @property
    def run(self) -> MeasuringRun | None:
        """The run that is proposed or under way."""
        proposal = self.proposal if self.attempt is None else self.attempt.proposal
        return None if proposal is None else proposal.run

    def claim_on(self, run: MeasuringRun) -> str:
        """The key of a claim that one job holds at a time: on a class, or on a volume itself or its copy."""
        canary = self.mode is Mode.CANARY
        return run.class_key if canary else f"{self.mode.value}/{self.volume_id}/{run.class_key}"

    @property
    def claims(self) -> tuple[str, ...]:
        """The keys that it claims or waits for."""
        return tuple(key for key in (self.claimed, self.claimed_host) if key is not None)

    def release(self, claims: Claims) -> None:
        for key in self.claims:
            claims.release(key, self.name.holder)

    def update_attempt(self, **facts: object) -> "Job":
        """The job with new facts of its present measurement."""
        return replace(self, attempt=replace(self.current_attempt, **facts))  # type: ignore[arg-type]  # named as the fields are

    def end_run(self, **facts: object) -> "Job":
        """The job after its run was measured or failed: without proposal and claims, with those facts."""
        tried = self.tried if self.run is None else (*self.tried, self.run.class_key)
        job = replace(self, tried=tried, following=None, proposal=None, attempt=None, to_decide=True, bench_limits=0)
        free = replace(job, claimed=None, claimed_host=None, waiting_since=None)
        return replace(free, **facts)  # type: ignore[arg-type]  # named as the fields are


def job_of_class(run: MeasuringRun, name: JobName, place: Target, now: datetime, *, budget: Budget) -> Job:
    """The job of a class of thin recommendations. Its volume is the one with the most at stake."""
    return Job(
        name=name,
        place=place,
        volume_id=run.wants[0].volume_id,
        mode=Mode.CANARY,
        now=now,
        budget=budget,
        following=run,
    )


def job_document(name: JobName) -> StoredDocument[Job]:
    return StoredDocument(name.key, Job, noun="job", remedy="begin a new validation")


def find_job(name: JobName, store: RunStore) -> Job | None:
    """The job as last kept. None if there is none. Raises BadInput if its document is damaged."""
    return job_document(name).get(store)
