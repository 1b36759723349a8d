"""Notes what failed for good, so that the audit goes on without it and names it."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import entry
from plimsoll.service.service import Service
from plimsoll.service.step_messages import FailureMessage
from plimsoll.service.summarizing import note_failure


@entry(FailureMessage)
def handler(message: FailureMessage, service: Service, _context: LambdaContext) -> None:
    """Keeps in the store what failed and why."""
    note_failure(service, message)
