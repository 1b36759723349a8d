"""Sweeps an account: deletes its scratch volumes that are past their deadline."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import entry
from plimsoll.bootstrap.aws_places import aws_places
from plimsoll.service.service import Service
from plimsoll.service.sweeping import sweep_account
from plimsoll.service.validation_messages import SweepAccountMessage


@entry(SweepAccountMessage, aws_places)
def handler(message: SweepAccountMessage, service: Service, _context: LambdaContext) -> None:
    """Keeps in the store what was deleted, is left and is in use."""
    sweep_account(service, message)
