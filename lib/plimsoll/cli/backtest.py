"""`plimsoll backtest`, `learn` and `fleet`: fleets sized on the past, what is learned from them, and their files."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from plimsoll.api.backtests import BACKTESTS_FOLDER, open_fleet, scenario_of
from plimsoll.backtesting.cloud_fleet import fleet_of_clouds
from plimsoll.backtesting.fleet import Fleet
from plimsoll.backtesting.learn import learn
from plimsoll.backtesting.outcome import BacktestOutcome
from plimsoll.backtesting.page import outcome_page
from plimsoll.backtesting.recorded_fleet import fleet_of_recording
from plimsoll.backtesting.rows_fleet import fleet_of_rows
from plimsoll.backtesting.run import run_backtest
from plimsoll.backtesting.scenario import Scenario
from plimsoll.backtesting.shown import show_outcome
from plimsoll.bootstrap.clocks import clock
from plimsoll.bootstrap.clouds import ports_of
from plimsoll.cli.option_values import policy_from
from plimsoll.cli.options import BacktestOptions, PolicyOptions
from plimsoll.cli.progress import steps_bar
from plimsoll.cli.screen import Screen
from plimsoll.clouds.recording import is_recording
from plimsoll.clouds.scope import Scope
from plimsoll.learned_table import table_text
from plimsoll.model.errors import BadInput
from plimsoll.model.volume import VolumeSpec
from plimsoll.output_files import check_place, write_lines
from plimsoll.reports.wording import count_of
from plimsoll.settings import Settings

OUTCOME: Final = "backtest.json"
BACKTEST_PAGE: Final = "backtest.html"


def backtest_fleets(files: Sequence[Path], options: BacktestOptions, policy: PolicyOptions) -> list[BacktestOutcome]:
    """Backtests each fleet, prints what was found and leaves it in a folder for each."""
    scenario, console = _scenario(options, policy), Screen()
    outcomes = []
    for file in files:
        folder = (options.out or BACKTESTS_FOLDER) / file.stem
        check_place(folder)
        with steps_bar(Screen(stderr=True), f"backtest of {file.name}") as progress:
            outcome = run_backtest(_fleet(file, folder, options), scenario, folder, progress)
        write_lines([json.dumps(outcome.as_json(), indent=2), "\n"], folder / OUTCOME, "utf-8")
        write_lines([outcome_page(outcome)], folder / BACKTEST_PAGE, "utf-8")
        show_outcome(console, outcome)
        console.print(f"\nwritten to {folder}", markup=False, soft_wrap=True)
        outcomes.append(outcome)
    return outcomes


def _fleet(file: Path, folder: Path, options: BacktestOptions) -> Fleet:
    failed = Screen(stderr=True).print
    return open_fleet(file, folder, io_kib=options.io_kib, period_s=options.period_s, failed=failed)


def _scenario(options: BacktestOptions, policy: PolicyOptions) -> Scenario:
    """The scenario that the options ask for; BadInput for a type, a region or a configuration that there is not."""
    return scenario_of(
        present=VolumeSpec(
            type=options.type_,
            size_gib=options.size_gib,
            iops=options.iops,
            throughput_mib_s=options.throughput_mib_s,
        ),
        to=options.to,
        region=options.region,
        times=options.times,
        memories_days=options.memory,
        days=options.days,
        every_days=options.every,
        budget_min=options.budget_min,
        io_kib=options.io_kib,
        policy=policy_from(policy),
        prices=policy.prices,
    )


def learn_table(
    files: Sequence[Path], table: Path, options: BacktestOptions, policy: PolicyOptions, *, public: bool
) -> None:
    """Learns the table of some fleets, and writes it."""
    scenario, folder = _scenario(options, policy), options.out or BACKTESTS_FOLDER / "learning"
    check_place(folder)
    today = datetime.now(UTC).date().isoformat()
    with steps_bar(Screen(stderr=True), "learning") as progress:
        fleets = [_fleet(file, folder, options) for file in files]
        learned = learn(fleets, scenario, folder, on=today, public=public, progress=progress)
    write_lines([table_text(learned)], table, "utf-8")
    Screen().print(f"written to {table}", markup=False, soft_wrap=True)


def make_fleet(exports: Sequence[Path], scope: Scope, out: Path, period_s: int) -> None:
    """Writes a fleet's file, and says of how many volumes; on the standard error what could not be read."""
    check_place(out.parent)
    beside = Screen(stderr=True)
    recordings = [path for path in exports if is_recording(path)]
    if recordings and len(exports) > 1:
        raise BadInput(f"{recordings[0]} is a recording: make a fleet of it alone.")
    if recordings:
        volumes = fleet_of_recording(recordings[0], out, period_s, beside.print)
    elif exports:
        volumes = fleet_of_rows(exports, out, period_s)
    else:
        now = clock().now()
        audits = ports_of(scope, Settings.from_environment(), today=now.date())
        volumes = fleet_of_clouds(audits, now, out, period_s, beside.print)
    Screen().print(f"{count_of(volumes, 'volume')} in {out}", markup=False, soft_wrap=True)
