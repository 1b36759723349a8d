"""Cleans up after a measurement, however it ended."""

from functions.entry_point import count, entry, logger
from plimsoll_service.bootstrap.aws_places import aws_places
from plimsoll_service.service import Service
from plimsoll_service.validating import clean_up_job
from plimsoll_service.validation_messages import Cleaned, CleanUpMessage


def clean_up(service: Service, message: CleanUpMessage) -> Cleaned:
    """The job after its clean-up. The sweep deletes what could not be deleted."""
    cleaned = clean_up_job(service, message)
    if message.error is not None:
        count(failed_validations=1)
    if cleaned.left:
        logger.warning("left behind", places=cleaned.left)
    return cleaned


handler = entry(clean_up, aws_places)
