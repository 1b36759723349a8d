"""The canary: whether audits still end, seen from what they left."""

from typing import Final

from plimsoll.reports.run_files import RUN
from plimsoll.service.latest_report import latest_report
from plimsoll.service.needed import needed
from plimsoll.service.service import Service
from plimsoll.service.step_messages import Answer, Message
from plimsoll.service.store_keys import RunKeys

_HOUR_S: Final = 3600


class CanaryMessage(Message):
    """A look at the service; what its schedule says besides is no concern of it."""

    @property
    def topic(self) -> str:
        """The canary."""
        return "canary"


class Seen(Answer):
    """The run of the latest report, and how many hours ago the time is that it answers for; None where there is no
    report."""

    run_id: str | None = None
    audit_age_h: float | None = None


def look_at(service: Service) -> Seen:
    """How old the latest report is. BadInput where it is named and is not there."""
    latest = latest_report(service.store)
    if latest is None:
        return Seen()
    needed(service.store, RunKeys(run_id=latest.run_id).report(RUN))
    age_h = (service.clock.now() - latest.now).total_seconds() / _HOUR_S
    return Seen(run_id=latest.run_id, audit_age_h=age_h)
