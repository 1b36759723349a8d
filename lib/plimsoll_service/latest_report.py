"""The run of the latest report."""

from datetime import datetime
from typing import Final

from pydantic import BaseModel, ConfigDict

from plimsoll.jobs.document import StoredDocument
from plimsoll.ports import RunStore
from plimsoll_service.store_keys import LATEST_REPORT


class LatestReport(BaseModel):
    """The run of the latest report, and the time for which it answers."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    run_id: str
    now: datetime


LATEST: Final = StoredDocument(LATEST_REPORT, LatestReport)


def latest_report(store: RunStore) -> LatestReport | None:
    """The latest report. None if there is none yet."""
    return LATEST.get(store)
