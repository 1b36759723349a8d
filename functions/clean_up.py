"""Cleans up after a measurement, however it ended."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.shared import count, entry
from plimsoll.service.service import Service
from plimsoll.service.validating.cleaning import clean_up
from plimsoll.service.validating.messages import CleanUpMessage, Worked


@entry(CleanUpMessage)
def handler(told: CleanUpMessage, service: Service, _context: LambdaContext) -> Worked:
    """The work of which nothing is left on the bench."""
    cleaned = clean_up(service, told.work, told.error)
    if told.error is not None:
        count(failed_validations=1)
    return cleaned
