"""The steps of a validation by name, and their context: ports, settings and listeners."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.jobs.kernel import LOOK_EVERY_S, BenchPatience, JobKind, JobStepRow
from plimsoll.model.market import VolumeType
from plimsoll.model.policy import Policy
from plimsoll.model.task import ScratchBounds
from plimsoll.ports import Bench, Claims, RunStore, Target
from plimsoll_measure.runs import MeasuringRun, PlannedRun
from plimsoll_measure.validation.job import Job, JobStep, job_document
from plimsoll_measure.validation.scratch_volume import Left

if TYPE_CHECKING:
    from plimsoll.auditing.ports import AuditPorts  # only the steps that decide have it

Agree = Callable[[Sequence[PlannedRun], Sequence[MeasuringRun]], None]
"""A listener for the planned runs and those outside the budget. It raises if the user does not agree."""


def agree_to_all(_planned: Sequence[PlannedRun], _left: Sequence[MeasuringRun]) -> None:
    """Agrees to every plan."""


class Verdicts(Protocol):
    """A store of verdicts and their campaigns. All methods raise CloudError or BadInput."""

    def lines(self) -> Iterable[ValidationLine]:
        """Every verdict, oldest first."""
        ...

    def keep(self, campaign: Path, line: ValidationLine) -> None:
        """Keeps a verdict and the file of its campaign. A second call changes nothing."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The ports, the rules and the listeners."""

    bench: Callable[[Target], Bench]
    ports: Callable[[Target, datetime], AuditPorts]  # of a place at a time, with all measurements so far
    types: Mapping[str, VolumeType]
    verdicts: Verdicts
    claims: Claims
    jobs: RunStore
    policy: Policy
    patience: BenchPatience
    runtime_s: int
    ramp_s: int
    say: Callable[[str], None]  # hears each step as a sentence
    host_ids: tuple[str, ...] = ()  # bench hosts by id, in place of those with the policy's tags
    in_place_file_mib: int = 2048  # the size of the file on a volume in use
    scratch_bounds: ScratchBounds | None = None  # None if the caller's permissions alone limit scratch volumes
    report: Callable[[ValidationLine], None] = lambda _line: None  # hears each verdict once
    left: Callable[[Left], None] = lambda _left: None  # hears of each volume that could not be deleted
    agree: Agree = agree_to_all  # hears the first plan

    def keep(self, job: Job) -> Job:
        return job_document(job.name).put(self.jobs, job)

    def now(self) -> datetime:
        return self.patience.now()


_MEASURING: Final = "plimsoll_measure.validation.measuring"

VALIDATIONS: Final[JobKind[Job, Context]] = JobKind(
    document=lambda job: job_document(job.name),
    steps={
        JobStep.DECIDE: JobStepRow("plimsoll_measure.validation.deciding:decide_run"),
        JobStep.PROPOSE: JobStepRow("plimsoll_measure.validation.proposing:propose_run", every_s=60),
        JobStep.CREATE: JobStepRow(f"{_MEASURING}:create"),
        JobStep.LOOK_AT_VOLUME: JobStepRow(f"{_MEASURING}:look_at_volume", every_s=5),
        JobStep.ATTACH: JobStepRow(f"{_MEASURING}:attach"),
        JobStep.LOOK_AT_ATTACHMENT: JobStepRow(f"{_MEASURING}:look_at_attachment", every_s=5),
        JobStep.SEND: JobStepRow(f"{_MEASURING}:send"),
        JobStep.LOOK_AT_COMMAND: JobStepRow(f"{_MEASURING}:look_at_command", every_s=LOOK_EVERY_S),
        JobStep.CLEAN_UP: JobStepRow(f"{_MEASURING}:clean_up_run"),
        JobStep.CONCLUDE: JobStepRow("plimsoll_measure.validation.concluding:conclude_run"),
    },
    way_out=f"{_MEASURING}:fail_by",
)
"""Validations. A scratch volume that the way out cannot delete is left to the sweep."""
