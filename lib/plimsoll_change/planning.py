"""Planning: a run's changes read beside its volumes as they are now."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from plimsoll.clouds.registry import AWS
from plimsoll.model.errors import CloudError
from plimsoll.model.kinds import CountsAs
from plimsoll.model.volume import Volume
from plimsoll.ports import Target
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_reader import Only, matched_records
from plimsoll.reports.steps import Step, step_of
from plimsoll_change.making import AdvisedChange, has_work, make_plan
from plimsoll_change.plan import ChangePlan
from plimsoll_change.ports import VolumeSights
from plimsoll_change.rules import ChangeRules

_MOST_CONTROLS: Final = 300
"""Volumes of a run that stay as they are and are looked at as controls: more add nothing to a comparison."""


def plan_volumes(
    folder: Path,
    rules: ChangeRules,
    cloud: VolumeSights,
    *,
    scope: Mapping[str, Any],
    now: datetime,
    only: Only | None = None,
    steps: Iterable[Step] = (),
) -> ChangePlan:
    """The plan of a run's changes, by its volumes as that cloud shows them. Raises BadInput if none can be planned."""
    wanted, others, chosen = list[AdvisedChange](), list[RecommendationRecord](), frozenset(steps)
    for record, profile in matched_records(folder, None):
        is_change = record.kind.money in (CountsAs.SAVED, CountsAs.MORE)
        if is_change and (only is None or only(record)) and (not chosen or step_of(record) in chosen):
            wanted.append((record, profile))
        elif has_work(record) and len(others) < _MOST_CONTROLS:
            others.append(record)
    sights = _look_at([*(record for record, _ in wanted), *others], cloud)
    return make_plan(wanted, others, sights, rules, run=folder.name, scope=scope, now=now)


def _look_at(records: Iterable[RecommendationRecord], cloud: VolumeSights) -> Mapping[str, Volume | CloudError]:
    places: dict[Target, list[str]] = {}
    for record in records:
        if record.provider == AWS:
            places.setdefault(Target(account=record.account, region=record.region), []).append(record.volume_id)
    sights: dict[str, Volume | CloudError] = {}
    for target, names in places.items():
        try:
            sights |= cloud.look(target, names)
        except CloudError as error:
            sights |= dict.fromkeys(names, error)
    return sights
