"""Events on an EventBridge bus."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import ClientError

from plimsoll.clouds.aws.chunks import send_all
from plimsoll.clouds.aws.errors import KEEPING, attempted, refused
from plimsoll.clouds.aws.names import EVENT_SOURCE

ENTRIES_A_CALL: Final = 10
BYTES_A_CALL: Final = 1_000_000
"""Limits of one PutEvents call: 10 entries, and less than 1 MB (Amazon EventBridge API Reference, read 2026-11-21)."""

Entry = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class BusEvents:
    """Events of the source "plimsoll". `client` is boto3's of EventBridge; `sleep` waits before another attempt."""

    bus: str
    client: Any
    sleep: Callable[[float], None] = time.sleep

    def send(self, events: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Puts every event on the bus; CloudError where one is not taken after the retries, with the last reason."""
        what = f"send events to the bus {self.bus}"
        refusals: list[Mapping[str, Any]] = []

        def put(entries: Sequence[Entry]) -> Sequence[Entry]:
            with attempted(what, "events:PutEvents", KEEPING):
                told = self.client.put_events(Entries=list(entries))["Entries"]
            failed = [(entry, answer) for entry, answer in zip(entries, told, strict=True) if answer.get("ErrorCode")]
            refusals[:] = [answer for _entry, answer in failed]
            return [entry for entry, _answer in failed]

        for batch in _batches([self._entry(kind, detail) for kind, detail in events]):
            if send_all(batch, put, self.sleep):
                last = refusals[-1]
                told: Any = {"Error": {"Code": last["ErrorCode"], "Message": last.get("ErrorMessage", "")}}
                raise refused(ClientError(told, "PutEvents"), what, "events:PutEvents", KEEPING)

    def _entry(self, kind: str, detail: Mapping[str, Any]) -> Entry:
        written = json.dumps(dict(detail), allow_nan=False, ensure_ascii=False)
        return {"Source": EVENT_SOURCE, "DetailType": kind, "Detail": written, "EventBusName": self.bus}


def _batches(entries: Sequence[Entry]) -> Iterator[Sequence[Entry]]:
    """The entries in lots that one call takes; one that is too long by itself is left to EventBridge to refuse."""
    batch: list[Entry] = []
    filled = 0
    for entry in entries:
        size = sum(len(text.encode()) for text in entry.values())
        if batch and (len(batch) == ENTRIES_A_CALL or filled + size > BYTES_A_CALL):
            yield batch
            batch, filled = [], 0
        batch.append(entry)
        filled += size
    if batch:
        yield batch
