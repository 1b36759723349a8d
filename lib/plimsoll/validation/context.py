"""The context of a validation's steps: ports, settings and listeners."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.measure.runs import MeasuringRun, PlannedRun
from plimsoll.model.market import VolumeType
from plimsoll.model.policy import Policy
from plimsoll.model.task import ScratchBounds
from plimsoll.ports import Bench, Claims, RunStore, Target
from plimsoll.validation.job import Job, keep_job
from plimsoll.validation.patience import BenchPatience
from plimsoll.validation.scratch_volume import Left

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
    """The ports and the rules.

    `ports` are those of a place at a time, with all measurements so far. `host_ids` are bench hosts by id, in place of
    those with the policy's tags. `in_place_file_mib` is the size of the file on a volume in use. `report` hears each
    verdict once, `left` each volume that could not be deleted, `say` each step as a sentence, `agree` the first plan.
    `scratch_bounds` is the largest scratch volume that may be made. None if the caller's permissions alone limit it.
    """

    bench: Callable[[Target], Bench]
    ports: Callable[[Target, datetime], AuditPorts]
    types: Mapping[str, VolumeType]
    verdicts: Verdicts
    claims: Claims
    jobs: RunStore
    policy: Policy
    patience: BenchPatience
    runtime_s: int
    ramp_s: int
    say: Callable[[str], None]
    host_ids: tuple[str, ...] = ()
    in_place_file_mib: int = 2048
    scratch_bounds: ScratchBounds | None = None
    report: Callable[[ValidationLine], None] = lambda _line: None
    left: Callable[[Left], None] = lambda _left: None
    agree: Agree = agree_to_all

    def keep(self, job: Job) -> Job:
        """Keeps the job's document."""
        return keep_job(job, self.jobs)

    def now(self) -> datetime:
        """The present."""
        return self.patience.now()
