"""Lots: the items of a map with the batches to audit.

Small targets share a function, and each quota is used in full however many functions there are. A *place* has a quota
of its own: an account of AWS in a region, or a project of Google Cloud. Its batches are dealt to as many lots as its
share of all work asks for. So one large account alone is read by all functions together, each with a part of the quota,
and of many accounts each is read with its whole quota.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from plimsoll.clouds.common.calls import in_lots
from plimsoll.clouds.registry import CLOUDS
from plimsoll.model.units import KIB
from plimsoll.ports import Target
from plimsoll_service.step_messages import BatchItem, LotItem
from plimsoll_service.store_keys import VolumeBatch

LOT_BYTES: Final = 900 * KIB
"""How many bytes are listed of the volumes that small places share a lot for: some 1,000 volumes of AWS, at 920 bytes
in the demo's accounts. Of fewer, starting the function is more than a twentieth of its call."""

LOT_BATCHES: Final = 100
"""Batches that a lot has at most. Those beyond it are left to the next round."""


def lots_of(weights: Mapping[VolumeBatch, int], *, at_once: int, alone: Collection[VolumeBatch] = ()) -> list[LotItem]:
    """Every batch in a lot, the heaviest lots first; `weights` are the bytes of each batch's volumes.

    `at_once` lots are under way at a time: those of one place together keep to its quota. Batches that are `alone`
    share a lot with no other.
    """
    apart = frozenset(alone)
    places = defaultdict[tuple[str, ...], list[VolumeBatch]](list)
    for batch in sorted(weights):
        places[_place(batch.target)].append(batch)
    fair = sum(weights.values()) / at_once
    small, lots = list[Sequence[VolumeBatch]](), list[tuple[Sequence[VolumeBatch], int]]()
    for batches in places.values():
        dealt = _deal_batches(batches, weights, fair, at_once, apart)
        if len(dealt) == 1 and apart.isdisjoint(batches):
            small += dealt
        else:
            lots += [(lot, min(len(dealt), at_once)) for lot in dealt]
    lots += [(lot, 1) for lot in _merge_places(small, weights)]
    lots.sort(key=lambda lot: (-_weight(lot[0], weights), lot[0][0]))
    return [_item(lot, sharing) for lot, sharing in lots]


def _place(target: Target) -> tuple[str, ...]:
    """The account, or account and region, that has a quota of its own."""
    return (target.account, target.region) if CLOUDS[target.provider].quota_by_region else (target.account,)


def _deal_batches(
    batches: Sequence[VolumeBatch],
    weights: Mapping[VolumeBatch, int],
    fair: float,
    at_once: int,
    apart: frozenset[VolumeBatch],
) -> list[Sequence[VolumeBatch]]:
    """A place's batches: each in `apart` alone, the others in a lot for each `fair` share of its work."""
    together = [batch for batch in batches if batch not in apart]
    lots = math.ceil(_weight(together, weights) / fair) if fair else 1
    count = min(at_once, len(together), max(1, lots))
    return [*([batch] for batch in batches if batch in apart), *(together[number::count] for number in range(count))]


def _merge_places(
    places: Iterable[Sequence[VolumeBatch]], weights: Mapping[VolumeBatch, int]
) -> Iterator[Sequence[VolumeBatch]]:
    """Small places together in lots; a large one has a lot to itself."""
    for lot in in_lots(places, count=LOT_BATCHES, weight=LOT_BYTES, weigh=lambda place: _weight(place, weights)):
        yield list(chain.from_iterable(lot))


def _weight(batches: Iterable[VolumeBatch], weights: Mapping[VolumeBatch, int]) -> int:
    return sum(weights[batch] for batch in batches)


def _item(batches: Sequence[VolumeBatch], sharing: int) -> LotItem:
    return LotItem(batches=[BatchItem.from_batch(batch) for batch in batches[:LOT_BATCHES]], sharing=sharing)
