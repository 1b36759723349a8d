"""Looks whether what a job waits for is there."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import entry
from plimsoll.bootstrap.aws_places import aws_places
from plimsoll.service.service import Service
from plimsoll.service.validating import look_at_job
from plimsoll.service.validation_messages import Looked, LookMessage


@entry(LookMessage, aws_places)
def handler(message: LookMessage, service: Service, _context: LambdaContext) -> Looked:
    """The state of the job: ready or not."""
    return look_at_job(service, message.job, message.at)
