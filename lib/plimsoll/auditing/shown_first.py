"""Shown first: in a target that is read sparingly, the volumes that can save the most are shown by the minute.

A report shows those that save the most first. How much a change can save at most is known by prices before anything is
read. Of one volume in 200, and of no more than 20 of a target, operations, bytes and idle time are read by the minute
and not by the hour. No metric more is billed for that.
"""

from collections.abc import Sequence
from heapq import nlargest
from typing import Final

from plimsoll.auditing.decisions import is_judged
from plimsoll.auditing.ports import AuditPorts
from plimsoll.domain.context import DecisionContext
from plimsoll.domain.offers.most_saved import most_saved_usd_month
from plimsoll.domain.volume import Volume

ONE_IN: Final = 200
MOST: Final = 20


def shown_first(
    volumes: Sequence[Volume], ports: AuditPorts, context: DecisionContext, done: frozenset[str]
) -> frozenset[str]:
    """The ids of a target's volumes that are shown by the minute; none where all are read so."""
    most = 0 if ports.every_minute or ports.by_minutes else min(MOST, len(volumes) // ONE_IN)
    if not most:
        return frozenset()
    types = context.market.types
    saved = {
        volume.id: most_saved_usd_month(volume, context.market, context.of(volume).policy)
        for volume in volumes
        if volume.id not in done and volume.spec.type in types and is_judged(volume, context)
    }
    first = nlargest(most, saved.items(), key=lambda entry: (entry[1], entry[0]))
    return frozenset(volume_id for volume_id, usd in first if usd > 0)
