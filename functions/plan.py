"""Plans an audit, or says that another one is under way."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import entry, logger
from plimsoll.bootstrap.google_places import all_places
from plimsoll.service.planning import plan
from plimsoll.service.service import Service
from plimsoll.service.step_messages import AuditPlan, PlanMessage


@entry(PlanMessage, all_places)
def handler(message: PlanMessage, service: Service, _context: LambdaContext) -> AuditPlan:
    """The state of the audit, and the accounts whose inventories are to be taken."""
    planned = plan(service, message)
    logger.info("planned", state=planned.state, busy_with=planned.busy_with, accounts=planned.accounts)
    return planned
