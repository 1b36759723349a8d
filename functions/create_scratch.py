"""Begins to make a scratch volume."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.shared import entry
from plimsoll.service.service import Service
from plimsoll.service.validating.messages import Worked, WorkMessage
from plimsoll.service.validating.steps import create_scratch


@entry(WorkMessage)
def handler(told: WorkMessage, service: Service, _context: LambdaContext) -> Worked:
    """The work whose volume is being made."""
    return create_scratch(service, told.work)
