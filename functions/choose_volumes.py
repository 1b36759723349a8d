"""Chooses what a validation measures."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import entry
from plimsoll.bootstrap.aws_places import aws_places
from plimsoll.service.choosing import choose_volumes
from plimsoll.service.service import Service
from plimsoll.service.validation_messages import ChooseMessage, Chosen


@entry(ChooseMessage, aws_places)
def handler(message: ChooseMessage, service: Service, _context: LambdaContext) -> Chosen:
    """The volumes that are measured for, and how many measurements the budget leaves out."""
    return choose_volumes(service, message)
