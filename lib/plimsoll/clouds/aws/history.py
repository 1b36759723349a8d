"""The history of volumes in a DynamoDB table: an item for each volume, by its account and region, and its id."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from pydantic import TypeAdapter, ValidationError

from plimsoll.clouds.aws.errors import KEEPING, attempted
from plimsoll.clouds.aws.paging import in_chunks
from plimsoll.clouds.aws.remainders import remainder
from plimsoll.domain.errors import Throttled, Unexpected
from plimsoll.domain.history import HistoryEntry
from plimsoll.ports import Target

KEYS_A_CALL: Final = 100
WRITES_A_CALL: Final = 25
"""Limits of BatchGetItem and BatchWriteItem (Amazon DynamoDB API Reference, read 2026-11-21)."""

Attributes = Mapping[str, Any]
"""Attributes by name, each in DynamoDB's own form, such as {"S": "vol-1"}."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamoHistory:
    """Items of a table with the partition key `place` ("account/region") and the sort key `volume_id`.

    `client` is boto3's of DynamoDB; `sleep` waits some seconds before what was not processed is asked again.
    """

    table: str
    client: Any
    sleep: Callable[[float], None] = time.sleep

    def entries(self, target: Target, volume_ids: Sequence[str]) -> Mapping[str, HistoryEntry]:
        """The entries of those volumes that have one, by volume id."""
        found: list[Attributes] = []

        def read(keys: Sequence[Attributes]) -> Sequence[Attributes]:
            with attempted(f"read from the table {self.table}", "dynamodb:BatchGetItem", KEEPING):
                answer = self.client.batch_get_item(
                    RequestItems={self.table: {"Keys": list(keys), "ConsistentRead": True}}
                )
            found.extend(answer["Responses"].get(self.table, ()))
            left: Sequence[Attributes] = answer.get("UnprocessedKeys", {}).get(self.table, {}).get("Keys", ())
            return left

        keys = [_key(target, volume_id) for volume_id in dict.fromkeys(volume_ids)]
        for chunk in in_chunks(keys, KEYS_A_CALL):
            self._check(remainder(chunk, read, self.sleep), "dynamodb:BatchGetItem")
        entries = (self._entry(item, target) for item in found)
        return {entry.volume_id: entry for entry in entries}

    def write(self, entries: Sequence[HistoryEntry]) -> None:
        """Keeps entries in the place of earlier ones; of several of one volume, the last."""

        def put(requests: Sequence[Attributes]) -> Sequence[Attributes]:
            with attempted(f"write into the table {self.table}", "dynamodb:BatchWriteItem", KEEPING):
                answer = self.client.batch_write_item(RequestItems={self.table: list(requests)})
            left: Sequence[Attributes] = answer.get("UnprocessedItems", {}).get(self.table, ())
            return left

        last = {(entry.account, entry.region, entry.volume_id): entry for entry in entries}
        for chunk in in_chunks(({"PutRequest": {"Item": _item(entry)}} for entry in last.values()), WRITES_A_CALL):
            self._check(remainder(chunk, put, self.sleep), "dynamodb:BatchWriteItem")

    def _check(self, left: Sequence[Attributes], permission: str) -> None:
        if left:
            raise Throttled(
                f"the table {self.table} did not process {len(left)} items of {permission} until the retries were "
                f"used up. {KEEPING.goes_on}; {KEEPING.again}."
            )

    def _entry(self, item: Attributes, target: Target) -> HistoryEntry:
        plain = {name: TypeDeserializer().deserialize(value) for name, value in item.items()}
        try:
            return _adapter().validate_python({**plain, "account": target.account, "region": target.region})
        except ValidationError as error:
            first = error.errors()[0]
            raise Unexpected(
                f"the entry of {plain.get('volume_id')} in {target} of the table {self.table} is damaged "
                f"({'.'.join(map(str, first['loc']))}: {first['msg'].lower()}): delete that item."
            ) from error


@lru_cache
def _adapter() -> TypeAdapter[HistoryEntry]:
    return TypeAdapter(HistoryEntry)


def _key(target: Target, volume_id: str) -> Attributes:
    return {"place": {"S": str(target)}, "volume_id": {"S": volume_id}}


def _item(entry: HistoryEntry) -> Attributes:
    """An entry as an item; its account and region are the place. Money is exact: a Decimal of the shortest digits."""
    plain = _adapter().dump_python(entry, mode="json", exclude={"account", "region"})
    exact = {name: Decimal(repr(value)) if isinstance(value, float) else value for name, value in plain.items()}
    attributes = {name: TypeSerializer().serialize(value) for name, value in exact.items()}
    return {**attributes, **_key(Target(account=entry.account, region=entry.region), entry.volume_id)}
