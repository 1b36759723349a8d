"""Fleets of the past, and the scenario that a backtest's options put on them."""

from pathlib import Path

from plimsoll.cli.option_values import policy_from
from plimsoll.cli.options import PolicyOptions
from plimsoll.cli.screen import Screen
from plimsoll.model.volume import VolumeSpec
from plimsoll_backtest.api import open_fleet, scenario_of
from plimsoll_backtest.cli.options import BacktestOptions
from plimsoll_backtest.fleet import Fleet
from plimsoll_backtest.scenario import Scenario


def read_fleet(file: Path, folder: Path, options: BacktestOptions) -> Fleet:
    failed = Screen(stderr=True).print
    return open_fleet(file, folder, io_kib=options.io_kib, period_s=options.period_s, failed=failed)


def scenario_from(options: BacktestOptions, policy: PolicyOptions) -> Scenario:
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
