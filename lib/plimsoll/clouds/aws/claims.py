"""Claims in a DynamoDB table: conditional writes, so that of two claimants one has the key."""

import math
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from plimsoll.clouds.aws.errors import KEEPING, attempted
from plimsoll.clouds.aws.names import CLAIM_PREFIX

_FREE: Final = "attribute_not_exists(id) OR expiration <= :now OR #holder = :holder"
_HELD: Final = "#holder = :holder"
_NAMES: Final = {"#holder": "holder"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamoClaims:
    """Items of a table with the key `id` and, as its time to live, `expiration` in epoch seconds.

    `client` is boto3's of DynamoDB. A claim ends with the whole second in which its time is up.
    """

    table: str
    client: Any

    def claim(self, key: str, holder: str, until: datetime, now: datetime) -> bool:
        """Takes a key for a holder until that time; False where another has it."""
        item = {**_id(key), "holder": {"S": holder}, "expiration": {"N": str(math.ceil(until.timestamp()))}}
        with self._attempted("claim", key, "dynamodb:PutItem"):
            try:
                self.client.put_item(
                    TableName=self.table,
                    Item=item,
                    ConditionExpression=_FREE,
                    ExpressionAttributeNames=_NAMES,
                    ExpressionAttributeValues={":now": {"N": str(now.timestamp())}, ":holder": {"S": holder}},
                )
            except self.client.exceptions.ConditionalCheckFailedException:
                return False
        return True

    def release(self, key: str, holder: str) -> None:
        """Gives a key up; another's stays."""
        with self._attempted("release", key, "dynamodb:DeleteItem"):
            try:
                self.client.delete_item(
                    TableName=self.table,
                    Key=_id(key),
                    ConditionExpression=_HELD,
                    ExpressionAttributeNames=_NAMES,
                    ExpressionAttributeValues={":holder": {"S": holder}},
                )
            except self.client.exceptions.ConditionalCheckFailedException:
                return  # another has it, or nobody any more

    def holder(self, key: str, now: datetime) -> str | None:
        """Who has a key now, None where nobody has."""
        with self._attempted("look up", key, "dynamodb:GetItem"):
            found = self.client.get_item(TableName=self.table, Key=_id(key), ConsistentRead=True).get("Item")
        if found is None or int(found["expiration"]["N"]) <= now.timestamp():
            return None
        return str(found["holder"]["S"])

    def _attempted(self, verb: str, key: str, permission: str) -> AbstractContextManager[None]:
        return attempted(f"{verb} {key} in the table {self.table}", permission, KEEPING)


def _id(key: str) -> Mapping[str, Mapping[str, str]]:
    return {"id": {"S": f"{CLAIM_PREFIX}{key}"}}
