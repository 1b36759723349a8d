"""The work of a validation: one volume, what is being measured for it now, and all that has come of it so far."""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Final

from pydantic import ConfigDict, TypeAdapter, ValidationError

from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.domain.errors import BadInput
from plimsoll.domain.task import TaskOutcome
from plimsoll.domain.validation import Budget, MeasuringRun, Mode
from plimsoll.ports import Claims, RunStore, Target
from plimsoll.reports.record import RecommendationRecord
from plimsoll.validation.carrying_out import claim_key
from plimsoll.validation.desk import Subject
from plimsoll.validation.preparing import Prepared

_KEY: Final = re.compile(r"validations/(?P<validation>[^/]+)/(?P<index>\d+)\.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkName:
    """An item of a validation, by its number from 0."""

    validation: str
    index: int

    @property
    def key(self) -> str:
        """Where its document is kept."""
        return f"validations/{self.validation}/{self.index}.json"

    @property
    def holder(self) -> str:
        """Who claims for it."""
        return f"{self.validation}/{self.index}"

    @property
    def scratch_id(self) -> str:
        """What all of its scratch volumes are tagged with, so that they are found even where its document is lost."""
        return f"{self.validation}-{self.index}"

    @classmethod
    def of(cls, key: str) -> "WorkName":
        """The item whose document has that key; BadInput for a key of something else."""
        found = _KEY.fullmatch(key)
        if found is None:
            raise BadInput(f"{key} is no work of a validation: begin with `choose`, and pass on what it gives.")
        return cls(validation=found["validation"], index=int(found["index"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One measurement, as far as it is. Times are when a step began first: limits count from there.

    `usd_month` is the list price of the spec; `cleaned` is when its scratch volume was gone, `judged` when the verdict
    was given, and `told` whether others have heard of it.
    """

    number: int
    run: MeasuringRun
    subject: Subject
    prepared: Prepared
    usd_month: float | None
    creating: datetime | None = None
    volume_id: str | None = None
    attaching: datetime | None = None
    sending: datetime | None = None
    command_id: str | None = None
    failed_looks: int = 0
    outcome: TaskOutcome | None = None
    cleaned: datetime | None = None
    judged: datetime | None = None
    told: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """An item of a validation.

    `asked` is the target that was asked for, None for what is recommended; `following` is the run that comes next,
    where that is known: a class of thin recommendations, or what is recommended since the last verdict. `now` is the
    time that is decided by. `before` is what was recommended when the work was begun, `after` what is now. `claimed`
    is the class that it claims, or waits for from `waiting_since` on, and `claimed_host` the bench host: two loads on
    one host at a time would each measure the other. `note` says why it ended without a measurement.
    """

    name: WorkName
    place: Target
    volume_id: str
    mode: Mode
    now: datetime
    budget: Budget
    asked: str | None = None
    following: MeasuringRun | None = None
    before: RecommendationRecord | None = None
    after: RecommendationRecord | None = None
    tried: tuple[str, ...] = ()
    lines: tuple[ValidationLine, ...] = ()
    round: Round | None = None
    claimed: str | None = None
    claimed_host: str | None = None
    waiting_since: datetime | None = None
    note: str | None = None

    @property
    def usd(self) -> float:
        """What its scratch volumes have cost so far, USD."""
        return sum(line.usd or 0.0 for line in self.lines)

    @property
    def under_way(self) -> Round:
        """The measurement that is under way; BadInput where none is."""
        if self.round is None:
            raise BadInput(f"nothing is being measured for {self.name.key}: propose first.")
        return self.round

    def claim_on(self, run: MeasuringRun) -> str:
        """What it has to claim before it makes that run."""
        return claim_key(run, self.volume_id, self.mode)

    @property
    def claims(self) -> tuple[str, ...]:
        """What it claims or waits for."""
        return tuple(key for key in (self.claimed, self.claimed_host) if key is not None)

    def release(self, claims: Claims) -> None:
        """Gives up what it has; what another has stays."""
        for key in self.claims:
            claims.release(key, self.name.holder)

    def having(self, **facts: object) -> "Work":
        """The work with more known of its present measurement."""
        return replace(self, round=replace(self.under_way, **facts))  # type: ignore[arg-type]  # named as the fields are


def keep(work: Work, store: RunStore) -> Work:
    """Keeps the work's document, in the place of what was known before."""
    store.put(work.name.key, _document().dump_json(work))
    return work


def find(name: WorkName, store: RunStore) -> Work | None:
    """The work as it was kept last, None where there is none; BadInput where its document is damaged."""
    kept = store.get(name.key)
    if kept is None:
        return None
    try:
        return _document().validate_json(kept)
    except ValidationError as error:
        raise BadInput(
            f"the work {name.key} cannot be read ({error.errors()[0]['msg']}): begin a new validation."
        ) from error


def load(key: str, store: RunStore) -> Work:
    """The work of that key; BadInput where there is none, or its document is damaged."""
    found = find(WorkName.of(key), store)
    if found is None:
        raise BadInput(f"there is no work {key} in the store: begin with `choose`.")
    return found


@cache
def _document() -> TypeAdapter[Work | None]:
    # A type may publish no bound, and infinity is no null.
    return TypeAdapter(Work | None, config=ConfigDict(ser_json_inf_nan="constants"))
