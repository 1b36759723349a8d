"""Takes the inventory of one account, region by region, as far as the function's time goes."""

from typing import Final

from aws_lambda_powertools.utilities.typing import LambdaContext

import plimsoll_service.bootstrap.aws_accounts  # noqa: F401  # it decides: a start has more of a processor than an event
from functions.entry_point import entry
from plimsoll_service.bootstrap.google_places import all_places
from plimsoll_service.inventory import take_inventory
from plimsoll_service.service import Service
from plimsoll_service.step_messages import AccountMessage, TakenInventory

LEFT: Final = 0.5
"""The share of its time in which no other region is begun: the lists of one may take 300 s (PLIMSOLL_LIST_DEADLINE_S),
and its prices come after them."""


def take_in_time(service: Service, message: AccountMessage, context: LambdaContext) -> TakenInventory:
    """Keeps the account's volumes in the store, in batches. An account with regions left is called for again."""
    least_ms = LEFT * context.get_remaining_time_in_millis()
    return take_inventory(service, message, stop=lambda: context.get_remaining_time_in_millis() < least_ms)


handler = entry(take_in_time, all_places)
