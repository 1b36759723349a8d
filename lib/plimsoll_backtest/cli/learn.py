"""Learn from fleets how much headroom keeps which risk, into a small file that people can read."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from plimsoll.cli import options
from plimsoll.cli.screen import Screen
from plimsoll.files import check_place, write_lines
from plimsoll_backtest.cli.options import BacktestOptions

_LISTED: Final = ("Look back", 2)


def learn_command(
    fleets: Annotated[list[Path], typer.Argument(metavar="FLEET...", help="Fleet files; see benchmarks/fleets.")],
    *,
    table: Annotated[Path, typer.Option(help="File of the learned table.")],
    public: Annotated[bool, typer.Option("--public", help="Say that it is of public fleets, not of your own.")] = False,
    backtest: BacktestOptions,
    policy: options.PolicyOptions,
) -> None:
    from plimsoll.cli.progress import steps_bar
    from plimsoll.learned_table import table_text
    from plimsoll_backtest.api import BACKTESTS_FOLDER
    from plimsoll_backtest.cli.fleets import read_fleet, scenario_from
    from plimsoll_backtest.learn import learn

    scenario, folder = scenario_from(backtest, policy), backtest.out or BACKTESTS_FOLDER / "learning"
    check_place(folder)
    today = datetime.now(UTC).date().isoformat()
    with steps_bar(Screen(stderr=True), "learning") as progress:
        opened_fleets = [read_fleet(file, folder, backtest) for file in fleets]
        learned = learn(opened_fleets, scenario, folder, on=today, public=public, progress=progress)
    write_lines([table_text(learned)], table, "utf-8")
    Screen().print(f"written to {table}", markup=False, soft_wrap=True)
