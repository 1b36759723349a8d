"""Commands on fleets of the past: backtests, and what is learned from them."""

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli import options
from plimsoll.cli.option_groups import with_option_groups


@with_option_groups
def backtest_command(
    fleets: Annotated[
        list[Path], typer.Argument(metavar="FLEET...", help="Fleet files, or recordings; see benchmarks/fleets.")
    ],
    *,
    backtest: options.BacktestOptions,
    policy: options.PolicyOptions,
) -> None:
    """Size a fleet at past weeks by several rules, and say what each saved and throttled in the days after."""
    from plimsoll.cli.backtest import backtest_fleets

    backtest_fleets(fleets, backtest, policy)


@with_option_groups
def learn_command(
    fleets: Annotated[list[Path], typer.Argument(metavar="FLEET...", help="Fleet files; see benchmarks/fleets.")],
    *,
    table: Annotated[Path, typer.Option(help="File of the learned table.")],
    public: Annotated[bool, typer.Option("--public", help="Say that it is of public fleets, not of your own.")] = False,
    backtest: options.BacktestOptions,
    policy: options.PolicyOptions,
) -> None:
    """Learn from fleets how much headroom keeps which risk, into a small file that people can read."""
    from plimsoll.cli.backtest import learn_table

    learn_table(fleets, table, backtest, policy, public=public)


@with_option_groups
def fleet_command(
    exports: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE...]", help="CSV, Parquet, or a recording. Without one: the clouds' history."),
    ] = None,
    *,
    out: Annotated[Path, typer.Option(help="The fleet's file, .npz.")],
    period_s: Annotated[int, typer.Option(min=1, max=86400, help="Seconds of a row.")] = 300,
    scope: options.ScopeOptions,
) -> None:
    """Make a fleet's file for `backtest` and `learn`: of rows, a recording or what clouds keep (benchmarks/fleets)."""
    from plimsoll.cli.backtest import make_fleet
    from plimsoll.cli.option_values import scope_from

    make_fleet(exports or [], scope_from(scope), out, period_s)
