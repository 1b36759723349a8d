"""Runs something once, however often its function is called. The table of coordination keeps the result."""

import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.typing import LambdaContext

RequestT = TypeVar("RequestT")


def once(
    do: Callable[[RequestT], Any], request: RequestT, *, kind: str, remembered: timedelta, context: LambdaContext
) -> Any:
    """The result of `do` for a request, in plain values: new, or kept from the same request of that kind before.

    Raises Powertools' IdempotencyAlreadyInProgressError while another invocation does it.
    """
    config = IdempotencyConfig(expires_after_seconds=int(remembered.total_seconds()))
    config.register_lambda_context(context)
    table = DynamoDBPersistenceLayer(table_name=os.environ["PLIMSOLL_COORDINATION_TABLE"])

    def carry_out(*, request: RequestT) -> Any:
        return do(request)

    return idempotent_function(
        carry_out, data_keyword_argument="request", persistence_store=table, config=config, key_prefix=kind
    )(request=request)
