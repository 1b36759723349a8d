"""The service's stores: a run in a bucket, and the history of volumes in a DynamoDB table.

Objects are encrypted as the bucket does by default. The table has an item for each volume, by its account, region and
id; and another for what people decided of it, so that no run writes over a word that comes meanwhile.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from botocore.exceptions import ClientError
from pydantic import Field, TypeAdapter, ValidationError

from plimsoll.clouds.aws.errors import DECIDING, KEEPING, code_of, translate_errors
from plimsoll.clouds.aws.lists import AwsAnswer
from plimsoll.clouds.aws.objects import every_key, every_object
from plimsoll.clouds.common.answers import bad_answer, read_answer
from plimsoll.clouds.common.calls import in_chunks, send_all
from plimsoll.files import atomic_path
from plimsoll.model.errors import Throttled, Unexpected
from plimsoll.ports import Target

if TYPE_CHECKING:
    from plimsoll.decide.history import HistoryEntry
    from plimsoll.model.people import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Store:
    """Each key is an object of the bucket. `client` is boto3's of S3; every method raises CloudError.

    Only a caller who may list the bucket can tell a key that is not there from one that may not be read.
    """

    bucket: str
    client: Any

    def put(self, key: str, content: bytes) -> None:
        """Keeps content under a key, whole or not at all."""
        with self._translate_errors("write", key, "s3:PutObject"):
            self.client.put_object(Bucket=self.bucket, Key=key, Body=content)

    def get(self, key: str) -> bytes | None:
        """The object under a key; None if there is none."""
        with self._translate_errors("read", key, "s3:GetObject"):
            body = self._body(key)
            return None if body is None else bytes(body.read())

    def keys(self, prefix: str) -> Iterator[str]:
        """The keys that begin with a prefix, in the order of their bytes, as S3 lists them."""
        with self._translate_errors("list", prefix, "s3:ListBucket"):
            yield from every_key(self.client, self.bucket, prefix)

    def sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        """The keys of `keys`, each with the bytes of its object."""
        with self._translate_errors("list", prefix, "s3:ListBucket"):
            yield from ((entry.key, entry.size) for entry in every_object(self.client, self.bucket, prefix))

    def pieces(self, key: str) -> Iterator[bytes]:
        """The object under a key, piece after piece; no piece where there is no object."""
        with self._translate_errors("read", key, "s3:GetObject"):
            body = self._body(key)
            if body is not None:
                yield from body.iter_chunks(_PIECE_BYTES)

    def put_pieces(self, key: str, pieces: Iterable[bytes]) -> None:
        """Does as `put`, piece after piece, in parts of 8 MiB where it is long. An error in between leaves nothing."""
        with self._translate_errors("write", key, "s3:PutObject"):
            self.client.upload_fileobj(_Pieces(iter(pieces)), self.bucket, key)

    def delete(self, key: str) -> None:
        """Keeps nothing under a key any more."""
        with self._translate_errors("delete", key, "s3:DeleteObject"):
            self.client.delete_object(Bucket=self.bucket, Key=key)

    def put_file(self, key: str, path: Path) -> None:
        """Does as `put`, from a file, in parts where it is long."""
        with path.open("rb") as file, self._translate_errors("write", key, "s3:PutObject"):
            self.client.upload_fileobj(file, self.bucket, key)

    def get_file(self, key: str, path: Path) -> bool:
        """Brings what is kept into a file, whole or not at all; False where nothing is."""
        with self._translate_errors("read", key, "s3:GetObject"):
            body = self._body(key)
            if body is None:
                return False
            with atomic_path(path) as beside, beside.open("wb") as file:
                shutil.copyfileobj(body, file)
        return True

    def _body(self, key: str) -> Any:
        try:
            return self.client.get_object(Bucket=self.bucket, Key=key)["Body"]
        except ClientError as error:
            if code_of(error) == "NoSuchKey":
                return None
            raise

    def _translate_errors(self, verb: str, key: str, permission: str) -> AbstractContextManager[None]:
        return translate_errors(f"{verb} s3://{self.bucket}/{key}", permission, KEEPING)


_PIECE_BYTES: Final = 1 << 18
"""Bytes that are read of an object at once."""

_THERE_ALREADY: Final = ("PreconditionFailed", "ConditionalRequestConflict")
"""The answers of S3 where another object has the key, or another call is just writing it (Amazon S3 User Guide, "How to
prevent object overwrites with conditional writes", read 2026-11-27)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Facts(S3Store):
    """A bucket of facts: an object that is there is never written over."""

    def put_new(self, key: str, content: bytes) -> bool:
        """Keeps content under a new key, whole or not at all; False if something is there already, which stays."""
        with self._translate_errors("write", key, "s3:PutObject"):
            try:
                self.client.put_object(Bucket=self.bucket, Key=key, Body=content, IfNoneMatch="*")
            except ClientError as error:
                if code_of(error) in _THERE_ALREADY:
                    return False
                raise
        return True


@dataclass(slots=True)
class _Pieces:
    """Pieces as a file that can be read once, in parts as long as they are asked for."""

    pieces: Iterator[bytes]
    _left: bytearray = field(default_factory=bytearray)

    def read(self, size: int = -1) -> bytes:
        """The next bytes, `size` of them unless fewer are left."""
        while size < 0 or len(self._left) < size:
            piece = next(self.pieces, None)
            if piece is None:
                break
            self._left += piece
        taken = bytes(self._left if size < 0 else self._left[:size])
        del self._left[: len(taken)]
        return taken


KEYS_A_CALL: Final = 100
WRITES_A_CALL: Final = 25
"""Limits of BatchGetItem and BatchWriteItem (Amazon DynamoDB API Reference, read 2026-11-21)."""

_DECISIONS: Final = "/decisions"
"""What follows a volume's id in the sort key of what people decided of it; no id has a slash."""

_ADD: Final = "SET decisions = list_append(if_not_exists(decisions, :none), :said) ADD ids :ids"

ItemAttributes = Mapping[str, Any]
"""Attributes by name, each in DynamoDB's own form, such as {"S": "vol-1"}."""


class Keys(AwsAnswer):
    """Keys that were not looked up."""

    keys: tuple[dict[str, Any], ...] = ()


class Items(AwsAnswer):
    """The items that BatchGetItem has, by table."""

    responses: dict[str, tuple[dict[str, Any], ...]]
    unprocessed_keys: dict[str, Keys] = Field(default_factory=dict)


class Written(AwsAnswer):
    """The requests that BatchWriteItem left out, by table."""

    unprocessed_items: dict[str, tuple[dict[str, Any], ...]] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamoHistory:
    """Items of a table with the partition key `place` ("account/region") and the sort key `volume_id`: the volume's id
    for its entry, and with `/decisions` after it for what people decided.

    `client` is boto3's of DynamoDB; `sleep` waits some seconds before what was not processed is asked again.
    """

    table: str
    client: Any
    sleep: Callable[[float], None] = time.sleep

    def entries(self, target: Target, volume_ids: Sequence[str]) -> Mapping[str, HistoryEntry]:
        """The entries of those volumes that have one, by volume id."""
        return {
            entry.volume_id: entry for entry in (self._entry(item, target) for item in self._items(target, volume_ids))
        }

    def write(self, entries: Sequence[HistoryEntry]) -> None:
        """Keeps entries in the place of earlier ones; of several of one volume, the last."""

        def put(requests: Sequence[ItemAttributes]) -> Sequence[ItemAttributes]:
            with translate_errors(f"write into the table {self.table}", "dynamodb:BatchWriteItem", KEEPING):
                answer = self.client.batch_write_item(RequestItems={self.table: list(requests)})
            written = read_answer(Written, answer, call="dynamodb:BatchWriteItem", place=f"the table {self.table}")
            return written.unprocessed_items.get(self.table, ())

        last = {(entry.account, entry.region, entry.volume_id): entry for entry in entries}
        for chunk in in_chunks(({"PutRequest": {"Item": _item(entry)}} for entry in last.values()), WRITES_A_CALL):
            self._check(send_all(chunk, put, self.sleep), "dynamodb:BatchWriteItem")

    def decisions(self, target: Target, volume_ids: Sequence[str]) -> Mapping[str, Sequence[Decision]]:
        """The decisions of people on these volumes, by volume id and in no order."""
        by_volume: dict[str, Sequence[Decision]] = {}
        for item in self._items(target, [f"{volume_id}{_DECISIONS}" for volume_id in volume_ids]):
            volume_id = str(item["volume_id"]).removesuffix(_DECISIONS)
            place = {"account": target.account, "region": target.region, "volume_id": volume_id}
            entries = item.get("decisions", [{}])  # an item without any is damaged as well
            with self._readable(item, target):
                by_volume[volume_id] = [_decision().validate_python({**fields, **place}) for fields in entries]
        return by_volume

    def decide(self, decision: Decision) -> bool:
        """Adds what somebody decided; False where the same request was added before.

        CloudError where an item's 400 KB are full (DynamoDB Developer Guide, "Quotas", read 2026-11-22), which takes
        more than 250 decisions of one volume with the longest reasons, and some 1,000 usual ones.
        """
        target = Target(account=decision.account, region=decision.region)
        fields = _decision().dump_python(decision, mode="json", exclude={"account", "region", "volume_id"})
        with translate_errors(f"note a decision in the table {self.table}", "dynamodb:UpdateItem", DECIDING):
            try:
                self.client.update_item(
                    TableName=self.table,
                    Key=_key(target, f"{decision.volume_id}{_DECISIONS}"),
                    UpdateExpression=_ADD,
                    ConditionExpression="NOT contains(ids, :id)",
                    ExpressionAttributeValues={
                        ":none": {"L": []},
                        ":said": {"L": [TypeSerializer().serialize(fields)]},
                        ":ids": {"SS": [decision.id]},
                        ":id": {"S": decision.id},
                    },
                )
            except self.client.exceptions.ConditionalCheckFailedException:
                return False
        return True

    def _items(self, target: Target, names: Sequence[str]) -> Sequence[Mapping[str, Any]]:
        """The items of one place that there are, by their sort keys, as plain values."""
        items: list[ItemAttributes] = []

        def read(keys: Sequence[ItemAttributes]) -> Sequence[ItemAttributes]:
            with translate_errors(f"read from the table {self.table}", "dynamodb:BatchGetItem", KEEPING):
                answer = self.client.batch_get_item(
                    RequestItems={self.table: {"Keys": list(keys), "ConsistentRead": True}}
                )
            page = read_answer(Items, answer, call="dynamodb:BatchGetItem", place=f"the table {self.table}")
            items.extend(page.responses.get(self.table, ()))
            left = page.unprocessed_keys.get(self.table)
            return left.keys if left else ()

        for chunk in in_chunks([_key(target, name) for name in dict.fromkeys(names)], KEYS_A_CALL):
            self._check(send_all(chunk, read, self.sleep), "dynamodb:BatchGetItem")
        return [self._plain(item, target) for item in items]

    def _plain(self, item: ItemAttributes, target: Target) -> Mapping[str, Any]:
        """An item as plain values. BadAnswer where DynamoDB has no such forms of them."""
        try:
            return {name: TypeDeserializer().deserialize(value) for name, value in item.items()}
        except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
            place = f"an item of {target} in the table {self.table}"
            raise bad_answer(str(error), item, call="dynamodb:BatchGetItem", place=place) from error

    def _check(self, left: Sequence[ItemAttributes], permission: str) -> None:
        if left:
            raise Throttled(
                f"the table {self.table} did not process {len(left)} items of {permission} until the retries were "
                f"used up. {KEEPING.goes_on}; {KEEPING.again}."
            )

    def _entry(self, plain: Mapping[str, Any], target: Target) -> HistoryEntry:
        with self._readable(plain, target):
            return _adapter().validate_python({**plain, "account": target.account, "region": target.region})

    @contextmanager
    def _readable(self, plain: Mapping[str, Any], target: Target) -> Iterator[None]:
        """Raises Unexpected for an item that is none of ours."""
        try:
            yield
        except ValidationError as error:
            first = error.errors()[0]
            raise Unexpected(
                f"the entry of {plain.get('volume_id')} in {target} of the table {self.table} is damaged "
                f"({'.'.join(map(str, first['loc']))}: {first['msg'].lower()}): delete that item."
            ) from error


@lru_cache
def _adapter() -> TypeAdapter[HistoryEntry]:
    from plimsoll.decide.history import HistoryEntry  # noqa: PLC0415  # it brings numpy to functions that may not need it

    return TypeAdapter(HistoryEntry)


@lru_cache
def _decision() -> TypeAdapter[Decision]:
    from plimsoll.model.people import Decision  # noqa: PLC0415  # as above

    return TypeAdapter(Decision)


def _key(target: Target, name: str) -> ItemAttributes:
    return {"place": {"S": str(target)}, "volume_id": {"S": name}}


def _item(entry: HistoryEntry) -> ItemAttributes:
    """An entry as an item; its account and region are the place. Figures are exact: Decimals of the shortest
    digits."""
    plain = json.loads(_adapter().dump_json(entry, exclude={"account", "region"}), parse_float=Decimal)
    attributes = {name: TypeSerializer().serialize(value) for name, value in plain.items()}
    return {**attributes, **_key(Target(account=entry.account, region=entry.region), entry.volume_id)}
