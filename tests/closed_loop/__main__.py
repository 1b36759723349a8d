"""`python -m tests.closed_loop [--volumes N] [--write]`: the table, printed, or put into docs/decision.md."""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.closed_loop.figures import table, write
from tests.closed_loop.loop import Life, a_life
from tests.closed_loop.workload import KINDS


def lives(volumes: int, weeks: int, processes: int) -> list[Life]:
    """So many volumes, as many of each kind."""
    each = [(kind, seed) for kind in KINDS for seed in range(volumes // len(KINDS))]
    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(partial(_one, weeks=weeks), each, chunksize=5))


def _one(named: tuple[str, int], weeks: int) -> Life:
    return a_life(*named, weeks)


def main() -> None:
    """Runs the loop."""
    parser = argparse.ArgumentParser(prog="python -m tests.closed_loop")
    parser.add_argument("--volumes", type=int, default=1000)
    parser.add_argument("--weeks", type=int, default=52)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="into docs/decision.md")
    options = parser.parse_args()
    found = lives(options.volumes, options.weeks, options.processes)
    sys.stdout.write(table(found))
    if options.write:
        write(found)


if __name__ == "__main__":
    main()
