"""Size a fleet at past weeks by several rules, and say what each saved and throttled in the days after."""

import json
from pathlib import Path
from typing import Annotated, Final

import typer

from plimsoll.cli import options
from plimsoll.cli.screen import Screen
from plimsoll.output_files import check_place, write_lines

OUTCOME: Final = "backtest.json"
BACKTEST_PAGE: Final = "backtest.html"

_LISTED: Final = ("Look back", 1)


def backtest_command(
    fleets: Annotated[
        list[Path], typer.Argument(metavar="FLEET...", help="Fleet files, or recordings; see benchmarks/fleets.")
    ],
    *,
    backtest: options.BacktestOptions,
    policy: options.PolicyOptions,
) -> None:
    from plimsoll.api.backtests import BACKTESTS_FOLDER
    from plimsoll.backtesting.page import outcome_page
    from plimsoll.backtesting.run import run_backtest
    from plimsoll.backtesting.shown import show_outcome
    from plimsoll.cli.fleets import read_fleet, scenario_from
    from plimsoll.cli.progress import steps_bar

    scenario, console = scenario_from(backtest, policy), Screen()
    for file in fleets:
        folder = (backtest.out or BACKTESTS_FOLDER) / file.stem
        check_place(folder)
        with steps_bar(Screen(stderr=True), f"backtest of {file.name}") as progress:
            outcome = run_backtest(read_fleet(file, folder, backtest), scenario, folder, progress)
        write_lines([json.dumps(outcome.as_json(), indent=2), "\n"], folder / OUTCOME, "utf-8")
        write_lines([outcome_page(outcome)], folder / BACKTEST_PAGE, "utf-8")
        show_outcome(console, outcome)
        console.print(f"\nwritten to {folder}", markup=False, soft_wrap=True)
