"""Takes the inventory of one account in one region."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry import entry
from plimsoll.bootstrap.google_places import google_places
from plimsoll.service.inventory import take_inventory
from plimsoll.service.service import Service
from plimsoll.service.step_messages import TargetMessage


@entry(TargetMessage, google_places)
def handler(told: TargetMessage, service: Service, _context: LambdaContext) -> None:
    """Keeps the target's volumes in the store, in batches."""
    take_inventory(service, told)
