"""Planning: a run's changes become a plan, whose volumes are marked. Nothing is done before people approve it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from plimsoll.clouds.registry import AWS
from plimsoll.jobs.document import StoredDocument, require_file
from plimsoll.model.errors import BadInput
from plimsoll.ports import Target
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_files import DEMAND, RECOMMENDATIONS, RUN
from plimsoll_change.plan import ChangePlan
from plimsoll_change.plan_files import keep_plan, read_plan
from plimsoll_change.planning import plan_volumes
from plimsoll_service.change_messages import ChangeInput, PlanChangesMessage, PlannedChanges
from plimsoll_service.change_plans import OpenPlan, open_document, service_rules
from plimsoll_service.service import Service
from plimsoll_service.store_keys import RunKeys

_MOST_LINES: Final = 500
_MOST_ACCOUNTS: Final = 100
"""The most volumes of a plan, and accounts: a pass has all of them open, within the time and memory of a function."""


def make_change_plan(service: Service, message: PlanChangesMessage) -> PlannedChanges:
    """Freezes what a run recommends into a plan, and marks its volumes. An execution that is repeated plans once.

    Raises BadInput if nothing can be planned, CloudError if a volume cannot be marked.
    """
    facts, asked = service.change_facts, _asked_document(message.name)
    planned = asked.get(service.store)
    if planned is not None:
        return _describe_plan(read_plan(facts, planned))
    plan = _make_plan(service, message.given)
    volumes = _group_by_target(plan)
    accounts = {target.account for target in (*volumes, *(control.target for control in plan.controls))}
    if len(plan.lines) > _MOST_LINES or len(accounts) > _MOST_ACCOUNTS:
        raise BadInput(
            f"the plan has {len(plan.lines):,} volumes, and {len(accounts):,} accounts with those that it is judged "
            f"by; one of the service has at most {_MOST_LINES} and {_MOST_ACCOUNTS}: name accounts, regions, steps or "
            "volume_ids."
        )
    for target, volume_ids in volumes.items():
        service.places.tagger(target).tag(target, volume_ids, plan.id)
    plan = keep_plan(facts, plan)
    open_document(plan.id).put(service.store, OpenPlan(due=service.clock.now()))
    asked.put(service.store, plan.id)
    return _describe_plan(plan)


def _make_plan(service: Service, choice: ChangeInput) -> ChangePlan:
    """The plan of a run in the store, by its volumes as they are now."""
    store, keys = service.store, RunKeys(run_id=choice.run_id)
    with TemporaryDirectory(prefix="plimsoll-") as temporary:
        folder = Path(temporary) / choice.run_id
        for name in (RECOMMENDATIONS, RUN):
            require_file(store, keys.report(name), folder / name)
        with (folder / DEMAND).open("wb") as demand:
            for number in keys.combined_shards(store):
                demand.writelines(store.pieces(keys.shard_file(number, DEMAND)))
        return plan_volumes(
            folder,
            service_rules(service),
            lambda target, names: service.places.tagger(target).look(target, names),
            scope={},
            now=service.clock.now(),
            only=lambda record: _is_chosen(record, choice),
            steps=choice.steps,
            clouds=(AWS,),
        )


def _is_chosen(record: RecommendationRecord, choice: ChangeInput) -> bool:
    chosen = ((choice.accounts, record.account), (choice.regions, record.region), (choice.volume_ids, record.volume_id))
    return all(not names or name in names for names, name in chosen)


def _group_by_target(plan: ChangePlan) -> Mapping[Target, Sequence[str]]:
    names: dict[Target, list[str]] = {}
    for line in plan.lines:
        names.setdefault(line.target, []).append(line.volume_id)
    return names


def _describe_plan(plan: ChangePlan) -> PlannedChanges:
    return PlannedChanges(
        plan=plan.id,
        digest=plan.digest,
        lines=len(plan.lines),
        left_out=len(plan.left_out),
        saved_usd_month=plan.usd_month_saved,
    )


def _asked_document(execution: str) -> StoredDocument[str]:
    return StoredDocument(f"changes/asked/{execution}.json", str, "plan of the execution", "begin a new one")
