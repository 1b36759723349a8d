"""The changes of a demo: a canary, a wave and a way back, in simulated time."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from plimsoll.bootstrap.clocks import clock
from plimsoll.cli.screen import Screen
from plimsoll.cli.simulated_clouds import grow_workload
from plimsoll.decide.offers import LossCode, loss_text
from plimsoll.model.errors import BadInput
from plimsoll.model.volume import OwnerKind
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_reader import stream_records
from plimsoll.settings import Settings
from plimsoll_change.apply import Rollout
from plimsoll_change.opening import open_ledger, open_rollout, open_store, plan_changes_of
from plimsoll_change.people import note_approval
from plimsoll_change.rules import ChangeRules
from plimsoll_change.shown import sum_up_plan
from plimsoll_change.status import describe_status, status_lines

_JUDGED_WAVE: Final = 2  # the one after the canary: judged harmless once the third opens
_BAKING_S, _LOOKING_S = 6 * 3600.0, 3600.0  # simulated, between two passes: in bakes, and before something happens
_MOST: Final = timedelta(days=12)
_UNPACED: Final = {"calls_per_s": 1e9, "datapoints_per_s": 1e9, "usd_hour_waited": 250_000.0}
"""A simulated cloud has no quotas. Without them a query is worth as many datapoints as with them."""


def show_changes(console: Screen, settings: Settings, folder: Path) -> None:
    """The changes of one class of a run are planned and carried out until one that did harm is back.

    It is a class of which some give up speed on a larger host. The plan and its ledger are kept in the run's folder.
    """
    fragile = {record.volume_id: record for record in stream_records(folder, _is_fragile)}
    if not fragile:
        return
    chosen, here = _class_of(next(iter(fragile.values()))), settings.model_copy(update={"runs_dir": folder, **_UNPACED})
    console.say("\nCarrying changes out, in simulated time:", "bold")
    with console.doing("looking at the volumes"):
        plan = plan_changes_of(folder, ChangeRules(), here, only=lambda record: _class_of(record) == chosen)
    console.say(f"{sum_up_plan(plan)} Plan: {open_store(here).folder / plan.id}")
    ledger = open_ledger(plan, here)
    if missing := note_approval(ledger, by="the demo", at=clock().now()):
        raise BadInput(missing)
    console.say(f"Approved by its digest: {plan.digest}")
    with console.doing("carrying changes out"):
        rollout = open_rollout(ledger, here, lambda text: _say(console, text))
        status = _carry_out(rollout, fragile, console)
    for line in status_lines(status):
        console.say(line)
    console.say(f"Every fact: PLIMSOLL_RUNS_DIR={folder} plimsoll change status {plan.id} --facts", "dim")


def _is_fragile(record: RecommendationRecord) -> bool:
    """True for a saving that gives up speed on a larger host, of a volume made by hand."""
    is_lost = any(loss.code is LossCode.LARGER_HOST for loss in record.losses)
    is_open = record.monthly_usd_saved > 0 and record.owner.kind == OwnerKind.HAND and not record.blockers
    return is_lost and is_open and _find_growth(record) > 1


def _find_growth(record: RecommendationRecord) -> float:
    """The IOPS halfway between both configurations, over the peak of the demand; 0 if they are not known."""
    ceilings, demand = record.ceilings, record.demand
    if ceilings is None or ceilings.offered is None or demand is None or demand.peak_iops <= 0:
        return 0.0
    return ((ceilings.now.iops or 0.0) + (ceilings.offered.iops or 0.0)) / 2 / demand.peak_iops


def _class_of(record: RecommendationRecord) -> tuple[str, str, str]:
    target = record.target or record.current
    return record.current.type, target.type, record.owner.kind


def _carry_out(rollout: Rollout, fragile: Mapping[str, RecommendationRecord], console: Screen) -> Mapping[str, Any]:
    """The status after passes with simulated time between them, until a change is back.

    Once a wave was judged harmless, a changed volume outgrows what it has now.
    """
    until, outgrown = clock().now() + _MOST, ""
    while True:
        rollout.take_pass()
        status = describe_status(rollout.progress, rollout.context.now)
        lines, wave = status["lines"], status["classes"][0]["wave"]
        if status["usd"]["reversed_usd_month"] > 0 or clock().now() >= until:
            return status
        changed = [
            line["volume_id"] for line in lines if line["changed_usd_month"] > 0 and line["volume_id"] in fragile
        ]
        if wave > _JUDGED_WAVE and changed and not outgrown:
            outgrown = changed[0]
            _overload_volume(fragile[outgrown], console)
        begins = all(line["state"] == "planned" for line in lines)
        clock().pause(_LOOKING_S if outgrown or begins else _BAKING_S)


def _overload_volume(record: RecommendationRecord, console: Screen) -> None:
    """The volume gets more to do than its new configuration carries, on a host with which the old one would."""
    times, now = _find_growth(record), clock().now()
    grow_workload(record.volume_id, record.hosts[0], times, now)
    loss = next(
        loss_text(loss.code, loss.now, loss.then) for loss in record.losses if loss.code is LossCode.LARGER_HOST
    )
    text = f"The simulation gives {record.volume_id} {record.name} a larger host, and {times:.1f} times as much to do."
    _say(console, f"{text} The plan gave up {loss}.", "dim")


def _say(console: Screen, text: str, style: str = "") -> None:
    console.say(f"{clock().now():%a %d %b %H:%M}  {text}", style)
