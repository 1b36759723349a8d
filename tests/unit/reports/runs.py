"""Runs on disk: folders of records, profiles and unanswered volumes, as an audit leaves them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from plimsoll.model.policy import Policy
from plimsoll.policy_file import dump_policy
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_folder import RunFolder
from plimsoll.reports.run_reader import UnansweredRecord
from plimsoll.reports.totals import RunTotals
from tests.unit.reports.plain_runs import a_plain_run
from tests.unit.reports.recommendations import a_profile


def an_unanswered(volume_id: str, outcome: str = "failed", reason: str = "AccessDenied") -> UnansweredRecord:
    place = {"account": "111122223333", "region": "us-east-1"}
    return UnansweredRecord.model_validate({**place, "volume_id": volume_id, "outcome": outcome, "reason": reason})


def a_run(
    folder: Path,
    records: Iterable[RecommendationRecord] = (),
    *,
    unanswered: Iterable[UnansweredRecord] = (),
    failed_places: Mapping[str, str] | None = None,
    places: Iterable[str] = ("111122223333/us-east-1",),
    status: str = "complete",
    policy: Policy | None = None,
    profiles: bool = True,
    **changes: Any,
) -> Path:
    """Writes a run of these volumes, each that was weighed with its profile; gives its folder.

    `changes` replace keys of its run.json.
    """
    totals = RunTotals(failed_targets=dict(failed_places or {}))
    totals.prices = {place: {"source": "a list", "as_of": "2027-01-01"} for place in places}
    with RunFolder(folder) as written:
        for record in records:
            totals.seen += 1
            totals.add(record)
            weighed = profiles and record.demand is not None
            written.add(record, a_profile((100.0, None, 300.0), of=record, throttled=(0.5,)) if weighed else None)
        for volume in unanswered:
            totals.seen += 1
            written.leave_out(volume)
            if volume.outcome == "skipped":
                totals.skipped[volume.reason] += 1
            else:
                reasons = totals.failed_volumes.setdefault(f"{volume.account}/{volume.region}", {})
                reasons.setdefault(volume.reason, []).append(volume.volume_id)
        kept = {"id": folder.name, "status": status, "policy": dump_policy(policy or Policy()), **changes}
        written.describe(a_plain_run(totals, **kept))
    return folder
