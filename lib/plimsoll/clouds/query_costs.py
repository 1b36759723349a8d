"""What reading each cloud's metrics costs, by the name that targets have of it."""

from collections.abc import Callable, Mapping
from typing import Final

from plimsoll.clouds.aws.names import PROVIDER as AWS
from plimsoll.clouds.aws.query_cost import query_cost as aws_query_cost
from plimsoll.clouds.google.names import PROVIDER as GOOGLE
from plimsoll.clouds.google.query_cost import query_cost as google_query_cost
from plimsoll.domain.query_cost import QueryCost
from plimsoll.settings import Settings

_TARIFFS: Final[Mapping[str, Callable[[Settings], QueryCost]]] = {
    AWS: aws_query_cost,
    GOOGLE: google_query_cost,
}


def query_cost_of(provider: str, settings: Settings) -> QueryCost:
    """What reading metrics costs in a cloud; KeyError for one that Plimsoll does not ask."""
    return _TARIFFS[provider](settings)
