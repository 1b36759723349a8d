"""Sweeping: scratch volumes past their deadline are deleted at every target, whoever made them."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from plimsoll.domain.errors import CloudError
from plimsoll.ports import FailedTarget
from plimsoll.service.service import Service
from plimsoll.service.validating.messages import SweptAll
from plimsoll.service.validating.places import patience_of
from plimsoll.validation.sweeping import Swept, sweep

MOST_NAMED: Final = 100
"""How many sentences on what is left are given."""


def sweep_all(service: Service) -> SweptAll:
    """Deletes the scratch volumes that are due; a failing target costs itself only."""
    counts: Counter[str] = Counter()
    left_behind: list[str] = []
    for one in _swept(service):
        if isinstance(one, FailedTarget):
            counts["failed"] += 1
            left_behind.append(f"{one.name}: {one.error}")
        elif one.left is not None:
            counts["left"] += 1
            left_behind.append(one.left.text)
        else:
            counts["deleted" if one.deleted else "alive"] += 1
    return SweptAll(
        deleted=counts["deleted"],
        left=counts["left"],
        alive=counts["alive"],
        failed=counts["failed"],
        left_behind=left_behind[:MOST_NAMED],
    )


def _swept(service: Service) -> Iterator[Swept | FailedTarget]:
    now, patience = service.clock.now(), patience_of(service)
    for target in service.places.targets():
        if isinstance(target, FailedTarget):
            yield target
            continue
        try:
            bench = service.places.bench(target)
        except CloudError as error:
            yield FailedTarget(name=str(target), error=error)
            continue
        yield from sweep([target], now, bench=bench, patience=patience)
