"""`python -m tests.faults [--seeds N] [--from N] [--jobs N]`: seeded runs under faults; each broken law with its seed."""

import argparse
import json
import sys
import time
from collections import Counter

from .lab import Tried, counted, opened


def main() -> None:
    """Tries seed after seed, one line of JSON each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    began, totals = time.monotonic(), Counter[str]()
    with opened() as lab:
        for seed in range(options.first, options.first + options.seeds * options.step, options.step):
            tried = lab.try_plan(lab.plan(seed))
            totals.update(counted(tried.outcomes))
            print(json.dumps(line_of(tried)), flush=True)
    print(f"{options.seeds} runs in {time.monotonic() - began:.0f} s: {dict(totals)}", file=sys.stderr)


def line_of(tried: Tried) -> dict[str, object]:
    """A run as a line of JSON."""
    return {
        "seed": tried.plan.seed,
        "plan": str(tried.plan),
        "faults": [one.fault for one in tried.plan.strikes],
        "operations": [one.operation for one in tried.plan.strikes],
        "injected": len(tried.injected),
        "paths": sorted({".".join(one.path) for one in tried.injected if one.path}),
        "kills": tried.kills,
        "outcomes": dict(counted(tried.outcomes)),
        "breaches": [{"kind": one.kind, "told": one.told} for one in tried.breaches],
        "calls": tried.calls,
        "seconds": round(tried.seconds, 2),
    }


if __name__ == "__main__":
    main()
