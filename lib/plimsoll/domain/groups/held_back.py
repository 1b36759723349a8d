"""The demand that was held back: what volumes of a host would have done beyond what they did, without their limits."""

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.domain.case_maker import without_restore
from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.context import DecisionContext
from plimsoll.domain.demand.demand import Demand, add_demands
from plimsoll.domain.demand.epoch import Epoch
from plimsoll.domain.demand.host_room import find_extra
from plimsoll.domain.demand.lifting import lift
from plimsoll.domain.demand.rates import CountedRates
from plimsoll.domain.demand_epochs import lay_epochs, tell_days
from plimsoll.domain.groups.pool import Pool, present_ceiling
from plimsoll.domain.volume import Volume


def find_held_back(
    volumes: Sequence[tuple[Volume, DecisionContext]],
    pools: Sequence[Pool],
    demands: Mapping[str, Demand],
    host: Ceiling,
) -> dict[str, CountedRates]:
    """What was held back of each volume on a host that may be changed, by the window alone, as the host counts.

    Only the window counts. An excluded volume stays as it is, and so does what it does. What a pool held back is parted
    as its demand was.
    """
    read = [(volume, context) for volume, context in volumes if volume.id in demands]
    pooled = {volume.id for pool in pools if len(pool.volumes) > 1 for volume in pool.volumes}
    alone = [entry for entry in read if entry[0].id not in pooled]
    return dict([*_held_back_in_pools(read, pools, demands, host), *_held_back_alone(alone, demands, host)])


def _held_back_alone(
    volumes: Sequence[tuple[Volume, DecisionContext]], demands: Mapping[str, Demand], host: Ceiling
) -> Iterator[tuple[str, CountedRates]]:
    for volume, context in volumes:
        demand = demands[volume.id]
        if not context.short_lived:
            demand = without_restore(demand, volume, context.policy)
        types, policy = context.market.types, context.policy
        epochs = lay_epochs(volume, demand, types)
        lifted = lift(demand, epochs, policy, tell_days(volume, epochs, demand, types, policy))
        if lifted.any.any():
            yield volume.id, find_extra(demand, lifted.demand, host)


def _held_back_in_pools(
    volumes: Sequence[tuple[Volume, DecisionContext]],
    pools: Sequence[Pool],
    demands: Mapping[str, Demand],
    host: Ceiling,
) -> Iterator[tuple[str, CountedRates]]:
    contexts = {volume.id: context for volume, context in volumes}
    for pool in pools:
        policies = [contexts[volume.id].policy for volume in pool.volumes if volume.id in contexts]
        pool_demands = {volume.id: demands[volume.id] for volume in pool.volumes if volume.id in demands}
        if len(pool.volumes) == 1 or not policies:
            continue
        whole = add_demands(list(pool_demands.values()))
        lifted = lift(whole, [Epoch(window=whole.window, spec=None, ceiling=present_ceiling(pool))], policies[0])
        if lifted.any.any():
            for name, demand in pool_demands.items():
                yield name, find_extra(demand, lifted.of(demand).demand, host)
