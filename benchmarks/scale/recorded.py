"""Recorded accounts: what the functions come to for an account whose volumes are copies of those of an earlier one.

Every account has the same workloads, in the same order, in the same regions and at the same prices. What the functions
would keep of it is what they kept of an earlier account, under other ids. So they may be called for the first accounts
alone; the inventories and answers of all others are theirs, written anew. The history of those others is not written.
"""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from benchmarks.scale.fleet import REGIONS, TARGET_VOLUMES, account_of, number_of
from benchmarks.scale.objects import Objects
from plimsoll.files import CHECKSUMS, parse_json, seal
from plimsoll.reports.run_files import RUN

_IDS: Final = re.compile(rb"\b(vol|i)-([0-9a-f]{17})\b")
_LAST: Final = ("/listed.json", "/whole", "/result.json")
"""What says that something is whole."""

Place = tuple[str, ...]
"""An account, or an account in a region."""


@dataclass(slots=True, kw_only=True)
class Recorded:
    """Inventories and lots. The `inventory` and `audit` functions are called for the first `accounts`, with what the
    state machine tells them."""

    objects: Objects
    inventory: Callable[[Any], Any]
    audit: Callable[[Any], Any]
    accounts: int
    _claimed: set[Place] = field(default_factory=set)
    _ready: set[Place] = field(default_factory=set)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def volumes(self) -> int:
        """How many volumes were audited by the function."""
        return TARGET_VOLUMES * sum(len(place) > 1 for place in self._ready)

    def take(self, event: Mapping[str, Any]) -> Any:
        """What the inventory of an account answers."""
        place = (event["account"]["account"],)
        run = f"work/{event['run_id']}"

        def take(sources: Sequence[Place]) -> None:
            for (account,) in sources:
                self._until_done(self.inventory, {**event, "account": {"account": account}})

        return self._answer([place], take, (f"{run}/inventory/", f"{run}/accounts/", "ledger/"))

    def answer(self, event: Mapping[str, Any]) -> Any:
        """What the audit of a lot answers."""
        places = [(one["account"], one["region"]) for one in event["lot"]["batches"]]

        def audit(sources: Sequence[Place]) -> None:
            batches = [{"account": account, "region": region, "batch": 0} for account, region in sources]
            self._until_done(self.audit, {**event, "lot": {"batches": batches, "sharing": 1}})

        return self._answer(places, audit, (f"work/{event['run_id']}/results/",))

    def _until_done(self, function: Callable[[Any], Any], event: Any) -> None:
        """Calls a function until nothing is left, as the state machine does."""
        while function(event)["left"]:
            pass

    def _answer(self, places: Sequence[Place], call: Callable[[Sequence[Place]], None], kept: Iterable[str]) -> Any:
        """Calls what is needed of these places, or waits for who has begun it, and copies what was `kept`, prefix by
        prefix."""
        sources = {place: self._source(place) for place in places}
        with self._changed:
            mine = [one for one in dict.fromkeys(sources.values()) if one not in self._claimed]
            self._claimed.update(mine)
        if mine:
            call(mine)
        with self._changed:
            self._ready.update(mine)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._ready.issuperset(sources.values()))
        for place, source in sources.items():
            for prefix in kept if place != source else ():
                self._copy(prefix, source, place)
        return {"left": 0}

    def _source(self, place: Place) -> Place:
        return (account_of(number_of(place[0]) % self.accounts), *place[1:])

    def _copy(self, prefix: str, source: Place, place: Place) -> None:
        """Writes what was kept of a place as another one's; what says that it is whole comes last."""
        there, here = (f"{prefix}{'/'.join(one)}/" for one in (source, place))
        further = (number_of(place[0]) - number_of(source[0])) * len(REGIONS) * TARGET_VOLUMES
        keys = sorted((key for key, _ in self.objects.sizes(there)), key=lambda key: key.endswith(_LAST))
        contents = dict[str, bytes]()
        for key in keys:
            content = self.objects.content(key).replace(source[0].encode(), place[0].encode())
            contents[here + key.removeprefix(there)] = _IDS.sub(partial(_renumbered, further), content)
        for key, content in contents.items():
            self.objects.keep(key, _with_checksums(key, content, contents))


def _with_checksums(key: str, content: bytes, contents: Mapping[str, bytes]) -> bytes:
    """A copied file with the checksums of what was copied beside it, or with its own, if it has any."""
    folder, _, name = key.rpartition("/")
    if name == CHECKSUMS:
        beside = {one: contents[f"{folder}/{one}"] for one in parse_json(content) if f"{folder}/{one}" in contents}
        return json.dumps({one: hashlib.sha256(copied).hexdigest() for one, copied in beside.items()}).encode()
    return json.dumps(seal(parse_json(content)), ensure_ascii=False).encode() if name == RUN else content


def _renumbered(further: int, found: re.Match[bytes]) -> bytes:
    kind, number = found.groups()
    return b"%s-%017x" % (kind, int(number, 16) + further)
