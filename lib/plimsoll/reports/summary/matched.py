"""A run's recommendations, each with the profile of the demand that it rests on."""

from collections.abc import Callable, Iterator
from pathlib import Path

from plimsoll.reports.profile_record import DemandProfileRecord
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.stored import stream_profiles, stream_records

Only = Callable[[RecommendationRecord], bool]
Matched = tuple[RecommendationRecord, DemandProfileRecord | None]


def matched_records(folder: Path, only: Only | None) -> Iterator[Matched]:
    """A run's records, those that `only` takes where it is given, with their profiles, None where a volume has none.

    Errors are as of `stream_records`. Both files are in the order in which the volumes were answered, so that they are
    read side by side and neither is held in memory.
    """
    profiles = stream_profiles(folder)
    profile = next(profiles, None)
    for record in stream_records(folder):
        found = profile if profile is not None and _same_volume(record, profile) else None
        if found is not None:
            profile = next(profiles, None)
        if only is None or only(record):
            yield record, found


def _same_volume(record: RecommendationRecord, profile: DemandProfileRecord) -> bool:
    return (record.volume_id, record.region, record.account) == (profile.volume_id, profile.region, profile.account)
