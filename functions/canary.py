"""Looks whether audits still end, several times a day."""

from functions.entry_point import count, entry
from plimsoll_service.canary import AuditAge, CanaryMessage, read_audit_age
from plimsoll_service.service import Service


def look_at_audits(service: Service, _message: CanaryMessage) -> AuditAge:
    """The age of the latest report. If there is none, nothing is counted, which is an alarm as well."""
    seen = read_audit_age(service)
    if seen.audit_age_h is not None:
        count(audit_age_h=seen.audit_age_h)
    return seen


handler = entry(look_at_audits)
