"""A backtest from Python: what `plimsoll backtest` finds of a fleet."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from plimsoll.clouds.common.dated_data import load_prices, shipped_prices, volume_types
from plimsoll.clouds.recording import is_recording
from plimsoll.clouds.registry import AWS
from plimsoll.decide.offers import Market
from plimsoll.files import check_place
from plimsoll.model.errors import BadInput
from plimsoll.model.market import type_of
from plimsoll.model.volume import VolumeSpec
from plimsoll.policy_file import PolicyLike, policy_of
from plimsoll_backtest.cloud_fleet import Failed
from plimsoll_backtest.fleet import Fleet
from plimsoll_backtest.outcome import BacktestOutcome
from plimsoll_backtest.recorded_fleet import fleet_of_recording
from plimsoll_backtest.rows_fleet import PARQUET_SUFFIX, fleet_of_rows
from plimsoll_backtest.run import run_backtest
from plimsoll_backtest.scenario import Scenario

BACKTESTS_FOLDER: Final = Path("plimsoll-backtests")
"""Where the outcomes of backtests are kept, in a folder for each fleet."""

PRESENT: Final = VolumeSpec(type="gp3", size_gib=500, iops=16_000, throughput_mib_s=1000)


def backtest(
    fleet: Path | str,
    *,
    present: VolumeSpec = PRESENT,
    to: str = "gp3",
    region: str = "us-east-1",
    times: Sequence[float] = (1.0,),
    memories_days: Sequence[float] = (30.0, 60.0),
    days: float = 30.0,
    every_days: float = 7.0,
    budget_min: float = 15.0,
    io_kib: float = 32.0,
    period_s: int = 300,
    policy: PolicyLike = None,
    prices: Path | str | None = None,
    out: Path | str | None = None,
) -> BacktestOutcome:
    """Sizes the volumes of a fleet at past cuts by several rules, and judges each by the days after (docs/backtest.md).

    Each volume is a `present` configuration that may become one of the type `to`, at the list prices of a region or
    those of a file. Demand is so many `times` what the fleet's file has. At a cut, `memories_days` are known, and the
    `days` after it are judged; more than `budget_min` throttled minutes break a promise. `io_kib` is the size of an
    operation where the file counts none, and `period_s` the seconds of a row where it is Parquet, or of a bucket where
    it is a recording. What is done is kept
    in the folder `out`, and not done again. Raises BadInput for what cannot be used.
    """
    file = Path(fleet)
    folder = BACKTESTS_FOLDER / file.stem if out is None else Path(out)
    scenario = scenario_of(
        present=present,
        to=to,
        region=region,
        times=times,
        memories_days=memories_days,
        days=days,
        every_days=every_days,
        budget_min=budget_min,
        io_kib=io_kib,
        policy=policy,
        prices=None if prices is None else Path(prices),
    )
    check_place(folder)
    return run_backtest(open_fleet(file, folder, io_kib=io_kib, period_s=period_s), scenario, folder)


def open_fleet(
    file: Path, folder: Path, *, io_kib: float, period_s: int, failed: Failed = lambda _sentence: None
) -> Fleet:
    """A fleet's file; rows of Parquet, and what a recording has, are put into one in the folder first."""
    recorded = is_recording(file)
    if not recorded and file.suffix != PARQUET_SUFFIX:
        return Fleet(file, io_kib)
    made = folder / f"{file.stem}-{period_s}.npz"
    if not made.exists():
        if recorded:
            fleet_of_recording(file, made, period_s, failed)
        else:
            fleet_of_rows([file], made, period_s)
    return Fleet(made, io_kib)


def scenario_of(
    *,
    present: VolumeSpec,
    to: str,
    region: str,
    times: Sequence[float],
    memories_days: Sequence[float],
    days: float,
    every_days: float,
    budget_min: float,
    io_kib: float,
    policy: PolicyLike,
    prices: Path | None,
) -> Scenario:
    """The scenario that a fleet's demand is put on.

    Raises BadInput for a type, a region or a configuration that there is not.
    """
    types = volume_types(AWS)
    book = (shipped_prices(AWS) if prices is None else load_prices(prices)).book(region)
    if book is None:
        raise BadInput(f"there are no prices for {region}: give another --region, or --prices with your own.")
    for spec in (present, VolumeSpec(type=to, size_gib=present.size_gib)):
        type_of(spec, types)
        if book.usd_month(spec) is None:
            raise BadInput(f"there is no price for {spec.type} in {region}: give another type or --region.")
    return Scenario(
        market=Market(provider=AWS, types=types, book=book),
        policy=policy_of(policy),
        present=present,
        to=to,
        times=tuple(times),
        io_kib=io_kib,
        memories_days=tuple(sorted(set(memories_days))),
        days=days,
        every_days=every_days,
        budget_min=budget_min,
    )
