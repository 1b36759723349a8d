"""`plimsoll backtest`: fleets sized on the past and judged by what came after."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from plimsoll.backtest.fleet import Fleet
from plimsoll.backtest.learn import learn
from plimsoll.backtest.outcome import Outcome
from plimsoll.backtest.page import outcome_page
from plimsoll.backtest.rows_fleet import PARQUET, fleet_of_rows
from plimsoll.backtest.run import backtest
from plimsoll.backtest.scenario import Scenario
from plimsoll.backtest.shown import show_outcome
from plimsoll.cli.option_values import policy_from
from plimsoll.cli.options import BacktestOptions, PolicyOptions
from plimsoll.cli.progress import steps_bar
from plimsoll.cli.screen import Screen
from plimsoll.clouds.common.dated_data import load_prices, shipped_prices, volume_types
from plimsoll.clouds.registry import AWS
from plimsoll.domain.errors import BadInput
from plimsoll.domain.offer import Market
from plimsoll.domain.volume import VolumeSpec
from plimsoll.domain.volume_types import type_of
from plimsoll.writing import check_place, write_lines

FOLDER: Final = Path("plimsoll-backtests")
OUTCOME: Final = "backtest.json"
PAGE: Final = "backtest.html"


def backtest_fleets(files: Sequence[Path], options: BacktestOptions, policy: PolicyOptions) -> list[Outcome]:
    """Backtests each fleet, prints what was found and leaves it in a folder for each."""
    scenario, console = _scenario(options, policy), Screen()
    found = []
    for file in files:
        folder = (options.out or FOLDER) / file.stem
        check_place(folder)
        with steps_bar(Screen(stderr=True), f"backtest of {file.name}") as progress:
            outcome = backtest(_fleet(file, folder, options), scenario, folder, progress)
        write_lines([json.dumps(outcome.as_json(), indent=2), "\n"], folder / OUTCOME, "utf-8")
        write_lines([outcome_page(outcome)], folder / PAGE, "utf-8")
        show_outcome(console, outcome)
        console.print(f"\nwritten to {folder}", markup=False, soft_wrap=True)
        found.append(outcome)
    return found


def _fleet(file: Path, folder: Path, options: BacktestOptions) -> Fleet:
    """A fleet's file; rows of Parquet are put into one in the folder first."""
    if file.suffix != PARQUET:
        return Fleet(file, options.io_kib)
    made = folder / f"{file.stem}.npz"
    if not made.exists():
        fleet_of_rows([file], made, options.period_s)
    return Fleet(made, options.io_kib)


def _scenario(options: BacktestOptions, policy: PolicyOptions) -> Scenario:
    """What is asked for; BadInput for a type, a region or a configuration that there is not."""
    types = volume_types(AWS)
    prices = shipped_prices(AWS) if policy.prices is None else load_prices(policy.prices)
    book = prices.book(options.region)
    if book is None:
        raise BadInput(f"there are no prices for {options.region}: give another --region, or --prices with your own.")
    present = VolumeSpec(
        type=options.type_, size_gib=options.size_gib, iops=options.iops, throughput_mib_s=options.throughput_mib_s
    )
    for spec in (present, VolumeSpec(type=options.to, size_gib=options.size_gib)):
        type_of(spec, types)
        if book.usd_month(spec) is None:
            raise BadInput(f"there is no price for {spec.type} in {options.region}: give another type or --region.")
    return Scenario(
        market=Market(provider=AWS, types=types, book=book),
        policy=policy_from(policy),
        present=present,
        to=options.to,
        times=tuple(options.times),
        io_kib=options.io_kib,
        memories_days=tuple(sorted(set(options.memory))),
        days=options.days,
        every_days=options.every,
        budget_min=options.budget_min,
    )


def learn_table(
    files: Sequence[Path], table: Path, options: BacktestOptions, policy: PolicyOptions, *, public: bool
) -> None:
    """Learns the table of some fleets, and writes it."""
    scenario, folder = _scenario(options, policy), options.out or FOLDER / "learning"
    check_place(folder)
    today = datetime.now(UTC).date().isoformat()
    with steps_bar(Screen(stderr=True), "learning") as progress:
        fleets = [_fleet(file, folder, options) for file in files]
        learned = learn(fleets, scenario, folder, on=today, public=public, progress=progress)
    write_lines([learned.as_json()], table, "utf-8")
    Screen().print(f"written to {table}", markup=False, soft_wrap=True)
