"""Begins to attach a scratch volume to its bench host."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import entry
from plimsoll.bootstrap.aws_places import aws_places
from plimsoll.service.service import Service
from plimsoll.service.validating import attach_scratch
from plimsoll.service.validation_messages import JobMessage, SteppedJob


@entry(JobMessage, aws_places)
def handler(message: JobMessage, service: Service, _context: LambdaContext) -> SteppedJob:
    """The job whose volume is being attached."""
    return attach_scratch(service, message.job)
