"""Opening: the sessions, stores, claims and clock of this machine, for plans and for what carries them out."""

import os
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from plimsoll.api.runs import list_runs
from plimsoll.bootstrap.clocks import clock
from plimsoll.clouds.aws.accounts import sign_in
from plimsoll.clouds.aws.connection import connection_of
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.cloud import Reach
from plimsoll.clouds.local_store import FileClaims, FolderStore
from plimsoll.clouds.registry import AWS
from plimsoll.clouds.scope import Scope
from plimsoll.jobs.kernel import BenchPatience
from plimsoll.model.errors import BadInput
from plimsoll.model.kinds import CHANGES
from plimsoll.model.volume import VolumeSpec
from plimsoll.orders import read_order
from plimsoll.ports import FactStore
from plimsoll.reports.run_reader import Only, stream_records
from plimsoll.reports.steps import Step
from plimsoll.settings import Settings
from plimsoll_change.apply import Rollout
from plimsoll_change.aws.changer import AwsChanger
from plimsoll_change.drift import Drift, compare_advice
from plimsoll_change.judging import MetricsJudge
from plimsoll_change.ledger import ChangeLedger, FactKind
from plimsoll_change.line import LineContext
from plimsoll_change.plan import ChangePlan, PlannedLine
from plimsoll_change.plan_files import CHANGES_FOLDER, read_plan, read_plans, write_plan
from plimsoll_change.planning import plan_volumes
from plimsoll_change.progress import Progress
from plimsoll_change.rules import ChangeRules


def plan_changes_of(
    folder: Path,
    rules: ChangeRules,
    settings: Settings,
    *,
    only: Only | None = None,
    steps: Iterable[Step] = (),
    external_id: str | None = None,
) -> tuple[ChangePlan, Path]:
    """A plan of a run's changes, or of those selected, and its file. Raises BadInput if nothing can be planned."""
    scope = read_order(folder).scope
    changer = AwsChanger(
        sessions=_sign_in(scope, settings, external_id), now=clock().now, list_deadline_s=settings.list_deadline_s
    )
    plan = plan_volumes(folder, rules, changer, scope=scope, now=clock().now(), only=only, steps=steps)
    return write_plan(plan, settings.runs_dir)


def _sign_in(scope: Mapping[str, Any], settings: Settings, external_id: str | None) -> Sessions:
    if "recording" in scope:
        raise BadInput("this run was decided from a recording: plan changes of a run that asked the cloud.")
    return sign_in(replace(Scope.from_dict(scope, external_id=external_id), clouds=(AWS,), regions=()), settings)


def find_plan(word: str | None) -> tuple[ChangePlan, Settings]:
    """The plan of a name or file, by default the newest, and the settings of this machine. Raises BadInput."""
    settings = Settings.from_environment()
    return read_plan(word, settings.runs_dir), settings


def read_progress(plan: ChangePlan, settings: Settings) -> Progress:
    """The plan with the facts that its ledger has now."""
    return Progress(plan=plan, rows=open_ledger(plan.id, settings).rows)


def open_ledger(plan_id: str, settings: Settings) -> ChangeLedger:
    """The ledger of a plan on this machine, as it is now."""
    ledger = ChangeLedger(store=FolderStore(settings.runs_dir / CHANGES_FOLDER), plan_id=plan_id)
    ledger.read()
    return ledger


def open_rollout(
    plan: ChangePlan, settings: Settings, say: Callable[[str], None], *, external_id: str | None = None
) -> Rollout:
    """The plan with all that it takes to carry it out from this machine."""
    sessions, time, ledger = _sign_in(plan.scope, settings, external_id), clock(), open_ledger(plan.id, settings)
    scope = replace(Scope.from_dict(plan.scope, external_id=external_id), clouds=(AWS,))
    changer = AwsChanger(sessions=sessions, now=time.now, list_deadline_s=settings.list_deadline_s)
    metrics = connection_of(sessions, Reach(scope=scope, settings=settings, today=time.now().date())).metrics
    context = LineContext(
        plan=plan,
        ledger=ledger,
        changer=changer,
        claims=FileClaims(folder=settings.runs_dir / CHANGES_FOLDER / "claims"),
        patience=BenchPatience(now=time.now, pause=time.pause),
        holder=f"{socket.gethostname()}-{os.getpid()}",
        say=say,
        find_news=LaterRuns(plan=plan).find_news,
        other_starts=find_other_starts(plan, read_plans(settings.runs_dir), ledger.store),
    )
    return Rollout(context=context, judge=MetricsJudge(changer=changer, metrics=metrics, say=say))


@dataclass(slots=True, kw_only=True)
class LaterRuns:
    """The newest run of this machine that was made after a plan, as far as it answers the plan's volumes."""

    plan: ChangePlan
    _read: Path | None = None
    _targets: dict[str, VolumeSpec | None] = field(default_factory=dict)

    def find_news(self, line: PlannedLine) -> Drift | None:
        """The drift of a line by that run; None if there is none, or it recommends the same."""
        newest = next(iter(list_runs()), None)
        if newest is not None and newest != self._read:
            self._read, self._targets = newest, self._read_targets(newest)
        if self._read is None or line.volume_id not in self._targets:
            return None
        return compare_advice(line, self._read.name, self._targets[line.volume_id])

    def _read_targets(self, folder: Path) -> dict[str, VolumeSpec | None]:
        if folder.name == self.plan.run or read_order(folder).now <= self.plan.made:
            return {}
        wanted = {line.volume_id for line in self.plan.lines}
        records = stream_records(folder, lambda record: record.volume_id in wanted)
        return {
            record.volume_id: record.target.spec if record.target and record.action in CHANGES else None
            for record in records
        }


def find_other_starts(plan: ChangePlan, others: Iterable[ChangePlan], store: FactStore) -> Mapping[str, list[datetime]]:
    """The starts of modifications by other plans of a store, by volume: they count against the same slots."""
    starts: dict[str, list[datetime]] = {}
    for other in others:
        if other.id == plan.id:
            continue
        ledger = ChangeLedger(store=store, plan_id=other.id)
        ledger.read()
        for line in other.lines:
            requested = (fact for fact in ledger.facts(line.id) if fact.kind is FactKind.REQUESTED)
            starts.setdefault(line.volume_id, []).extend(fact.started for fact in requested if fact.started)
    return starts
