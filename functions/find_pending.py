"""Finds the batches that are still to be audited."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import entry
from plimsoll.service.planning import find_pending
from plimsoll.service.service import Service
from plimsoll.service.step_messages import Pending, PendingMessage


@entry(PendingMessage)
def handler(message: PendingMessage, service: Service, _context: LambdaContext) -> Pending:
    """The number of batches, and where they are listed."""
    return find_pending(service, message)
