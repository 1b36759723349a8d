"""`python -m tests.closed_loop [--volumes N | --hosts N] [--growth-days N] [--risk-pct N] [--write]`: the table, on the
screen or in the page."""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial

from plimsoll.model.policy import HeadroomFrom, Policy
from tests.closed_loop.figures import BEGIN, END, OF_HOSTS, table, table_of_hosts, write
from tests.closed_loop.hosts import Housed, a_housed_life
from tests.closed_loop.loop import POLICY, Life, a_life
from tests.closed_loop.workload import KINDS


def lives(volumes: int, weeks: int, processes: int, policy: Policy = POLICY) -> list[Life]:
    """So many volumes, as many of each kind."""
    each = [(kind, seed) for kind in KINDS for seed in range(volumes // len(KINDS))]
    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(partial(_one, weeks=weeks, policy=policy), each, chunksize=5))


def housed_lives(hosts: int, weeks: int, processes: int, policy: Policy = POLICY) -> list[Housed]:
    """So many small hosts with their volumes."""
    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(partial(a_housed_life, weeks=weeks, policy=policy), range(hosts)))


def _one(named: tuple[str, int], weeks: int, policy: Policy) -> Life:
    return a_life(*named, weeks, policy)


def main() -> None:
    """Runs the loop."""
    parser = argparse.ArgumentParser(prog="python -m tests.closed_loop")
    parser.add_argument("--volumes", type=int, default=1000)
    parser.add_argument("--hosts", type=int, help="so many small hosts, with two to four volumes each")
    parser.add_argument("--weeks", type=int, default=52)
    parser.add_argument("--growth-days", type=float, default=POLICY.growth_days)
    parser.add_argument("--risk-pct", type=float, default=POLICY.risk_pct)
    parser.add_argument("--headroom-from", type=HeadroomFrom, default=POLICY.headroom_from)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="into README.md of this folder")
    options = parser.parse_args()
    policy = replace(
        POLICY,
        growth_days=options.growth_days,
        risk_pct=options.risk_pct,
        headroom_from=options.headroom_from,
    )
    if options.hosts:
        text, marks = table_of_hosts(housed_lives(options.hosts, options.weeks, options.processes, policy)), OF_HOSTS
    else:
        text, marks = table(lives(options.volumes, options.weeks, options.processes, policy)), (BEGIN, END)
    sys.stdout.write(text)
    if options.write:
        write(text, marks=marks)


if __name__ == "__main__":
    main()
