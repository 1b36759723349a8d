"""`python -m tests.changes [--splits N] [--write]`: how often verdicts are wrong, and the thresholds that ship.

With `--write` the figures go into README.md beside this, a few of them into docs/changes.md, and the thresholds into
`lib/plimsoll_change/data/thresholds.json`.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

import plimsoll_change
from plimsoll_change.thresholds import SideThresholds, Thresholds, write_thresholds
from tests.changes.learning import SHIPPED_SEED, every_machine, learn_thresholds
from tests.changes.page import figures, observed_shares, write_page
from tests.changes.rollouts import roll_out_all
from tests.changes.singles import BETTER, WORSE, SplitOutcome, judge_split
from tests.changes.waves import WaveOutcome, judge_waves
from tests.changes.weeks import UNCHANGED

SHIPPED: Final = Path(plimsoll_change.__file__).parent / "data" / "thresholds.json"
WAVE_SPLITS: Final = 4


def shipped(splits: Sequence[SplitOutcome], waves: Sequence[WaveOutcome]) -> Thresholds:
    """The thresholds learned on all machines, with what was observed on those that splits had left out."""
    thresholds = learn_thresholds(every_machine(), np.random.default_rng([3, SHIPPED_SEED]))
    weeks = sum(split.tallies[UNCHANGED, WORSE].weeks for split in splits)
    slower = {level: float(np.mean(shares)) for level, shares in observed_shares(splits).items()}
    faster = {0.01: float(np.mean([split.tallies[UNCHANGED, BETTER].share for split in splits]))}
    groups = []
    for row in thresholds.groups:
        lot = [
            each
            for each in waves
            if (each.size, each.has_controls, each.scene) == (row.size, row.has_controls, "harmless")
        ]
        count = sum(each.groups for each in lot)
        reached = [sum(each.promised_reached[place] for each in lot) / max(1, count) for place in (0, 1)]
        groups.append(replace(row, observed=dict(zip((0.01, 0.05), reached, strict=True)), observed_weeks=count))
    return replace(
        thresholds,
        slower=_with_observed(thresholds.slower, slower, weeks),
        faster=_with_observed(thresholds.faster, faster, weeks),
        groups=tuple(groups),
    )


def _with_observed(side: SideThresholds, observed: dict[float, float], weeks: int) -> SideThresholds:
    return replace(side, observed=observed, observed_weeks=weeks)


def main() -> None:
    """Measures, prints, and writes if asked."""
    parser = argparse.ArgumentParser(prog="python -m tests.changes")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--wave-splits", type=int, default=WAVE_SPLITS)
    parser.add_argument("--rollouts", type=int, default=20, help="of each kind")
    parser.add_argument("--write", action="store_true", help="into the pages and the thresholds that ship")
    options = parser.parse_args()
    splits = []
    for seed in range(options.splits):
        splits.append(judge_split(seed))
        sys.stderr.write(f"split {seed + 1} of {options.splits}\n")
    waves = []
    for seed in range(options.wave_splits):
        waves += judge_waves(seed)
        sys.stderr.write(f"waves of split {seed + 1} of {options.wave_splits}\n")
    text = figures(splits, waves, roll_out_all(options.rollouts))
    sys.stdout.write(text)
    if options.write:
        write_page(text)
        SHIPPED.write_text(json.dumps(write_thresholds(shipped(splits, waves))) + "\n")


if __name__ == "__main__":
    main()
