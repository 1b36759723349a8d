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

Told = TypeVar("Told")


def once(do: Callable[[Told], Any], told: Told, *, kind: str, remembered: timedelta, context: LambdaContext) -> Any:
    """What `do` answers to what it is told, in plain values as that is: now, or when it was told the same of that kind
    before.

    Powertools' IdempotencyAlreadyInProgressError while another invocation does it.
    """
    config = IdempotencyConfig(expires_after_seconds=int(remembered.total_seconds()))
    config.register_lambda_context(context)
    table = DynamoDBPersistenceLayer(table_name=os.environ["PLIMSOLL_COORDINATION_TABLE"])

    def carried_out(*, told: Told) -> Any:
        return do(told)

    return idempotent_function(
        carried_out, data_keyword_argument="told", persistence_store=table, config=config, key_prefix=kind
    )(told=told)
