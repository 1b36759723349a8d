"""Plans a sweep: the accounts in which a scratch volume may be, or all."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import entry
from plimsoll.bootstrap.aws_places import aws_places
from plimsoll.service.service import Service
from plimsoll.service.sweeping import plan_sweep
from plimsoll.service.validation_messages import SweepMessage, SweepPlan


@entry(SweepMessage, aws_places)
def handler(message: SweepMessage, service: Service, _context: LambdaContext) -> SweepPlan:
    """The number of accounts, and where they are listed."""
    return plan_sweep(service, message)
