"""Waves: the order in which volumes change, each wave small enough to be wrong.

    canary -> 3 (classes under 40) or 10 -> 30 -> 100 -> 100 ... -> critical volumes singly -> volumes held back

A class is what may be judged together: the type now, the type then, and the kind of owner.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, repeat
from random import Random
from typing import Final

SMALL_CLASS: Final = 40
"""Volumes of a class from which its first wave after the canary has 10 members, not 3."""

MOST_IN_WAVE: Final = 100
LEAST_HELD_BACK: Final = 5
HELD_BACK_SHARE: Final = 0.05
LEAST_FOR_HOLD_BACK: Final = 10
"""Volumes with work from which an application has a hold-back of its own. Those of smaller ones share one in a zone."""

WATCH_H: Final = 168.0
"""The hours for which every changed volume is watched."""

_BAKES_H: Final = {1: 24.0, 3: 72.0, 10: 48.0, 30: 48.0, MOST_IN_WAVE: 24.0}
"""By the size of a wave, the hours until its verdict may let the next begin."""


class WaveKind(StrEnum):
    """The kinds of waves, in their order."""

    CANARY = "canary"
    DRAWN = "drawn"
    SINGLE = "single"
    HELD_BACK = "held-back"


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveMember:
    """A volume to be placed in a wave."""

    id: str
    change_class: str
    zone: str
    application: str
    unit: str = ""  # what was decided for all of its volumes together, such as a stripe set; empty for one alone
    fails_with: Collection[str] = ()  # what it shares with others that must not change at the same time
    usd_at_risk: float = 0.0
    is_proved: bool = True  # nothing is given up by its change
    has_work: bool = True
    is_critical: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wave:
    """Volumes of one class that change together. The next wave waits `bake_h` hours at least."""

    change_class: str
    number: int  # in its class, from 1
    kind: WaveKind
    members: tuple[str, ...]
    bake_h: float


@dataclass(frozen=True, slots=True)
class _Unit:
    """Volumes that change together or not at all."""

    members: tuple[WaveMember, ...]

    @property
    def change_class(self) -> str:
        return self.members[0].change_class

    @property
    def fails_with(self) -> frozenset[str]:
        return frozenset[str]().union(*(member.fails_with for member in self.members))

    @property
    def is_critical(self) -> bool:
        return any(member.is_critical for member in self.members)

    @property
    def stratum(self) -> tuple[str, str]:
        return self.members[0].zone, self.members[0].application

    @property
    def risk_rank(self) -> tuple[bool, float, str]:
        """The place in the order of risk: nothing given up first, then the least at risk."""
        is_proved = all(member.is_proved for member in self.members)
        return not is_proved, sum(member.usd_at_risk for member in self.members), self.members[0].id

    @property
    def canary_rank(self) -> tuple[bool, int, tuple[bool, float, str]]:
        """The place in the order of canaries: no critical volume if there is another, and one rather than several."""
        return self.is_critical, len(self.members), self.risk_rank


def draw_waves(members: Iterable[WaveMember], seed: str) -> tuple[Wave, ...]:
    """The waves of all classes, each class in its order. The same seed draws the same waves."""
    units = _group_units(members)
    by_class: dict[str, list[_Unit]] = {}
    for unit in units:
        by_class.setdefault(unit.change_class, []).append(unit)
    canaries = {name: min(group, key=lambda unit: unit.canary_rank) for name, group in by_class.items()}
    free = [unit for unit in units if unit is not canaries[unit.change_class] and not unit.is_critical]
    held = set(_hold_back(free, Random(f"{seed}/held-back")))  # noqa: S311  # a draw that can be repeated, no secret
    return tuple(
        wave
        for name in sorted(by_class)
        for wave in _class_waves(name, by_class[name], canaries[name], held, Random(f"{seed}/{name}"))  # noqa: S311
    )


def _group_units(members: Iterable[WaveMember]) -> list[_Unit]:
    groups: dict[tuple[bool, str], list[WaveMember]] = {}
    for member in sorted(members, key=lambda member: member.id):
        groups.setdefault((bool(member.unit), member.unit or member.id), []).append(member)
    return [_Unit(tuple(group)) for group in groups.values()]


def _hold_back(units: Sequence[_Unit], random: Random) -> Iterator[_Unit]:
    """The units that change last, at least 5 volumes and 5 % of each application, drawn of those with work."""
    working = [unit for unit in units if all(member.has_work for member in unit.members)]
    sizes = Counter(member.application for unit in working for member in unit.members)
    pools: dict[tuple[str, str], list[_Unit]] = {}
    for unit in working:
        zone, application = unit.stratum
        is_large = bool(application) and sizes[application] >= LEAST_FOR_HOLD_BACK
        pools.setdefault(("application", application) if is_large else ("zone", zone), []).append(unit)
    for _, pool in sorted(pools.items()):
        count = sum(len(unit.members) for unit in pool)
        if count < LEAST_FOR_HOLD_BACK:
            continue
        wanted = max(LEAST_HELD_BACK, math.ceil(HELD_BACK_SHARE * count))
        for unit in sorted(pool, key=lambda _: random.random()):
            if wanted > 0:
                wanted -= len(unit.members)
                yield unit


def _class_waves(name: str, units: Sequence[_Unit], canary: _Unit, held: set[_Unit], random: Random) -> Iterator[Wave]:
    others = [unit for unit in units if unit is not canary]
    drawn = _spread([unit for unit in others if not unit.is_critical and unit not in held], random)
    singles = sorted((unit for unit in others if unit.is_critical), key=lambda unit: unit.risk_rank)
    last = _spread([unit for unit in units if unit in held], random)
    first = 3 if sum(len(unit.members) for unit in units) < SMALL_CLASS else 10
    placed = [
        (WaveKind.CANARY, 1, [canary]),
        *((WaveKind.DRAWN, size, wave) for size, wave in _fill(drawn, chain((first, 30), repeat(MOST_IN_WAVE)))),
        *((WaveKind.SINGLE, 1, [unit]) for unit in singles),
        *((WaveKind.HELD_BACK, size, wave) for size, wave in _fill(last, repeat(MOST_IN_WAVE))),
    ]
    for number, (kind, size, wave) in enumerate(placed, start=1):
        goes_before_held = number < len(placed) and placed[number][0] is WaveKind.HELD_BACK is not kind
        yield Wave(
            change_class=name,
            number=number,
            kind=kind,
            members=tuple(member.id for unit in wave for member in unit.members),
            bake_h=WATCH_H if goes_before_held else _BAKES_H[size],
        )


def _spread(units: Iterable[_Unit], random: Random) -> list[_Unit]:
    """The random order gives every part its share of each zone and application."""
    strata: dict[tuple[str, str], list[_Unit]] = {}
    for unit in units:
        strata.setdefault(unit.stratum, []).append(unit)
    places = list[tuple[float, _Unit]]()
    for _, stratum in sorted(strata.items()):
        shuffled = sorted(stratum, key=lambda _: random.random())
        places += [((rank + random.random()) / len(shuffled), unit) for rank, unit in enumerate(shuffled)]
    return [unit for _, unit in sorted(places, key=lambda place: place[0])]


def _fill(units: Sequence[_Unit], sizes: Iterator[int]) -> Iterator[tuple[int, list[_Unit]]]:
    """Each wave's size as planned and its units: no two that fail together, and no more volumes than the size.

    A unit of more volumes is a wave of its own.
    """
    left = list(units)
    while left:
        size, count = next(sizes), 0
        wave, later, shared = list[_Unit](), list[_Unit](), set[str]()
        for unit in left:
            if (wave and count + len(unit.members) > size) or not shared.isdisjoint(unit.fails_with):
                later.append(unit)
                continue
            wave.append(unit)
            count += len(unit.members)
            shared |= unit.fails_with
        yield size, wave
        left = later
