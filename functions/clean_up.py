"""Cleans up after a measurement, however it ended."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import count, entry, logger
from plimsoll.bootstrap.aws_places import aws_places
from plimsoll.service.service import Service
from plimsoll.service.validating import clean_up_job
from plimsoll.service.validation_messages import Cleaned, CleanUpMessage


@entry(CleanUpMessage, aws_places)
def handler(message: CleanUpMessage, service: Service, _context: LambdaContext) -> Cleaned:
    """The job after its clean-up. The sweep deletes what could not be deleted."""
    cleaned = clean_up_job(service, message.job, message.error)
    if message.error is not None:
        count(failed_validations=1)
    if cleaned.left:
        logger.warning("left behind", places=cleaned.left)
    return cleaned
