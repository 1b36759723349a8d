"""DynamoDB as far as the service asks it: the items of its two tables in a database that several processes share."""

import json
import re
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.scale.objects import connected
from cloud_simulator.faults import Refused

_TABLE: Final = (
    "create table if not exists items (name text, key text, item text, primary key (name, key)) without rowid"
)
_ASSIGNED: Final = re.compile(r"(#\w+) = (:\w+)")
_KEYS: Final = ("place", "volume_id", "id")
"""The attributes that are keys in either table."""

Item = Mapping[str, Any]


@dataclass(slots=True)
class Tables:
    """The items, in a file of that folder."""

    folder: Path
    _here: threading.local = field(default_factory=threading.local)

    def answer(self, operation: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """What DynamoDB answers.

        A condition is refused where there is an item already: whoever claims something here finds it free or taken, and
        nothing expires within a run.
        """
        name = asked.get("TableName", "")
        match operation:
            case "BatchGetItem":
                wanted = asked["RequestItems"].items()
                found = {table: self._items(table, keys["Keys"]) for table, keys in wanted}
                return {"Responses": found, "UnprocessedKeys": {}}
            case "BatchWriteItem":
                for table, requests in asked["RequestItems"].items():
                    self._put(table, [request["PutRequest"]["Item"] for request in requests])
                return {"UnprocessedItems": {}}
            case "GetItem":
                found_here = self._items(name, [asked["Key"]])
                return {"Item": found_here[0]} if found_here else {}
            case "PutItem":
                if "ConditionExpression" in asked and self._items(name, [asked["Item"]]):
                    raise Refused("ConditionalCheckFailedException", "The conditional request failed")
                self._put(name, [asked["Item"]])
                return {}
            case "UpdateItem":
                self._put(name, [_updated(next(iter(self._items(name, [asked["Key"]])), asked["Key"]), asked)])
                return {}
            case "DeleteItem":
                self._database.execute("delete from items where name = ? and key = ?", (name, _key(asked["Key"])))
                return {}
            case _:
                raise NotImplementedError(f"dynamodb:{operation}: teach benchmarks/scale/tables.py to answer it.")

    def _items(self, table: str, keys: Sequence[Item]) -> list[Item]:
        marks = ",".join("?" * len(keys))
        asked = f"select item from items where name = ? and key in ({marks})"  # noqa: S608  # question marks alone
        rows = self._database.execute(asked, (table, *map(_key, keys))).fetchall()
        return [json.loads(row) for (row,) in rows]

    def _put(self, table: str, items: Sequence[Item]) -> None:
        rows = [(table, _key(item), json.dumps(item)) for item in items]
        self._database.executemany("insert or replace into items values (?, ?, ?)", rows)

    @property
    def _database(self) -> sqlite3.Connection:
        """Each thread has a connection of its own."""
        if not hasattr(self._here, "database"):
            self._here.database = connected(self.folder / "items.sqlite", _TABLE)
        found: sqlite3.Connection = self._here.database
        return found


def _key(item: Item) -> str:
    return "\0".join(item[name]["S"] for name in _KEYS if name in item)


def _updated(item: Item, asked: Mapping[str, Any]) -> Item:
    """An item after the assignments of an update."""
    names, values = asked["ExpressionAttributeNames"], asked["ExpressionAttributeValues"]
    assigned = _ASSIGNED.findall(asked["UpdateExpression"])
    return {**item, **{names[name]: values[value] for name, value in assigned}}
