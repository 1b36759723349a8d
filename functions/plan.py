"""Plans an audit, or says that another one is under way."""

from functions.entry_point import entry, logger
from plimsoll.bootstrap.google_places import all_places
from plimsoll.service.planning import plan
from plimsoll.service.service import Service
from plimsoll.service.step_messages import AuditPlan, PlanMessage


def plan_audit(service: Service, message: PlanMessage) -> AuditPlan:
    """The state of the audit, and the accounts whose inventories are to be taken."""
    planned = plan(service, message)
    logger.info("planned", state=planned.state, busy_with=planned.busy_with, accounts=planned.accounts)
    return planned


handler = entry(plan_audit, all_places)
