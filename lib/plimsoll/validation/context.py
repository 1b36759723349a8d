"""What the steps of a validation are given: where is measured, what is known, and by what rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.domain.evidence.measuring_runs import MeasuringRun, PlannedRun
from plimsoll.domain.policy import Policy
from plimsoll.domain.scratch import ScratchBounds
from plimsoll.domain.volume_types import VolumeType
from plimsoll.ports import Bench, Claims, RunStore, Target
from plimsoll.validation.job import Job, keep
from plimsoll.validation.patience import Patience
from plimsoll.validation.scratch_volume import Left

if TYPE_CHECKING:
    from plimsoll.auditing.ports import AuditPorts  # only the steps that decide have it

Agree = Callable[[Sequence[PlannedRun], Sequence[MeasuringRun]], None]
"""Hears what would be measured and what stays outside the budget; raises where that is not agreed to."""


def agreed(_planned: Sequence[PlannedRun], _left: Sequence[MeasuringRun]) -> None:
    """Agrees to every plan."""


class Verdicts(Protocol):
    """Where are verdicts and their campaigns kept? All raise CloudError or BadInput."""

    def lines(self) -> Iterable[ValidationLine]:
        """Every verdict that is kept, oldest first."""
        ...

    def keep(self, campaign: Path, line: ValidationLine) -> None:
        """Keeps a verdict and the file of its campaign; doing it again changes nothing."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The ports and the rules.

    `ports` are those of a place as of a time, with all that has been measured by now. `host_ids` are bench hosts by id,
    in place of those with the policy's tags; `in_place_file_mib` is the size of the file on a volume in use. `report`
    hears each verdict once, `left` what could not be deleted, `say` each step as a sentence, `agree` the first plan.
    `scratch_bounds` is the largest scratch volume that may be made; None where the caller's own permissions alone say.
    """

    bench: Callable[[Target], Bench]
    ports: Callable[[Target, datetime], AuditPorts]
    types: Mapping[str, VolumeType]
    verdicts: Verdicts
    claims: Claims
    jobs: RunStore
    policy: Policy
    patience: Patience
    runtime_s: int
    ramp_s: int
    say: Callable[[str], None]
    host_ids: tuple[str, ...] = ()
    in_place_file_mib: int = 2048
    scratch_bounds: ScratchBounds | None = None
    report: Callable[[ValidationLine], None] = lambda _line: None
    left: Callable[[Left], None] = lambda _left: None
    agree: Agree = agreed

    def keep(self, job: Job) -> Job:
        """Keeps the job's document."""
        return keep(job, self.jobs)

    def now(self) -> datetime:
        """The present."""
        return self.patience.now()
