"""Measurements that are worth making, and their order.

The order of a validation: how a volume is measured, and what that may cost.

Measuring runs: the measurements that are worth making, and the recommendations that each of them serves.

A measurement stands behind every offer of its type, account and region whose published ceiling is at least what it
showed, 10 % allowed (`decide.evidence`). Ceilings are therefore sorted into bands so narrow that a measurement at the
top of a band stands behind every offer in it: one measurement serves a whole class of recommendations.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from plimsoll.model.ceiling import Ceiling
from plimsoll.model.units import MONTH_S
from plimsoll.model.volume import VolumeSpec


class Mode(StrEnum):
    """The ways to measure a volume: on a new one of the target's spec, on a copy of it, or where it is."""

    CANARY = "canary"
    COPY = "copy"
    IN_PLACE = "in-place"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most that may be spent: USD for scratch volumes, and runs; None: no limit."""

    max_usd: float | None = None
    max_runs: int | None = None

    def rest_after(self, *, usd: float, runs: int) -> "Budget":
        """The budget that is left after `usd` and `runs` are spent."""
        return Budget(
            max_usd=None if self.max_usd is None else self.max_usd - usd,
            max_runs=None if self.max_runs is None else self.max_runs - runs,
        )


BAND: Final = 1.08
"""The ratio of a band's ends: under the 1.1 that evidence allows a measurement to overshoot an offer, by what a volume
delivers above its provisioned figures (0.1 to 1 % in runs of three minutes)."""

LEAST_BILLED_S: Final = 60
"""The least time that a volume is billed for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Want:
    """A recommendation whose target should be measured.

    `ceiling` is the target's published one, and `saved_usd_month` the saving that rests on it.
    """

    volume_id: str
    account: str
    region: str
    zone: str
    spec: VolumeSpec
    ceiling: Ceiling
    saved_usd_month: float

    @property
    def class_key(self) -> str:
        return class_key(self.account, self.region, self.spec.type, self.ceiling)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuringRun:
    """One measurement to make: the spec that serves all wants of a class.

    The workload of the first want is run, and its zone is preferred: it has the most at stake.
    """

    class_key: str
    spec: VolumeSpec
    ceiling: Ceiling
    wants: tuple[Want, ...]

    @property
    def saved_usd_month(self) -> float:
        """The USD a month that rest on it; the price of an upgrade counts like a saving."""
        return sum(abs(want.saved_usd_month) for want in self.wants)

    @property
    def zones(self) -> tuple[str, ...]:
        """The zones in which it could be made, the preferred one first."""
        return tuple(dict.fromkeys(want.zone for want in self.wants))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """A run, its cost in USD (None: no price is known) and its length in seconds."""

    run: MeasuringRun
    usd: float | None
    seconds: float


def class_key(account: str, region: str, type_name: str, ceiling: Ceiling) -> str:
    """The name of the class of an offer: its place, its type and the bands of its ceiling."""
    bands = "/".join(str(_band(side)) for side in (ceiling.iops, ceiling.throughput_mib_s))
    return f"{account}/{region}/{type_name}/{bands}"


def plan_runs(wants: Iterable[Want]) -> tuple[MeasuringRun, ...]:
    """Plans the measurements that serve all wants, those with the most at stake first."""
    classes: dict[str, list[Want]] = {}
    for want in wants:
        classes.setdefault(want.class_key, []).append(want)
    runs = [_run(key, wants_of_class) for key, wants_of_class in classes.items()]
    return tuple(sorted(runs, key=lambda run: (-run.saved_usd_month, run.class_key)))


def split_by_budget(
    runs: Sequence[MeasuringRun], usd_of: Callable[[MeasuringRun], float], budget: Budget
) -> tuple[tuple[MeasuringRun, ...], tuple[MeasuringRun, ...]]:
    """Splits runs into those that a budget allows, in their order, and those left out.

    A dear run does not keep a cheap one out.
    """
    chosen: list[MeasuringRun] = []
    left: list[MeasuringRun] = []
    spent = 0.0
    for run in runs:
        usd = usd_of(run)
        room = budget.max_runs is None or len(chosen) < budget.max_runs
        if room and (budget.max_usd is None or spent + usd <= budget.max_usd):
            chosen.append(run)
            spent += usd
        else:
            left.append(run)
    return tuple(chosen), tuple(left)


def usd_for(usd_month: float, seconds: float) -> float:
    """The cost of a volume with a monthly price that exists for some seconds."""
    return usd_month * max(seconds, LEAST_BILLED_S) / MONTH_S


def _run(key: str, wants: Sequence[Want]) -> MeasuringRun:
    """A run of the smallest volume whose ceiling reaches that of every want on both sides."""
    ranked = sorted(wants, key=lambda want: (-abs(want.saved_usd_month), want.volume_id))
    iops = max(want.ceiling.iops for want in wants)
    throughput_mib_s = max(want.ceiling.throughput_mib_s for want in wants)
    fast = [want for want in ranked if want.ceiling.iops == iops]
    both = [want for want in fast if want.ceiling.throughput_mib_s == throughput_mib_s]
    chosen = min(both or fast, key=lambda want: want.spec.size_gib)
    spec, ceiling = chosen.spec, chosen.ceiling
    if not both:  # only where throughput is provisioned by itself, so that more of it can be asked for
        spec = replace(spec, throughput_mib_s=max(want.spec.throughput_mib_s or 0 for want in wants))
        ceiling = replace(ceiling, throughput_mib_s=throughput_mib_s)
    return MeasuringRun(class_key=key, spec=spec, ceiling=ceiling, wants=tuple(ranked))


def _band(figure: float) -> str | int:
    return math.floor(math.log(figure) / math.log(BAND)) if 0 < figure < math.inf else "any"
