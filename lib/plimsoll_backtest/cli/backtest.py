"""Size a fleet at past weeks by several rules, and say what each saved and throttled in the days after."""

import json
from pathlib import Path
from typing import Annotated, Final

import typer

from plimsoll.cli import options
from plimsoll.cli.screen import Screen
from plimsoll.files import check_place, write_lines
from plimsoll_backtest.cli.options import BacktestOptions

OUTCOME: Final = "backtest.json"
BACKTEST_PAGE: Final = "backtest.html"

_LISTED: Final = ("Look back", 1)


def backtest_command(
    fleets: Annotated[
        list[Path], typer.Argument(metavar="FLEET...", help="Fleet files, or recordings; see benchmarks/fleets.")
    ],
    *,
    backtest: BacktestOptions,
    policy: options.PolicyOptions,
) -> None:
    from plimsoll.cli.progress import steps_bar
    from plimsoll_backtest.api import BACKTESTS_FOLDER
    from plimsoll_backtest.cli.fleets import read_fleet, scenario_from
    from plimsoll_backtest.page import outcome_page
    from plimsoll_backtest.run import run_backtest
    from plimsoll_backtest.shown import show_outcome

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
