"""Runs on disk: folders of records, profiles and unanswered volumes, as an audit leaves them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from plimsoll.domain.policy import Policy
from plimsoll.policy_file import dump_policy
from plimsoll.reports.files import RunFolder
from plimsoll.reports.profile_record import DemandProfileRecord
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.stored import UnansweredRecord
from plimsoll.reports.tally import Tally

HOUR_S = 3600


def a_profile(record: RecommendationRecord, hours: int = 3, **fields: Any) -> DemandProfileRecord:
    """A volume's demand in hours, the second of which was not observed."""
    rates: list[float | None] = [100.0 * hour if hour != 2 else None for hour in range(1, hours + 1)]
    same = dict.fromkeys(
        (
            "iops",
            "read_iops",
            "throughput_mib_s",
            "read_throughput_mib_s",
            "peak_iops",
            "throughput_mib_s_at_peak_iops",
            "peak_throughput_mib_s",
            "iops_at_peak_throughput",
        ),
        rates,
    )
    given = {
        "account": record.account,
        "region": record.region,
        "volume_id": record.volume_id,
        "start_s": 1_800_000_000,
        "length_s": [HOUR_S] * hours,
        "shortest_s": [60] * hours,
        **same,
        "throttled_minutes": [0.5] * hours,
        "host_bound_minutes": [0.0] * hours,
    }
    return DemandProfileRecord.model_validate(given | fields)


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
) -> Path:
    """Writes a run of these volumes, each that was weighed with its profile; gives its folder."""
    tally = Tally(failed_targets=dict(failed_places or {}))
    tally.prices = {place: {"source": "a list", "as_of": "2027-01-01"} for place in places}
    with RunFolder(folder) as written:
        for record in records:
            tally.seen += 1
            tally.count(record)
            written.add(record, None if record.demand is None else a_profile(record))
        for volume in unanswered:
            tally.seen += 1
            written.leave_out(volume)
            if volume.outcome == "skipped":
                tally.skipped[volume.reason] += 1
            else:
                reasons = tally.failed_volumes.setdefault(f"{volume.account}/{volume.region}", {})
                reasons.setdefault(volume.reason, []).append(volume.volume_id)
        written.describe(
            {
                "id": folder.name,
                "status": status,
                "now": "2027-01-15T08:00:00+00:00",
                "scope": {},
                "policy": dump_policy(policy or Policy()),
                **tally.summary(),
                "versions": {"plimsoll": "0.1.0"},
                "usage": {"calls": 1, "metrics": 4, "datapoints": 100, "estimated_usd": 0.01},
                "plan": {"most_datapoints": 1000},
                "seconds": {"elapsed": 1.0},
            }
        )
    return folder
