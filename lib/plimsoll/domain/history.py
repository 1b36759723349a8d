"""The history of a volume: since when something is recommended, what people decided of it, and what became of it."""

from dataclasses import dataclass
from datetime import date, datetime

from plimsoll.domain.volume import VolumeSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """A volume's latest recommendation: made first by `first_run`, and last by `last_run`. Money is USD a month.

    `target` is None where nothing is to be changed. `snoozed_until` and `decided_by` are what people said of it;
    `done_on` is when it was first seen carried out, which then saves `done_saved_usd_month`.
    """

    account: str
    region: str
    volume_id: str
    action: str
    target: VolumeSpec | None
    saved_usd_month: float
    first_seen: datetime
    first_run: str
    last_seen: datetime
    last_run: str
    snoozed_until: date | None = None
    decided_by: str | None = None
    done_on: date | None = None
    done_saved_usd_month: float = 0.0
