"""The canary: it shows whether audits still end, by what they left."""

from typing import Final

from plimsoll.jobs.document import require_content
from plimsoll.reports.run_files import RUN
from plimsoll_service.latest_report import latest_report
from plimsoll_service.service import Service
from plimsoll_service.step_messages import StepAnswer, StepMessage
from plimsoll_service.store_keys import RunKeys

_HOUR_S: Final = 3600


class CanaryMessage(StepMessage):
    """A look at the service; other keys of its schedule are ignored."""

    @property
    def topic(self) -> str:
        return "canary"


class AuditAge(StepAnswer):
    """The run of the latest report, and the age of its time in hours. None if there is no report."""

    run_id: str | None = None
    audit_age_h: float | None = None


def read_audit_age(service: Service) -> AuditAge:
    """The age of the latest report. Raises BadInput if a latest report is named and is not there."""
    latest = latest_report(service.store)
    if latest is None:
        return AuditAge()
    require_content(service.store, RunKeys(run_id=latest.run_id).report(RUN))
    age_h = (service.clock.now() - latest.now).total_seconds() / _HOUR_S
    return AuditAge(run_id=latest.run_id, audit_age_h=age_h)
