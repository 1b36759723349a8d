"""Adds up what the batches of a run came to."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import entry
from plimsoll.service.service import Service
from plimsoll.service.step_messages import RunMessage, Summarized
from plimsoll.service.summarizing import summarize


@entry(RunMessage)
def handler(message: RunMessage, service: Service, _context: LambdaContext) -> Summarized:
    """The end of the run."""
    return summarize(service, message)
