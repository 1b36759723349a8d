"""Combines one shard of a run's answers."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.entry_point import entry
from plimsoll.service.combining import combine
from plimsoll.service.service import Service
from plimsoll.service.step_messages import ShardMessage


@entry(ShardMessage)
def handler(message: ShardMessage, service: Service, _context: LambdaContext) -> None:
    """Keeps the shard's sums, its part of the report and its Parquet files in the store."""
    combine(service, message)
