"""Notes what failed for good, so that the audit goes on without it and names it."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry import entry
from plimsoll.service.failure_note import note_failure
from plimsoll.service.service import Service
from plimsoll.service.step_messages import FailureMessage, Nothing


@entry(FailureMessage)
def handler(told: FailureMessage, service: Service, _context: LambdaContext) -> Nothing:
    """Keeps in the store what failed and why."""
    return note_failure(service, told)
