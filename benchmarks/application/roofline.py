"""What a database should do on a volume by the volume's roofline, against what somebody measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import reduce
from operator import add
from pathlib import Path
from statistics import median
from typing import Final

import yaml
from pydantic import BaseModel, ConfigDict

from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.model.ceiling import Ceiling, Resource
from plimsoll.model.market import Sized, Stepped, VolumeType
from plimsoll.model.units import KIB_PER_MIB
from plimsoll.model.volume import VolumeSpec

CAMPAIGN: Final = Path(__file__).parent / "percona-tpcc-2018.yaml"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Run(_Entry):
    """One run: what each volume was, and transactions a second as printed."""

    size_gib: int
    tps: float
    iops: int | None = None


class Sweep(_Entry):
    """Runs that differ in one figure of the volume alone."""

    name: str
    type: str
    volumes: int
    threads: int
    files: str
    runs: tuple[Run, ...]

    @property
    def by(self) -> str:
        """The unit of the figure in which the runs differ."""
        return "GiB" if self.runs[0].iops is None else "IOPS"

    def figure(self, run: Run) -> int:
        """The figure in which the runs differ."""
        return run.size_gib if run.iops is None else run.iops


class Limits(_Entry):
    """What a volume of a type carried at most when it was measured."""

    iops: float
    throughput_mib_s: float


class FittedOn(_Entry):
    """The two runs that the application is fitted to: one that IOPS hold back, and one that MiB/s do."""

    sweep: str
    iops_bound_gib: int
    throughput_bound_gib: int


class Campaign(_Entry):
    """A published campaign, as its file has it."""

    campaign: str
    title: str
    published_on: tuple[date, ...]
    read_on: date
    sources: tuple[str, ...]
    job: Mapping[str, str | int]
    note: str
    limits_then: Mapping[str, Limits]
    fitted_on: FittedOn
    sweeps: tuple[Sweep, ...]

    def sweep(self, name: str) -> Sweep:
        """The sweep of that name."""
        return next(one for one in self.sweeps if one.name == name)

    def ceiling(self, sweep: Sweep, run: Run) -> Ceiling:
        """What all volumes of a run carry together, by the limits of their day."""
        spec = VolumeSpec(type=sweep.type, size_gib=run.size_gib, iops=run.iops)
        return reduce(add, [self._type_then(sweep.type).ceiling(spec)] * sweep.volumes)

    def _type_then(self, name: str) -> VolumeType:
        kind, then = volume_types("aws")[name], self.limits_then.get(name)
        if then is None or not isinstance(kind.iops, Sized):
            return kind
        return replace(
            kind, iops=replace(kind.iops, cap=then.iops), throughput=Stepped(steps=((None, then.throughput_mib_s),))
        )


def load() -> Campaign:
    """The campaign that ships."""
    return Campaign.model_validate(yaml.safe_load(CAMPAIGN.read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """What a transaction asks of its volume, on average: the two figures that are fitted."""

    operations: float
    mib: float

    @property
    def io_kib(self) -> float:
        """Its mean I/O size."""
        return self.mib * KIB_PER_MIB / self.operations

    def tps(self, ceiling: Ceiling) -> float:
        """Transactions a second where the volume alone is the limit."""
        return ceiling.iops_at(self.io_kib) / self.operations

    def limit(self, ceiling: Ceiling) -> Resource:
        """The side of the roofline that holds it back."""
        return Resource.IOPS if ceiling.iops_at(self.io_kib) >= ceiling.iops else Resource.THROUGHPUT

    @property
    def turns_at(self) -> float:
        """IOPS for each MiB/s of the ceiling at which the limit changes from one side to the other."""
        return self.operations / self.mib


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A run beside what was predicted of it."""

    sweep: Sweep
    run: Run
    ceiling: Ceiling
    limit: Resource
    tps: float
    fitted: bool

    @property
    def residual_pct(self) -> float:
        """How far the prediction is above (+) or below (-) the measurement, in percent of the measurement."""
        return 100 * (self.tps / self.run.tps - 1)


def fit(campaign: Campaign, iops_bound_gib: int | None = None) -> Application:
    """The application by two runs alone; `iops_bound_gib` is another size to fit the operations on."""
    on = campaign.fitted_on
    first = _run(campaign, iops_bound_gib or on.iops_bound_gib)
    last = _run(campaign, on.throughput_bound_gib)
    sweep = campaign.sweep(on.sweep)
    return Application(
        operations=campaign.ceiling(sweep, first).iops / first.tps,
        mib=campaign.ceiling(sweep, last).throughput_mib_s / last.tps,
    )


def predict(campaign: Campaign, application: Application, fitted_gib: Sequence[int]) -> list[Prediction]:
    """Every run with its prediction, in the order of the file; runs of `fitted_gib` in the fitted sweep are no test."""
    found = []
    for sweep in campaign.sweeps:
        for run in sweep.runs:
            ceiling = campaign.ceiling(sweep, run)
            found.append(
                Prediction(
                    sweep=sweep,
                    run=run,
                    ceiling=ceiling,
                    limit=application.limit(ceiling),
                    tps=application.tps(ceiling),
                    fitted=sweep.name == campaign.fitted_on.sweep and run.size_gib in fitted_gib,
                )
            )
    return found


def predictions(campaign: Campaign) -> list[Prediction]:
    """The predictions of the campaign's own fit."""
    on = campaign.fitted_on
    return predict(campaign, fit(campaign), (on.iops_bound_gib, on.throughput_bound_gib))


def residuals_pct(found: Sequence[Prediction], sweep: str) -> list[float]:
    """The residuals of a sweep, without those of the runs that were fitted."""
    return [one.residual_pct for one in found if one.sweep.name == sweep and not one.fitted]


def typical_pct(found: Sequence[Prediction], sweep: str) -> float:
    """The median size of a sweep's residuals, in percent."""
    return median(abs(one) for one in residuals_pct(found, sweep))


def turn(campaign: Campaign, sweep: Sweep, application: Application) -> float:
    """The figure of a sweep (GiB or IOPS of each volume) at which its roofline turns from IOPS to MiB/s."""
    most = campaign.ceiling(sweep, sweep.runs[-1])
    iops = application.turns_at * most.throughput_mib_s / sweep.volumes
    return iops if sweep.by == "IOPS" else iops * sweep.runs[0].size_gib / _first_iops(campaign, sweep)


def flat_from(sweep: Sweep, within_pct: float = 2.0) -> int:
    """The first figure of a sweep whose measurement is within so many percent of the best."""
    best = max(run.tps for run in sweep.runs)
    return next(sweep.figure(run) for run in sweep.runs if run.tps >= best * (1 - within_pct / 100))


def iops_bound_sizes(campaign: Campaign) -> list[int]:
    """The sizes of the fitted sweep that come before it is flat: each could have been fitted on."""
    sweep = campaign.sweep(campaign.fitted_on.sweep)
    return [run.size_gib for run in sweep.runs if run.size_gib < flat_from(sweep)]


def _run(campaign: Campaign, size_gib: int) -> Run:
    return next(run for run in campaign.sweep(campaign.fitted_on.sweep).runs if run.size_gib == size_gib)


def _first_iops(campaign: Campaign, sweep: Sweep) -> float:
    return campaign.ceiling(sweep, sweep.runs[0]).iops / sweep.volumes
