"""Begins to make a scratch volume."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import entry
from plimsoll.bootstrap.aws_places import aws_places
from plimsoll.service.service import Service
from plimsoll.service.validating import create_scratch
from plimsoll.service.validation_messages import JobMessage, SteppedJob


@entry(JobMessage, aws_places)
def handler(message: JobMessage, service: Service, _context: LambdaContext) -> SteppedJob:
    """The job whose volume is being made."""
    return create_scratch(service, message.job)
