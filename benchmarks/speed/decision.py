"""The CPU of a decision with its demand in memory, every minute of it, against bare numpy over the same arrays."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from figures import Row
from memory_fleet import NOW, project_ports
from patterns import make_patterns

from plimsoll.auditing.list import list_volumes
from plimsoll.decide.case import Case, DecisionContext
from plimsoll.decide.case_maker import case_of
from plimsoll.decide.decide import answer
from plimsoll.decide.offers import Market
from plimsoll.demand.demand import Demand
from plimsoll.demand.from_metrics import demand_of
from plimsoll.demand.host_room import HostLoad, host_loads
from plimsoll.model.policy import Headrooms, Policy
from plimsoll.model.volume import Volume
from plimsoll.ports import Target
from plimsoll.reading.known import Ask, Knowledge, plan_first_looks
from plimsoll.reading.window import Window, cut_by_age

VOLUMES = 100
REPEATS = 7

Held = tuple[Volume, Demand, HostLoad]


def measure() -> list[Row]:
    """The row of decisions against bare passes, the least of a few of both.

    A bare pass takes each array once for its maximum, its sum, and what is above half.
    """
    held, context = _held()
    cases, answers, bare = [], [], []
    for _ in range(REPEATS):
        fresh = [(volume, _again(demand), load) for volume, demand, load in held]
        cases.append(_seconds(partial(_cases, fresh, context)))
        made = _cases([(volume, _again(demand), load) for volume, demand, load in held], context)
        answers.append(_seconds(partial(_decide, made)))
        bare.append(_seconds(partial(_pass, [demand for _, demand, _ in held])))
    case_s, answer_s, pass_s = (min(found) / len(held) for found in (cases, answers, bare))
    decision_s = case_s + answer_s
    minutes = len(held[0][1].iops)
    return [
        Row(
            what=f"deciding on a volume by its arrays of {minutes:,} minutes, against a bare pass of numpy over them",
            measured=f"{decision_s * 1e3:.2f} ms : {pass_s * 1e3:.2f} ms = {decision_s / pass_s:.2f} "
            f"({case_s * 1e3:.2f} ms to see where it was held back, {answer_s * 1e3:.2f} ms for the answer)",
        )
    ]


def _held() -> tuple[list[Held], DecisionContext]:
    patterns, policy = make_patterns(), Policy()
    ports = project_ports(VOLUMES, patterns)
    target = next(one for one in ports.inventory.targets() if isinstance(one, Target))
    book = ports.prices.book(target)
    if book is None:
        raise SystemExit("the benchmark's region has no prices")
    market = Market(provider=ports.catalog.provider, types=ports.catalog.types, book=book)
    parts = cut_by_age(Window.before(NOW, days=14), 60, ports.metrics.retention_days, NOW.timestamp())
    held: list[Held] = []
    for volume in list_volumes(target, ports).volumes:
        knowledge = Knowledge(parts)
        for look in plan_first_looks(parts, every_minute=True):
            (found,) = ports.metrics.read([Ask(volume=volume, look=look)])
            if isinstance(found, Exception):
                raise found
            knowledge.learn(look, found)
        demand = demand_of(knowledge, resolution_s=60)
        held.append((volume, demand, host_loads([volume], {volume.id: demand})[volume.hosts[0].id]))
    return held, DecisionContext(
        market=market,
        envelopes=ports.envelopes,
        policy=policy,
        headrooms=Headrooms.from_policy(policy),
        now=NOW,
    )


def _again(demand: Demand) -> Demand:
    """The same demand, with nothing remembered of earlier decisions."""
    names = [name for name in Demand.__slots__ if not name.startswith("_")]
    return Demand(**{name: getattr(demand, name) for name in names})


def _cases(held: Sequence[Held], context: DecisionContext) -> list[Case]:
    return [case_of(volume, demand, load, context) for volume, demand, load in held]


def _decide(cases: Sequence[Case]) -> None:
    for case in cases:
        answer(case)


def _pass(demands: Sequence[Demand]) -> None:
    for demand in demands:
        for array in _arrays(demand):
            highest = array.max()
            array.sum()
            (array > highest / 2).sum()


def _arrays(demand: Demand) -> Iterator[Any]:
    for array in (
        demand.iops,
        demand.throughput_mib_s,
        demand.rates[0, 1],
        demand.observed,
        demand.busy_share,
        demand.balance_pct,
        *demand.exceeded.values(),
    ):
        if array is not None:
            yield array


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    for row in measure():
        sys.stdout.write(f"{row}\n")
