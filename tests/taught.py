"""A run whose volumes have taught something: pasts in the sums of a shard, as audits of a large fleet leave them."""

from plimsoll.model.ceiling import Need
from plimsoll.risk.histories import PastPeaks
from plimsoll_service.shards import combined_document


def a_past(*iops, days=30, free=100.0, ceiling=1e6):
    """The past of a volume that moves half a MiB by each operation, by the busiest days of each block (one figure: four
    alike); the latest block first."""
    blocks = [[one] * 4 if isinstance(one, float | int) else one for one in iops]
    busiest = tuple(
        None if one is None else tuple(Need(iops=day, throughput_mib_s=day / 2) for day in one) for one in blocks
    )
    limits = (Need(iops=one, throughput_mib_s=one / 2) for one in (free, ceiling))
    return PastPeaks(days=days, busiest=busiest, **dict(zip(("free", "ceiling"), limits, strict=True)))


def teach(store, keys, pasts):
    """Adds what those pasts teach to the first shard of a run."""
    number = keys.combined_shards(store)[0]
    document = combined_document(keys, number)
    combined = document.require(store)
    for past in pasts:
        combined.totals.lessons.add(past)
    document.put(store, combined)
