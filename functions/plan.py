"""Plans an audit, or says that another one is under way."""

from functions.entry_point import entry, logger
from plimsoll_service.bootstrap.google_places import all_places
from plimsoll_service.planning import plan
from plimsoll_service.service import Service
from plimsoll_service.step_messages import AuditPlan, PlanMessage


def plan_audit(service: Service, message: PlanMessage) -> AuditPlan:
    """The state of the audit, and the accounts whose inventories are to be taken."""
    planned = plan(service, message)
    logger.info("planned", state=planned.state, busy_with=planned.busy_with, accounts=planned.accounts)
    return planned


handler = entry(plan_audit, all_places)
