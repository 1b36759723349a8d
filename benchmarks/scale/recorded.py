"""Recorded audits: what a lot comes to whose volumes are copies of those of targets that were audited before.

Every target has the same workloads, in the same order and at its region's prices: what the function would keep of it is
what it kept of an earlier one in that region, under other ids. So the function may audit the first targets alone; the
answers of all others are theirs, written anew. The history of those others is not written.
"""

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from benchmarks.scale.fleet import REGIONS, TARGET_VOLUMES, account_of, number_of_target
from benchmarks.scale.objects import Objects

_IDS: Final = re.compile(rb"\b(vol|i)-([0-9a-f]{17})\b")

Place = tuple[str, str]


@dataclass(slots=True, kw_only=True)
class Recorded:
    """Answers lots: `audit` is the function, which is told what the state machine tells it, of the first `targets`."""

    objects: Objects
    audit: Callable[[Any], Any]
    targets: int
    volumes: int = 0
    _claimed: set[Place] = field(default_factory=set)
    _ready: set[Place] = field(default_factory=set)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def answer(self, event: Mapping[str, Any]) -> Any:
        """What the function would answer, with its answers kept."""
        places = [(one["account"], one["region"]) for one in event["lot"]["batches"]]
        sources = {place: self._source(place) for place in places}
        with self._changed:
            mine = [one for one in dict.fromkeys(sources.values()) if one not in self._claimed]
            self._claimed.update(mine)
        if mine:
            self._audit(event, mine)
        with self._changed:
            self._changed.wait_for(lambda: self._ready.issuperset(sources.values()))
        for place, source in sources.items():
            if place != source:
                self._write(str(event["run_id"]), source, place)
        return {"left": 0}

    def _source(self, place: Place) -> Place:
        """The target that is audited in the place of another one, in the same region."""
        number = number_of_target(*place) % self.targets
        return account_of(number // len(REGIONS)), REGIONS[number % len(REGIONS)]

    def _audit(self, event: Mapping[str, Any], places: Sequence[Place]) -> None:
        """Audits these targets until nothing of them is left, as the state machine does."""
        batches = [{"account": account, "region": region, "batch": 0} for account, region in places]
        told = {**event, "lot": {"batches": batches, "sharing": 1}}
        while self.audit(told)["left"]:
            pass
        with self._changed:
            self.volumes += len(places) * TARGET_VOLUMES
            self._ready.update(places)
            self._changed.notify_all()

    def _write(self, run_id: str, source: Place, place: Place) -> None:
        """Writes what was kept of a target as another one's; what says that it is whole comes last."""
        there, here = _results(run_id, source), _results(run_id, place)
        further = (number_of_target(*place) - number_of_target(*source)) * TARGET_VOLUMES
        renumber = partial(_renumbered, further)
        keys = sorted((key for key, _ in self.objects.sizes(there)), key=lambda key: key.endswith("result.json"))
        for key in keys:
            content = self.objects.content(key).replace(source[0].encode(), place[0].encode())
            self.objects.keep(here + key.removeprefix(there), _IDS.sub(renumber, content))


def _results(run_id: str, place: Place) -> str:
    """Where the results of a target are."""
    return f"work/{run_id}/results/{'/'.join(place)}/"


def _renumbered(further: int, found: re.Match[bytes]) -> bytes:
    kind, number = found.groups()
    return b"%s-%017x" % (kind, int(number, 16) + further)
