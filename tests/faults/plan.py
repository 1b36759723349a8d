"""Plans: what goes wrong in a run, drawn from its seed alone."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

ONCE, STUCK, ALWAYS, NOW_AND_THEN = "once", "stuck", "always", "now and then"
_HOW_OFTEN: Final = (ONCE, ONCE, STUCK, ALWAYS, ALWAYS, NOW_AND_THEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """One thing that goes wrong: a fault of an operation.

    `often`: of one question once (the next answer is good) or each time that it is asked (stuck), of every question
    (always), or of each by a chance of `share` (now and then). `which` says which question, `where` which field of the
    answer, each as a share of all that there are; `all_items`: every place of that field, not one alone.
    """

    operation: str
    fault: str
    often: str
    share: float
    which: float
    where: float
    all_items: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What goes wrong in the run of a seed, and the share of an undisturbed run's calls after which it is killed."""

    seed: int
    scenario: str
    strikes: tuple[Strike, ...]
    killed_at: tuple[float, ...] = ()

    def __str__(self) -> str:
        told = [f"{one.operation} {one.fault} ({one.often})" for one in self.strikes]
        kills = [f"kill -9 after {share:.0%} of the calls" for share in self.killed_at]
        return f"seed {self.seed}, {self.scenario}: {', '.join([*told, *kills]) or 'nothing'}"


Pairs = Mapping[str, Sequence[tuple[str, str]]]
"""By scenario: every operation with every fault that its answers can have."""


def plan_of(seed: int, pairs: Pairs) -> Plan:
    """The plan of a seed. Seeds that follow each other go through every pair before one comes again."""
    rng = random.Random(f"plimsoll {seed}")
    every = [(scenario, pair) for scenario in sorted(pairs) for pair in sorted(pairs[scenario])]
    round_, place = divmod(seed, len(every))
    scenario, (operation, fault) = random.Random(f"round {round_}").sample(every, len(every))[place]
    strikes = [_strike(operation, fault, rng)]
    if rng.random() < 0.15:
        strikes.append(_strike(*rng.choice(sorted(pairs[scenario])), rng))
    kills = tuple(rng.random() for _ in range(rng.choice((1, 1, 2)))) if rng.random() < 0.12 else ()
    return Plan(seed=seed, scenario=scenario, strikes=tuple(strikes), killed_at=kills)


def _strike(operation: str, fault: str, rng: random.Random) -> Strike:
    return Strike(
        operation=operation,
        fault=fault,
        often=rng.choice(_HOW_OFTEN),
        share=rng.choice((0.05, 0.2, 0.5)),
        which=rng.random(),
        where=rng.random(),
        all_items=rng.random() < 0.5,
    )
