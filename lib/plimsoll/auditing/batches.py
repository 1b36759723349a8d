"""Step 4, batches: the volumes of a target in portions, some of them under way at once."""

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from plimsoll.auditing.deciders import LEAST_BATCH
from plimsoll.auditing.ports import AuditPorts

EVERY_MINUTE_BATCH_VOLUMES = 100
"""Volumes of a batch where every minute of many is read, or may be because types are pooled: about 3 MB a volume."""

BATCHES_AT_ONCE = 2
"""Batches under way at once: one is decided while another waits for its metrics. Each process that decides has one."""

BatchItem = TypeVar("BatchItem")
BatchResult = TypeVar("BatchResult")


def batch_size(ports: AuditPorts, volumes: int, deciders: int) -> int:
    """The number of volumes in a batch: each process that decides is to have one batch at least."""
    members = sum(len(stripes.members) for stripes in ports.stripes)
    pooled = any(kind.pooled for kind in ports.catalog.types.values())
    many_whole = ports.every_minute or ports.by_minutes or pooled or members > EVERY_MINUTE_BATCH_VOLUMES
    most = min(ports.batch_volumes, EVERY_MINUTE_BATCH_VOLUMES) if many_whole else ports.batch_volumes
    return min(most, max(LEAST_BATCH, math.ceil(volumes / deciders))) if deciders else most


def ahead(
    work: Callable[[BatchItem], BatchResult], items: Iterable[BatchItem], at_once: int = BATCHES_AT_ONCE
) -> Iterator[BatchResult]:
    """The results in the order of their items. At most `at_once` are under way or not yet taken, each in a thread.

    When the caller stops, no further item begins, and those under way are waited for.
    """
    pool = ThreadPoolExecutor(max_workers=at_once)
    under_way: deque[Future[BatchResult]] = deque()
    try:
        for item in items:
            under_way.append(pool.submit(work, item))
            if len(under_way) == at_once:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
