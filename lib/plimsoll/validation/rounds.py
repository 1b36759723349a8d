"""Rounds: measure, decide again, and measure the next offer where that changed the answer, within a budget.

What happens is told as events, so that a terminal, a report and a state machine can each follow it in its own way.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from plimsoll.audit import audit
from plimsoll.auditing.ports import AuditPorts
from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.domain.errors import PlimsollError
from plimsoll.domain.evidence import Grade
from plimsoll.domain.policy import Policy
from plimsoll.domain.validation import Budget, MeasuringRun, Mode, PlannedRun, runs_for, within
from plimsoll.domain.volume import VolumeSpec
from plimsoll.explain import explain
from plimsoll.outcomes import Answered
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.recorded import record_of
from plimsoll.validation.carrying_out import carry_out
from plimsoll.validation.desk import Desk
from plimsoll.validation.planning import MOST_ROUNDS, next_run, planned, rest_of, usd_month_of
from plimsoll.validation.proposal import Weighed, subject_of, wanted, weighed
from plimsoll.validation.scratch_volume import Left
from plimsoll.validation.thin import wants_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Concluded:
    """A run ended in a verdict."""

    run: MeasuringRun
    line: ValidationLine


@dataclass(frozen=True, slots=True, kw_only=True)
class NotConcluded:
    """A run ended without a verdict; the others go on."""

    run: MeasuringRun
    error: PlimsollError


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A recommendation before and after what was measured; `asked` is what was to be validated in its place, None where
    that was the recommendation itself."""

    before: RecommendationRecord
    after: RecommendationRecord
    asked: VolumeSpec | None = None


Event = Concluded | NotConcluded | Decided | Left


@dataclass(slots=True, kw_only=True)
class Office:
    """What rounds work with. `remeasured` gives the ports with all that has been measured by now; `agree` hears the
    first plan (what would be run, what stays outside the budget) and raises where it is not agreed to."""

    ports: AuditPorts
    desk: Desk
    policy: Policy
    now: datetime
    budget: Budget
    remeasured: Callable[[AuditPorts], AuditPorts]
    agree: Callable[[Sequence[PlannedRun], Sequence[MeasuringRun]], None]
    runs: int = 0
    usd: float = 0.0
    _agreed: bool = field(default=False, init=False)

    def plan(self, runs: Sequence[MeasuringRun], mode: Mode) -> Sequence[MeasuringRun]:
        """Those of the runs that the rest of the budget allows, the first time agreed to."""
        priced = {run.class_key: planned(run, mode, self.ports.prices, self.desk) for run in runs}
        rest = rest_of(self.budget, usd=self.usd, runs=self.runs)
        chosen, left = within(runs, lambda run: priced[run.class_key].usd or 0.0, rest)
        if not self._agreed:
            self.agree([priced[run.class_key] for run in chosen], left)
            self._agreed = True
        return chosen


def validate_volume(volume_id: str, target: str | None, mode: Mode, office: Office) -> Iterator[Event]:
    """Validates one volume's target; where it fails, the next that is then recommended, as far as the budget goes."""
    found, provider = _weighed(volume_id, office), office.desk.provider
    before = record_of(found.answer, provider=provider)
    tried: set[str] = set()
    run: MeasuringRun | None = wanted(found, target, mode, office.desk.types)
    asked = None if target is None or run is None else run.spec
    while run is not None and office.plan([run], mode):
        tried.add(run.class_key)
        yield from _carried_out(run, found, mode, office)
        office.ports = office.remeasured(office.ports)
        found = _weighed(volume_id, office)
        run = next_run(found, mode, tried, office.desk)
    yield Decided(before=before, after=record_of(found.answer, provider=provider), asked=asked)


def validate_run(
    records: Sequence[RecommendationRecord], least: Grade | None, mode: Mode, office: Office
) -> Iterator[Event]:
    """Validates all recommendations of a run whose evidence is thin, class by class, those with the most at stake
    first; what was measured is decided again."""
    standing = {record.volume_id: record for record in records}
    tried: set[str] = set()
    for _ in range(MOST_ROUNDS):
        wants = wants_in(standing.values(), office.policy, least, office.desk.types)
        runs = [run for run in runs_for(wants) if run.class_key not in tried]
        chosen = office.plan(runs, mode)
        if not chosen:
            return
        for run in chosen:
            tried.add(run.class_key)
            yield from _of_class(run, mode, office)
        office.ports = office.remeasured(office.ports)
        for decided in _decided_again({want.volume_id for run in chosen for want in run.wants}, standing, office):
            standing[decided.after.volume_id] = decided.after
            yield decided


def _weighed(volume_id: str, office: Office) -> Weighed:
    return weighed(explain(office.ports, volume_id, office.policy, office.now), volume_id)


def _of_class(run: MeasuringRun, mode: Mode, office: Office) -> Iterator[Event]:
    """A run with the workload of its first want; an unreadable volume costs its own run only."""
    try:
        found = _weighed(run.wants[0].volume_id, office)
    except PlimsollError as error:
        yield NotConcluded(run=run, error=error)
        return
    yield from _carried_out(run, found, mode, office)


def _carried_out(run: MeasuringRun, found: Weighed, mode: Mode, office: Office) -> Iterator[Event]:
    left: list[Left] = []
    try:
        subject = subject_of(
            found,
            run,
            desk=office.desk,
            policy=office.policy,
            now=office.now,
        )
        line = carry_out(
            run,
            subject,
            mode,
            usd_month=usd_month_of(run, office.ports.prices, office.desk),
            desk=office.desk,
            left=left.append,
        )
    except KeyboardInterrupt:
        yield from left
        raise
    except PlimsollError as error:
        office.runs += 1
        yield NotConcluded(run=run, error=error)
    else:
        office.runs += 1
        office.usd += line.usd or 0.0
        yield Concluded(run=run, line=line)
    yield from left


def _decided_again(served: set[str], standing: dict[str, RecommendationRecord], office: Office) -> Iterator[Decided]:
    """The recommendations of some volumes, decided with what has been measured by now."""
    others = frozenset(standing) - served
    for outcome in audit(office.ports, office.policy, office.now, done=others):
        if isinstance(outcome, Answered) and outcome.recommendation.volume.id in served:
            after = record_of(outcome.recommendation, outcome.change, provider=office.desk.provider)
            yield Decided(before=standing[after.volume_id], after=after)
