"""Opening: the sessions, stores, claims and clock of this machine, for plans and for what carries them out."""

import os
import socket
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from plimsoll.api.runs import list_runs
from plimsoll.bootstrap.clocks import clock
from plimsoll.clouds.local_store import FileClaims, FolderStore
from plimsoll.clouds.registry import AWS, GOOGLE
from plimsoll.clouds.scope import Scope
from plimsoll.files import read_bytes
from plimsoll.jobs.kernel import BenchPatience
from plimsoll.model.errors import BadInput
from plimsoll.model.kinds import CHANGES
from plimsoll.model.volume import VolumeSpec
from plimsoll.orders import read_order
from plimsoll.reports.run_reader import Only, stream_records
from plimsoll.reports.steps import Step
from plimsoll.settings import Settings
from plimsoll_change.apply import Rollout
from plimsoll_change.clouds import CloudsChanger, OpenTools
from plimsoll_change.drift import Drift, compare_advice
from plimsoll_change.judging import MetricsJudge
from plimsoll_change.ledger import ChangeLedger
from plimsoll_change.line import LineContext, join_starts
from plimsoll_change.plan import ChangePlan, PlannedLine
from plimsoll_change.plan_files import PLAN_FILE, keep_plan, parse_plan
from plimsoll_change.planning import plan_volumes
from plimsoll_change.ports import ChangeTools
from plimsoll_change.rules import ChangeRules

CHANGES_FOLDER: Final = "changes"
"""The folder of plans and ledgers, in the folder of runs."""


_OPENERS: Final[Mapping[str, str]] = {
    AWS: "plimsoll_change.aws.opening:open_accounts_of",
    GOOGLE: "plimsoll_change.google.changer:open_projects",
}
"""The function that makes the tools of a scope, by cloud. It is imported when the cloud is first asked."""


def plan_changes_of(
    folder: Path,
    rules: ChangeRules,
    settings: Settings,
    *,
    only: Only | None = None,
    steps: Iterable[Step] = (),
    external_id: str | None = None,
) -> ChangePlan:
    """A plan of a run's changes, or of those selected, kept. Raises BadInput if nothing can be planned."""
    scope = read_order(folder).scope
    changer = CloudsChanger(_open_tools(scope, settings, external_id))
    plan = plan_volumes(folder, rules, changer.look, scope=scope, now=clock().now(), only=only, steps=steps)
    return keep_plan(open_store(settings), plan)


def _open_tools(scope: Mapping[str, Any], settings: Settings, external_id: str | None) -> OpenTools:
    if "recording" in scope:
        raise BadInput("this run was decided from a recording: plan changes of a run that asked the cloud.")
    here = Scope.from_dict(scope, external_id=external_id)

    @cache
    def open_cloud(name: str) -> ChangeTools:
        module, _, function = _OPENERS[name].partition(":")
        tools: ChangeTools = getattr(import_module(module), function)(here, settings)
        return tools

    return open_cloud


def open_store(settings: Settings) -> FolderStore:
    """The plans and ledgers of this machine."""
    return FolderStore(settings.runs_dir / CHANGES_FOLDER)


def find_plan(word: str | None, settings: Settings) -> ChangePlan:
    """The plan of a name or path, by default the newest. Raises BadInput if it was altered, or is none."""
    folder = open_store(settings).folder
    paths = _find_plans(folder)[:1] if word is None else [Path(word), Path(word) / PLAN_FILE, folder / word / PLAN_FILE]
    try:
        return _read_plan(next(filter(Path.is_file, paths)))
    except (StopIteration, OSError) as error:
        raise BadInput(f"there is no plan {word or 'yet'} in {folder}: plimsoll change plan RUN makes one.") from error


def _find_plans(folder: Path) -> list[Path]:
    """The files of plans, the newest first."""
    return sorted(folder.glob(f"*/{PLAN_FILE}"), key=lambda path: path.stat().st_mtime, reverse=True)


def _read_plan(path: Path) -> ChangePlan:
    return parse_plan(read_bytes(path), str(path))


def open_ledger(plan: ChangePlan, settings: Settings) -> ChangeLedger:
    """The ledger of a plan on this machine, as it is now."""
    ledger = ChangeLedger(store=open_store(settings), plan=plan)
    ledger.read()
    return ledger


def open_rollout(
    ledger: ChangeLedger, settings: Settings, say: Callable[[str], None], *, external_id: str | None = None
) -> Rollout:
    """The plan with all that it takes to carry it out from this machine."""
    plan, time, folder = ledger.plan, clock(), open_store(settings).folder
    tools = _open_tools(plan.scope, settings, external_id)
    changer = CloudsChanger(tools)
    others = (other for other in map(_read_plan, _find_plans(folder)) if other.id != plan.id)
    context = LineContext(
        ledger=ledger,
        changer=changer,
        claims=FileClaims(folder=folder / "claims"),
        patience=BenchPatience(now=time.now, pause=time.pause),
        holder=f"{socket.gethostname()}-{os.getpid()}",
        say=say,
        find_news=lambda line: find_news(plan, line),
        other_starts=join_starts(open_ledger(other, settings) for other in others),
    )
    judge = MetricsJudge(ledger=ledger, changer=changer, metrics=lambda cloud: tools(cloud).metrics, say=say)
    return Rollout(context=context, judge=judge)


def find_news(plan: ChangePlan, line: PlannedLine) -> Drift | None:
    """The drift of a line by the newest run of this machine; None if that is older than the plan, or says the same."""
    newest = next(iter(list_runs()), None)
    if newest is None or newest.name == plan.run or read_order(newest).now <= plan.made:
        return None
    targets = _read_targets(newest, frozenset(each.volume_id for each in plan.lines))
    return compare_advice(line, newest.name, targets[line.volume_id]) if line.volume_id in targets else None


@lru_cache(maxsize=1)
def _read_targets(folder: Path, volume_ids: frozenset[str]) -> Mapping[str, VolumeSpec | None]:
    """The specs that a run recommends for some volumes; None for one that it leaves as it is."""
    records = stream_records(folder, lambda record: record.volume_id in volume_ids)
    return {
        record.volume_id: record.target.spec if record.target and record.action in CHANGES else None
        for record in records
    }
